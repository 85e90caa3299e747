"""What is asked of a rule besides right numbers, and the words of every complaint. Pure."""

from __future__ import annotations

import math
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

from enzyme_build.gradcheck.verdict import Complaint
from enzyme_build.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from enzyme_build.gradcheck.facts import Crash, Measured, Seed, Slot

__all__ = [
    "MODES_DISAGREE",
    "NOT_ACCUMULATED",
    "NOT_CLEARED",
    "WRONG_GRADIENT",
    "WRONG_TANGENT",
    "seed_complaints",
    "taylor_complaint",
    "untold_complaints",
    "whole_complaints",
    "with_points",
]

# kind, text, fix
WRONG_GRADIENT = (
    "wrong-gradient",
    "the adjoint of {label} differs from finite differences",
    "correct the formula in the gradient function (its transpose, its sign, the order of its arguments)",
)
WRONG_TANGENT = (
    "wrong-tangent",
    "the tangent of {label} differs from finite differences",
    "correct the formula in the tangent function; it assigns tangents of outputs and leaves those of inputs alone",
)
NOT_ACCUMULATED = (
    "not-accumulated",
    "the shadow of {label} is assigned, not added to: {incoming:.9g}, which it held before, is lost",
    "write `d_x += ...`: other uses of the same array have added to its shadow before",
)
NOT_CLEARED = (
    "not-cleared",
    "the shadow of {label} still holds {incoming:.9g} after the gradient, though the function overwrites {label}",
    "set the shadows of outputs to zero once they are read",
)
MODES_DISAGREE = (
    "modes-disagree",
    "forward and reverse mode contradict each other: <w, J v> by the tangent function is not <J'w, v> by the gradient",
    "the one that also differs from finite differences is wrong",
)
_REPEATED = {"float": 1e-5, "double": 1e-11, "long double": 1e-11}
_ADVICE_SIZE = "say the size: `[derivative.test] arguments = { NAME = { size = ... } }`"


def seed_complaints(seed: Seed, slots: Sequence[Slot]) -> Iterator[Complaint]:
    """Yield what is wrong at one random point, apart from the derivatives themselves."""
    yield from _compared(
        seed.again,
        seed.outputs,
        slots,
        seed=seed,
        kind="not-repeatable",
        text="the function itself gives {label} otherwise when it is called again",
        fix="a function with a hidden state, such as a random number generator, has no derivative rule to check",
    )
    if seed.reverse is not None:
        yield from _reverse_complaints(seed, slots)
    if seed.forward is not None:
        yield from _compared(
            seed.forward.outputs,
            seed.outputs,
            slots,
            seed=seed,
            mode=Mode.FORWARD,
            kind="primal-result",
            text="the tangent function leaves another {label} than the function itself",
            fix="call the function inside the tangent function, and return its result first",
        )
        yield from _compared(
            seed.forward.again,
            seed.forward.tangents,
            slots,
            seed=seed,
            mode=Mode.FORWARD,
            kind="second-call",
            text="a second call gives another tangent of {label}",
            fix="keep nothing between calls, and assign the tangents of outputs",
        )


def _reverse_complaints(seed: Seed, slots: Sequence[Slot]) -> Iterator[Complaint]:
    assert seed.reverse is not None  # noqa: S101 - see the caller
    measured = seed.reverse
    yield from _compared(
        measured.outputs,
        seed.outputs,
        slots,
        seed=seed,
        mode=Mode.REVERSE,
        kind="primal-result",
        text="the augmented function leaves another {label} than the function itself",
        fix="call the function inside the augmented function, and return its result",
    )
    yield from _compared(
        measured.memory,
        measured.outputs,
        slots,
        seed=seed,
        mode=Mode.REVERSE,
        kind="primal-changed",
        text="the gradient function changes {label} itself",
        fix="the gradient writes to shadows only",
    )
    yield from _compared(
        measured.again,
        measured.adjoints,
        slots,
        seed=seed,
        mode=Mode.REVERSE,
        kind="second-call",
        text="a second call gives another adjoint of {label}",
        fix="keep nothing between calls: what the gradient needs goes on the tape",
    )
    if measured.overwritten is not None:
        yield from _compared(
            measured.overwritten,
            measured.adjoints,
            slots,
            seed=seed,
            mode=Mode.REVERSE,
            kind="overwritten",
            text="the adjoint of {label} changes when the caller overwrites its arrays before the gradient runs",
            fix="save what the gradient reads on the tape, before the call: Enzyme protects no argument of a rule "
            "(or promise with `kept = true` that no caller overwrites that array)",
        )
    for inactive in measured.inactive:
        yield from _compared(
            inactive.memory,
            inactive.outputs,
            slots,
            seed=seed,
            mode=Mode.REVERSE,
            kind="inactive-changed",
            text="with "
            + inactive.slot
            + " inactive, the gradient changes {label}: its shadow is then the array itself",
            fix=f"guard it: `if (d_{inactive.slot} != {inactive.slot}) ...`",
        )
        others = [slot for slot in slots if slot.name != inactive.slot]
        yield from _compared(
            inactive.adjoints,
            inactive.expected,
            others,
            seed=seed,
            mode=Mode.REVERSE,
            kind="inactive-wrong",
            text="with " + inactive.slot + " inactive, the adjoint of {label} is wrong",
            fix=f"where `d_{inactive.slot} == {inactive.slot}` there is no seed to read and no shadow to add to",
        )


def _compared(
    found: Sequence[float],
    expected: Sequence[float],
    slots: Sequence[Slot],
    *,
    seed: Seed,
    kind: str,
    text: str,
    fix: str,
    mode: Mode | None = None,
) -> Iterator[Complaint]:
    """Yield a complaint for the first element of each slot that differs by more than rounding."""
    for slot in slots:
        window = slice(slot.start, slot.start + slot.count)
        size = max((abs(each) for each in expected[window] if math.isfinite(each)), default=0.0)
        for index, (one, other) in enumerate(zip(found[window], expected[window], strict=True)):
            same = one == other or (math.isnan(one) and math.isnan(other))
            if same or abs(one - other) <= _REPEATED[slot.element] * max(size, 1e-3):
                continue
            label = slot.label(index)
            yield Complaint(
                kind=kind,
                mode=mode,
                text=text.format(label=label),
                fix=fix,
                where=label,
                seed=seed.seed,
                found=one,
                expected=other,
            )
            break


def taylor_complaint(mode: Mode, seed: int, order: float, points: int) -> Complaint:
    """Return the complaint that the slope along a random direction is wrong, where no single element showed it."""
    return Complaint(
        kind="taylor-order",
        mode=mode,
        text=f"F(x + tv) - F(x) - t J v shrinks like t^{order:.2f}, not like t^2: the derivative along v is wrong",
        fix="raise --seeds: elements are sampled where there are many",
        seed=seed,
        points=points,
    )


def whole_complaints(measured: Measured) -> list[Complaint]:
    """Return what is wrong with the measurement as a whole: crashes, leaks, arrays of the wrong size."""
    found = []
    if measured.crash is not None:
        found.append(_crash_complaint(measured.crash))
    found += [
        Complaint(
            kind="too-small",
            text=f"{where} was written, which is behind the end of the array that was passed",
            fix=_ADVICE_SIZE.replace("NAME", where.partition("[")[0]),
            where=where,
        )
        for where in measured.overruns
    ]
    primal = measured.calls.get("primal")
    for name, calls in measured.calls.items():
        if name == "primal" or primal is None:
            continue
        alive = (calls.alive - primal.alive) / calls.count
        if alive >= 1:
            blocks = f"{alive:.0f} block{'' if alive < 2 else 's'}"
            found.append(
                Complaint(
                    kind="leak",
                    mode=Mode(name),
                    text=f"every call leaves {blocks} of memory behind",
                    fix="the gradient function frees the tape, whatever is inactive",
                    found=float(calls.alive),
                    expected=float(primal.alive),
                )
            )
        elif alive <= -1:
            found.append(
                Complaint(
                    kind="freed",
                    mode=Mode(name),
                    text="every call frees memory that it did not allocate",
                    fix="free only the tape, once",
                    found=float(calls.alive),
                    expected=float(primal.alive),
                )
            )
    return found


def _crash_complaint(crash: Crash) -> Complaint:
    where = {
        "primal": "the function itself",
        "augmented": "the augmented function",
        "gradient": "the gradient function",
    }
    where |= {"tangent": "the tangent function", "reverse": "the reverse rule", "forward": "the tangent function"}
    at = where.get(crash.stage, f"the harness ({crash.stage})")
    if crash.signal == signal.SIGALRM:
        ended = "does not come back"
    elif crash.signal == 0:
        ended = "ends the program"
    else:
        names = {each.value: each.name for each in signal.Signals}
        ended = f"crashes ({names.get(crash.signal, f'signal {crash.signal}')})"
    said = crash.said.splitlines()[-1:]
    own = crash.stage == "primal"
    fix = (
        "give the arguments sizes and ranges it can be called with: `[derivative.test]`"
        if own
        else "look for a tape that is freed twice, or read behind its end"
    )
    return Complaint(kind="crash", text=f"{at} {ended}{': ' + said[0] if said else ''}", fix=fix)


def untold_complaints(measured: Measured, told: Mapping[tuple[Mode, str], int]) -> list[Complaint]:
    """Return complaints where nothing could be compared: a rule is not right because nothing was wrong."""
    usable = [seed for seed in measured.seeds if seed.course is not None]
    if not usable:
        return [
            Complaint(
                kind="not-finite",
                text=f"the function gives no finite numbers at any of {len(measured.seeds)} random points",
                fix="give the range in which it is defined: `[derivative.test] range = [low, high]`",
            )
        ]
    modes = {
        Mode.REVERSE: any(seed.reverse is not None for seed in usable),
        Mode.FORWARD: any(seed.forward is not None for seed in usable),
    }
    wanted = [
        (mode, slot.name)
        for mode, there in modes.items()
        for slot in measured.slots
        if there and slot.kind != ("result" if mode is Mode.REVERSE else "number")
    ]
    return [
        Complaint(
            kind="too-rough",
            mode=mode,
            text=f"finite differences for {name} are too rough to tell right from wrong at any point",
            fix="give a range in which the function is smooth: `[derivative.test] range = [low, high]`",
            where=name,
        )
        for mode, name in wanted
        if not told.get((mode, name))
    ]


def with_points(complaint: Complaint, points: int) -> Complaint:
    """Return the complaint with the number of random points that show it."""
    return replace(complaint, points=points)
