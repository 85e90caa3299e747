"""Stated derivatives on the real Enzyme: every rule of a corpus, under every pattern of activity, in both modes.

`stated/corpus.toml` has the rules and `stated/kernels.c` the calls; the derivatives are compared with closed forms.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from enzyme_build.manifest import Manifest
from enzyme_build.pipeline import LibraryOptions, finalize_library
from enzyme_build.rules.load import load_rules
from enzyme_build.toolchain import consumer, find_toolchain
from support.enzyme import AGGRESSIVE, OPTIMISED, Enzyme, EnzymeError
from support.library import build_library, native_library

FOLDER = Path(__file__).parent / "stated"
INCLUDE = [f"-I{FOLDER}"]
AT = (0.7, 1.3)
BOTH = pytest.mark.parametrize("typed", [False, True], ids=["opaque-pointers", "typed-pointers"])

_spec = importlib.util.spec_from_file_location("closed_forms", FOLDER / "closed_forms.py")
assert _spec is not None
assert _spec.loader is not None
forms = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(forms)

SHOW = """
double %(name)s(const double *x);
static void show_%(name)s(void) {
    double x[2] = {%(u)r, %(v)r}, d[2] = {0, 0}, left[2] = {1, 0}, right[2] = {0, 1};
    %(reverse)s
    %(forward)s
}
"""
REVERSE = '__enzyme_autodiff((void *)%(name)s, x, d); printf("%%.17g %%.17g\\n", d[0], d[1]);'
FORWARD = (
    'printf("%%.17g ", __enzyme_fwddiff((void *)%(name)s, x, left));'
    'printf("%%.17g\\n", __enzyme_fwddiff((void *)%(name)s, x, right));'
)


@dataclass(frozen=True, kw_only=True)
class Built:
    """The finalized library with the kernels, the native one with the functions, and the manifest."""

    library: Path
    native: Path
    manifest: Manifest


def build(enzyme: Enzyme, folder: Path, *, typed: bool, bodies: bool = False) -> Built:
    """Build and finalize the kernels; with `bodies` the functions of the corpus are in their bitcode."""
    corpus, kernels = ((FOLDER / name).read_text(encoding="utf-8") for name in ("corpus.c", "kernels.c"))
    nothing = "int nothing;"
    include = f'#include "{FOLDER / "corpus.h"}"\n'
    native = native_library(
        enzyme, folder / "native", "corpus", nothing if bodies else corpus.replace('#include "corpus.h"', include)
    )
    sources = {"kernels.c": kernels, **({"corpus.c": corpus} if bodies else {})}
    library = build_library(enzyme, folder, "kernels", sources, typed=typed, flags=INCLUDE, link=[native])
    reader = consumer("julia-1.10" if typed else "llvm-15")
    options = LibraryOptions(
        consumers=(reader,), rules=load_rules(["corpus.toml"], root=FOLDER), include_directories=(FOLDER,)
    )
    manifest = finalize_library(library, options, toolchain=find_toolchain([reader]))
    return Built(library=library, native=native, manifest=manifest)


@pytest.fixture(scope="module", params=[False, True], ids=["opaque-pointers", "typed-pointers"])
def typed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def built(enzyme: Enzyme, typed: bool, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(enzyme, tmp_path_factory.mktemp("stated"), typed=typed)


def host(names: list[str], *, reverse: bool = True, forward: bool = True) -> str:
    parts = []
    for name in names:
        fill = {"name": name, "u": AT[0], "v": AT[1]}
        mode = {"reverse": REVERSE % fill if reverse else "(void)d;", "forward": FORWARD % fill if forward else ""}
        parts.append(SHOW % {**fill, **mode})
    calls = "".join(f"    show_{name}();\n" for name in names)
    return "extern int enzyme_dup;\n" + "".join(parts) + f"int main(void) {{\n{calls}    return 0;\n}}\n"


def tolerance(name: str) -> float:
    return 2e-5 if re.search("cubef|mixed", name) else 1e-9  # these compute in single precision


def misses(found: list[float], kernels: dict[str, object]) -> list[str]:
    """Return what differs from the closed forms; four numbers are found for each kernel, two of each mode."""
    wrong = []
    for index, (name, form) in enumerate(kernels.items()):
        expected = forms.gradient(form, AT)
        for mode, numbers in (("reverse", found[4 * index :][:2]), ("forward", found[4 * index :][2:4])):
            if numbers != pytest.approx(expected, rel=tolerance(name), abs=tolerance(name)):
                wrong.append(f"{name}, {mode}: {numbers}, expected {expected}")
    return wrong


def test_every_rule_was_attached(built: Built) -> None:
    assert [(rule.symbol, rule.problems) for rule in built.manifest.rules if rule.problems] == []
    stated = [rule for rule in built.manifest.rules if rule.kind == "derivative"]
    assert len(stated) >= 25
    assert {rule.symbol for rule in built.manifest.rules if rule.kind == "inactive"} == {
        "noise",
        "log_value",
        "log_text",
    }


def test_the_corpus_and_the_closed_forms_are_the_same() -> None:
    names = re.findall(r"PATTERNS\((\w+)\)", (FOLDER / "patterns.h").read_text(encoding="utf-8"))
    assert names == list(forms.USES)


def test_every_rule_under_every_pattern(enzyme: Enzyme, built: Built, tmp_path: Path, typed: bool) -> None:
    kernels = forms.KERNELS
    found = enzyme.differentiate(
        host(list(kernels)), tmp_path, imports=[(built.library, "overwritten")], typed=typed, link=[built.native]
    )
    assert len(found) == 4 * len(kernels)
    assert misses(found, kernels) == []


@pytest.mark.parametrize("passes", [OPTIMISED, AGGRESSIVE], ids=["optimised", "aggressive"])
def test_after_other_passes(enzyme: Enzyme, built: Built, tmp_path: Path, typed: bool, passes: str) -> None:
    kernels = {name: form for name, form in forms.KERNELS.items() if name.startswith(("all_", "loop_", "over", "lit"))}
    found = enzyme.differentiate(
        host(list(kernels)),
        tmp_path,
        imports=[(built.library, "overwritten")],
        typed=typed,
        passes=passes,
        link=[built.native],
    )
    assert misses(found, kernels) == []


def test_inactive_pointers_in_reverse_mode(enzyme: Enzyme, built: Built, tmp_path: Path, typed: bool) -> None:
    kernels = forms.INACTIVE_POINTER
    found = enzyme.differentiate(
        host(list(kernels), forward=False),
        tmp_path,
        imports=[(built.library, "overwritten")],
        typed=typed,
        link=[built.native],
    )
    expected = [number for form in kernels.values() for number in forms.gradient(form, AT)]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", list(forms.INACTIVE_POINTER))
def test_inactive_pointers_in_forward_mode_are_refused(
    enzyme: Enzyme, built: Built, tmp_path: Path, typed: bool, name: str
) -> None:
    with pytest.raises(EnzymeError, match=r"No forward mode derivative found for (energy|axpy)"):
        enzyme.differentiate(
            host([name], reverse=False),
            tmp_path,
            imports=[(built.library, "overwritten")],
            typed=typed,
            link=[built.native],
        )


def test_what_a_rule_calls_const_has_no_derivative(enzyme: Enzyme, built: Built, tmp_path: Path, typed: bool) -> None:
    found = enzyme.differentiate(
        host(["given_table"]), tmp_path, imports=[(built.library, "overwritten")], typed=typed, link=[built.native]
    )
    u, v = AT
    value = u**3 + v**2
    # d/du of the sum w[i] * x[i]^2 with w[0] = u held fixed
    assert found == pytest.approx([2 * u * u * v, value + 2 * v * v] * 2, rel=1e-12)


LEAKS = """
#include <malloc.h>
%(declared)s
static double sink;
static void all(void) {
    double x[2] = {0.7, 1.3}, d[2] = {0, 0}, e[2] = {1, 0};
%(calls)s}
int main(void) {
    all();
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 20; i++) all();
    printf("%%d\\n", (int)(mallinfo2().uordblks - before));
    return 0;
}
"""


def test_every_tape_is_freed(
    enzyme: Enzyme, built: Built, tmp_path: Path, typed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")  # what lies there counts as in use
    names = [name for name in forms.KERNELS if name.startswith(("all_", "loop_"))]
    names = [name for name in names if "pool" not in name]  # an [[allocation]], not a tape
    calls = [
        f"    __enzyme_autodiff((void *){name}, enzyme_dup, x, d);\n"
        f"    sink += __enzyme_fwddiff((void *){name}, enzyme_dup, x, e);\n"
        for name in names
    ]
    declared = "".join(f"double {name}(const double *x);\n" for name in names)
    found = enzyme.differentiate(
        LEAKS % {"declared": declared, "calls": "".join(calls)},
        tmp_path,
        imports=[(built.library, "overwritten")],
        typed=typed,
        link=[built.native],
    )
    assert found == [0]


def test_functions_with_a_body(enzyme: Enzyme, tmp_path: Path) -> None:
    built = build(enzyme, tmp_path, typed=False, bodies=True)
    kernels = {**forms.KERNELS, **forms.INACTIVE_POINTER}
    found = enzyme.differentiate(
        host(list(kernels)), tmp_path / "host", imports=[(built.library, "overwritten")], link=[built.native]
    )
    assert misses(found, kernels) == []


OTHER_NAMES = """
[[derivative]]
prototype = "void Halve(const double *x, double *out)"   # Fortran: the symbol is halve_
partials = { "out/x" = "50" }

[[derivative]]
prototype = "double inside(double x, int n)"             # static in the source
partials = { x = "100 * n" }

[[derivative]]
prototype = "double elsewhere(const struct unknown *p)"  # of another library, whose header is not here
include = ["unknown.h"]
partials = { "p.x" = "1" }
"""
OTHER_SOURCE = """
void halve_(const double *x, double *out);
static __attribute__((noinline)) double inside(double x, int n) { return n * x; }
double kernel(const double *x) { double half; halve_(x, &half); return half * x[1] + inside(x[1], 3); }
"""


@BOTH
def test_names_that_are_not_the_symbol(enzyme: Enzyme, tmp_path: Path, typed: bool) -> None:
    (tmp_path / "rules.toml").write_text(OTHER_NAMES, encoding="utf-8")
    text = "void halve_(const double *x, double *out) { *out = *x / 2; }"
    native = native_library(enzyme, tmp_path / "native", "halve", text)
    library = build_library(enzyme, tmp_path, "other", {"other.c": OTHER_SOURCE}, typed=typed, link=[native])
    reader = consumer("julia-1.10" if typed else "llvm-15")
    options = LibraryOptions(consumers=(reader,), rules=load_rules(["rules.toml"], root=tmp_path))
    manifest = finalize_library(library, options, toolchain=find_toolchain([reader]))
    found = [(rule.symbol, [problem.finding for problem in rule.problems]) for rule in manifest.rules]
    assert found == [("halve_", []), ("inside", []), ("elsewhere", ["EB008"])]
    numbers = enzyme.differentiate(
        host(["kernel"]), tmp_path / "host", imports=[(library, "kernel")], typed=typed, link=[native]
    )
    u, v = AT
    assert numbers == pytest.approx([50 * v, u / 2 + 300] * 2, rel=1e-12)
