"""Remove what a consumer trips over, and make local names unique to the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.llvm.values import Values

if TYPE_CHECKING:
    from enzyme_build.llvm.context import Module

__all__ = ["drop_constructor_lists", "drop_registration_globals", "drop_used_lists", "make_local_names_unique"]

# Enzyme finds registrations by substring (PreserveNVVM); `inactive` ones become rules by the same names
_REGISTRATIONS = (
    "__enzyme_register_gradient",
    "__enzyme_register_derivative",
    "__enzyme_register_splitderivative",
    "__enzyme_inactivefn",
    "__enzyme_inactivenoblockfn",
    "__enzyme_inactive_global",
    "__enzyme_nofree",
    "__enzyme_function_like",
    "__enzyme_allocation_like",
    "__enzyme_sparse_accumulate",
)


def drop_used_lists(module: Module) -> None:
    """Delete `llvm.used` and `llvm.compiler.used`: the import gives them a linkage that the verifier rejects."""
    values = Values(module)
    for name in ("llvm.used", "llvm.compiler.used"):
        variable = values.variable(name)
        if variable is not None:
            values.binding.DeleteGlobal(variable)


def drop_constructor_lists(module: Module) -> tuple[str, ...]:
    """Delete `llvm.global_ctors` and `llvm.global_dtors`; return the names of the constructors, sorted.

    A consumer does not run them, and the import gives the lists a linkage that the verifier rejects. What the optimiser
    could evaluate is in the variables by now.
    """
    values = Values(module)
    names: set[str] = set()
    for name in ("llvm.global_ctors", "llvm.global_dtors"):
        variable = values.variable(name)
        if variable is None:
            continue
        if name == "llvm.global_ctors":
            names.update(
                values.name(function) for function in values.functions() if variable in values.holders(function)
            )
        values.binding.DeleteGlobal(variable)
    return tuple(sorted(names))


def drop_registration_globals(module: Module) -> tuple[str, ...]:
    """Delete Enzyme's registration globals, which nothing reads after the import; return their names, sorted."""
    values = Values(module)
    names = []
    for variable in values.variables():
        name = values.name(variable)
        if any(keyword in name for keyword in _REGISTRATIONS) and not any(values.users(variable)):
            names.append(name)
            values.binding.DeleteGlobal(variable)
    return tuple(sorted(names))


def make_local_names_unique(module: Module, *, identity: str) -> None:
    """Give every private or internal function and variable a name that holds `identity`.

    The import makes them external or finds them by name, and two libraries may both have a `helper` or a `.str`.
    """
    values = Values(module)
    for item in (*values.functions(), *values.variables(), *values.aliases()):
        if values.is_local(item):
            values.rename(item, f"{values.name(item) or 'unnamed'}.{identity}")
