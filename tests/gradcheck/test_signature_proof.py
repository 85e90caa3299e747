"""Each mutation of a right rule is a finding with the expected prototype, and Enzyme never meets the rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from enzyme_build import pipeline
from enzyme_build.check.run import check_paths
from enzyme_build.cli import main
from enzyme_build.manifest import Manifest, manifest_path, read_manifest
from enzyme_build.rules.load import load_rules
from enzyme_build.toolchain import consumer
from support.enzyme import Enzyme
from support.library import build_library

PRIMALS = {
    "scalars": ("double NAME(double x, double y)", "{ return x * x * y; }"),
    "single": ("double NAME(double x)", "{ return x * x; }"),
    "triple": ("double NAME(double x, double y, double z)", "{ return x * y * z; }"),
    "floats": ("float NAME(float x, float y)", "{ return x * y; }"),
    "pointers": ("void NAME(const double *x, double *out)", "{ *out = *x * *x; }"),
    "counted": (
        "double NAME(const double *x, int n)",
        "{ double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }",
    ),
    "pointer result": ("double *NAME(double *x, int i)", "{ return x + i; }"),
    "status": ("int NAME(double x, double *y)", "{ *y = 2 * x; return 0; }"),
    "by value": ("double NAME(struct two v)", "{ return v.x * v.y; }"),
}
RIGHT = {
    "scalars": ("double aug_NAME(double x, double y)", "struct two grad_NAME(double x, double y, double seed)"),
    "single": ("double aug_NAME(double x)", "double grad_NAME(double x, double seed)"),
    "triple": ("double aug_NAME(double x, double y, double z)", ""),
    "floats": ("float aug_NAME(float x, float y)", ""),
    "pointers": (
        "void *aug_NAME(const double *x, double *d_x, double *out, double *d_out)",
        "void grad_NAME(const double *x, double *d_x, double *out, double *d_out, void *tape)",
    ),
    "counted": (
        "double aug_NAME(const double *x, double *d_x, int n, int n2)",
        "void grad_NAME(const double *x, double *d_x, int n, int n2, double seed)",
    ),
    "pointer result": (
        "struct both aug_NAME(double *x, double *d_x, int i, int i2)",
        "void grad_NAME(double *x, double *d_x, int i, int i2)",
    ),
    "status": ("int aug_NAME(double x, double *y, double *d_y)", "double grad_NAME(double x, double *y, double *d_y)"),
    "by value": (
        "double aug_NAME(struct two v, struct two *d_v)",
        "void grad_NAME(struct two v, struct two *d_v, double seed)",
    ),
}
PRELUDE = """
struct two { double x, y; }; struct two_floats { float x, y; }; struct three { double x, y, z; };
struct both { double *p, *d_p; }; struct taped { void *tape; double primal; }; struct swapped { double primal; void *tape; };
struct pair { double primal, tangent; };
"""


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A rule for the primal of a shape in which one function is declared as it must not be; `says` is in the finding."""

    shape: str
    augmented: str | None = None
    gradient: str | None = None
    tangent: str | None = None
    prototype: str | None = None
    says: str
    expects: str  # in the fix
    finding: str = "EB010"


MUTATIONS = {
    "arity of augmented": Mutation(
        shape="pointers",
        augmented="void *aug_NAME(const double *x, double *out)",
        says="it takes 2 parameters, 4 are needed",
        expects="void *aug_NAME(const double *x, double *d_x, double *out, double *d_out)",
    ),
    "arity of gradient": Mutation(
        shape="pointers",
        gradient="void grad_NAME(const double *x, double *out, void *tape)",
        says="it takes 3 parameters, 5 are needed",
        expects="void grad_NAME(const double *x, double *d_x, double *out, double *d_out, void *tape)",
    ),
    "float for double": Mutation(
        shape="scalars",
        augmented="double aug_NAME(float x, double y)",
        says="parameter 0 is 'float', 'double' is needed",
        expects="double aug_NAME(double x, double y)",
    ),
    "pointer for value": Mutation(
        shape="scalars",
        augmented="double aug_NAME(double *x, double y)",
        says="'double' is needed",
        expects="double aug_NAME(double x, double y)",
    ),
    "value for pointer": Mutation(
        shape="pointers",
        augmented="void *aug_NAME(const double *x, double d_x, double *out, double *d_out)",
        says="parameter 1 is 'double'",
        expects="double *d_x",
    ),
    "missing tape": Mutation(
        shape="pointers",
        gradient="void grad_NAME(const double *x, double *d_x, double *out, double *d_out)",
        says="it takes no tape, and aug_NAME returns one",
        expects="double *d_out, void *tape)",
    ),
    "tape that no one makes": Mutation(
        shape="counted",
        gradient="void grad_NAME(const double *x, double *d_x, int n, int n2, double seed, void *tape)",
        says="it takes a tape",
        expects="void grad_NAME(const double *x, double *d_x, int n, int d_n, double d_result)",
    ),
    "tape of another type": Mutation(
        shape="pointers",
        gradient="void grad_NAME(const double *x, double *d_x, double *out, double *d_out, long tape)",
        says="its tape is 'i64'",
        expects="void *tape)",
    ),
    "tape by value": Mutation(
        shape="pointers",
        augmented="struct two aug_NAME(const double *x, double *d_x, double *out, double *d_out)",
        says="return the tape as a pointer",
        expects="void *aug_NAME(",
    ),
    "missing primal return": Mutation(
        shape="scalars",
        augmented="void aug_NAME(double x, double y)",
        says="it must return the result 'double'",
        expects="double aug_NAME(double x, double y)",
    ),
    "only a tape returned": Mutation(
        shape="single",
        augmented="void *aug_NAME(double x)",
        gradient="double grad_NAME(double x, double seed, void *tape)",
        says="the result 'double' is missing",
        expects="struct aug_NAME_result { void *tape; double primal; }",
    ),
    "struct members in another order": Mutation(
        shape="single",
        augmented="struct swapped aug_NAME(double x)",
        gradient="double grad_NAME(double x, double seed, void *tape)",
        says="the tape comes first, then the result",
        expects="struct aug_NAME_result { void *tape; double primal; }",
    ),
    "shadow of a pointer result missing": Mutation(
        shape="pointer result",
        augmented="double *aug_NAME(double *x, double *d_x, int i, int i2)",
        says="it must return the pointer and the shadow of that pointer",
        expects="struct aug_NAME_result { double *primal; double *shadow; }",
    ),
    "seed first": Mutation(
        shape="counted",
        gradient="void grad_NAME(double seed, const double *x, double *d_x, int n, int n2)",
        says="comes after all parameters, not first",
        expects="int n, int d_n, double d_result)",
    ),
    "seed missing": Mutation(
        shape="counted",
        gradient="void grad_NAME(const double *x, double *d_x, int n, int n2)",
        says="it does not take the adjoint of the result",
        expects="double d_result)",
    ),
    "seed of another type": Mutation(
        shape="counted",
        gradient="void grad_NAME(const double *x, double *d_x, int n, int n2, float seed)",
        says="'double' is needed",
        expects="double d_result)",
    ),
    "shadow pointer for a scalar": Mutation(
        shape="single",
        gradient="double grad_NAME(double x, double *d_x, double seed)",
        says="it takes 3 parameters, 2 are needed",
        expects="double grad_NAME(double x, double d_result)",
    ),
    "int given a shadow": Mutation(
        shape="counted",
        augmented="double aug_NAME(const double *x, double *d_x, int n, int *d_n)",
        says="parameter 3 is",
        expects="double aug_NAME(const double *x, double *d_x, int n, int d_n)",
    ),
    "int without a second copy": Mutation(
        shape="counted",
        augmented="double aug_NAME(const double *x, double *d_x, int n)",
        says="it takes 3 parameters, 4 are needed",
        expects="int n, int d_n)",
    ),
    "gradient returns nothing": Mutation(
        shape="scalars",
        gradient="void grad_NAME(double x, double y, double seed)",
        says="it must return the adjoints of the floating-point scalars",
        expects="struct grad_NAME_result { double x; double y; }",
    ),
    "gradient returns one of two": Mutation(
        shape="scalars",
        gradient="double grad_NAME(double x, double y, double seed)",
        says="'{ double, double }', not 'double'",
        expects="struct grad_NAME_result { double x; double y; }",
    ),
    "gradient returns another type": Mutation(
        shape="single",
        gradient="float grad_NAME(double x, double seed)",
        says="'double', not 'float'",
        expects="double grad_NAME(double x, double d_result)",
    ),
    "gradient returns three doubles": Mutation(
        shape="triple",
        gradient="struct three grad_NAME(double x, double y, double z, double seed)",
        says="its struct is returned through memory (sret)",
        expects="C has no such function on common targets",
    ),
    "gradient returns two floats": Mutation(
        shape="floats",
        gradient="struct two_floats grad_NAME(float x, float y, float seed)",
        says="this target returns the struct as '<2 x float>'",
        expects="C has no such function on common targets",
    ),
    "tangent alone": Mutation(
        shape="single",
        tangent="double fwd_NAME(double x, double d_x)",
        says="it must return the result and its tangent",
        expects="struct fwd_NAME_result { double primal; double tangent; }",
    ),
    "tangents of inputs missing": Mutation(
        shape="single",
        tangent="struct pair fwd_NAME(double x)",
        says="it takes 1 parameters, 2 are needed",
        expects="fwd_NAME(double x, double d_x)",
    ),
    "reverse rule of a status": Mutation(
        shape="status", says="returns an integer", expects="stores the integer through a pointer", finding="EB011"
    ),
    "struct by value": Mutation(
        shape="by value",
        says="the prototype of NAME is not the one in the bitcode",
        expects="correct the prototype",
        prototype="float NAME(struct two v, int extra, ...)",
    ),
    "prototype with other parameters": Mutation(
        shape="scalars",
        prototype="double NAME(double x)",
        says="it has 1 parameters, the function 2",
        expects="correct the prototype 'double NAME(double x)'",
    ),
    "prototype with another kind": Mutation(
        shape="counted",
        prototype="double NAME(const double *x, double n)",
        says="parameter 1 is 'double', the function's is 'i32'",
        expects="correct the prototype",
    ),
    "prototype with another result": Mutation(
        shape="scalars",
        prototype="float NAME(double x, double y)",
        says="it returns 'float', the function 'double'",
        expects="correct the prototype",
    ),
}
NAMES = {mutation: f"f{index}" for index, mutation in enumerate(MUTATIONS)}
BOTH = ["opaque-pointers", "typed-pointers"]


def _body(declaration: str) -> str:
    """Return a definition; what it computes is of no matter, since it must not be used."""
    result = declaration.split("aug_", maxsplit=1)[0].split("grad_", maxsplit=1)[0].split("fwd_", maxsplit=1)[0].strip()
    returned = (
        ""
        if result == "void"
        else f"static {result} nothing; return nothing;".replace("static void *", "static void *")
    )
    return f"{declaration} {{ {returned} }}"


def _source(mutation: Mutation, name: str) -> tuple[str, str]:
    """Return the C text of primal and rule, and the rule."""
    declaration, body = PRIMALS[mutation.shape]
    right = RIGHT[mutation.shape]
    parts = [f"__attribute__((noinline)) {declaration} {body}"]
    lines = ["[[derivative]]", f'prototype = "{mutation.prototype or declaration}"']
    if mutation.tangent is None:
        parts += [_body(mutation.augmented or right[0]), _body(mutation.gradient or right[1])]
        lines.append('reverse = { augmented = "aug_NAME", gradient = "grad_NAME" }')
    else:
        parts.append(_body(mutation.tangent))
        lines.append('forward = { tangent = "fwd_NAME" }')
    return "\n".join(parts).replace("NAME", name), "\n".join(lines).replace("NAME", name)


KERNEL = """
double kernel(double x) {
  double out = 0, buffer[2] = {x, x};
  return %s;
}
"""
CALLS = {
    "scalars": "NAME(x, 3)",
    "single": "NAME(x)",
    "triple": "NAME(x, 2, 3)",
    "floats": "NAME((float)x, 2)",
    "pointers": "(NAME(&x, &out), out)",
    "counted": "NAME(buffer, 2)",
    "pointer result": "*NAME(buffer, 1)",
    "status": "(NAME(x, &out), out)",
    "by value": "NAME((struct two){x, 2})",
}


@pytest.fixture(scope="module", params=BOTH)
def mutants(
    request: pytest.FixtureRequest, enzyme: Enzyme, toolchain_15, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Manifest, bool]:
    folder = tmp_path_factory.mktemp("mutants")
    typed = request.param == BOTH[1]
    sources = [_source(mutation, NAMES[name]) for name, mutation in MUTATIONS.items()]
    calls = " + ".join(CALLS[mutation.shape].replace("NAME", NAMES[name]) for name, mutation in MUTATIONS.items())
    text = PRELUDE + "\n".join(code for code, _ in sources) + KERNEL % calls
    library = build_library(enzyme, folder, "mutants", {"mutants.c": text}, typed=typed)
    (folder / "rules.toml").write_text("\n".join(rule for _, rule in sources))
    consumers = (consumer("julia-1.10"),) if typed else ()
    options = pipeline.LibraryOptions(rules=load_rules(["rules.toml"], root=folder), consumers=consumers)
    pipeline.finalize_library(library, options, toolchain=toolchain_15)
    manifest = read_manifest(manifest_path(library))
    assert manifest.bitcode is not None
    assert manifest.bitcode.pointers.value == ("typed" if typed else "opaque")
    return library, manifest, typed


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutation_is_a_finding_with_the_expected_prototype(mutants: tuple[Path, Manifest, bool], name: str) -> None:
    _, manifest, _ = mutants
    mutation, symbol = MUTATIONS[name], NAMES[name]
    problems = next(rule.problems for rule in manifest.rules if rule.symbol == symbol)
    assert problems, f"{name} was accepted"
    assert {problem.finding for problem in problems} == {mutation.finding}
    assert mutation.says.replace("NAME", symbol) in " ".join(problem.text for problem in problems)
    assert mutation.expects.replace("NAME", symbol) in " ".join(problem.fix for problem in problems)
    if mutation.finding == "EB010" and mutation.prototype is None:
        assert "; expected " in problems[0].text
        assert "found " in problems[0].text


def test_enzyme_never_meets_such_a_rule(mutants: tuple[Path, Manifest, bool], enzyme: Enzyme, tmp_path: Path) -> None:
    """Rules that do not fit are not attached: Enzyme differentiates the bodies, and the numbers are theirs."""
    library, _, typed = mutants
    host = """double kernel(double x);
        double outer(double x) { return kernel(x); }
        int main(void) {
          printf("%.17g ", __enzyme_autodiff((void *)outer, 2.0));
          printf("%.17g\\n", __enzyme_fwddiff((void *)outer, 2.0, 1.0));
        }"""
    x = 2.0
    slopes = {
        "scalars": 6 * x,
        "single": 2 * x,
        "triple": 6,
        "floats": 2,
        "pointers": 2 * x,
        "counted": 2,
        "pointer result": 1,
        "status": 2,
        "by value": 2,
    }
    expected = sum(slopes[mutation.shape] for mutation in MUTATIONS.values())
    found = enzyme.differentiate(host, tmp_path, imports=[(library, "kernel")], typed=typed)
    assert found == pytest.approx([expected, expected], rel=1e-6)


def test_check_and_gradcheck_say_the_same(
    mutants: tuple[Path, Manifest, bool], capsys: pytest.CaptureFixture[str]
) -> None:
    library, _, _ = mutants
    named = {finding.symbol for finding in check_paths([library]).errors}
    assert named >= set(NAMES.values())
    assert main(["gradcheck", str(library), "--no-plugin", "--symbol", NAMES["missing tape"]]) == 1
    text = capsys.readouterr().out
    assert f"failed: {NAMES['missing tape']} (reverse)" in text
    assert "EB010" in text
    assert "it takes no tape" in text


def test_the_unmutated_rules_fit(enzyme: Enzyme, make: Callable[..., Path], tmp_path: Path, toolchain_15) -> None:
    shapes = [shape for shape in PRIMALS if RIGHT[shape][1] and shape not in ("status", "by value")]
    sources = [_source(Mutation(shape=shape, says="", expects=""), f"g{index}") for index, shape in enumerate(shapes)]
    text = PRELUDE + "\n".join(code for code, _ in sources)
    library = build_library(enzyme, tmp_path, "right", {"right.c": text})
    (tmp_path / "rules.toml").write_text("\n".join(rule for _, rule in sources))
    options = pipeline.LibraryOptions(rules=load_rules(["rules.toml"], root=tmp_path))
    manifest = pipeline.finalize_library(library, options, toolchain=toolchain_15)
    assert [rule.problems for rule in manifest.rules] == [()] * len(shapes)
