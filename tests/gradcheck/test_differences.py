"""Differences: extrapolation with an honest error estimate, and Taylor's order."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from enzyme_build.gradcheck.differences import extrapolate, taylor_order

EPSILON = 2.0**-52


def central(
    function: Callable[[float], float], x: float, *, epsilon: float = EPSILON
) -> tuple[list[float], list[float]]:
    steps = [0.05 * 2.0**-k for k in range(10)]
    values = [(function(x + h) - function(x - h)) / (2 * h) for h in steps]
    noise = [epsilon * (abs(function(x + h)) + abs(function(x - h))) / (2 * h) for h in steps]
    return values, noise


@pytest.mark.parametrize(
    ("function", "x", "slope"),
    [
        (math.exp, 1.0, math.e),
        (math.sin, 2.0, math.cos(2.0)),
        (lambda x: x**5, 1.5, 5 * 1.5**4),
        (lambda x: 3 * x, 0.7, 3.0),
        (lambda _: 4.0, 0.7, 0.0),
        (lambda x: 1 / x, 0.06, -1 / 0.06**2),
        (lambda x: math.sin(30 * x), 1.0, 30 * math.cos(30)),
    ],
)
def test_the_error_estimate_covers_the_error(function: Callable[[float], float], x: float, slope: float) -> None:
    estimate = extrapolate(*central(function, x))
    assert abs(estimate.value - slope) <= 5 * estimate.error
    assert estimate.error <= 1e-6 * max(1.0, abs(slope))


def test_a_kink_beside_the_point_is_outrun_by_smaller_steps() -> None:
    estimate = extrapolate(*central(lambda x: abs(x - 1.03) + x, 1.0))
    assert estimate.value == pytest.approx(0.0, abs=1e-9)


def test_a_step_is_known_to_be_rough() -> None:
    assert extrapolate(*central(lambda x: float(x > 1), 1.0)).error > 1.0


def test_steps_outside_the_domain_are_left_out() -> None:
    def root(x: float) -> float:
        return math.sqrt(x) if x >= 0 else math.nan

    estimate = extrapolate(*central(root, 0.02))
    assert estimate.value == pytest.approx(0.5 / math.sqrt(0.02), rel=1e-6)


def test_without_numbers_nothing_is_said() -> None:
    estimate = extrapolate([math.nan] * 10, [0.0] * 10)
    assert math.isinf(estimate.error)


@pytest.mark.parametrize(("slope", "order"), [(math.e, 2.0), (math.e + 0.1, 1.0), (-math.e, 1.0)])
def test_the_order_tells_a_right_slope_from_a_wrong_one(slope: float, order: float) -> None:
    steps = [0.05 * 2.0**-k for k in range(10)]
    rises = [math.exp(1 + step) - math.e for step in steps]
    found = taylor_order(steps, rises, [2 * EPSILON * math.e] * 10, slope)
    assert found == pytest.approx(order, abs=0.25)


def test_a_linear_function_has_no_order() -> None:
    steps = [0.05 * 2.0**-k for k in range(10)]
    assert taylor_order(steps, [3 * step for step in steps], [EPSILON] * 10, 3.0) is None
