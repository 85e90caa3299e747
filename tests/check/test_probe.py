"""The data on known functions, held against the plugin: a sample; `python -m enzyme_build.check.probe` asks for all."""

from __future__ import annotations

import pytest

from enzyme_build.check import known, probe
from enzyme_build.check.probe_shapes import probe_module
from enzyme_build.errors import ToolError
from enzyme_build.model import Mode
from support.enzyme import Enzyme

NAMES = """
sin sinf sinl cos tanh expm1 log1pf cbrt sqrt erf tgamma floor roundf fabsl lgamma exp10f roundeven j0 j0l
pow powf fmod remainderf hypot fmax copysignl powi ldexp jn nexttoward fma frexp modff
ddot_ sdot_ cblas_ddot dnrm2_ dasum_ daxpy_ cblas_dscal dcopy_ malloc calloc _Znwm pvalloc
"""
SAMPLE = NAMES.split()


def test_a_sample_answers_as_the_data_says(enzyme: Enzyme) -> None:
    assert len(SAMPLE) >= 40
    probes = probe.probe_names(SAMPLE, opt=enzyme.opt, plugin=enzyme.plugin)
    assert [(each.name, each.mode.value, each.answer, each.recorded) for each in probes if not each.agrees] == []
    assert {each.answer for each in probes} >= {"ok", "no_rule", "crash"}


def test_hundreds_can_be_asked_and_the_rest_is_refused() -> None:
    assert len(probe.can_be_asked()) > 300
    functions = known.all_functions()
    assert probe_module(functions["printf"], Mode.REVERSE, functions) is None


def test_a_name_that_cannot_be_asked_is_said(enzyme: Enzyme, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ToolError, match="printf cannot be probed"):
        probe.ask(known.all_functions()["printf"], Mode.REVERSE, opt=enzyme.opt, plugin=enzyme.plugin)
    assert probe.main(["printf", "sin"]) == 2
    assert "cannot be probed: printf" in capsys.readouterr().err


def test_an_answer_that_differs_makes_the_command_fail(
    enzyme: Enzyme, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = ["--opt", str(enzyme.opt), "--plugin", str(enzyme.plugin)]
    assert probe.main([*tools, "sin"]) == 0
    monkeypatch.setattr(probe, "ask", lambda *_, **__: "no_rule")
    assert probe.main([*tools, "sin"]) == 1
    assert "sin, reverse: no_rule (the data says ok)" in capsys.readouterr().out
