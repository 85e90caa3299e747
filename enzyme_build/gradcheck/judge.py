"""Judge what a harness measured: where the rule and the differences of the primal disagree. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from enzyme_build.gradcheck import lints
from enzyme_build.gradcheck.differences import Estimate, extrapolate, taylor_order
from enzyme_build.gradcheck.verdict import Complaint, Outcome
from enzyme_build.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from enzyme_build.gradcheck.facts import Measured, Seed, Slot

__all__ = ["default_tolerance", "judge"]

_DOUBLE, _FLOAT = 1e-6, 2e-3
_SAFETY = 5.0  # an error estimate is an estimate
_ROUGH = 0.05  # an estimate with a larger relative error cannot tell a right number from a wrong one
_LEAST_ORDER = 1.5  # halfway between 1, a wrong slope, and 2


def default_tolerance(slots: Sequence[Slot]) -> float:
    """Return the relative difference that is still right: single precision anywhere makes it coarse."""
    return _FLOAT if any(slot.element == "float" for slot in slots) else _DOUBLE


def judge(measured: Measured, *, tolerance: float | None = None) -> Outcome:
    """Return the complaints, and how well the rule was tested."""
    judge_ = _Judge(measured, tolerance or default_tolerance(measured.slots))
    for seed in measured.seeds:
        judge_.look_at(seed)
    return judge_.outcome()


class _Judge:
    """Gathers the deviations of all seeds, by kind, mode and part of the state."""

    def __init__(self, measured: Measured, tolerance: float) -> None:
        self.measured = measured
        self.tolerance = tolerance
        self.slots = measured.slots
        self.found: dict[tuple[str, Mode | None, str], list[Complaint]] = defaultdict(list)
        self.orders: dict[Mode, list[float]] = defaultdict(list)
        self.low_orders: dict[Mode, list[tuple[Seed, float]]] = defaultdict(list)
        self.comparisons = 0
        self.worst = 0.0
        self.told: dict[tuple[Mode, str], int] = defaultdict(int)  # comparisons that could tell, by mode and slot

    def look_at(self, seed: Seed) -> None:
        """Judge one random point."""
        for complaint in lints.seed_complaints(seed, self.slots):
            self.add(complaint)
        if seed.course is None:
            return
        if seed.reverse is not None:
            self.gradient(seed)
        if seed.forward is not None:
            self.tangent(seed)
        if seed.reverse is not None and seed.forward is not None:
            self.dot_product(seed)
        self.taylor(seed)

    def add(self, complaint: Complaint) -> None:
        slot = (complaint.where or "").partition("[")[0]
        self.found[complaint.kind, complaint.mode, slot].append(complaint)

    def gradient(self, seed: Seed) -> None:
        """Compare every adjoint for which there are differences."""
        assert seed.reverse is not None  # noqa: S101 - see the caller
        estimates = {slope.at: extrapolate(slope.values, slope.noise) for slope in seed.slopes}
        typical = _largest(estimates.values())
        for at, estimate in estimates.items():
            slot = self.slot_at(at)
            found, expected = seed.reverse.adjoints[at], estimate.value
            if self.agrees(Mode.REVERSE, slot, found, estimate, typical):
                continue
            own = seed.weights[at] if slot.kind == "array" else 0.0
            allowed = self.allowed(estimate, typical)
            label = slot.label(at - slot.start)
            if own and abs(found - (estimate.value - own)) <= allowed:
                kind, text, fix = lints.NOT_ACCUMULATED
                text = text.format(label=label, incoming=own)
            elif own and abs(found - (estimate.value + own)) <= allowed:
                kind, text, fix = lints.NOT_CLEARED
                text = text.format(label=label, incoming=own)
            else:
                kind, text, fix = lints.WRONG_GRADIENT
                # where the array is only read, both numbers have in them what the shadow held before
                before = own if seed.inputs[at] == seed.outputs[at] else 0.0
                found, expected = found - before, expected - before
                text = text.format(label=label) + _ratio(found, expected)
            self.add(
                Complaint(
                    kind=kind,
                    mode=Mode.REVERSE,
                    text=text,
                    fix=fix,
                    where=label,
                    seed=seed.seed,
                    found=found,
                    expected=expected,
                    error=estimate.error,
                )
            )

    def tangent(self, seed: Seed) -> None:
        """Compare every tangent of what comes out."""
        assert seed.forward is not None  # noqa: S101 - see the caller
        assert seed.course is not None  # noqa: S101 - see the caller
        estimates = {}
        for slot in self.slots:
            for at in range(slot.start, slot.start + slot.count) if slot.kind != "number" else ():
                estimates[at] = extrapolate(
                    [values[at] for values in seed.course.values], [noise[at] for noise in seed.course.noise]
                )
        typical = _largest(estimates.values())
        for at, estimate in estimates.items():
            slot, found = self.slot_at(at), seed.forward.tangents[at]
            if self.agrees(Mode.FORWARD, slot, found, estimate, typical):
                continue
            kind, text, fix = lints.WRONG_TANGENT
            label = slot.label(at - slot.start)
            self.add(
                Complaint(
                    kind=kind,
                    mode=Mode.FORWARD,
                    text=text.format(label=label) + _ratio(found, estimate.value),
                    fix=fix,
                    where=label,
                    seed=seed.seed,
                    found=found,
                    expected=estimate.value,
                    error=estimate.error,
                )
            )

    def dot_product(self, seed: Seed) -> None:
        """Compare <w, J v> by the forward rule with <J' w, v> by the reverse one: no differences are needed."""
        assert seed.reverse is not None  # noqa: S101 - see the caller
        assert seed.forward is not None  # noqa: S101 - see the caller
        forward = [seed.weights[at] * seed.forward.tangents[at] for at in self.indices("array", "result")]
        reverse = [seed.reverse.adjoints[at] * seed.directions[at] for at in self.indices("array", "number")]
        left, right = math.fsum(forward), math.fsum(reverse)
        size = math.fsum(abs(each) for each in (*forward, *reverse)) / 2
        if abs(left - right) <= self.tolerance * size:  # false for NaN
            return
        kind, text, fix = lints.MODES_DISAGREE
        self.add(Complaint(kind=kind, text=text, fix=fix, seed=seed.seed, found=left, expected=right))

    def taylor(self, seed: Seed) -> None:
        """Note Taylor's order along the directions, for each mode by its own slope."""
        assert seed.course is not None  # noqa: S101 - see the caller
        slopes = {}
        if seed.reverse is not None:
            slopes[Mode.REVERSE] = math.fsum(
                seed.reverse.adjoints[at] * seed.directions[at] for at in self.indices("array", "number")
            )
        if seed.forward is not None:
            slopes[Mode.FORWARD] = math.fsum(
                seed.weights[at] * seed.forward.tangents[at] for at in self.indices("array", "result")
            )
        course = seed.course
        for mode, slope in slopes.items():
            order = taylor_order(course.steps, course.rises, course.errors, slope)
            if order is None:
                continue
            self.orders[mode].append(order)
            rate = course.rises[-1] / course.steps[-1]
            if order < _LEAST_ORDER and abs(rate - slope) > 10 * self.tolerance * max(abs(rate), abs(slope)):
                self.low_orders[mode].append((seed, order))

    def agrees(self, mode: Mode, slot: Slot, found: float, estimate: Estimate, typical: float) -> bool:
        """Compare one number; what the estimate cannot vouch for counts as agreement, but tells nothing."""
        size = max(abs(estimate.value), 0.1 * typical)
        rough = not _SAFETY * estimate.error <= _ROUGH * size + 1e-300
        if rough and not abs(found - estimate.value) > 20 * _SAFETY * estimate.error and math.isfinite(found):
            return True
        if rough and math.isinf(estimate.error):
            return True
        self.comparisons += 1
        self.told[mode, slot.name] += 1
        deviation = abs(found - estimate.value)
        right = deviation <= self.allowed(estimate, typical)
        if right and size:
            self.worst = max(self.worst, deviation / size)
        return right

    def allowed(self, estimate: Estimate, typical: float) -> float:
        """Return how far a right number may be from the estimate."""
        return self.tolerance * max(abs(estimate.value), 0.1 * typical) + _SAFETY * estimate.error + 1e-300

    def slot_at(self, at: int) -> Slot:
        return next(slot for slot in self.slots if slot.start <= at < slot.start + slot.count)

    def indices(self, *kinds: str) -> list[int]:
        return [at for slot in self.slots if slot.kind in kinds for at in range(slot.start, slot.start + slot.count)]

    def outcome(self) -> Outcome:
        """Return one complaint a kind, mode and part of the state, each by its worst example."""
        complaints = []
        for of_kind in self.found.values():
            worst = max(of_kind, key=_deviation)
            points = len({complaint.seed for complaint in of_kind})
            complaints.append(lints.with_points(worst, points))
        modes = {complaint.mode for complaint in complaints}
        for mode, low in self.low_orders.items():
            if mode not in modes and 2 * len(low) > len(self.orders[mode]):
                complaints.append(lints.taylor_complaint(mode, low[0][0].seed, low[0][1], len(low)))
        complaints += lints.whole_complaints(self.measured)
        if not complaints:
            complaints += lints.untold_complaints(self.measured, self.told)
        return Outcome(
            complaints=tuple(complaints),
            seeds=len(self.measured.seeds),
            comparisons=self.comparisons,
            worst=self.worst,
            orders={mode.value: sorted(orders)[len(orders) // 2] for mode, orders in self.orders.items()},
            times={mode: calls.nanoseconds for mode, calls in self.measured.calls.items()},
        )


def _largest(estimates: Iterable[Estimate]) -> float:
    sizes = [abs(each.value) for each in estimates if math.isfinite(each.value)]
    return max(sizes, default=0.0)


def _ratio(found: float, expected: float) -> str:
    """Return what the quotient of the two numbers suggests."""
    if not expected or not math.isfinite(found):
        return ""
    quotient = found / expected
    for factor, words in ((-1.0, "the sign is wrong"), (2.0, "it is twice that"), (0.5, "it is half of that")):
        if abs(quotient - factor) < 1e-3:
            return f"; {words}"
    return ""


def _deviation(complaint: Complaint) -> float:
    if complaint.found is None or complaint.expected is None:
        return 0.0
    deviation = abs(complaint.found - complaint.expected)
    return math.inf if math.isnan(deviation) else deviation
