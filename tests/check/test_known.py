from __future__ import annotations

import subprocess
import sys

import pytest

from enzyme_build.check import known
from enzyme_build.model import Mode

BOTH = tuple(Mode)


@pytest.mark.parametrize(
    ("name", "modes"),
    [
        ("sin", BOTH),
        ("expf", BOTH),
        ("floor", BOTH),
        ("malloc", BOTH),
        ("_Znwm", BOTH),
        ("dgemm_", BOTH),
        ("cblas_ddot", BOTH),
        ("MPI_Send", BOTH),
        ("fflush", (Mode.FORWARD,)),
        ("dtrmm_", (Mode.REVERSE,)),
        ("zgemm_", (Mode.FORWARD,)),
        ("lgamma", ()),
        ("sincos", ()),
        ("__memcpy_chk", ()),
        ("cexp", ()),
    ],
)
def test_the_modes_in_which_enzyme_accepts_a_function(name: str, modes: tuple[Mode, ...]) -> None:
    found = known.lookup(name)
    assert found is not None
    assert found.modes == modes


@pytest.mark.parametrize("name", ["my_square", "sin_mine", "", "SIN", "llvm", "llvm.", "_ZN3geo3sinEd"])
def test_what_nobody_knows(name: str) -> None:
    assert known.lookup(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "llvm.sin.f64",
        "llvm.memcpy.p0i8.p0i8.i64",  # as LLVM 15 spells it with typed pointers
        "llvm.memcpy.p0.p0.i64",
        "llvm.memset.p0i8.i64",
        "llvm.lifetime.start.p0i8",
        "llvm.lifetime.end.p0s_struct.point",
        "llvm.dbg.value",
        "llvm.assume",
        "llvm.uadd.with.overflow.i32",
        "llvm.fptosi.sat.i32.f64",
        "llvm.fmuladd.v2f64",
        "llvm.smax.i32",
        "llvm.objectsize.i64.p0i8",
        "llvm.ptr.annotation.p0i8.p0i8",
        "llvm.powi.f64.i32",
    ],
)
def test_intrinsics_are_known_whatever_their_types(name: str) -> None:
    found = known.lookup(name)
    assert found is not None
    assert found.modes == BOTH


@pytest.mark.parametrize(
    "name", ["llvm.canonicalize.f64", "llvm.memcpy.inline.p0.p0.i64", "llvm.vector.reduce.fmul.v2f64"]
)
def test_intrinsics_that_stop_enzyme(name: str) -> None:
    found = known.lookup(name)
    assert found is not None
    assert found.modes == ()


@pytest.mark.parametrize(
    "name", ["llvm.x86.sse2.sqrt.pd", "llvm.experimental.constrained.fadd.f64", "llvm.sin.cos", "llvm.va_start"]
)
def test_intrinsics_that_were_not_measured_are_unknown(name: str) -> None:
    assert known.lookup(name) is None


@pytest.mark.parametrize(
    "name", ["__cxa_throw", "_ZSt20__throw_length_errorPKc", "_ZNSt13runtime_errorC1EPKc", "__assert_fail"]
)
def test_what_leads_to_no_return_is_accepted(name: str) -> None:
    found = known.lookup(name)
    assert found is not None
    assert found.modes == BOTH
    assert "no return" in found.category


def test_parts_of_the_cxx_library_are_known_by_their_demangled_name() -> None:
    name = "_ZNSt13random_device9_M_getvalEvX"
    assert known.lookup(name) is None
    found = known.lookup(name, demangled="std::random_device::_M_getval()")
    assert found is not None
    assert found.category == "inactive by its name"
    assert known.lookup(name, demangled="geo::random_device()") is None


def test_what_derivatives_call_is_told() -> None:
    found = known.lookup("tgamma")
    assert found is not None
    assert dict(found.derivative_calls)[Mode.REVERSE] == ("digamma",)
    sine = known.lookup("sin")
    assert sine is not None
    assert sine.derivative_calls == ()


def test_like_takes_known_names_only() -> None:
    assert known.known_like("sin")[0] is not None
    assert known.known_like("free")[0] is not None
    found, close = known.known_like("sinn")
    assert found is None
    assert "did you mean 'sin" in close
    assert known.known_like("lgamma")[0] is None  # known, but not accepted


def test_variables_and_julia() -> None:
    assert known.inactive_variable("stderr")
    assert not known.inactive_variable("table")
    assert not known.inactive_variable("jl_nothing")
    assert known.inactive_variable("jl_nothing", julia=True)
    assert known.julia_inactive("jl_typeof")
    assert not known.julia_inactive("my_square")
    assert "0.0.289" in known.enzyme_version()


def test_loading_is_fast() -> None:
    program = (
        "import enzyme_build._toml, importlib.resources, time\n"
        "from enzyme_build.check import known\n"
        "importlib.resources.files('enzyme_build.resources').joinpath('findings.toml').read_text()\n"
        "times = []\n"
        "for _ in range(5):\n"
        "    known._table.cache_clear()\n"
        "    start = time.process_time(); known.lookup('sin'); times.append(time.process_time() - start)\n"
        "print(min(times))\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(said.stdout) < 0.05  # 10 ms on a quiet machine
