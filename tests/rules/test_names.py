"""Names as C, C++ and Fortran write them, against the symbols that clang and Fortran compilers make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from enzyme_build._run import capture
from enzyme_build.llvm.demangle import demangle
from enzyme_build.rules.names import resolve_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = """
namespace ns {
double f(double x) { return x; }
double f(const double *x, int n) { return x[n]; }
double g(const double *x, unsigned long n) { return x[n]; }
template <class T> T t(T x) { return x; }
template double t<double>(double);
template float t<float>(float);
struct S { double operator()(double) const; double m(double) const; };
double S::operator()(double x) const { return x; }
double S::m(double x) const { return x; }
}
double solo(float x) { return x; }
double apply(double (*f)(double), const char *) { return f(1); }
template <class T> T once(T x) { return x; }
template double once<double>(double);
extern "C" double plain(double x) { return x; }
"""

FORTRAN = ("daxpy_", "my_sub__", "__mod_MOD_solve", "_QMmodPother", "mod_mp_third_", "__a_MOD_twice", "__b_MOD_twice")


@pytest.fixture(scope="module")
def symbols(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    folder = tmp_path_factory.mktemp("names")
    (folder / "names.cpp").write_text(SOURCE)
    capture(["c++", "-c", "names.cpp", "-o", "names.o"], cwd=folder)
    listed = capture(["nm", "--defined-only", "names.o"], cwd=folder).stdout
    return (*(line.split()[-1] for line in listed.splitlines()), *FORTRAN)


@pytest.mark.parametrize(
    ("written", "symbol"),
    [
        ("plain", "plain"),
        ("_Z4solof", "_Z4solof"),
        ("solo", "_Z4solof"),
        ("solo(float)", "_Z4solof"),
        ("ns::f(double)", "_ZN2ns1fEd"),
        ("ns::f(const double*, int)", "_ZN2ns1fEPKdi"),
        ("ns::f(double const *,int)", "_ZN2ns1fEPKdi"),
        ("ns::g", "_ZN2ns1gEPKdm"),
        ("ns::g(const double *, unsigned long)", "_ZN2ns1gEPKdm"),
        ("ns::t<double>", "_ZN2ns1tIdEET_S1_"),
        ("ns::t<float>(float)", "_ZN2ns1tIfEET_S1_"),
        ("double ns::t<double>(double)", "_ZN2ns1tIdEET_S1_"),
        ("once", "_Z4onceIdET_S0_"),
        ("ns::S::m", "_ZNK2ns1S1mEd"),
        ("ns::S::operator()", "_ZNK2ns1SclEd"),
        ("apply(double (*)(double), const char *)", "_Z5applyPFddEPKc"),
        ("daxpy", "daxpy_"),
        ("DAXPY", "daxpy_"),
        ("my_sub", "my_sub__"),
        ("solve", "__mod_MOD_solve"),
        ("mod::solve", "__mod_MOD_solve"),
        ("Mod::Other", "_QMmodPother"),
        ("third", "mod_mp_third_"),
        ("b::twice", "__b_MOD_twice"),
    ],
)
def test_one_symbol_fits(symbols: tuple[str, ...], written: str, symbol: str) -> None:
    resolution = resolve_name(written, symbols, demangle)
    assert (resolution.symbol, resolution.reason) == (symbol, "")


@pytest.mark.parametrize(
    ("written", "candidates"),
    [
        ("ns::f", ("_ZN2ns1fEPKdi", "_ZN2ns1fEd")),
        ("ns::t", ("_ZN2ns1tIdEET_S1_", "_ZN2ns1tIfEET_S1_")),
        ("twice", ("__a_MOD_twice", "__b_MOD_twice")),
    ],
)
def test_several_symbols_fit(symbols: tuple[str, ...], written: str, candidates: tuple[str, ...]) -> None:
    resolution = resolve_name(written, symbols, demangle)
    assert (resolution.symbol, resolution.candidates) == (None, candidates)
    assert resolution.reason.startswith(f"{written!r} fits several functions: ")
    assert resolution.reason.endswith("; write one of them in full")


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("plane", "no function is named 'plane'; did you mean 'plain'?"),
        ("ns::ff", "no function is named 'ns::ff'; did you mean 'ns::f' or 'ns::g'?"),
        ("ns::f(float)", "no function is named 'ns::f(float)'"),
        ("c::twice", "no function is named 'c::twice'"),
        ("nothing_like_it_at_all", "no function is named 'nothing_like_it_at_all'"),
    ],
)
def test_no_symbol_fits(symbols: tuple[str, ...], written: str, reason: str) -> None:
    resolution = resolve_name(written, symbols, demangle)
    assert (resolution.symbol, resolution.candidates) == (None, ())
    assert resolution.reason.startswith(reason)


def test_the_demangler_is_not_asked_for_a_name_that_is_there(symbols: tuple[str, ...]) -> None:
    def never(names: Sequence[str]) -> Mapping[str, str]:
        raise AssertionError(names)

    assert resolve_name("plain", symbols, never).symbol == "plain"


def test_without_a_demangler_mangled_names_still_work(symbols: tuple[str, ...]) -> None:
    def none(names: Sequence[str]) -> Mapping[str, str]:
        return {name: name for name in names}

    assert resolve_name("_ZN2ns1fEd", symbols, none).symbol == "_ZN2ns1fEd"
    assert resolve_name("ns::f(double)", symbols, none).symbol is None


def test_demangle() -> None:
    names = ["_ZN2ns1fEd", "__ZN2ns1fEd", "plain", "_Z", "_Zgarbage"]
    assert demangle(names) == {
        "_ZN2ns1fEd": "ns::f(double)",
        "__ZN2ns1fEd": "ns::f(double)",
        "plain": "plain",
        "_Z": "_Z",
        "_Zgarbage": "_Zgarbage",
    }


def test_no_symbols_at_all() -> None:
    assert resolve_name("f", [], demangle).reason == "no function is named 'f'"
