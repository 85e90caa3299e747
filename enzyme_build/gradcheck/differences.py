"""What differences say of a derivative: a value with an error estimate, and Taylor's order. Pure arithmetic."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Estimate", "extrapolate", "taylor_order"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A derivative from differences; `error` is how far it may be off, infinite when nothing can be said."""

    value: float
    error: float


def extrapolate(values: Sequence[float], noise: Sequence[float]) -> Estimate:
    """Return the best value that central differences in halving steps give.

    One step of Richardson's extrapolation, (4 D(h/2) - D(h)) / 3, removes the term of h^2. The step is chosen where
    two neighbouring extrapolations differ least, rounding included: large steps see higher terms and kinks, small ones
    rounding. That difference is the error estimate.
    """
    refined = [(4 * fine - coarse) / 3 for coarse, fine in itertools.pairwise(values)]
    rounding = [2 * each for each in noise[1:]]
    best = Estimate(value=math.nan, error=math.inf)
    for index in range(1, len(refined)):
        error = abs(refined[index] - refined[index - 1]) + rounding[index]
        if error < best.error:  # false for NaN
            best = Estimate(value=refined[index], error=error)
    return best


def taylor_order(steps: Sequence[float], rises: Sequence[float], errors: Sequence[float], slope: float) -> float | None:
    """Return the order of |F(x + tv) - F(x) - t slope| in t: 2 or more for a right slope, 1 for a wrong one.

    The median over halved steps of which both remainders stand out of the rounding error; `None` when none do, as for
    a linear function with a right slope.
    """
    remainders = [abs(rise - step * slope) for rise, step in zip(rises, steps, strict=True)]
    orders = []
    for index in range(len(steps) - 1):
        here, following = remainders[index], remainders[index + 1]
        if not (math.isfinite(here) and following > 50 * errors[index + 1] and following > 0):
            continue
        orders.append(math.log2(here / following) if here > 0 else 0.0)
    return sorted(orders)[len(orders) // 2] if orders else None
