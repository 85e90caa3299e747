"""Compile sources to objects: one clang run a source, in parallel, only where something changed."""

from __future__ import annotations

import contextlib
import os
import posixpath
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.compile.stamp import current_stamp, read_depfile, write_stamp
from enzyme_build.errors import ConfigError, ToolError
from enzyme_build.model import PointerMode
from enzyme_build.toolchain import drop_harmful_flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.toolchain import Language, Toolchain

__all__ = [
    "CompileRequest",
    "CompileResult",
    "bitcode_compile_flags",
    "compile_sources",
    "language_of",
    "linking_language",
]

_C_SUFFIXES = frozenset({".c"})
_CXX_SUFFIXES = frozenset({".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C"})
_ASSEMBLY_SUFFIXES = frozenset({".s", ".S"})

# What this module decides itself; given as an argument it would break the run in ways that are hard to see.
_OWN_ARGUMENTS = frozenset({"-c", "-S", "-E", "-o", "-MD", "-MMD", "-MF", "-MT", "-MQ", "-fsyntax-only", "-emit-llvm"})

# Variables that change what clang compiles; a change of one must compile again.
_VARIABLES = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "SOURCE_DATE_EPOCH",
    "COMPILER_PATH",
    "CCC_OVERRIDE_OPTIONS",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileRequest:
    """Sources, and how to compile them.

    Paths are relative to `root`, where the compiler runs, with `/`; `defines` are `NAME` or `NAME=value`.
    `arguments` are the user's. Objects go to `build_directory`, in the tree of their sources.
    """

    root: Path
    sources: tuple[str, ...]
    build_directory: Path
    pointers: PointerMode
    include_directories: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    embed_bitcode: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileResult:
    """The objects in the order of the sources, how many were compiled in this run, and what the user should hear."""

    objects: tuple[Path, ...]
    compiled: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unit:
    """A source, the object it becomes and the command up to the output arguments; then what became of it."""

    source: str
    object: Path
    command: tuple[str, ...]
    ran: bool = False
    warnings: str = ""
    failure: str | None = None


def bitcode_compile_flags(pointers: PointerMode) -> tuple[str, ...]:
    """Return the flags that make any clang command embed bitcode that Enzyme can use.

    They go after all other flags: the last ones undo what the earlier may have asked for. The cc1 spelling embeds
    the module before optimisation and, unlike the driver's `-fembed-bitcode`, bears `-ffunction-sections`; `bitcode`
    leaves out the command line, whose paths would make the build-id depend on the build folder.
    """
    typed = ("-Xclang", "-no-opaque-pointers") if pointers is PointerMode.TYPED else ()
    # `-Wp,` since that form is read last: a plain `-U` would not undo a `-Wp,-D_FORTIFY_SOURCE` of a distribution.
    return ("-Xclang", "-fembed-bitcode=bitcode", *typed, "-fno-lto", "-fno-math-errno", "-Wp,-U_FORTIFY_SOURCE")


def language_of(source: str) -> Language | None:
    """Return the language of a source by its suffix, `None` when it is neither C nor C++."""
    suffix = posixpath.splitext(source)[1]
    if suffix in _C_SUFFIXES:
        return "c"
    return "c++" if suffix in _CXX_SUFFIXES else None


def linking_language(sources: Sequence[str]) -> Language:
    """Return the language whose driver links these sources' objects: C++ as soon as one of them is C++."""
    return "c++" if any(language_of(source) == "c++" for source in sources) else "c"


def compile_sources(request: CompileRequest, *, toolchain: Toolchain, workers: int | None = None) -> CompileResult:
    """Compile the sources that need it, in parallel, and return all objects.

    Raises `ConfigError` for missing sources, wrong suffixes and arguments that only this function may give, all at
    once, and `ToolError` with the compiler's own text for every source that does not compile.
    """
    sources = tuple(dict.fromkeys(_normal(source, request.root) for source in request.sources))
    _check(request, sources)
    units, notes = _units(request, sources, toolchain)
    identity = [toolchain.identity(), *(f"{name}={os.environ.get(name, '')}" for name in _VARIABLES)]
    limit = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(max_workers=max(1, min(limit, len(units)))) as pool:
        done = list(pool.map(lambda unit: _compile(unit, root=request.root, identity=identity), units))
    failures = [unit.failure for unit in done if unit.failure is not None]
    if failures:
        head = (
            f"{len(failures)} of {len(done)} sources do not compile" if len(done) > 1 else "the source does not compile"
        )
        unwritable = any("cannot be written" in failure for failure in failures)
        hint = "the build folder must be writable" if unwritable else "this is the compiler's own report"
        raise ToolError("\n".join((f"{head}:", *failures)), hint=hint)
    notes += [f"{unit.source}: the compiler warns:\n{unit.warnings}" for unit in done if unit.warnings]
    return CompileResult(
        objects=tuple(unit.object for unit in done), compiled=sum(unit.ran for unit in done), notes=tuple(notes)
    )


def _normal(source: str, root: Path) -> str:
    """Return the source relative to the root: an absolute path would be recorded in the bitcode."""
    if os.path.isabs(source):  # noqa: PTH117 - text in, text out
        source = os.path.relpath(source, root)
    return posixpath.normpath(source.replace(os.sep, "/"))


def _check(request: CompileRequest, sources: Sequence[str]) -> None:
    problems = [f"source {source!r} does not exist" for source in sources if not (request.root / source).is_file()]
    for source in sources:
        assembly = posixpath.splitext(source)[1] in _ASSEMBLY_SUFFIXES
        if language_of(source) is None and not (assembly and not request.embed_bitcode):
            why = "assembly has no bitcode" if assembly else "it is neither C nor C++ by its suffix"
            problems.append(f"source {source!r} cannot be compiled here: {why}")
    problems += [
        f"compile argument {argument!r} is decided by enzyme-build and cannot be given"
        for argument in request.arguments
        if argument in _OWN_ARGUMENTS
    ]
    if not sources:
        problems.append("there are no sources")
    if problems:
        raise ConfigError(problems, hint=f"paths are relative to {request.root}")


def _units(request: CompileRequest, sources: Sequence[str], toolchain: Toolchain) -> tuple[list[_Unit], list[str]]:
    """Return the work for each source, and notes on arguments that were taken off."""
    arguments, notes = request.arguments, []
    if request.embed_bitcode:
        choice = drop_harmful_flags(arguments)
        arguments = choice.kept
        notes = [f"compile argument {flag.flag} is not used for bitcode: {flag.reason}" for flag in choice.dropped]
    level = next((argument for argument in reversed(arguments) if argument.startswith("-O")), None)
    root = request.root.absolute()
    common = (
        *(() if level else ("-O2",)),
        "-fPIC",
        *(f"-I{directory}" for directory in request.include_directories),
        *(f"-D{define}" for define in request.defines),
        *arguments,
        *_relative_paths(root),
        *(bitcode_compile_flags(request.pointers) if request.embed_bitcode else ()),
        # At -O0 clang marks every function "never optimise", which the optimisation after the link would obey.
        *(("-Xclang", "-disable-O0-optnone") if request.embed_bitcode and level == "-O0" else ()),
        *toolchain.compiler_arguments,
    )
    units = []
    for source in sources:
        language = language_of(source)
        driver = toolchain.command(language or "c")
        # Some of Debian's clangs would write the whole command line, absolute paths and all, into debug info.
        unrecorded = ("-gno-record-command-line",) if language else ()  # for assembly it is an unused argument
        command = (*driver, *common, *unrecorded)
        units.append(_Unit(source=source, object=_object_path(request, source), command=command))
    return units, notes


def _relative_paths(root: Path) -> tuple[str, ...]:
    """Return the flags that keep the build machine's paths out of debug info, macros and coverage maps."""
    roots = dict.fromkeys((str(root), str(root.resolve())))
    return (*(f"-ffile-prefix-map={path}=." for path in roots), "-ffile-compilation-dir=.")


def _object_path(request: CompileRequest, source: str) -> Path:
    """Return where the object goes: the source's path, its suffix kept, and `..` spelt as a directory of its own."""
    parts = ["__up__" if part == ".." else part for part in source.split("/")]
    return request.build_directory.absolute().joinpath(*parts[:-1], f"{parts[-1]}.o")


def _compile(unit: _Unit, *, root: Path, identity: list[str]) -> _Unit:
    """Compile one source unless its object is current; the object appears only when it is complete."""
    # The source is named last and relatively: this spelling becomes the module's `source_filename`.
    named = f"./{unit.source}" if unit.source.startswith("-") else unit.source
    depfile = Path(f"{unit.object}.d")
    partial = Path(f"{unit.object}.partial")
    outputs = ("-MMD", "-MF", str(depfile), "-MT", "object", "-c", named, "-o", str(partial))
    command = (*unit.command, *outputs)
    stamp = Path(f"{unit.object}.stamp")
    recipe = [*identity, *command]
    if current := current_stamp(stamp, output=unit.object, recipe=recipe, root=root):
        return replace(unit, warnings=current.said)
    started = time.time_ns()
    try:
        unit.object.parent.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        done = _run.capture(command, cwd=root, check=False)
        if done.code:
            return replace(unit, failure=_run.describe_failure(done))
        inputs = read_depfile(depfile) if depfile.exists() else (named,)  # assembly includes nothing
        partial.replace(unit.object)
        said = done.stderr.strip()
        write_stamp(stamp, output=unit.object, recipe=recipe, root=root, inputs=inputs, started=started, said=said)
    except OSError as error:
        return replace(unit, failure=f"{error.filename or unit.object} cannot be written: {error.strerror or error}")
    finally:
        for leftover in (partial, depfile):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)
    return replace(unit, ran=True, warnings=said)
