"""The names of the C functions that are generated for a stated derivative: codegen writes them, finalize finds them."""

from __future__ import annotations

import re

__all__ = ["BRIDGE_ROLES", "ROLES", "generated_name"]

# shim: takes the primal's place at its call sites; packet: calls the primal with all values in one struct;
# augmented, gradient, tangent: the rule on packet
ROLES = ("shim", "packet", "augmented", "gradient", "tangent")
# bridge: stands in for packet where the primal has no body; it calls inner, whose forward rule (innertangent) Enzyme
# can apply where the packet is inactive and arrays are not
BRIDGE_ROLES = ("bridge", "inner", "innertangent")


def generated_name(role: str, function: str) -> str:
    """Return the name of the generated function with `role` for the primal called `function` in its prototype."""
    return f"__enzymebc_{role}_{re.sub(r'[^A-Za-z0-9_]', '_', function)}"
