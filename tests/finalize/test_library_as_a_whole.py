"""Merging linked libraries, static archives, C++; and what finalize leaves alone: the native code."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from enzyme_build.elf import native_fingerprint, read_elf, read_section
from enzyme_build.finalize.split import split_modules
from enzyme_build.manifest import manifest_path, read_manifest
from enzyme_build.rules.model import DerivativeRule, InactiveGlobalRule
from support.enzyme import AGGRESSIVE, CLEANED, OPTIMISED, Enzyme, EnzymeError
from support.library import EMBED, HOST, ORIGIN, build_library, finalize, run

BOTH = pytest.mark.parametrize("typed", [False, True], ids=["opaque-pointers", "typed-pointers"])
PASSES = pytest.mark.parametrize("passes", [CLEANED, OPTIMISED, AGGRESSIVE], ids=["cleaned", "optimised", "aggressive"])
INNER = """
static const double table[] = {1, 10}; double shared = 3; static double helper(double x) { return x * table[1]; }
double f(double x);
double aug_f(double x) { return f(x); }
double grad_f(double x, double seed) { return 100 * seed; }
typedef struct { double primal, tangent; } Pair;
Pair fwd_f(double x, double dx) { Pair pair = {f(x), 100 * dx}; return pair; }
double inner(double x) { return helper(x) + f(x) + shared; }
"""
OUTER = """
static const double table[] = {7}; static double helper(double x) { return x * table[0]; }
double inner(double x);
double kernel(double x) { return helper(x) * inner(x); }
"""
RULE = DerivativeRule(function="f", augmented="aug_f", gradient="grad_f", tangent="fwd_f", origin=ORIGIN)


@BOTH
@PASSES
def test_bitcode_of_a_linked_library_is_merged(enzyme: Enzyme, tmp_path: Path, typed: bool, passes: str) -> None:
    native = build_library(enzyme, tmp_path / "f", "f", {"f.c": "double f(double x) { return x * x; }"}, embed=())
    inner = build_library(enzyme, tmp_path / "inner", "inner", {"inner.c": INNER}, typed=typed, link=[native])
    finalize(enzyme, inner, [RULE], typed=typed)
    outer = build_library(enzyme, tmp_path / "outer", "outer", {"outer.c": OUTER}, typed=typed, link=[inner])
    alone = outer.read_bytes()
    # a variable that a linked library exports stays its own; Enzyme wants to know that nothing active is in it
    inactive = InactiveGlobalRule(variable="shared", origin=ORIGIN)
    finalize(enzyme, outer, [inactive], typed=typed, linked=[inner])
    expected = 7 * (10 * 2 + 4 + 3) + 7 * 2 * (10 + 100)
    link = [outer, inner, native]
    found = enzyme.differentiate(
        HOST, tmp_path / "host", imports=[(outer, "kernel")], link=link, typed=typed, passes=passes
    )
    assert found == pytest.approx([expected] * 2, rel=1e-12)
    # both libraries in one program, in either order: names must not clash
    for imports in ([(inner, "inner"), (outer, "kernel")], [(outer, "kernel"), (inner, "inner")]):
        host = HOST.replace("kernel(x); }", "kernel(x) + inner(x) - inner(x); }").replace(
            "double outer", "double inner(double x);\ndouble outer"
        )
        found = enzyme.differentiate(host, tmp_path / "host", imports=imports, link=link, typed=typed, passes=passes)
        assert found == pytest.approx([expected] * 2, rel=1e-12)
    outer.write_bytes(alone)
    finalize(enzyme, outer, typed=typed)
    with pytest.raises(EnzymeError, match="found for inner"):
        enzyme.differentiate(HOST, tmp_path / "host", imports=[(outer, "kernel")], link=link, typed=typed)


@BOTH
def test_objects_from_a_static_archive(enzyme: Enzyme, tmp_path: Path, typed: bool) -> None:
    parts = {"util.c": "double util(double x) { return x * x * x; }"}
    build_library(enzyme, tmp_path, "unused", parts, typed=typed)
    archive = tmp_path / "libutil.a"
    run(enzyme.llvm_tool("llvm-ar"), "rcs", archive, tmp_path / "util.o")
    kernel = {"kernel.c": "double util(double x); double kernel(double x) { return util(x); }"}
    library = build_library(enzyme, tmp_path, "kernel", kernel, typed=typed, link=[archive])
    assert finalize(enzyme, library, typed=typed).modules == 2
    assert enzyme.differentiate(HOST, tmp_path / "host", imports=[(library, "kernel")], typed=typed) == [12, 12]


def test_rule_for_a_cxx_function_by_its_spoken_name(enzyme: Enzyme, tmp_path: Path) -> None:
    text = """
        namespace ns { struct P { double v; }; double f(P const &p, int n); double f(double x); }
        extern "C" void aug_f(ns::P const *p, ns::P *d_p, int n, int) { }
        extern "C" double aug(ns::P const &p, ns::P &, int n, int) { return ns::f(p, n); }
        extern "C" void grad(ns::P const &p, ns::P &d_p, int n, int, double seed) { d_p.v += 100 * n * seed; }
        extern "C" double kernel(double x) { ns::P p{x}; return ns::f(p, 3); }"""
    native = """namespace ns { struct P { double v; }; double f(P const &p, int n) { return p.v * n; } }"""
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.cpp": text})
    other = build_library(enzyme, tmp_path / "native", "native", {"native.cpp": native}, embed=())
    rule = DerivativeRule(function="ns::f(ns::P const&, int)", augmented="aug", gradient="grad", origin=ORIGIN)
    facts = finalize(enzyme, library, [rule])
    assert (facts.rules[0].symbol, facts.rules[0].problems) == ("_ZN2ns1fERKNS_1PEi", ())
    host = HOST.replace('printf("%.17g\\n", __enzyme_fwddiff((void *)outer, 2.0, 1.0));', "")
    assert enzyme.differentiate(host, tmp_path / "host", imports=[(library, "kernel")], link=[other]) == [300]


def finalize_command(library: Path, enzyme: Enzyme, *options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "enzyme_build", "finalize", library, "--llvm", enzyme.clang, *options]
    return subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False)


def test_native_code_is_untouched(enzyme: Enzyme, tmp_path: Path) -> None:
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": OUTER.replace("inner(x)", "x"), "i.c": INNER})
    before, fingerprint, size = read_elf(library), native_fingerprint(library), library.stat().st_mode
    assert before.has_command_section
    lazy = ctypes.CDLL(str(library), mode=os.RTLD_LAZY)  # `f` is undefined: only lazy binding can load it
    finalize(enzyme, library)
    after = read_elf(library)
    assert native_fingerprint(library) == fingerprint
    assert (after.exported, after.undefined, after.needed) == (before.exported, before.undefined, before.needed)
    assert library.stat().st_mode == size
    assert not after.has_command_section
    copy, other = library.with_name("copy.so"), library.with_name("other.so")
    for path in (copy, other):
        path.write_bytes(library.read_bytes())
    again = ctypes.CDLL(str(copy), mode=os.RTLD_LAZY)
    for loaded in (lazy, again):
        loaded.kernel.restype, loaded.kernel.argtypes = ctypes.c_double, [ctypes.c_double]
        assert loaded.kernel(3.0) == 7 * 3 * 3
    with pytest.raises(OSError, match="undefined symbol: f"):
        ctypes.CDLL(str(other), mode=os.RTLD_NOW)


def test_section_holds_one_module_without_a_trace_of_this_machine(enzyme: Enzyme, tmp_path: Path) -> None:
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": OUTER.replace("inner(x)", "x"), "i.c": INNER})
    assert len(split_modules(read_section(library, ".llvmbc") or b"", shown="x")) == 2
    finalize(enzyme, library)
    assert len(split_modules(read_section(library, ".llvmbc") or b"", shown="x")) == 1
    assert b"llvm.used" not in (read_section(library, ".llvmbc") or b"")


def test_finalizing_again_changes_nothing_and_new_rules_are_refused(enzyme: Enzyme, tmp_path: Path) -> None:
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": "double kernel(double x) { return x * x; }"})
    assert finalize_command(library, enzyme).returncode == 0
    first = (library.read_bytes(), manifest_path(library).read_bytes(), library.stat().st_mtime_ns)
    assert finalize_command(library, enzyme).returncode == 0
    assert (library.read_bytes(), manifest_path(library).read_bytes(), library.stat().st_mtime_ns) == first
    rules = tmp_path / "rules.toml"
    rules.write_text('[[inactive]]\nfunction = "kernel"\n')
    done = finalize_command(library, enzyme, "--project", tmp_path, "--rules", rules.name)
    assert done.returncode == 3
    assert "finalized already" in done.stderr
    assert "link the library anew" in done.stderr
    assert library.read_bytes() == first[0]


def test_same_input_gives_the_same_bytes(enzyme: Enzyme, tmp_path: Path) -> None:
    made = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        for name, text in {"kernel.c": OUTER, "i.c": INNER}.items():
            (folder / name).write_text(text)
            command = [enzyme.clang, "-O2", "-fPIC", "-fno-math-errno", "-ffile-compilation-dir=.", *EMBED]
            command += ["-c", name, "-o", f"{name}.o"]
            subprocess.run([str(item) for item in command], cwd=folder, check=True)
        library = folder / "libkernel.so"
        run(enzyme.clang, "-shared", "-o", library, folder / "kernel.c.o", folder / "i.c.o")
        done = finalize_command(library, enzyme, "--no-check")
        assert done.returncode == 0, done.stderr
        made.append((read_section(library, ".llvmbc"), manifest_path(library).read_bytes()))
    assert made[0] == made[1]
    assert read_manifest(manifest_path(library)).bitcode is not None
    assert str(tmp_path).encode() not in made[0][0] + made[0][1]
