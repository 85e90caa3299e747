"""Which compile flags may be passed on: those the real clang accepts, and none that spoil bitcode for Enzyme."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build import _run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.toolchain.model import Language, Toolchain

__all__ = ["DroppedFlag", "FlagChoice", "drop_harmful_flags", "keep_accepted_flags"]

# Flags that clang takes in two arguments.
# fmt: off
_TWO_ARGUMENTS = frozenset(
    (
        "-I", "-D", "-U", "-L", "-l", "-include", "-imacros", "-iprefix", "-iwithprefix",
        "-iwithprefixbefore", "-isystem", "-isysroot", "-iquote", "-idirafter", "-x", "-arch", "-target",
        "--param", "-mllvm", "-Xclang", "-Xpreprocessor", "-Xassembler", "-Xlinker", "-framework", "-T",
        "-u", "-z", "-MF", "-MT", "-MQ", "-o",
    )
)
# fmt: on

# Clang warns about these and goes on; a flag without effect is as good as refused, and then it is said.
_STRICT = (
    "-Werror=unknown-warning-option",
    "-Werror=unused-command-line-argument",
    "-Werror=ignored-optimization-argument",
    "-Werror=unsupported-target-opt",
)

_LTO = "with link-time optimisation the object holds no native code and the library no bitcode"
_FORTIFY = "fortified functions such as __memcpy_chk are unknown to Enzyme"
_INSTRUMENTED = "instrumentation calls functions and counters that are unknown to Enzyme"
_HARMFUL = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"-flto(=.*)?|-flto-.*|-ffat-lto-objects|-fwhole-program(-vtables)?|-fsplit-lto-unit", _LTO),
        (r"-fembed-bitcode.*|-Xclang -fembed-bitcode.*", "bitcode is embedded in one way only, before optimisation"),
        (r"(-Wp,)?-D ?_FORTIFY_SOURCE(=.*)?", _FORTIFY),
        (r"-fsanitize(-[a-z-]+)?=.*|-fsanitize-[a-z-]+|-fxray-.*|-pg|-mfentry", _INSTRUMENTED),
        (r"--coverage|-coverage|-fprofile-.*|-ftest-coverage|-fcoverage-mapping|-fcs-profile-.*", _INSTRUMENTED),
        (r"-finstrument-functions.*", _INSTRUMENTED),
        (r"-fmath-errno", "Enzyme on LLVM 15 aborts on math functions that set errno"),
    )
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DroppedFlag:
    """A flag that is not passed on, and why."""

    flag: str
    reason: str

    def __str__(self) -> str:
        return f"{self.flag}: {self.reason}"


@dataclass(frozen=True, kw_only=True, slots=True)
class FlagChoice:
    """The flags that are passed on, in their order, and those that are not."""

    kept: tuple[str, ...]
    dropped: tuple[DroppedFlag, ...]


def drop_harmful_flags(flags: Sequence[str]) -> FlagChoice:
    """Take off the flags that make bitcode useless to Enzyme, whatever the compiler thinks of them."""
    kept: list[str] = []
    dropped: list[DroppedFlag] = []
    for group in _groups(flags):
        shown = " ".join(group)
        reason = next((why for pattern, why in _HARMFUL if pattern.fullmatch(shown)), None)
        if reason is None:
            kept += group
        else:
            dropped.append(DroppedFlag(flag=shown, reason=reason))
    return FlagChoice(kept=tuple(kept), dropped=tuple(dropped))


def keep_accepted_flags(toolchain: Toolchain, flags: Sequence[str], *, language: Language) -> FlagChoice:
    """Return which of another compiler's flags (gcc's, from Python's sysconfig) may be passed to this clang.

    Harmful flags are dropped unasked; the rest is tried on an empty source, all in one run when clang accepts all.
    The answer is kept for the rest of the process.
    """
    return _choose(toolchain, tuple(flags), language)


@functools.cache
def _choose(toolchain: Toolchain, flags: tuple[str, ...], language: Language) -> FlagChoice:
    harmless = drop_harmful_flags(flags)
    groups = _groups(harmless.kept)
    refused = _refused(toolchain, groups, language)
    kept = [argument for index, group in enumerate(groups) if index not in refused for argument in group]
    reasons = [DroppedFlag(flag=" ".join(groups[index]), reason=refused[index]) for index in sorted(refused)]
    return FlagChoice(kept=tuple(kept), dropped=(*harmless.dropped, *reasons))


def _refused(toolchain: Toolchain, groups: list[tuple[str, ...]], language: Language) -> dict[int, str]:
    """Return the reason for each group of `groups`, by index, that clang does not accept.

    Clang names every flag it refuses in one run, so those are taken out and the rest is tried again; only a
    complaint that names none of the flags is found by halving.
    """
    refused: dict[int, str] = {}
    while True:
        left = [index for index in range(len(groups)) if index not in refused]
        complaints = _complaints(toolchain, [groups[index] for index in left], language)
        if not complaints:
            return refused
        named = {index: line for index in left if (line := _naming(complaints, groups[index]))}
        if not named:
            return refused | _halve(toolchain, groups, left, language)
        refused |= named


def _halve(toolchain: Toolchain, groups: list[tuple[str, ...]], left: list[int], language: Language) -> dict[int, str]:
    complaints = _complaints(toolchain, [groups[index] for index in left], language)
    if not complaints or not left:
        return {}
    if len(left) == 1:
        return {left[0]: _reason(complaints[0])}
    middle = len(left) // 2
    return _halve(toolchain, groups, left[:middle], language) | _halve(toolchain, groups, left[middle:], language)


def _complaints(toolchain: Toolchain, groups: Sequence[tuple[str, ...]], language: Language) -> list[str]:
    """Return the errors of one clang run on an empty source; empty when it accepts the flags."""
    flags = [argument for group in groups for argument in group]
    command = (*toolchain.command(language), *flags, *_STRICT, "-fsyntax-only", "-x", language, "-")
    done = _run.capture(command, stdin="", check=False)
    if done.code == 0:
        return []
    return [line for line in done.stderr.splitlines() if "error:" in line] or [f"exit code {done.code}"]


def _naming(complaints: Sequence[str], group: tuple[str, ...]) -> str | None:
    """Return clang's reason if one of its complaints quotes a flag of `group` (also as `-flag: 'linker' input`)."""
    for line in complaints:
        if any(f"'{argument}'" in line or f" {argument}: " in line for argument in (group[0], " ".join(group))):
            return _reason(line)
    return None


def _reason(line: str) -> str:
    text = re.sub(r"^-[^ ]+: ", "", line.partition("error: ")[2] or line)
    return re.sub(r" \[-Werror,[^\]]*\]$", "", text)


def _groups(flags: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the flags with each two-argument flag kept together with its argument."""
    groups: list[tuple[str, ...]] = []
    waiting = False
    for flag in flags:
        if waiting:
            groups[-1] = (*groups[-1], flag)
            waiting = False
        else:
            groups.append((flag,))
            waiting = flag in _TWO_ARGUMENTS
    return groups
