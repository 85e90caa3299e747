"""Build the libraries of `[tool.enzyme-build]`: compile, link, finalize and check, each only where needed.

setuptools is not known here. Below the work folder lie `objects/` (one folder a library), `link/` (what the linker
made), `stage/` (finished libraries with their manifests) and `stamps/`; the last three are laid out as the wheel is.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build import __version__
from enzyme_build.backends.plan import relative_rpath
from enzyme_build.backends.staging import Stage, digest, file_digest
from enzyme_build.backends.words import CheckFailedError
from enzyme_build.errors import EnzymeBuildError
from enzyme_build.manifest import WaiverRecord
from enzyme_build.rules.load import load_rules
from enzyme_build.rules.model import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import PurePosixPath

    from enzyme_build.backends.plan import LibraryPlan
    from enzyme_build.config import Config
    from enzyme_build.model import Consumer, PointerMode
    from enzyme_build.pipeline import LibraryOptions
    from enzyme_build.toolchain import Toolchain

__all__ = ["BuildSetting", "BuiltLibrary", "build_libraries", "check_built", "check_files", "finish", "prepare"]

UNKNOWN_FUNCTION = "EB008"  # the finding for a rule whose function no library knows


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildSetting:
    """What is the same for every library of one build; paths are absolute, `announce` prints a line of progress."""

    config: Config
    root: Path
    work: Path
    toolchain: Toolchain
    consumers: tuple[Consumer, ...]
    pointers: PointerMode
    announce: Callable[[str], None]

    def link_path(self, relative: PurePosixPath) -> Path:
        """Return where the linker puts the file that is `relative` in the wheel."""
        return self.work / "link" / relative


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltLibrary:
    """A finished library: where it goes in the wheel, and its staged file and manifest."""

    path: PurePosixPath
    library: Path
    manifest: Path


def prepare(config: Config, *, root: Path, work: Path, announce: Callable[[str], None]) -> BuildSetting:
    """Find the toolchain for the consumers; without consumers, the toolchain's own LLVM is the consumer."""
    from enzyme_build.toolchain import (  # noqa: PLC0415 - an sdist or an editable no-op needs no toolchain
        choose_pointer_mode,
        consumer,
        default_consumers,
        find_toolchain,
    )

    if sys.platform in {"win32", "cygwin", "darwin"}:
        msg = f"libraries for {sys.platform} cannot be built yet: bitcode is put into ELF files only"
        raise EnzymeBuildError(msg)
    wanted = tuple(consumer(name) for name in config.consumers)
    toolchain = find_toolchain(wanted, setting=config.llvm)
    consumers = wanted or default_consumers(toolchain)
    names = ", ".join(each.name for each in consumers)
    announce(f"clang {toolchain.version} ({toolchain.clang}, from {toolchain.origin}) for {names}")
    return BuildSetting(
        config=config,
        root=root,
        work=work,
        toolchain=toolchain,
        consumers=consumers,
        pointers=choose_pointer_mode(consumers, toolchain),
        announce=announce,
    )


def build_libraries(plans: Sequence[LibraryPlan], setting: BuildSetting) -> dict[str, BuiltLibrary]:
    """Build `plans` (link order) and return the staged libraries by table name. They are not checked yet."""
    built: dict[str, BuiltLibrary] = {}
    for plan in plans:
        linked = _link(plan, setting)
        links = tuple(built[link.table.name] for link in plan.links)
        built[plan.table.name] = finish(
            linked,
            plan.path,
            setting=setting,
            rules=plan.table.rules,
            roots=plan.table.roots,
            links=links,
            native=not plan.table.bitcode,
            include_directories=plan.table.include_dirs,
            defines=plan.table.define,
        )
    return built


def _link(plan: LibraryPlan, setting: BuildSetting) -> Path:
    """Compile the sources of a library and link them; return the linker's output."""
    from enzyme_build.compile import (  # noqa: PLC0415 - as in prepare
        CompileRequest,
        LinkRequest,
        compile_sources,
        link_library,
        linking_language,
    )

    table, output = plan.table, setting.link_path(plan.path)
    compiled = compile_sources(
        CompileRequest(
            root=setting.root,
            sources=table.sources,
            build_directory=setting.work / "objects" / plan.path.with_suffix(""),
            pointers=setting.pointers,
            include_directories=table.include_dirs,
            defines=table.define,
            arguments=table.compile_args,
            embed_bitcode=table.bitcode,
        ),
        toolchain=setting.toolchain,
    )
    for note in compiled.notes:
        setting.announce(f"{plan.path}: {note}")
    rpaths = dict.fromkeys(relative_rpath(plan.path, link.path) for link in plan.links)
    linked = link_library(
        LinkRequest(
            root=setting.root,
            output=output,
            objects=compiled.objects,
            library_directories=tuple(dict.fromkeys(setting.link_path(link.path).parent for link in plan.links)),
            libraries=(*(link.table.name for link in plan.links), *table.libraries),
            arguments=(*(f"-Wl,-rpath,{rpath}" for rpath in rpaths if rpath != "$ORIGIN"), *table.link_args),
            language=linking_language(table.sources),
            origin_rpath="$ORIGIN" in rpaths,
        ),
        toolchain=setting.toolchain,
    )
    if compiled.compiled or linked:
        setting.announce(f"{plan.path}: compiled {compiled.compiled} of {len(table.sources)} sources, linked")
    return output


def finish(
    linked: Path,
    path: PurePosixPath,
    *,
    setting: BuildSetting,
    rules: Sequence[str],
    roots: Sequence[str],
    links: Sequence[BuiltLibrary] = (),
    native: bool = False,
    python_extension: bool = False,
    include_directories: Sequence[str] = (),
    defines: Sequence[str] = (),
) -> BuiltLibrary:
    """Return the finished copy of `linked`, made anew when the library, a rule, an option or a linked library changed.

    `native` libraries hold no bitcode; they get a manifest only.
    """
    from enzyme_build.pipeline import (  # noqa: PLC0415 - as in prepare
        LibraryOptions,
        describe_native,
        finalize_library,
    )

    options = LibraryOptions(
        consumers=setting.consumers,
        rules=RuleSet() if native else load_rules([*setting.config.rules, *rules], root=setting.root),
        roots=tuple(roots),
        linked=tuple(link.library for link in links),
        waivers=tuple(
            WaiverRecord(symbol=waiver.symbol, reason=waiver.reason, expires=waiver.expires)
            for waiver in setting.config.check.waivers
        ),
        optimize=setting.config.optimize,
        python_extension=python_extension,
        include_directories=tuple(setting.root / directory for directory in include_directories),
        defines=tuple(defines),
    )
    stage = Stage(setting.work, path.as_posix())
    finished = BuiltLibrary(path=path, library=stage.library, manifest=stage.manifest)
    made_from = _digest_of_inputs(linked, options, links, setting.toolchain)
    if stage.is_fresh(made_from):
        return finished
    with stage.renewed_from(linked, made_from) as library:
        if native:
            describe_native(library, options)
        else:
            finalize_library(library, options, toolchain=setting.toolchain)
    setting.announce(f"{path}: {'described' if native else 'finalized'}")
    return finished


def _digest_of_inputs(
    linked: Path, options: LibraryOptions, links: Sequence[BuiltLibrary], toolchain: Toolchain
) -> str:
    """Return a digest of everything that the finished library depends on."""
    return digest(
        {
            "version": __version__,
            "linked": file_digest(linked),
            "options": dataclasses.replace(options, linked=()),
            "links": [(link.path, file_digest(link.library), file_digest(link.manifest)) for link in links],
            "toolchain": (toolchain.libllvm, toolchain.version),
        }
    )


def check_built(built: Sequence[BuiltLibrary], setting: BuildSetting, *, all_built: bool = True) -> None:
    """Check finished libraries together; raises `CheckFailedError` after printing the report on standard error.

    Without `all_built` rules of unknown functions are passed by: a library that is built later may know them.
    """
    check_files(
        [each.library for each in built],
        setting.config,
        what=", ".join(str(each.path) for each in built),
        below=setting.work / "stage",
        passed_by=() if all_built else (UNKNOWN_FUNCTION,),
    )


def check_files(
    files: Sequence[Path],
    config: Config,
    *,
    what: str,
    below: Path,
    passed_by: Sequence[str] = (),
    warn: bool = True,
) -> None:
    """Check libraries or wheels, `what` in messages; names in the report are relative to `below`.

    Findings with an id in `passed_by` do not count. Without `warn` a report that fails nothing is not printed.
    Raises as `check_built` does.
    """
    from enzyme_build.check.policy import policy_of  # noqa: PLC0415 - as in prepare
    from enzyme_build.check.run import check_paths  # noqa: PLC0415 - as in prepare
    from enzyme_build.report.text import render_text  # noqa: PLC0415 - as in prepare

    verdict = check_paths(files, modes=config.modes, policy=policy_of(config.check, root=Path()))
    counted = tuple(finding for finding in verdict.findings if finding.id not in passed_by)
    verdict = dataclasses.replace(verdict, findings=counted)
    failed = verdict.fails(config.check.fail_on)
    if failed or (counted and warn):
        sys.stdout.flush()
        sys.stderr.write(render_text(verdict, colour=False).replace(f"{below}/", ""))
        sys.stderr.flush()
    if failed:
        msg = f"the check of {what} failed; the report is above"
        raise CheckFailedError(msg)
