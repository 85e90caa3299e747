"""What finalize is asked and what it found: the two values that cross the border to its child process."""

from __future__ import annotations

import msgspec

from enzyme_build.model import CallSite, FunctionType, IRType, PointerMode
from enzyme_build.rules.model import Rule, RuleProblem

__all__ = [
    "Access",
    "Answer",
    "FinalizeRequest",
    "FunctionFact",
    "LinkedModule",
    "ModuleFacts",
    "RuleFact",
    "VariableFact",
]


class LinkedModule(msgspec.Struct, frozen=True, kw_only=True):
    """The finalized module of a library that the library at hand links, to be merged into it."""

    library: str
    bitcode: str


class FinalizeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Paths, pointer mode and rules for one library.

    `llvm_version` is what the toolchain says of `libllvm`, which before LLVM 16 cannot tell itself.
    `libllvm` and `section` (the raw content of `.llvmbc`) are files to read, `output` is the file to write;
    `rules_module` holds the bitcode of the functions that were generated for stated derivatives;
    `name` is the library's file name: it makes private names unique and messages readable.
    """

    libllvm: str
    llvm_version: str
    name: str
    section: str
    output: str
    pointers: PointerMode
    linked: tuple[LinkedModule, ...] = ()
    rules: tuple[Rule, ...] = ()
    rules_module: str | None = None
    optimize: str = "O2"


class FunctionFact(msgspec.Struct, frozen=True, kw_only=True):
    """A function of the finished module.

    `references` are the functions and variables its body mentions, sorted; `sites` where it is used itself;
    `never_returns` says that it is used only in calls that the program does not come back from, which Enzyme accepts of
    any function. An alias is listed as a function that mentions the one behind it, and so is an ifunc (`resolved`),
    whose resolver it mentions. `vector_operations` and `atomic_operations` count instructions of its body.
    `stands_for` is the primal when this is a carrier or a moved body that finalize made; `from_library` the linked
    library whose module brought it.
    """

    name: str
    type: FunctionType
    defined: bool
    local: bool
    references: tuple[str, ...] = ()
    sites: tuple[CallSite, ...] = ()
    indirect_calls: int = 0
    inline_assembly: int = 0
    vector_operations: int = 0
    atomic_operations: int = 0
    resolved: bool = False
    never_returns: bool = False
    stands_for: str | None = None
    from_library: str | None = None


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """How functions get at a variable, each list sorted.

    `readers` load from it and `writers` store to it, at a fixed place or an indexed one; `passers` hand its address on,
    so what is done with it there is not seen. `indexed` says that some address is computed at run time.
    """

    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    passers: tuple[str, ...] = ()
    indexed: bool = False


class VariableFact(msgspec.Struct, frozen=True, kw_only=True):
    """A global variable of the finished module; `type` is that of its value, `references` those of its initializer.

    `written` says that some function uses it otherwise than to read from it directly; `access` tells more, for a
    variable that is no constant. `initialised` says that it starts as something else than zero.
    """

    name: str
    type: IRType
    defined: bool
    local: bool
    constant: bool
    written: bool = False
    initialised: bool = False
    thread_local: bool = False
    access: Access = Access()
    references: tuple[str, ...] = ()
    sites: tuple[CallSite, ...] = ()


class RuleFact(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a rule: the symbol it resolved to, how it was applied, and what is wrong with it.

    `index` is the rule's position in the request; `symbol` the name in the module, `None` if there is none. `digest`
    changes with the code of the primal and of the rule's functions, as they came from the compiler.
    """

    index: int
    symbol: str | None
    primal_has_body: bool = False
    problems: tuple[RuleProblem, ...] = ()
    digest: str | None = None


class ModuleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The finished module: how it was made, and every function and variable in it.

    `registrations` are Enzyme's registration globals that the sources held and that were removed: they do nothing after
    the import, so whoever wrote them needs a rule file. `constructors` are the functions that the dynamic linker runs
    when it loads the library; a consumer's copy of the module does not run them, so what they initialise is zero there.
    """

    llvm_version: str
    pointers: PointerMode
    triple: str
    datalayout: str
    optimization: str
    modules: int
    sources: tuple[str, ...]
    functions: tuple[FunctionFact, ...]
    variables: tuple[VariableFact, ...]
    rules: tuple[RuleFact, ...]
    registrations: tuple[str, ...] = ()
    constructors: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the child process answers: the facts, or the class, message and hint of an expected error."""

    facts: ModuleFacts | None = None
    error: str | None = None
    message: str = ""
    hint: str | None = None
