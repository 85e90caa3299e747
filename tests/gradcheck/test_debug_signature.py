"""Debug information tells what an opaque pointer points to, and so a prototype that says otherwise is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_build import pipeline
from enzyme_build.finalize.debug_types import read_debug_signatures
from enzyme_build.rules.load import load_rules
from enzyme_build.toolchain import Toolchain, consumer
from support.enzyme import Enzyme
from support.library import build_library, native_library

CODE = """
typedef double real; struct state { double x; }; enum kind { ONE };
void outside(const float *x, double *out);
__attribute__((noinline)) void inside(const real *x, int n, double *restrict out) { *out = *x * n; }
__attribute__((noinline)) double mixed(struct state *s, enum kind k, void *h, double (*f)(double)) { return f(s->x) + k; }
double kernel(double x, float y, double (*f)(double)) {
  double out; struct state s = {x};
  inside(&x, 2, &out); outside(&y, &out); return out + mixed(&s, ONE, 0, f);
}
"""
# prototype: what is wrong with it, None when it is right
PROTOTYPES = {
    "void inside(const double *x, int n, double *out)": None,
    "void inside(const my_real *x, int n, double *out)": None,
    "void inside(const void *x, long n, double out[3])": None,
    "void inside(const float *x, int n, double *out)": "parameter 0 is 'const float *', the function's is 'double *'",
    "void inside(const double *x, int n, int *out)": "parameter 2 is 'int *', the function's is 'double *'",
    "void outside(const double *x, double *out)": "parameter 0 is 'const double *', the function's is 'float *'",
    "void outside(const float *x, double *out)": None,
    "double mixed(struct state *s, int k, void *h, double (*f)(double))": None,
    "double mixed(struct state *s, double *k, void *h, double (*f)(double))": "parameter 1 is 'double *', the function's is 'i32'",
}


@pytest.mark.parametrize("typed", [False, True], ids=["opaque-pointers", "typed-pointers"])
def test_prototypes_are_compared_with_debug_information(
    enzyme: Enzyme, toolchain_15: Toolchain, tmp_path: Path, typed: bool
) -> None:
    native = native_library(
        enzyme, tmp_path / "native", "outside", "void outside(const float *x, double *out) { *out = *x; }"
    )
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": CODE}, flags=["-g"], link=[native], typed=typed)
    before = library.read_bytes()
    found = {}
    for index, prototype in enumerate(PROTOTYPES):
        library.write_bytes(before)
        (tmp_path / f"{index}.toml").write_text(f'[[inactive]]\nprototype = "{prototype}"\n')
        options = pipeline.LibraryOptions(
            rules=load_rules([f"{index}.toml"], root=tmp_path), consumers=(consumer("julia-1.10"),) if typed else ()
        )
        manifest = pipeline.finalize_library(library, options, toolchain=toolchain_15)
        found[prototype] = manifest.rules[0].problems
    for prototype, expected in PROTOTYPES.items():
        problems = found[prototype]
        if expected is None:
            assert problems == (), prototype
            continue
        assert [problem.finding for problem in problems] == ["EB010"], prototype
        assert expected in problems[0].text
        assert "correct the prototype" in problems[0].fix


def test_without_debug_information_only_kinds_are_compared(
    enzyme: Enzyme, toolchain_15: Toolchain, tmp_path: Path
) -> None:
    native = native_library(
        enzyme, tmp_path / "native", "outside", "void outside(const float *x, double *out) { *out = *x; }"
    )
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": CODE}, link=[native])
    (tmp_path / "rules.toml").write_text('[[inactive]]\nprototype = "void outside(const double *x, double *out)"\n')
    options = pipeline.LibraryOptions(rules=load_rules(["rules.toml"], root=tmp_path))
    assert pipeline.finalize_library(library, options, toolchain=toolchain_15).rules[0].problems == ()


def test_what_cannot_be_told_is_left_out() -> None:
    text = """
!1 = !DISubprogram(name: "twice", type: !10)
!2 = distinct !DISubprogram(name: "twice", type: !11)
!3 = !DISubprogram(name: "method", linkageName: "_ZN1S6methodEv", type: !10)
!4 = !DISubprogram(name: "odd", type: !12)
!5 = !DISubprogram(name: "kept", type: !10)
!10 = !DISubroutineType(types: !20)
!11 = !DISubroutineType(types: !21)
!12 = !DISubroutineType(types: !22)
!20 = !{null, !30}
!21 = !{!30, !30}
!22 = !{null, !31}
!30 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!31 = !DIDerivedType(tag: DW_TAG_ptr_to_member_type, baseType: !30)
"""
    assert set(read_debug_signatures(text)) == {"kept"}
    assert read_debug_signatures("") == {}
