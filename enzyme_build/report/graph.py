"""Draw the call graph around a finding as SVG: the way from a root down to the symbol, and who else uses it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from enzyme_build.check.finding import Finding

__all__ = ["call_graph"]

_CHARACTER = 7.3  # pixels a character of the 12 px monospace font takes
_HEIGHT, _GAP, _MARGIN = 26, 22, 10
_LONGEST = 46
_OTHERS = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class _Box:
    text: str
    note: str
    left: float
    top: float
    kind: str

    @property
    def width(self) -> float:
        return 18 + _CHARACTER * len(self.text)

    def svg(self) -> str:
        title = f"<title>{escape(self.note)}</title>" if self.note else ""
        size = f'width="{self.width:.0f}" height="{_HEIGHT}"'
        box = f'<rect x="{self.left:.0f}" y="{self.top:.0f}" {size} rx="5"/>'
        words = f'<text x="{self.left + 9:.0f}" y="{self.top + 17:.0f}">{escape(self.text)}</text>'
        return f'<g class="{self.kind}">{title}{box}{words}</g>'


def call_graph(finding: Finding) -> str:
    """Return an SVG element, or nothing for a finding that no call leads to."""
    steps = list(finding.chain) or ([finding.demangled or finding.symbol] if finding.callers and finding.symbol else [])
    if not steps:
        return ""
    chain = [
        _Box(
            text=_cut(step),
            note=step,
            left=_MARGIN,
            top=_MARGIN + number * (_HEIGHT + _GAP),
            kind="stop" if number == len(steps) - 1 else "step",
        )
        for number, step in enumerate(steps)
    ]
    before = steps[-2] if len(steps) > 1 else None
    others = [caller for caller in finding.callers if caller.caller != before]
    right = max(box.left + box.width for box in chain) + 60
    target = chain[-1]
    drawn = others[:_OTHERS]
    first = max(_MARGIN, target.top + _HEIGHT / 2 - len(drawn) * (_HEIGHT + 8) / 2)
    callers = [
        _Box(
            text=_cut(caller.caller),
            note=str(caller.location or ""),
            left=right,
            top=first + number * (_HEIGHT + 8),
            kind="user",
        )
        for number, caller in enumerate(drawn)
    ]
    parts = [_down(above, below) for above, below in pairwise(chain)]
    parts += [_across(caller, target) for caller in callers]
    parts += [box.svg() for box in (*chain, *callers)]
    bottom = max(box.top + _HEIGHT for box in (*chain, *callers)) + _MARGIN
    if len(others) > _OTHERS:
        parts.append(f'<text class="more" x="{right:.0f}" y="{bottom + 4:.0f}">and {len(others) - _OTHERS} more</text>')
        bottom += 18
    width = max(box.left + box.width for box in (*chain, *callers)) + _MARGIN
    label = escape(f"calls from {steps[0]} to {steps[-1]}", quote=True)
    return (
        f'<svg class="graph" role="img" aria-label="{label}" width="{width:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {width:.0f} {bottom:.0f}">{"".join(parts)}</svg>'
    )


def _down(above: _Box, below: _Box) -> str:
    x = above.left + 24
    return _line(x, above.top + _HEIGHT, x, below.top)


def _across(caller: _Box, target: _Box) -> str:
    return _line(caller.left, caller.top + _HEIGHT / 2, target.left + target.width, target.top + _HEIGHT / 2)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" marker-end="url(#arrow)"/>'


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
