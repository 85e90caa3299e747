"""What the calls in kernels.c compute, as formulas of two numbers that may be complex.

The derivative of such a formula is exact by a complex step: Im f(x + ih) / h has no difference in it.
"""

from __future__ import annotations

from cmath import cos, exp, log, sin, sqrt
from collections.abc import Callable, Sequence

Number = complex
Use = Callable[[Number, Number], Number]
STEP = 1e-30


def gradient(function: Callable[[Number, Number], Number], at: Sequence[float]) -> list[float]:
    """Return both derivatives of `function`."""
    u, v = at
    return [function(u + STEP * 1j, v).imag / STEP, function(u, v + STEP * 1j).imag / STEP]


def soft(x: Number) -> Number:
    return log(1 + exp(x))


def solve3(u: Number, v: Number) -> Number:
    rows = [[4, u, 0, u], [v, 5, 1, v], [1, u * v, 6, 1]]
    for k in range(3):
        for i in range(3):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    x = [rows[i][3] / rows[i][i] for i in range(3)]
    return x[0] + x[1] * x[2]


def solve_lower(u: Number, v: Number) -> Number:
    first = v / (2 + u)
    return first * (u - v * first) / 3


def roots(u: Number, v: Number) -> Number:
    p = 3 + u
    d = p * p / 4 - v
    if d.real < 0:
        return u
    return (-p / 2 - sqrt(d)) * (-p / 2 + sqrt(d)) ** 2


def turned(u: Number, v: Number, angle: Number) -> tuple[Number, Number]:
    return cos(angle) * u - sin(angle) * v, sin(angle) * u + cos(angle) * v


def rotate(u: Number, v: Number) -> Number:
    x, y = turned(u, v, u * v)
    return 4 * x * y


def rotate_in_place(u: Number, v: Number) -> Number:
    x, y = turned(u, v, v)
    return x * y * y


def axpy(u: Number, v: Number) -> Number:
    return (v + u * v * v) * (u + u * v * u) + 3


def both(u: Number, v: Number) -> Number:
    return (u + v) * u * v + (v + 3) * 3 * v


USES: dict[str, Use] = {
    "my_sin": lambda u, v: sin(u) * v,
    "my_exp": lambda u, v: exp(u * v),
    "my_pow": lambda u, v: u**v,
    "my_hypot": lambda u, v: sqrt(u * u + v * v),
    "twice": lambda u, v: 2 * u * v,
    "smooth": lambda u, v: sqrt(u * u + 0.25) * v,
    "gauss": lambda u, v: exp(-0.5 * (u / v) ** 2),
    "flagged": lambda u, v: u**2 + v**3,
    "cube": lambda u, v: u**3 * v,
    "cubef": lambda u, v: u**3 * v,
    "cubel": lambda u, v: u**3 * v,
    "quad": lambda u, v: u * u * v,
    "quad_": lambda u, v: u * u * v,
    "mixed": lambda u, v: u * v * v,
    "half_square": lambda u, v: u * u / 2 * v,
    "my_sincos": lambda u, v: sin(u) * v + cos(u) ** 2,
    "one_of_two": lambda u, v: cos(u) * v,
    "softplus": lambda u, v: soft(u) * soft(v),
    "softplus_in_place": lambda u, v: soft(u) * soft(v),
    "vexp": lambda u, v: exp(u + v) + u,
    "vexp_in_place": lambda u, v: exp(u + v),
    "axpy": axpy,
    "axpy_same": lambda u, v: (u + u * u) * (v + u * v),
    "dot": lambda u, v: 2 * u + u * v + 2 * u * u + v * v,
    "scale": lambda u, v: u * u * v * (1 + v * v),
    "both": both,
    "both_in_place": both,
    "weighted": lambda u, v: 7 * u * u + 3 * v * v,
    "gather": lambda u, v: v * u + v * v,
    "solve3": solve3,
    "solve3_in_place": solve3,
    "matvec": lambda u, v: (2 * u * v + 2) * (2 * v + 2 * u * v + 3 * u),
    "solve_lower": solve_lower,
    "safe_log": lambda u, v: log(u + v) * v,
    "safe_log_failing": lambda u, v: 3 * v + 0 * u,
    "roots": roots,
    "energy": lambda u, v: 0.5 * v * v * (u - (v - 0.25 * u)) ** 2,
    "rotate": rotate,
    "rotate_in_place": rotate_in_place,
    "spread": lambda u, v: u * u * v + 2 * u * v * v,
    "fmadd_": lambda u, v: 3 * u * v,
    "fmadd_in_place": lambda u, v: 3 * u * v * v,
    "fnorm_": lambda u, v: sqrt(u * u + v * v) * v,
    "lookup": lambda u, v: (1 + 2 * u + 3 * u * u) * v,
    "named": lambda u, v: u * u * v + v,
    "apply": lambda u, v: 3 * u * v,
    "cmul": lambda u, v: (u * v - u) * (u * u + v) + (2 * v - u * v) - (v * v + 2 * u),
    "noise": lambda u, v: 1.649 * u + 1.743 * v,
    "pool": lambda u, v: u * v * v,
}


def loop(use: Use) -> Use:
    def kernel(x: Number, y: Number) -> Number:
        u, total = x, 0j
        for _ in range(3):
            u = 0.5 + 0.125 * use(u, y)
            total += u * x
        return total

    return kernel


def overwritten(x: Number, y: Number) -> Number:
    total = 0j
    for given in (x, y, x):
        buffer = [soft(given * (j + 1)) for j in range(4)]
        total += buffer[0] * buffer[3]
        buffer[0] += x * x
        buffer[2] += x * y
        total += sum(each * each for each in buffer)
        total += exp(buffer[0]) * 0.01
    return total


PATTERNS: dict[str, Callable[[Use], Use]] = {
    "all": lambda use: use,
    "first": lambda use: lambda x, y: use(x, 1.25) * y,
    "second": lambda use: lambda x, y: use(0.75, y) * x,
    "same": lambda use: lambda x, y: use(x, x) * y,
    "fixed": lambda use: lambda x, y: use(0.5, 0.75) * x * y,
    "unused": lambda use: lambda x, y: x * y,
    "compared": lambda use: lambda x, y: x * y if complex(use(x, y)).real > 0.5 else x - y,
    "loop": loop,
    "twice": lambda use: lambda x, y: use(x, y) * use(y, x),
}

KERNELS: dict[str, Use] = {
    **{f"{pattern}_{name}": make(use) for name, use in USES.items() for pattern, make in PATTERNS.items()},
    "overwritten": overwritten,
    "literal_factor": lambda x, y: (y + 3 * x) * (2 + 3 * y),
    "zero_elements": lambda x, y: x * y,
}
# calls with a user's pointer that is inactive while something else is active
INACTIVE_POINTER: dict[str, Use] = {
    "constant_spring": lambda x, y: 1.5 * (x - 1) ** 2 * y,
    "fixed_input": lambda x, y: (x + 3) * (y + 6),
}
