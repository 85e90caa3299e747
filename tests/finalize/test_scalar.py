"""The finished module is scalar: what the optimiser could vectorise is left to whoever optimises after Enzyme."""

from __future__ import annotations

from pathlib import Path

from support.enzyme import Enzyme
from support.library import build_library, finalize

# two divisions side by side, which LLVM 15 puts into one of <2 x double> where nothing stops it
SOURCE = """
void pairs(const double *x, double *out) {
    out[0] = x[0] / 3.0 + x[2];
    out[1] = x[1] / 5.0 + x[3];
}
double total(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }
"""


def test_neither_loops_nor_neighbours_are_vectorised(enzyme: Enzyme, tmp_path: Path) -> None:
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": SOURCE}, flags=["-ffast-math"])
    facts = finalize(enzyme, library)
    assert {function.name: function.vector_operations for function in facts.functions if function.defined} == {
        "pairs": 0,
        "total": 0,
    }


def test_vectors_of_the_source_are_counted(enzyme: Enzyme, tmp_path: Path) -> None:
    source = "typedef double two __attribute__((vector_size(16)));\ntwo half(two x) { return x / 2.0 + x; }\n"
    facts = finalize(enzyme, build_library(enzyme, tmp_path, "kernel", {"kernel.c": source}))
    assert [function.vector_operations for function in facts.functions] == [2]
