"""Write the functions that let a rule apply in forward mode where its packet is inactive.

Enzyme applies a forward rule only when every pointer argument is active (measured on v0.0.289). The packet is not where
the caller puts only constants in it and reads no number from it: `axpy(n, 2.0, x, y)`, or a `dot(n, x, y)` that is only
compared. Enzyme then differentiates the packet function's body instead. That of the bridge calls the inner function,
which takes the packet as a distance and its active inputs by value; the rule on that one sees the arrays as the only
pointers. It must take those inputs from its arguments, not from the packet: where an array is inactive too, Enzyme goes
on to differentiate its body, and says that the primal has no derivative instead of overlooking those inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.codegen.plan import HIDE, POINTER, Lines, Plan, function

if TYPE_CHECKING:
    from enzyme_build.rules.model import Argument

__all__ = ["bridge"]


def bridge(plan: Plan) -> Lines:
    """Return the bridge, the inner function and its forward rule; nothing where the packet is never inactive alone."""
    if not plan.has_bridge or "tangent" not in plan.roles:
        return []
    values, distance = plan.name("values"), plan.name("values_distance")
    inputs = [argument for argument in plan.packed if argument.active and argument.input]
    rest = plan.parameters(shadows=False)[1:]
    handed = plan.call("").strip("()").split(", ")[1:]
    struct = f"struct {plan.function('values')}"

    body = [plan.primal_call(own=inputs)]
    body += [f"{values}->{argument.name} = {argument.name};" for argument in inputs if argument.output]
    # a parameter that the body does not use would be passed as poison by LLVM's removal of dead arguments
    hidden = [f"uintptr_t {distance}"] if any(f"{values}->" in line for line in body) else []
    body = [*([f"{struct} *{values} = {POINTER}({distance});"] if hidden else []), *body]
    scalars = [_scalar(argument) for argument in inputs]
    lines = function(f"void {plan.function('inner')}", [*scalars, *hidden, *rest], [*plan.plain_pointer(body), *body])

    outer = [f"{values}->{argument.name}" for argument in inputs] + [f"{HIDE}({values})" for _ in hidden]
    call = f"{plan.function('inner')}({', '.join([*outer, *handed])});"
    lines += ["", *function(f"void {plan.function('bridge')}", plan.parameters(shadows=False), [call])]

    shadow = plan.name("d_values")
    parameters = [text for one in inputs for text in (_scalar(one), f"{one.type} {_tangent(plan, one)}")]
    parameters += [text for one in hidden for text in (one, f"{one}_again")]
    parameters += plan.parameters(shadows=True)[2:]
    names = [parameter.replace("*", " ").split()[-1] for parameter in plan.parameters(shadows=True)[2:]]
    if hidden:
        body = [f"(void){argument.name};" for argument in inputs] + [f"(void){distance}_again;"]
        given = f"{POINTER}({distance})"
    else:
        body = [f"{struct} {values};", *(f"{values}.{argument.name} = {argument.name};" for argument in inputs)]
        given = f"&{values}"
    body += [
        f"{struct} {shadow};",
        f"memset(&{shadow}, 0, sizeof {shadow});",
        *(f"{shadow}.{argument.name} = {_tangent(plan, argument)};" for argument in inputs),
        f"{plan.function('tangent')}({', '.join([given, f'&{shadow}', *names])});",
    ]
    return [*lines, "", *function(f"void {plan.function('innertangent')}", parameters, body)]


def _scalar(argument: Argument) -> str:
    return f"{argument.type} {argument.name}"


def _tangent(plan: Plan, argument: Argument) -> str:
    return plan.name(f"tangent_{argument.name}")
