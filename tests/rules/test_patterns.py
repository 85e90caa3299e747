"""Patterns and families: which rules come of one table."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_build.errors import RuleError
from enzyme_build.rules.load import load_rules
from enzyme_build.rules.model import DerivativeRule, InactiveGlobalRule, InactiveRule, LikeRule, RuleSet
from enzyme_build.rules.patterns import expand_patterns, is_pattern


def load(folder: Path, text: str) -> RuleSet:
    (folder / "rules.toml").write_text(text, encoding="utf-8")
    return load_rules(["rules.toml"], root=folder)


def functions(rules: RuleSet) -> list[str]:
    return [rule.function for rule in rules.rules if not isinstance(rule, InactiveGlobalRule)]


def test_for_each_fills_in_every_text(tmp_path: Path) -> None:
    rules = load(
        tmp_path,
        """
        [[derivative]]
        for-each = { T = ["double", "float"], s = ["", "f"] }
        prototype = "void cube${s}(${T} x, ${T} *out)"
        partials = { "out/x" = "3 * (${T})x * x" }
        """,
    )
    first, second = rules.rules
    assert isinstance(first, DerivativeRule)
    assert isinstance(second, DerivativeRule)
    assert functions(rules) == ["cube", "cubef"]
    assert second.prototype is not None
    assert second.prototype.text == "void cubef(float x, float *out)"
    assert second.stated is not None
    assert second.stated.partials[0].formula == "3 * (float)x * x"
    assert first.origin == second.origin


def test_names_are_further_functions_of_the_same_type(tmp_path: Path) -> None:
    rules = load(
        tmp_path,
        """
        [[derivative]]
        prototype = "double quad(double x)"
        names = ["quad_", "quad__"]
        partials = { x = "2 * x" }
        [[inactive]]
        names = ["log_a", "log_b"]
        [[like]]
        function = "my_sin"
        names = ["my_sin_"]
        like = "sin"
        """,
    )
    assert functions(rules) == ["quad", "quad_", "quad__", "log_a", "log_b", "my_sin", "my_sin_"]
    declared = [rule.prototype.text for rule in rules.rules if isinstance(rule, DerivativeRule) and rule.prototype]
    assert declared[1] == "double quad_(double x)"


def test_a_problem_of_a_family_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        load(
            tmp_path,
            "[[derivative]]\nprototype = 'double f(double x)'\nnames = ['g']\npartials = { x = '2 * y' }\n",
        )
    assert caught.value.problems == ("rules.toml:4: derivative[0].partials.x: unknown name 'y'",)


def test_patterns_become_rules_for_what_is_there(tmp_path: Path) -> None:
    rules = load(
        tmp_path,
        """
        [[inactive]]
        function = "log_*"
        [[like]]
        function = "my_*"
        like = "*"
        [[derivative]]
        prototype = "double my_pow(double x)"
        partials = { x = "1" }
        [[inactive]]
        function = "trace_?"
        """,
    )
    found = expand_patterns(rules, {"log_a", "log_b", "my_sin", "my_cos", "my_pow", "trace_", "other"})
    assert functions(found) == ["log_a", "log_b", "my_cos", "my_sin", "my_pow", "trace_?"]
    likes = [rule.like for rule in found.rules if isinstance(rule, LikeRule)]
    assert likes == ["cos", "sin"]
    assert isinstance(found.rules[0], InactiveRule)
    assert found.rules[0].origin == rules.rules[0].origin


@pytest.mark.parametrize("name", ["log", "ns::f(double *)", "operator*", "a[0]"])
def test_other_names_are_no_patterns(name: str) -> None:
    assert not is_pattern(name)
