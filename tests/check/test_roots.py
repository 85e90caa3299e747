from __future__ import annotations

import pytest
from by_hand import defined, derivative, describe, elf, module

from enzyme_build.elf import ElfSymbol


def test_the_exported_functions_are_the_roots() -> None:
    exported = ["kernel", "other", ElfSymbol(name="table", kind="variable"), "_init", "_fini"]
    assert describe(module(defined("kernel"), defined("other")), elf(*exported)).roots == ("kernel", "other")


def test_the_functions_of_rules_are_no_roots_unless_named() -> None:
    names = ["kernel", "augmented_f", "gradient_f", "tangent_f"]
    facts = module(*map(defined, names))
    assert describe(facts, elf(*names), rules=[derivative("f")]).roots == ("kernel",)
    assert describe(facts, elf(*names), rules=[derivative("f")], roots=["gradient_f"]).roots == ("gradient_f",)


def test_template_instances_and_inline_functions_are_no_roots() -> None:
    instance = ElfSymbol(name="_ZN3geo4sizeIdEEdT_", kind="function", weak=True)
    plain = ElfSymbol(name="overridable", kind="function", weak=True)
    assert describe(module(defined("overridable")), elf(instance, plain)).roots == ("overridable",)


def test_the_start_function_of_an_extension_module_is_no_root() -> None:
    facts = module(defined("PyInit__ext"), defined("square", local=True))
    assert describe(facts, elf("PyInit__ext"), python_extension=True).roots == ()
    assert describe(facts, elf("PyInit__ext"), python_extension=True, roots=["square"]).roots == ("square",)


@pytest.mark.parametrize(
    ("wanted", "roots"),
    [
        (["kernel_*"], ("kernel_a", "kernel_b")),
        (["kernel_[b]"], ("kernel_b",)),
        (["kernel_a", "kernel_*"], ("kernel_a", "kernel_b")),
        (["geo::far"], ("_ZN3geo3farEd",)),
        (["geo::far(double)"], ("_ZN3geo3farEd",)),
        (["solve"], ("solve_",)),
        (["kernal", "grad_*"], ("grad_*", "kernal")),  # unknown ones stay as written: the check finds them
    ],
)
def test_named_roots(wanted: list[str], roots: tuple[str, ...]) -> None:
    names = ["kernel_a", "kernel_b", "_ZN3geo3farEd", "solve_"]
    assert describe(module(*map(defined, names)), elf(*names), roots=wanted).roots == roots
