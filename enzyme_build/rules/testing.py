"""Read `[derivative.test]`: with what gradcheck tries a rule, and what is wrong with that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build._toml import did_you_mean
from enzyme_build.rules.documents import TestArgumentTable
from enzyme_build.rules.model import DerivativeTest, TestedArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enzyme_build.rules.documents import TestTable
    from enzyme_build.rules.model import DerivativeRule

__all__ = ["product", "read_test", "test_problems"]

_RESULT = "result"


def read_test(table: TestTable | None) -> DerivativeTest | None:
    """Return the table with every argument spelt out: a number is a value, two numbers are a range."""
    if table is None:
        return None
    arguments = {}
    for name, given in table.arguments.items():
        match given:
            case TestArgumentTable():
                arguments[name] = TestedArgument(
                    value=given.value, range=given.range, size=given.size, type=given.type, kept=given.kept
                )
            case tuple():
                arguments[name] = TestedArgument(range=given)
            case _:
                arguments[name] = TestedArgument(value=given)
    return DerivativeTest(seeds=table.seeds, tolerance=table.tolerance, range=table.range, arguments=arguments)


def test_problems(rule: DerivativeRule) -> Iterator[str]:
    """Yield what is wrong with the rule's test, each as `test.key: message`."""
    if rule.test is None:
        return
    ranges = {"range": rule.test.range}
    ranges |= {f"arguments.{name}.range": argument.range for name, argument in rule.test.arguments.items()}
    for key, limits in ranges.items():
        if limits is not None and not limits[0] < limits[1]:
            yield f"test.{key}: {limits[0]:g} is not less than {limits[1]:g}"
    known = None if rule.prototype is None else [one.name for one in rule.prototype.parameters if one.name]
    for name, argument in rule.test.arguments.items():
        key = f"test.arguments.{name}"
        if known is not None and name not in known and name != _RESULT:
            yield f"{key}: {rule.function!r} has no argument of this name{did_you_mean(name, known)}"
        if argument.value is not None and argument.range is not None:
            yield f"{key}: has both 'value' and 'range'; one of them is tried"
        if isinstance(argument.size, str):
            factors = product(argument.size)
            if factors is None:
                yield f"{key}.size: {argument.size!r} is no product of numbers and arguments, such as 'n * n'"
            elif known is not None:
                strange = [factor for factor in factors if isinstance(factor, str) and factor not in known]
                yield from (f"{key}.size: there is no argument {one!r}{did_you_mean(one, known)}" for one in strange)


def product(text: str) -> tuple[int | str, ...] | None:
    """Return the factors of `text` (`n * 3`), numbers as such; `None` when it is no product."""
    parts = [part.strip() for part in text.split("*")]
    if not all(re.fullmatch(r"[A-Za-z_]\w*|[0-9]+", part) for part in parts):
        return None
    return tuple(int(part) if part.isdigit() else part for part in parts)
