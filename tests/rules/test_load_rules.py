"""Rule files: what is read, in which order, and every message for what cannot be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from enzyme_build.errors import RuleError
from enzyme_build.model import Mode
from enzyme_build.rules.load import load_rule_files, load_rules
from enzyme_build.rules.model import (
    AllocationRule,
    DerivativeRule,
    InactiveGlobalRule,
    InactiveRule,
    LikeRule,
    NofreeRule,
    Rule,
    RuleSet,
)
from support.examples import check_problems

INVALID = Path(__file__).parent / "invalid"


def load(folder: Path, **texts: str) -> RuleSet:
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return load_rules(["*.toml"], root=folder)


def only(folder: Path, text: str) -> Rule:
    (rule,) = load(folder, rules=text).rules
    return rule


def test_derivative_with_both_modes(tmp_path: Path) -> None:
    rule = only(
        tmp_path,
        """
        [[derivative]]
        prototype = "void my_square(const double *x, double *out);"
        reverse = { augmented = "augmented_my_square", gradient = "gradient_my_square" }
        forward = { tangent = "tangent_my_square" }
        """,
    )
    assert isinstance(rule, DerivativeRule)
    assert rule.function == "my_square"
    assert rule.prototype is not None
    assert rule.prototype.text == "void my_square(const double *x, double *out)"
    assert (rule.augmented, rule.gradient) == ("augmented_my_square", "gradient_my_square")
    assert rule.tangent == "tangent_my_square"
    assert rule.modes == (Mode.REVERSE, Mode.FORWARD)
    assert str(rule.origin) == "rules.toml:2: derivative[0]"


def test_derivative_with_one_mode_and_a_name(tmp_path: Path) -> None:
    rule = only(tmp_path, "[[derivative]]\nfunction = 'ns::f(double)'\nforward.tangent = 'tangent_f'\n")
    assert isinstance(rule, DerivativeRule)
    assert (rule.function, rule.prototype, rule.gradient) == ("ns::f(double)", None, None)
    assert rule.modes == (Mode.FORWARD,)


def test_the_other_kinds(tmp_path: Path) -> None:
    rules = load(
        tmp_path,
        rules="""
        [[inactive]]
        function = "log_step"
        [[nofree]]
        prototype = "int peek(const int *at)"
        [[like]]
        function = "fast_sin"
        like = "sin"
        [[inactive-global]]
        variable = "verbosity"
        [[allocation]]
        prototype = "void *take(struct pool *p, size_t bytes, int flags)"
        size-argument = 1
        deallocate = "give"
        deallocate-arguments = ["result", 2, 0]
        [[allocation]]
        function = "grab"
        deallocate = "release"
        """,
    ).rules
    inactive, nofree, like, variable, take, grab = rules
    assert isinstance(inactive, InactiveRule)
    assert isinstance(nofree, NofreeRule)
    assert nofree.function == "peek"
    assert isinstance(like, LikeRule)
    assert like.like == "sin"
    assert isinstance(variable, InactiveGlobalRule)
    assert variable.variable == "verbosity"
    assert isinstance(take, AllocationRule)
    assert (take.size_argument, take.deallocate, take.deallocate_arguments) == (1, "give", (-1, 2, 0))
    assert isinstance(grab, AllocationRule)
    assert (grab.size_argument, grab.deallocate_arguments) == (0, (-1,))


def test_rules_stand_in_the_order_of_lines_and_of_files(tmp_path: Path) -> None:
    rules = load(
        tmp_path,
        b="[[inactive]]\nfunction = 'three'\n[[nofree]]\nfunction = 'four'\n[[inactive]]\nfunction = 'five'\n",
        a="[[nofree]]\nfunction = 'one'\n[[inactive]]\nfunction = 'two'\n",
    )
    assert rules.files == ("a.toml", "b.toml")
    names = [rule.function for rule in rules.rules if not isinstance(rule, InactiveGlobalRule)]
    assert names == ["one", "two", "three", "four", "five"]


def test_nofree_goes_with_every_other_kind(tmp_path: Path) -> None:
    rules = load(
        tmp_path,
        rules="""
        [[derivative]]
        function = "f"
        forward = { tangent = "tangent_f" }
        [[nofree]]
        function = "f"
        [[inactive]]
        function = "g"
        [[nofree]]
        function = "g"
        """,
    )
    assert len(rules.rules) == 4


@pytest.mark.parametrize("path", sorted(INVALID.glob("*.toml")), ids=lambda path: path.stem)
def test_invalid_examples(path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        load_rules([path.name], root=INVALID)
    check_problems(path, caught.value.problems)


def test_problems_of_all_files_come_at_once_and_name_both_places(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        load(
            tmp_path,
            a="[[inactive]]\nfunction = 'f'\n",
            b="\n[[inactive]]\nfunction = 'f'\n[[like]]\nfunction = 'g'\n",
            c="[[nofree]\n",
        )
    missing, syntax, twice = caught.value.problems
    assert missing == "b.toml:4: like[0]: missing key 'like'"
    assert re.fullmatch(r"c\.toml: not valid TOML: .* \(at line 1, column \d+\)", syntax)  # the parser's own words
    assert twice == "b.toml:2: inactive[0]: 'f' already has this kind of rule at a.toml:1: inactive[0]"
    assert str(caught.value).startswith("3 problems in the rules:\n- b.toml:4")


def test_a_pattern_that_matches_nothing_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "kernel.toml").touch()
    with pytest.raises(RuleError) as caught:
        load_rules(["rules/kernal.toml", "", "/etc/*.toml", "../*.toml", "rules/*.toml"], root=tmp_path)
    assert caught.value.problems == (
        "rules: 'rules/kernal.toml' matches no file; did you mean 'rules/kernel.toml'?",
        "rules: '' is not a path below the project folder",
        "rules: '/etc/*.toml' is not a path below the project folder",
        "rules: '../*.toml' is not a path below the project folder",
    )


def test_a_file_that_two_patterns_match_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "größe und maß.toml").write_text("[[inactive]]\nfunction = 'f'\n", encoding="utf-8")
    rules = load_rules(["*.toml", "gr*.toml", "**/*.toml"], root=tmp_path)
    assert rules.files == ("größe und maß.toml",)
    assert len(rules.rules) == 1


def test_no_patterns_are_no_rules(tmp_path: Path) -> None:
    assert load_rules([], root=tmp_path) == RuleSet()


def test_named_files_may_lie_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[[inactive]]\nfunction = 'f'\n", encoding="utf-8")
    assert load_rule_files([path], root=tmp_path / "elsewhere").files == (path.as_posix(),)
    with pytest.raises(RuleError, match=r"b\.toml: cannot be read: No such file or directory"):
        load_rule_files([path, tmp_path / "b.toml"], root=tmp_path)


def test_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(RuleError, match=r"a\.toml: not UTF-8 text \(byte 5\)"):
        load_rules(["a.toml"], root=tmp_path)
