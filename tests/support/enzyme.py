"""Differentiate with the real Enzyme through a library, the way Enzyme.jl would: the judge of the end-to-end tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

IMPORTER = Path(__file__).with_name("import_like_enzyme_jl.py")
CLEANED = "globaldce,globalopt,enzyme"
OPTIMISED = "globaldce,default<O2>,enzyme"
AGGRESSIVE = "globaldce,globalopt,deadargelim,argpromotion,ipsccp,inline,enzyme"
PRELUDE = """
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
int enzyme_dup, enzyme_const, enzyme_out, enzyme_dupnoneed;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
"""


class EnzymeError(Exception):
    """A step of the way to the derivative failed: `step` is compile, import, enzyme, link or run."""

    def __init__(self, step: str, text: str) -> None:
        super().__init__(f"{step}: {text}")
        self.step = step
        self.text = text


@dataclass(frozen=True, kw_only=True)
class Enzyme:
    """The plugin with the tools of its LLVM."""

    plugin: Path
    opt: Path
    clang: Path
    clangxx: Path
    libllvm: Path

    def llvm_tool(self, name: str) -> Path:
        """Return a tool of LLVM (`llvm-strip`): the one beside opt, or a newer one, which reads what an older one wrote."""
        numbered = (shutil.which(f"{name}-{major}") for major in range(15, 31))
        found = next(filter(None, (shutil.which(self.opt.with_name(name)), *numbered)), None)
        assert found, f"no {name} of LLVM 15 or newer: run ./dev test, which installs it"
        return Path(found)

    @property
    def objcopy(self) -> Path:
        """LLVM's objcopy beside opt, or binutils' own."""
        beside = self.opt.with_name("llvm-objcopy")
        found = str(beside) if beside.exists() else shutil.which("objcopy")
        assert found, "no objcopy: install binutils"
        return Path(found)

    def differentiate(
        self,
        host: str,
        folder: Path,
        *,
        imports: Sequence[tuple[Path, str]],
        typed: bool = False,
        passes: str = CLEANED,
        link: Sequence[Path] = (),
    ) -> list[float]:
        """Return the numbers that the program `host` prints after its derivatives were made.

        `imports` are (library, function) pairs whose bitcode is brought in, in order; `link` are the native libraries
        the finished program runs with. Raises `EnzymeError`.
        """
        folder.mkdir(parents=True, exist_ok=True)
        clang_typed = ["-Xclang", "-no-opaque-pointers"] if typed else []
        opt = [self.opt, *(["-opaque-pointers=0"] if typed else []), "-load-pass-plugin", self.plugin]
        source, stage, program = folder / "host.c", folder / "stage0.bc", folder / "program"
        source.write_text(PRELUDE + host)
        compiled = [self.clang, "-O2", "-fno-math-errno", *clang_typed, "-emit-llvm", "-c", source, "-o", stage]
        self._step("compile", compiled)
        prepared = folder / "stage1.bc"
        self._step("compile", [*opt, "-passes=preserve-nvvm", stage, "-o", prepared])
        for number, (library, function) in enumerate(imports, start=2):
            following = folder / f"stage{number}.bc"
            command = [sys.executable, IMPORTER, prepared, library, function, following, "--llvm", self.libllvm]
            self._step("import", [*command, *(["--typed"] if typed else [])])
            prepared = following
        derived = folder / "derived.bc"
        # Enzyme 0.0.289 gives NaN for the shuffles with undefined lanes that SLP vectorisation makes before it
        scalar = ["-vectorize-slp=false", "-vectorize-loops=false"]
        self._step("enzyme", [*opt, *scalar, f"-passes={passes}", prepared, "-o", derived])
        # -O1: at -O2 LLVM 15 can merge loads through Enzyme's invariant.group marks and give a wrong number;
        # prefix data holds addresses inside .text, which a position-independent program must not need
        linked = [self.clang, "-O1", "-no-pie", *clang_typed, derived, "-o", program, *link, "-lm"]
        self._step("link", [*linked, *(f"-Wl,-rpath,{library.parent}" for library in link)])
        return [float(word) for word in self._step("run", [program]).split()]

    def _step(self, step: str, command: Sequence[object]) -> str:
        done = subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise EnzymeError(step, f"exit code {done.returncode}: {done.stderr[-6000:]}")
        return done.stdout
