"""Find the functions of a rule in a finished module, where local names have the library's identity in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build.finalize.carrier import CARRIER_PREFIX

if TYPE_CHECKING:
    from enzyme_build.gradcheck.facts import RuleToExtract
    from enzyme_build.llvm.values import Values

__all__ = ["IDENTITY", "ROLES", "find_carrier", "find_local"]

ROLES = {"augmented": "enzyme_augment", "gradient": "enzyme_gradient", "tangent": "enzyme_derivative"}
IDENTITY = r"(?:\.\w+_[0-9a-f]{8})?"  # what finalize appends to local names


def find_carrier(values: Values, wanted: RuleToExtract) -> tuple[int, dict[str, int]] | None:
    """Return the function that holds the rule, and the rule's functions by role."""
    name = re.escape(wanted.packet or wanted.symbol)
    pattern = re.compile(rf"(?:{CARRIER_PREFIX})?{name}{IDENTITY}")
    kinds = {values.metadata_kind(kind): role for role, kind in ROLES.items()}
    for function in values.functions():
        if not pattern.fullmatch(values.name(function)):
            continue
        operands = values.metadata_operands(function, kinds)
        if operands:
            return function, {kinds[kind]: items[0] for kind, items in operands.items() if items and items[0]}
    return None


def find_local(values: Values, name: str) -> int | None:
    """Return the function called `name`, whether or not it is local to the library."""
    pattern = re.compile(re.escape(name) + IDENTITY)
    return next((item for item in values.functions() if pattern.fullmatch(values.name(item))), None)
