"""The rules as values: one struct a kind, each with the place it was written."""

from __future__ import annotations

import msgspec

from enzyme_build.model import Mode, Origin

__all__ = [
    "AllocationRule",
    "Argument",
    "Block",
    "DebugSignature",
    "DebugType",
    "DerivativeRule",
    "DerivativeTest",
    "InactiveGlobalRule",
    "InactiveRule",
    "LikeRule",
    "NofreeRule",
    "Partial",
    "Prototype",
    "PrototypeParameter",
    "Rule",
    "RuleProblem",
    "RuleSet",
    "StatedDerivative",
    "TestedArgument",
]


class PrototypeParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter as C spells it; `kind` is `floating`, `integer`, `pointer` or `other` (a by-value aggregate)."""

    name: str | None
    text: str
    kind: str


class Prototype(msgspec.Struct, frozen=True, kw_only=True):
    """A C function declaration, parsed; `result_kind` is a parameter kind or `void`."""

    name: str
    text: str
    result_text: str
    result_kind: str
    parameters: tuple[PrototypeParameter, ...]
    variadic: bool = False


class DebugType(msgspec.Struct, frozen=True, kw_only=True):
    """A C type as debug information has it: its kind as in a prototype, and behind `stars` pointers the type `text`."""

    kind: str
    text: str
    stars: int = 0


class DebugSignature(msgspec.Struct, frozen=True, kw_only=True):
    """A C function as debug information has it."""

    result: DebugType
    parameters: tuple[DebugType, ...]


class RuleProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a rule cannot be used: a finding id, and in words what is wrong and what is expected."""

    finding: str
    text: str
    fix: str


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a stated derivative: how it reaches the generated functions, and what the statement says of it.

    `place` is where it travels: `packet` (a floating value, or a pointer to one), `integer` (by value), `array` (a
    pointer with a shadow, to `count` elements that are `stride` apart) or `handle` (a pointer without a shadow).
    `number` is the kind of the value or element: `floating`, `integer`, `complex`, `struct` or `other`; `type` its C
    type, and `pointer` the pointer as the prototype has it, qualifiers included. `value` says that the integer behind a
    handle is read when the function is called. Derivatives flow from `input` to `output`, unless `active` is false.
    """

    name: str
    place: str
    number: str
    type: str
    pointer: str | None = None
    value: bool = False
    input: bool = False
    output: bool = False
    active: bool = False
    count: str | None = None
    stride: str | None = None

    @property
    def is_array(self) -> bool:
        """Whether there can be several elements; a struct without a shape is one."""
        return self.count is not None and not (self.number == "struct" and self.count == "1")


class Partial(msgspec.Struct, frozen=True, kw_only=True):
    """The derivative of one output by one input, `output` being `result` or a parameter, each perhaps with a field.

    `uses` are the names in the formula; `line` is where it stands in the rule file.
    """

    output: str
    input: str
    formula: str
    uses: tuple[str, ...] = ()
    line: int | None = None


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """C statements that the user wrote, the names in them, those they declare, and the line of the file they begin at.

    `fields` are the members reached through the shadows of structs, as (parameter, member).
    """

    text: str
    uses: tuple[str, ...] = ()
    declares: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    line: int | None = None


class StatedDerivative(msgspec.Struct, frozen=True, kw_only=True):
    """A derivative in formulas (`partials`) or C blocks (`vjp`, `jvp`), from which the rule's functions are generated.

    `result` is the kind of what the function returns: `void`, `integer` or `floating`; `result_active` tells whether
    it carries a derivative. `includes` and `declares` (prototypes) are what the generated C needs to be known.
    """

    arguments: tuple[Argument, ...]
    result: str = "void"
    result_active: bool = False
    partials: tuple[Partial, ...] = ()
    setup: Block | None = None
    vjp: Block | None = None
    jvp: Block | None = None
    includes: tuple[str, ...] = ()
    declares: tuple[str, ...] = ()

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that the statement covers: formulas both, a vjp reverse, a jvp forward mode."""
        covered = ((Mode.REVERSE, self.vjp), (Mode.FORWARD, self.jvp))
        return tuple(mode for mode, block in covered if block is not None or self.partials)


class TestedArgument(msgspec.Struct, frozen=True, kw_only=True):
    """What gradcheck passes as one argument: for a number a range or a value, for a pointer what lies behind it.

    `size` counts elements: a number, or a product of integer arguments such as `n * n`. `type` is the C type of an
    element, for a pointer whose prototype does not tell. `kept` promises that no caller overwrites the array before the
    derivative is computed.
    """

    value: float | int | str | None = None
    range: tuple[float, float] | None = None
    size: int | str | None = None
    type: str | None = None
    kept: bool = False


class DerivativeTest(msgspec.Struct, frozen=True, kw_only=True):
    """How gradcheck tries a rule: points, relative tolerance, range of numbers, and what is said of arguments."""

    seeds: int | None = None
    tolerance: float | None = None
    range: tuple[float, float] | None = None
    arguments: dict[str, TestedArgument] = {}


class DerivativeRule(msgspec.Struct, frozen=True, kw_only=True, tag="derivative"):
    """The derivative of `function` is given by C functions that the user wrote, or stated in formulas or C blocks.

    `augmented` and `gradient` come together (reverse mode), `tangent` alone (forward mode); without `stated` at least
    one of both is set, with it none.
    """

    function: str
    origin: Origin
    prototype: Prototype | None = None
    augmented: str | None = None
    gradient: str | None = None
    tangent: str | None = None
    stated: StatedDerivative | None = None
    test: DerivativeTest | None = None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes of differentiation that this rule covers."""
        if self.stated is not None:
            return self.stated.modes
        covered = ((Mode.REVERSE, self.gradient), (Mode.FORWARD, self.tangent))
        return tuple(mode for mode, function in covered if function is not None)


class InactiveRule(msgspec.Struct, frozen=True, kw_only=True, tag="inactive"):
    """A call of `function` has no derivative, frees nothing it is given and keeps no pointer to an allocation."""

    function: str
    origin: Origin
    prototype: Prototype | None = None


class NofreeRule(msgspec.Struct, frozen=True, kw_only=True, tag="nofree"):
    """`function` frees nothing it is given; says nothing of its derivative."""

    function: str
    origin: Origin
    prototype: Prototype | None = None


class LikeRule(msgspec.Struct, frozen=True, kw_only=True, tag="like"):
    """Enzyme shall treat `function` as the function `like` that it knows, such as `sin` or `free`."""

    function: str
    like: str
    origin: Origin
    prototype: Prototype | None = None


class AllocationRule(msgspec.Struct, frozen=True, kw_only=True, tag="allocation"):
    """`function` allocates memory of the size its argument `size_argument` tells; `deallocate` frees it.

    `deallocate_arguments` has one entry for each argument of `deallocate`: -1 is the allocated pointer, any other
    number the argument of the allocating call with that index (Enzyme's `enzyme_deallocator` attribute).
    """

    function: str
    deallocate: str
    origin: Origin
    size_argument: int = 0
    deallocate_arguments: tuple[int, ...] = (-1,)
    prototype: Prototype | None = None


class InactiveGlobalRule(msgspec.Struct, frozen=True, kw_only=True, tag="inactive-global"):
    """The global variable `variable` holds nothing that is differentiated."""

    variable: str
    origin: Origin


Rule = DerivativeRule | InactiveRule | NofreeRule | LikeRule | AllocationRule | InactiveGlobalRule


class RuleSet(msgspec.Struct, frozen=True, kw_only=True):
    """All rules of a library, in the order of files and of tables in them; `files` are relative, with `/`."""

    rules: tuple[Rule, ...] = ()
    files: tuple[str, ...] = ()
