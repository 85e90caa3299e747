"""Compile the sources of an extension module with clang and bitcode, as setuptools asked its own compiler to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from enzyme_build.compile import CompileRequest, compile_sources, language_of
from enzyme_build.toolchain import keep_accepted_flags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from enzyme_build.backends.build import BuildSetting
    from enzyme_build.toolchain import Language

__all__ = ["CompileJob", "compile_extension", "named_arguments"]

# the order of `CCompiler.compile(sources, output_dir, macros, ...)` of distutils
_ARGUMENTS = ("output_dir", "macros", "include_dirs", "debug", "extra_preargs", "extra_postargs", "depends")
_LANGUAGES: tuple[Language, ...] = ("c", "c++")


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileJob:
    """One call of `compile`: the module it is for, a folder name for its objects, distutils' compiler and arguments."""

    module: str
    folder: PurePosixPath
    compiler: Any
    arguments: Mapping[str, Any]


def named_arguments(positional: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `CCompiler.compile` after the sources by their names."""
    return {**dict(zip(_ARGUMENTS, positional, strict=False)), **keywords}


def compile_extension(
    job: CompileJob, sources: Sequence[str], ordinary: Callable[..., list[str]], setting: BuildSetting
) -> list[str]:
    """Return the objects of `sources`, in their order; what is neither C nor C++ goes to the `ordinary` compile.

    Raises `ToolError` with the compiler's own text.
    """
    objects: dict[str, str] = {}
    for language in _LANGUAGES:
        mine = [source for source in dict.fromkeys(sources) if language_of(source) == language]
        if mine:
            objects |= zip(mine, _compile_with_bitcode(job, mine, language, setting), strict=True)
    others = [source for source in dict.fromkeys(sources) if source not in objects]
    if others:
        setting.announce(f"{job.module}: no bitcode for {', '.join(others)}")
        objects |= zip(others, ordinary(others, **job.arguments), strict=True)
    return [objects[source] for source in sources]


def _compile_with_bitcode(
    job: CompileJob, sources: Sequence[str], language: Language, setting: BuildSetting
) -> list[str]:
    compiler, arguments = job.compiler, job.arguments
    # what distutils would compile with: Python's own flags and the environment's CFLAGS
    base = getattr(compiler, "compiler_so_cxx", None) if language == "c++" else None
    choice = keep_accepted_flags(setting.toolchain, _flags_only(base or compiler.compiler_so), language=language)
    for dropped in choice.dropped:
        setting.announce(f"{job.module}: flag not passed on: {dropped}")
    defines, undefines = _macros([*compiler.macros, *(arguments.get("macros") or [])])
    folders = [*(arguments.get("include_dirs") or []), *compiler.include_dirs]
    result = compile_sources(
        CompileRequest(
            root=setting.root,
            sources=tuple(_relative(source, setting.root) for source in sources),
            build_directory=setting.work / "objects" / job.folder,
            pointers=setting.pointers,
            include_directories=tuple(dict.fromkeys(folders)),
            defines=defines,
            arguments=(
                *choice.kept,
                *undefines,
                *(["-g"] if arguments.get("debug") else []),
                *(arguments.get("extra_preargs") or []),
                *(arguments.get("extra_postargs") or []),
            ),
        ),
        toolchain=setting.toolchain,
    )
    for note in result.notes:
        setting.announce(f"{job.module}: {note}")
    if result.compiled:
        setting.announce(f"{job.module}: compiled {result.compiled} of {len(sources)} {language} sources")
    return [str(path) for path in result.objects]


def _flags_only(command: Sequence[str]) -> list[str]:
    """Return the flags of a compiler command, without the compiler and what launches it (`ccache gcc -O2`)."""
    first = next((index for index, word in enumerate(command) if word.startswith("-")), len(command))
    return list(command[first:])


def _macros(macros: Sequence[tuple[str, str | None] | tuple[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return definitions as `NAME` or `NAME=value`, and `-UNAME` flags, from distutils' macro tuples."""
    defines, undefines = [], []
    for macro in macros:
        if len(macro) == 1:
            undefines.append(f"-U{macro[0]}")
        else:
            defines.append(macro[0] if macro[1] is None else f"{macro[0]}={macro[1]}")
    return tuple(defines), tuple(undefines)


def _relative(source: str, root: Path) -> str:
    """Return `source` as compile wants it, relative to the project with `/`."""
    path = Path(source)
    return path.resolve().relative_to(root).as_posix() if path.is_absolute() else path.as_posix()
