"""Attach rules to the functions and variables of a merged module.

How each kind is spelt is Enzyme's own convention (what its pass PreserveNVVM makes of registration globals): metadata
`enzyme_augment`, `enzyme_gradient`, `enzyme_derivative`, `enzyme_deallocator_fn`, `enzyme_inactive`; string attributes
`enzyme_inactive`, `enzyme_no_escaping_allocation`, `enzyme_math`, `enzyme_allocator`, `enzyme_deallocator`; and LLVM's
`nofree`. On a function without body, attributes go on the declaration and on each call of it: a consumer that already
declares the function keeps its own declaration, without our attributes. A function with a body gets a carrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.finalize.carrier import Carrier, add_carrier
from enzyme_build.finalize.debug_types import debug_signatures
from enzyme_build.finalize.facts import RuleFact
from enzyme_build.finalize.generated import find_generated, link_generated, put_shim_in_place
from enzyme_build.llvm.binding import FUNCTION_INDEX
from enzyme_build.llvm.demangle import demangle
from enzyme_build.llvm.values import Values
from enzyme_build.rules import abi
from enzyme_build.rules.debug import debug_problems
from enzyme_build.rules.model import (
    AllocationRule,
    DerivativeRule,
    InactiveGlobalRule,
    InactiveRule,
    LikeRule,
    NofreeRule,
    Rule,
    RuleProblem,
)
from enzyme_build.rules.names import resolve_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enzyme_build.llvm.context import Module

__all__ = ["Attached", "attach_rules", "bypassed_rules"]

_INACTIVE = ("enzyme_inactive", "nofree", "enzyme_no_escaping_allocation")


@dataclass(frozen=True, kw_only=True)
class Attached:
    """What became of each rule; the primal behind each carrier and moved body; the bodies to put back in the end."""

    rules: tuple[RuleFact, ...]
    stands_for: Mapping[str, str]
    bodies_to_return: tuple[str, ...]


def attach_rules(
    module: Module, rules: Sequence[Rule], *, local_definitions: Mapping[str, int], generated: bytes | None = None
) -> Attached:
    """Attach `rules` to `module`, in which static functions were defined as often as `local_definitions` says.

    `generated` is the module with the functions of stated derivatives. Attributes come before carriers, which copy
    them. A rule with a problem is not attached.
    """
    prototypes = any(not isinstance(rule, InactiveGlobalRule) and rule.prototype is not None for rule in rules)
    attacher = _Attacher(module, local_definitions, prototypes=prototypes)
    if generated is not None:
        attacher.link_generated(generated, rules)
    order = sorted(range(len(rules)), key=lambda index: isinstance(rules[index], DerivativeRule | AllocationRule))
    facts = {index: attacher.attach(index, rules[index]) for index in order}
    return Attached(
        rules=tuple(facts[index] for index in range(len(rules))),
        stands_for=attacher.stands_for,
        bodies_to_return=tuple(attacher.bodies_to_return),
    )


def bypassed_rules(module: Module, rules: Sequence[Rule], facts: Sequence[RuleFact]) -> tuple[RuleFact, ...]:
    """Return `facts` with a problem added where the optimised body of a primal makes its derivative rule void.

    Where a function can only return one number, LLVM puts the number in place of each call's result, before Enzyme and
    in the consumer as well. No attribute prevents that.
    """
    values = Values(module)
    judged = []
    for found in facts:
        fact, rule = found, rules[found.index]
        function = None if fact.symbol is None else values.function(fact.symbol)
        if isinstance(rule, DerivativeRule) and not fact.problems and function and values.returns_constant(function):
            problem = RuleProblem(
                finding="EB011",
                text=f"{fact.symbol} always returns the same number: LLVM uses that, and no rule is asked",
                fix="drop the rule, or move the function to a library with bitcode = false",
            )
            fact = msgspec.structs.replace(fact, problems=(problem,))
        judged.append(fact)
    return tuple(judged)


class _Attacher:
    """The names of one module, resolved once, and the rules attached to it so far."""

    def __init__(self, module: Module, local_definitions: Mapping[str, int], *, prototypes: bool) -> None:
        self.module = module
        self.values = Values(module)
        self.local_definitions = local_definitions
        self.functions = {self.values.name(item): item for item in self.values.functions()}
        self.variables = {self.values.name(item): item for item in self.values.variables()}
        self.aliases = {self.values.name(item) for item in self.values.aliases()}
        self.debug = debug_signatures(module) if prototypes else {}
        self.stands_for: dict[str, str] = {}
        self.bodies_to_return: list[str] = []

    def link_generated(self, generated: bytes, rules: Sequence[Rule]) -> None:
        """Bring in the functions of stated derivatives; the names that rules may mean stay those from before."""
        stated = [rule.function for rule in rules if isinstance(rule, DerivativeRule) and rule.stated is not None]
        symbols = [resolve_name(function, self.functions, demangle).symbol for function in stated]
        primals = [self.functions[symbol] for symbol in symbols if symbol is not None]
        link_generated(self.module, generated, name="the library", primals=primals)

    def attach(self, index: int, rule: Rule) -> RuleFact:
        """Attach one rule, or say what is wrong with it."""
        if isinstance(rule, InactiveGlobalRule):
            variable = self.variables.get(rule.variable)
            if variable is None:
                return RuleFact(index=index, symbol=None)
            self.values.set_empty_metadata(variable, "enzyme_inactive")
            return RuleFact(index=index, symbol=rule.variable, primal_has_body=self.values.is_defined(variable))
        resolution = resolve_name(rule.function, self.functions, demangle)
        if resolution.symbol is None:
            return RuleFact(index=index, symbol=None, problems=self._unresolved(rule, resolution.candidates))
        name = resolution.symbol
        function = self.functions[name]
        has_body = self.values.is_defined(function)
        problems = list(self._ambiguous(name, function))
        problems += abi.prototype_problems(rule.prototype, self.values.function_type(function))
        if not problems:
            problems += debug_problems(rule.prototype, self.debug.get(name))
        if not problems:
            match rule:
                case DerivativeRule() if rule.stated is not None:
                    problems += self._stated(name, function, rule)
                case DerivativeRule():
                    problems += self._derivative(name, function, rule)
                case AllocationRule():
                    problems += self._allocation(name, function, rule)
                case InactiveRule():
                    self._mark(name, function, dict.fromkeys(_INACTIVE))
                case NofreeRule():
                    self._mark_nofree(function)
                case LikeRule():
                    self._mark(name, function, {"enzyme_math": rule.like})
        return RuleFact(index=index, symbol=name, primal_has_body=has_body, problems=tuple(problems))

    def _unresolved(self, rule: Rule, candidates: Sequence[str]) -> tuple[RuleProblem, ...]:
        name = "" if isinstance(rule, InactiveGlobalRule) else rule.function
        if name in self.aliases:
            return (
                RuleProblem(
                    finding="EB011",
                    text=f"{name} is an alias of another function, and Enzyme sees only that other function",
                    fix="write the rule for the function behind the alias",
                ),
            )
        if len(candidates) > 1:
            return (
                RuleProblem(
                    finding="EB018",
                    text=f"{name} can mean {len(candidates)} functions: {', '.join(sorted(candidates)[:6])}",
                    fix="write the full signature, or the name as it is in the object file",
                ),
            )
        return ()

    def _ambiguous(self, name: str, function: int) -> tuple[RuleProblem, ...]:
        count = self.local_definitions.get(name, 0)
        if count < 2 or not self.values.is_local(function):
            return ()
        return (
            RuleProblem(
                finding="EB018",
                text=f"{name} is a static function of {count} source files, and the rule does not say which",
                fix="give the function that the rule is for a name of its own",
            ),
        )

    def _mark(self, name: str, function: int, attributes: Mapping[str, str | None]) -> None:
        """Let every call of `function` show Enzyme these attributes."""
        if self.values.is_defined(function):
            self._carry(name, function, Carrier(attributes=attributes))
            return
        for attribute_name, value in attributes.items():
            self._set_everywhere(function, self.values.attribute(attribute_name, value))

    def _set_everywhere(self, function: int, attribute: int) -> None:
        """Set an attribute on a function and on each call of it."""
        self.values.add_attribute(function, attribute)
        for call in self.values.direct_calls(function):
            self.values.binding.AddCallSiteAttribute(call, FUNCTION_INDEX, attribute)

    def _mark_nofree(self, function: int) -> None:
        """Say that `function` frees nothing; a body needs no carrier, since its derivative is that of the body."""
        self._set_everywhere(function, self.values.attribute("nofree"))
        if self.values.is_defined(function):  # inlined, the attribute would be gone and the calls inside would show
            self.values.remove_attribute(function, "alwaysinline")
            self.values.add_attribute(function, self.values.attribute("noinline"))

    def _derivative(self, name: str, primal: int, rule: DerivativeRule) -> list[RuleProblem]:
        written = {"augmented": rule.augmented, "gradient": rule.gradient, "tangent": rule.tangent}
        found: dict[str, int] = {}
        problems = []
        for role, function_name in written.items():
            if function_name is None:
                continue
            resolution = resolve_name(function_name, self.functions, demangle)
            if resolution.symbol is None:
                problems.append(self._missing(name, role, function_name, resolution.reason))
            else:
                found[role] = self.functions[resolution.symbol]
        if problems:
            return problems
        types = {role: self.values.function_type(function) for role, function in found.items()}
        shape = self.values.function_type(primal)
        spelt = {f"{role}_name": self.values.name(function) for role, function in found.items()}
        spelt["primal_name"] = name
        if "tangent" in types:
            names = {key: spelt[key] for key in ("primal_name", "tangent_name")}
            problems += abi.forward_problems(shape, types["tangent"], prototype=rule.prototype, **names)
        if "gradient" in types:
            names = {key: spelt[key] for key in ("primal_name", "augmented_name", "gradient_name")}
            problems += abi.reverse_problems(
                shape, types["augmented"], types["gradient"], prototype=rule.prototype, **names
            )
        if problems:
            return problems
        kinds = {"augmented": "enzyme_augment", "gradient": "enzyme_gradient", "tangent": "enzyme_derivative"}
        self._carry(name, primal, Carrier(metadata={kinds[role]: function for role, function in found.items()}))
        if self.values.is_defined(primal):
            self.bodies_to_return.append(self.values.name(primal))
        return []

    def _stated(self, name: str, primal: int, rule: DerivativeRule) -> list[RuleProblem]:
        assert rule.prototype is not None  # noqa: S101 - a stated derivative has one
        opaque = not self.values.is_defined(primal)
        generated = find_generated(self.values, rule.prototype.name, opaque=opaque)
        if generated is None:
            text = f"the functions generated for {name} are missing"
            return [
                RuleProblem(finding="EB019", text=text, fix="this is a defect of enzyme-build; please report the rule")
            ]
        if self.values.binding.TypeOf(primal) != self.values.binding.TypeOf(generated.shim):
            text = (
                f"the prototype {rule.prototype.text!r} means {self.values.function_type(generated.shim)}, "
                f"the bitcode has {self.values.function_type(primal)}"
            )
            return [RuleProblem(finding="EB010", text=text, fix="correct the prototype")]
        put_shim_in_place(self.values, primal, generated, prototype_name=rule.prototype.name)
        kinds = {
            "enzyme_augment": generated.augmented,
            "enzyme_gradient": generated.gradient,
            "enzyme_derivative": generated.tangent,
        }
        self.functions[name] = generated.shim
        metadata = {kind: function for kind, function in kinds.items() if function is not None}
        made = add_carrier(self.module, generated.packet, Carrier(metadata=metadata))
        self.bodies_to_return.append(self.values.name(generated.packet))
        carriers = [made]
        if generated.inner is not None and generated.inner_tangent is not None:
            inside = Carrier(metadata={"enzyme_derivative": generated.inner_tangent})
            carriers += [generated.inner, add_carrier(self.module, generated.inner, inside)]
            self.bodies_to_return.append(self.values.name(generated.inner))
        for function in (primal, generated.shim, generated.packet, *carriers):
            function_name = self.values.name(function)
            if function_name != name:
                self.stands_for[function_name] = name
        return []

    def _allocation(self, name: str, primal: int, rule: AllocationRule) -> list[RuleProblem]:
        resolution = resolve_name(rule.deallocate, self.functions, demangle)
        if resolution.symbol is None:
            return [self._missing(name, "deallocate", rule.deallocate, resolution.reason)]
        freeing = self.values.function_type(self.functions[resolution.symbol])
        problems = abi.allocation_problems(self.values.function_type(primal), rule, deallocate=freeing)
        if problems:
            return list(problems)
        # Enzyme refuses to differentiate a call of an unknown function that frees; as `free` it is understood
        self._mark(resolution.symbol, self.functions[resolution.symbol], {"enzyme_math": "free"})
        deallocate = self.functions[resolution.symbol]
        self._carry(
            name,
            primal,
            Carrier(
                metadata={"enzyme_deallocator_fn": deallocate},
                attributes={
                    "enzyme_allocator": str(rule.size_argument),
                    "enzyme_deallocator": ",".join(str(index) for index in rule.deallocate_arguments),
                },
            ),
        )
        return []

    def _missing(self, name: str, role: str, function: str, reason: str) -> RuleProblem:
        return RuleProblem(
            finding="EB019",
            text=f"the {role} function {function!r} of {name} is not in the bitcode: {reason}",
            fix="add the source file that defines it to the library, or correct the name",
        )

    def _carry(self, name: str, primal: int, carrier: Carrier) -> None:
        made = add_carrier(self.module, primal, carrier)
        # a later rule for the same function stacks its carrier on this one
        self.functions[name] = made
        for function in (made, primal):
            function_name = self.values.name(function)
            if function_name != name:
                self.stands_for[function_name] = name
