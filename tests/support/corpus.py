"""The truth corpus of the check: small libraries below tests/packages/check, each with what is expected of it.

expected.toml: `about`; how to build (`native`, `gcc`, `flags`, `embed`, `link`, `native_link`, `finalize`); what the
project says (`roots`, `modes`, `waivers`, rules.toml beside it); `finding` tables (id, symbol, chain, level, line, ...);
`note`, `classified`; and `enzyme`, what the real plugin makes of `kernel` at x = 2: `derivative` (or `reverse` and
`forward`), `truth` where that is another number, or `fails`, what its error says.
"""

from __future__ import annotations

import datetime
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomllib

from enzyme_build.check.finding import Verdict
from enzyme_build.check.policy import Policy
from enzyme_build.check.run import check_paths
from enzyme_build.manifest import WaiverRecord
from enzyme_build.model import Mode
from enzyme_build.pipeline import LibraryOptions, finalize_library
from enzyme_build.rules.load import load_rules
from enzyme_build.rules.model import RuleSet
from enzyme_build.toolchain import consumer, find_toolchain
from support.enzyme import Enzyme, EnzymeError
from support.library import EMBED, run

FOLDER = Path(__file__).resolve().parents[1] / "packages" / "check"
POINT = 2.0
HOSTS = {
    Mode.REVERSE: 'extern double kernel(double); int main(void) { printf("%.17g", __enzyme_autodiff((void *)kernel, 2.0)); return 0; }',
    Mode.FORWARD: 'extern double kernel(double); int main(void) { printf("%.17g", __enzyme_fwddiff((void *)kernel, 2.0, 1.0)); return 0; }',
}
_COMPILED = (".c", ".cpp")


@dataclass(frozen=True, kw_only=True)
class Package:
    """One library of the corpus and what is expected of it."""

    folder: Path
    expected: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def findings(self) -> list[dict[str, Any]]:
        return self.expected.get("finding", [])

    def settle(self, key: str, default: Any) -> Any:
        return self.expected.get(key, default)


@dataclass(frozen=True, kw_only=True)
class Built:
    """A built package: its library, what it links, and the verdict."""

    library: Path
    link: list[Path] = field(default_factory=list)
    runtime: list[Path] = field(default_factory=list)  # what the driver of C++ would link besides
    verdict: Verdict


def packages() -> list[Package]:
    """Return the corpus, sorted by name."""
    return [
        Package(folder=path.parent, expected=tomllib.loads(path.read_text("utf-8")))
        for path in sorted(FOLDER.glob("*/expected.toml"))
    ]


def build(package: Package, enzyme: Enzyme, folder: Path) -> Built:
    """Build, finalize and check the package below `folder`, as a project would."""
    settle = package.settle
    native = [package.folder / name for name in settle("native", [])]
    with_gcc = [package.folder / name for name in settle("gcc", [])]
    own = [
        path
        for path in sorted(package.folder.iterdir())
        if path.suffix in _COMPILED and path not in (*native, *with_gcc)
    ]
    link = [_native(package, native, enzyme, folder)] if native else []
    objects = [_compile(path, enzyme, folder, [*settle("embed", EMBED), *settle("flags", [])]) for path in own]
    objects += [_assemble(path, folder) for path in with_gcc]
    library = folder / "libkernel.so"
    driver = enzyme.clangxx if any(path.suffix == ".cpp" for path in own) else enzyme.clang
    command = [driver, "-shared", f"-Wl,-soname,{library.name}", "-o", library, *objects, *link]
    run(*command, f"-Wl,-rpath,{folder}", "-lm", *settle("link", []))
    if settle("finalize", True):
        _finalize(package, library, enzyme)
    policy = Policy(today=datetime.date(2026, 6, 30))
    verdict = check_paths([library], modes=[Mode(mode) for mode in settle("modes", [])], policy=policy)
    runtime = [_cxx_runtime(enzyme)] if driver == enzyme.clangxx else []
    return Built(library=library, link=link, runtime=runtime, verdict=verdict)


def differentiate(built: Built, mode: Mode, enzyme: Enzyme, folder: Path) -> float | EnzymeError:
    """Return the derivative of `kernel` at x = 2, or what stopped Enzyme."""
    link = [built.library, *built.link, *built.runtime]
    try:
        (number,) = enzyme.differentiate(
            HOSTS[mode], folder / mode.value, imports=[(built.library, "kernel")], link=link
        )
    except EnzymeError as error:
        return error
    return number


def _cxx_runtime(enzyme: Enzyme) -> Path:
    command = [enzyme.clang, "-print-file-name=libstdc++.so"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def _finalize(package: Package, library: Path, enzyme: Enzyme) -> None:
    rules = load_rules(["rules.toml"], root=package.folder) if (package.folder / "rules.toml").exists() else RuleSet()
    options = LibraryOptions(
        consumers=(consumer("llvm-15"),),
        rules=rules,
        roots=tuple(package.settle("roots", [])),
        waivers=tuple(WaiverRecord(**waiver) for waiver in package.settle("waivers", [])),
    )
    finalize_library(library, options, toolchain=find_toolchain(setting=str(enzyme.clang)))


def _native(package: Package, sources: list[Path], enzyme: Enzyme, folder: Path) -> Path:
    """Return a library without bitcode, made of `sources`: C, C++ or Fortran."""
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libnative.so"
    fortran = any(path.suffix == ".f90" for path in sources)
    cxx = any(path.suffix == ".cpp" for path in sources)
    compiler = "gfortran" if fortran else enzyme.clangxx if cxx else enzyme.clang
    modules = ["-J", folder] if fortran else []
    extra = [
        item.replace("=versions.map", f"={package.folder}/versions.map") for item in package.settle("native_link", [])
    ]
    run(compiler, *modules, "-O1", "-fPIC", "-shared", f"-Wl,-soname,{library.name}", *extra, *sources, "-o", library)
    return library


def _compile(source: Path, enzyme: Enzyme, folder: Path, flags: list[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{source.stem}.o"
    compiler = enzyme.clangxx if source.suffix == ".cpp" else enzyme.clang
    short = f"-fdebug-prefix-map={source.parent}/="  # for `-g`: without the folder, as a project's own build would
    run(compiler, "-O2", "-fno-math-errno", "-fPIC", short, *flags, "-c", source, "-o", target)
    return target


def _assemble(source: Path, folder: Path) -> Path:
    target = folder / f"{source.stem}.o"
    run("gcc", "-g", "-O2", "-fPIC", f"-fdebug-prefix-map={source.parent}/=", "-c", source, "-o", target)
    return target
