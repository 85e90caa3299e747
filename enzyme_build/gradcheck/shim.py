"""Take from the C that is generated for a stated rule what a caller needs: its structs, its macros and its shim.

The text is read, not the plan behind it, so that a caller packs its values exactly as the library's own callers do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.codegen.derivative import render_derivatives
from enzyme_build.codegen.plan import Plan
from enzyme_build.gradcheck.carriers import IDENTITY
from enzyme_build.gradcheck.inputs import CannotRunError
from enzyme_build.rules.generated import generated_name
from enzyme_build.rules.model import RuleSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.llvm.values import Values
    from enzyme_build.rules.model import DerivativeRule

__all__ = ["PREFIX", "Shim", "local_anchors", "read_shim"]

PREFIX = "gradcheck_"  # before the names of what the extracted module shows to the harness

_INCLUDE = re.compile(r"^#include (\S+)$", re.MULTILINE)
_MACRO = re.compile(r"^#define ENZYMEBC_\w+\(.*$", re.MULTILINE)
_ANCHORS = re.compile(r"^static const char ([\w, ]+);$", re.MULTILINE)
_STRUCT = re.compile(r"^struct \w+ \{\n.*?^\};$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shim:
    """The function `name` that callers call, with what must stand before it; it calls `packet`.

    `parameters` are those of the packet function, `members` the names in the first struct, which is the packet if there
    is one. The generated functions count from the addresses of `anchors`, which must be the library's own.
    """

    name: str
    packet: str
    parameters: tuple[str, ...]
    members: tuple[str, ...]
    anchors: tuple[str, ...]
    includes: tuple[str, ...]
    macros: tuple[str, ...]
    structs: tuple[str, ...]
    text: tuple[str, ...]

    def preamble(self, *, prefix: str = "") -> list[str]:
        """Return the lines before the shim; `prefix` is put before the anchors' names in the object file."""
        lines = []
        for include in self.includes:  # headers of the project may not be at hand, and are mostly for the blocks
            lines += [f"#if __has_include({include})", f"#include {include}", "#endif"]
        lines += [f'extern const char {name} __asm__("{prefix}{name}");' for name in self.anchors]
        return [*lines, *self.macros, *(line for struct in self.structs for line in struct.splitlines())]

    @property
    def signature(self) -> str:
        """The parameters of the packet function, as C writes them."""
        return ", ".join(self.parameters) or "void"

    @property
    def shadow_type(self) -> str | None:
        """The type of the packet, `None` when nothing travels in one."""
        return self.parameters[0].rpartition("*")[0].strip() if self.members else None


def read_shim(rule: DerivativeRule) -> Shim:
    """Return the shim of a stated rule; raises `CannotRunError` when the generated text has none."""
    source = render_derivatives(RuleSet(rules=(rule,)))
    assert source is not None  # noqa: S101 - the rule is stated
    assert rule.prototype is not None  # noqa: S101 - as above
    plan = Plan.of(rule)
    text = plan.shim()
    if not text or text[0] not in source.text:
        msg = "the generated C has no function for callers"
        raise CannotRunError(msg)
    anchors = _ANCHORS.search(source.text)
    return Shim(
        name=generated_name("shim", rule.prototype.name),
        packet=generated_name("packet", rule.prototype.name),
        parameters=tuple(plan.parameters(shadows=False)),
        members=tuple(name for _, name in plan.members()),
        anchors=() if anchors is None else tuple(name.strip() for name in anchors[1].split(",")),
        includes=tuple(_INCLUDE.findall(source.text)),
        macros=tuple(_MACRO.findall(source.text)),
        structs=tuple(_STRUCT.findall(source.text)),
        text=tuple(text),
    )


def local_anchors(values: Values, names: Sequence[str]) -> dict[str, int]:
    """Return the library's own variables for `names`, which finalize made local to it."""
    found = {}
    for variable in values.variables():
        for name in names:
            if re.fullmatch(re.escape(name) + IDENTITY, values.name(variable)) and values.is_defined(variable):
                found[name] = variable
    return found
