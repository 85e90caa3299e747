"""Which status each symbol gets, and why."""

from __future__ import annotations

import json

import jsonschema
import pytest
from by_hand import JULIA, declared, defined, derivative, describe, elf, module, variable

from enzyme_build.check.status import CONSTANT
from enzyme_build.elf import ElfSymbol
from enzyme_build.finalize.facts import RuleFact
from enzyme_build.manifest import decode_manifest, encode_manifest, json_schema
from enzyme_build.model import Mode, Origin
from enzyme_build.rules.model import (
    AllocationRule,
    InactiveGlobalRule,
    InactiveRule,
    LikeRule,
    NofreeRule,
    RuleProblem,
)

HERE = Origin(file="rules/r.toml", key="x[0]", line=1)


def attached(index: int, symbol: str, *, body: bool = False) -> RuleFact:
    return RuleFact(index=index, symbol=symbol, primal_has_body=body)


def status(manifest, symbol: str) -> str:
    return manifest.symbols[symbol].status


def test_bitcode_known_and_opaque() -> None:
    facts = module(
        defined("kernel", "helper", "sin", "my_square", "llvm.fabs.f64"),
        defined("helper", local=True),
        declared("sin"),
        declared("my_square", "void (ptr, ptr)", used=[("kernel", 7)]),
        declared("llvm.fabs.f64"),
    )
    manifest = describe(facts, elf("kernel"), holders={"my_square": "libmy_square.so"})
    assert {name: record.status for name, record in manifest.symbols.items()} == {
        "kernel": "bitcode",
        "helper": "bitcode",
        "sin": "known",
        "my_square": "opaque",
    }  # intrinsics that Enzyme handles are no symbols
    kernel, square = manifest.symbols["kernel"], manifest.symbols["my_square"]
    assert kernel.exported
    assert kernel.calls == ("helper", "my_square", "sin")
    assert not manifest.symbols["helper"].exported
    assert square.library == "libmy_square.so"
    assert square.type == "void (ptr, ptr)"
    assert [(site.caller, site.file, site.line) for site in square.sites] == [("kernel", "kernel.c", 7)]
    assert manifest.roots == ("kernel",)


def test_the_carrier_of_an_opaque_primal_is_folded_into_it() -> None:
    facts = module(
        defined("kernel", "__enzymebc_rule_my_square"),
        defined("__enzymebc_rule_my_square", "my_square", local=True, stands_for="my_square"),
        declared("my_square", "void (ptr, ptr)", used=[("__enzymebc_rule_my_square", 0), ("augmented_my_square", 3)]),
        defined("augmented_my_square", "my_square"),
        defined("gradient_my_square"),
        rules=[attached(0, "my_square")],
    )
    manifest = describe(facts, elf("kernel"), rules=[derivative("my_square", forward=False)])
    assert "__enzymebc_rule_my_square" not in manifest.symbols
    assert manifest.symbols["kernel"].calls == ("my_square",)
    square = manifest.symbols["my_square"]
    assert (square.status, square.rule, square.modes, square.calls) == ("rule", 0, (Mode.REVERSE,), ())
    assert [site.caller for site in square.sites] == ["augmented_my_square"]


def test_the_moved_body_of_a_primal_is_folded_into_it() -> None:
    facts = module(
        defined("kernel", "square"),
        defined("square", "square__enzymebc_body"),
        defined("square__enzymebc_body", "deep", local=True, stands_for="square"),
        declared("deep"),
        rules=[attached(0, "square", body=True)],
    )
    square = describe(facts, elf("kernel"), rules=[derivative("square", forward=False)]).symbols["square"]
    assert square.status == "rule"
    assert square.modes is None  # the other mode differentiates the body
    assert square.calls == ("deep",)


def test_a_rule_with_a_problem_does_not_count() -> None:
    problem = RuleProblem(finding="EB010", text="wrong type", fix="mend it")
    facts = module(defined("kernel", "f"), declared("f"), rules=[RuleFact(index=0, symbol="f", problems=(problem,))])
    manifest = describe(facts, elf("kernel"), rules=[derivative("f")])
    assert status(manifest, "f") == "opaque"
    assert manifest.rules[0].problems[0].finding == "EB010"


def test_each_kind_of_rule() -> None:
    rules = [
        InactiveRule(function="log_step", origin=HERE),
        LikeRule(function="fast_sin", like="sin", origin=HERE),
        AllocationRule(function="get", deallocate="put", origin=HERE),
        InactiveGlobalRule(variable="table", origin=HERE),
        NofreeRule(function="strtod_like", origin=HERE),
    ]
    facts = module(
        defined("kernel", "log_step", "fast_sin", "get", "put", "table", "strtod_like"),
        declared("log_step", "void (ptr)"),
        declared("fast_sin"),
        declared("get", "ptr (i64)"),
        declared("put", "void (ptr)"),
        declared("strtod_like", "double (ptr)"),
        variable("table", "ptr"),
        rules=[
            attached(index, name) for index, name in enumerate(("log_step", "fast_sin", "get", "table", "strtod_like"))
        ],
    )
    manifest = describe(facts, elf("kernel"), rules=rules)
    found = {name: (record.status, record.rule) for name, record in manifest.symbols.items() if name != "kernel"}
    assert found == {
        "log_step": ("inactive", 0),
        "fast_sin": ("rule", 1),
        "get": ("rule", 2),
        "put": ("rule", 2),
        "table": ("inactive", 3),
        "strtod_like": ("opaque", None),  # nofree gives no derivative
    }
    assert [rule.kind for rule in manifest.rules] == ["inactive", "like", "allocation", "inactive-global", "nofree"]


def test_a_rule_like_an_unknown_function_is_a_problem() -> None:
    facts = module(defined("kernel", "f"), declared("f"), rules=[attached(0, "f")])
    manifest = describe(facts, elf("kernel"), rules=[LikeRule(function="f", like="sinn", origin=HERE)])
    assert status(manifest, "f") == "opaque"
    (problem,) = manifest.rules[0].problems
    assert problem.finding == "EB021"
    assert "did you mean 'sin" in problem.text


def test_known_in_one_mode_only() -> None:
    facts = module(defined("kernel", "fflush"), declared("fflush", "i32 (ptr)"))
    record = describe(facts, elf("kernel")).symbols["fflush"]
    assert (record.status, record.modes) == ("known", (Mode.FORWARD,))
    assert "in reverse mode Enzyme knows no derivative" in (record.detail or "")


def test_a_nofree_rule_gives_a_known_function_its_reverse_mode() -> None:
    facts = module(defined("kernel", "setenv"), declared("setenv", "i32 (ptr, ptr, i32)"))
    assert describe(facts, elf("kernel")).symbols["setenv"].modes == (Mode.FORWARD,)
    with_rule = module(*facts.functions, rules=[attached(0, "setenv")])
    manifest = describe(with_rule, elf("kernel"), rules=[NofreeRule(function="setenv", origin=HERE)])
    assert manifest.symbols["setenv"].modes is None


def test_a_name_that_crashes_enzyme_is_opaque_with_that_detail() -> None:
    facts = module(defined("kernel", "lgamma"), declared("lgamma"))
    record = describe(facts, elf("kernel")).symbols["lgamma"]
    assert (record.status, record.detail) == ("opaque", "Enzyme crashes at it")


def test_what_the_derivative_calls_is_in_the_detail() -> None:
    record = describe(module(defined("kernel", "tgamma"), declared("tgamma")), elf("kernel")).symbols["tgamma"]
    assert "its reverse derivative calls digamma" in (record.detail or "")


@pytest.mark.parametrize(
    ("kind", "constant"),
    [
        ("double ()", True),
        ("void (i32)", True),
        ("i32 (i64)", True),
        ("double (double)", False),
        ("double (ptr)", False),
        ("ptr (i32)", False),
        ("void (i32, ...)", False),
    ],
)
def test_what_enzyme_takes_as_constant_is_told(kind: str, constant: bool) -> None:
    record = describe(module(defined("kernel", "f"), declared("f", kind)), elf("kernel")).symbols["f"]
    assert record.status == "opaque"
    assert (record.detail == CONSTANT) is constant


def test_an_intrinsic_that_enzyme_does_not_handle_is_opaque() -> None:
    facts = module(defined("kernel", "llvm.x86.sse2.sqrt.pd"), declared("llvm.x86.sse2.sqrt.pd"))
    assert status(describe(facts, elf("kernel")), "llvm.x86.sse2.sqrt.pd") == "opaque"


def test_enzyme_jl_has_names_of_its_own() -> None:
    facts = module(defined("kernel", "jl_typeof"), declared("jl_typeof", "ptr (ptr)"))
    assert status(describe(facts, elf("kernel")), "jl_typeof") == "opaque"
    assert status(describe(facts, elf("kernel"), consumers=[JULIA]), "jl_typeof") == "inactive"


def test_waivers_by_name_and_pattern() -> None:
    facts = module(defined("kernel", "f", "log_a"), declared("f"), declared("log_a"))
    manifest = describe(facts, elf("kernel"), waivers={"f": "no derivative wanted", "log_*": "logs"})
    assert status(manifest, "f") == status(manifest, "log_a") == "waived"
    assert manifest.symbols["f"].detail == "no derivative wanted"
    assert [waiver.symbol for waiver in manifest.waivers] == ["f", "log_*"]


def test_a_waiver_by_its_cxx_name() -> None:
    facts = module(defined("kernel", "_ZN3geo3farEd"), declared("_ZN3geo3farEd"))
    assert status(describe(facts, elf("kernel"), waivers={"geo::far(double)": "x"}), "_ZN3geo3farEd") == "waived"
    assert status(describe(facts, elf("kernel"), waivers={"geo::near(double)": "x"}), "_ZN3geo3farEd") == "opaque"


def test_exported_without_bitcode() -> None:
    manifest = describe(
        module(defined("kernel", "asm_part"), declared("asm_part")), elf("kernel", "asm_part", "gcc_part")
    )
    for name in ("asm_part", "gcc_part"):
        assert (manifest.symbols[name].status, manifest.symbols[name].exported) == ("opaque", True)
        assert manifest.symbols[name].detail == "exported, but machine code only"


def test_a_second_name_of_the_same_code_is_bitcode() -> None:
    exported = [
        ElfSymbol(name="_ZN5ShapeC1Ed", kind="function", address=4096),
        ElfSymbol(name="_ZN5ShapeC2Ed", kind="function", address=4096),
        ElfSymbol(name="other", kind="function", address=8192),
    ]
    manifest = describe(module(defined("_ZN5ShapeC2Ed")), elf(*exported))
    assert manifest.symbols["_ZN5ShapeC1Ed"].status == "bitcode"
    assert manifest.symbols["_ZN5ShapeC1Ed"].calls == ("_ZN5ShapeC2Ed",)
    assert manifest.symbols["other"].status == "opaque"


def test_functions_of_a_linked_library_are_bitcode_of_that_library() -> None:
    facts = module(defined("kernel", "util"), defined("util", local=True, from_library="libutil.so"))
    linked = describe(module(defined("util")), elf("util"), file="libutil.so")
    manifest = describe(facts, elf("kernel", needed=["libkernel.so", "libm.so.6"]), linked=[linked])
    assert (manifest.symbols["util"].status, manifest.symbols["util"].library) == ("bitcode", "libutil.so")
    merged = [(each.soname, each.manifest, each.merged) for each in manifest.dependencies]
    assert merged == [("libkernel.so", "libutil.so.enzymebc.json", True), ("libm.so.6", None, False)]


def test_variables() -> None:
    facts = module(
        defined("kernel", "count", "table", "stderr", "own", "_ZTV5Shape", "pair", "rows"),
        variable("count", "double"),
        variable("table", "ptr"),
        variable("stderr", "ptr"),
        variable("_ZTV5Shape", "{ptr, ptr}"),
        variable("pair", "{i32, ptr}"),
        variable("own", "ptr", known_here=True),
        variable(".str", "i32", known_here=True, local=True),
        variable("rows", "ptr", known_here=True, local=True, names=["f"]),
        declared("f"),
    )
    manifest = describe(facts, elf("kernel"))
    found = {name: record.status for name, record in manifest.symbols.items() if record.kind == "variable"}
    assert found == {
        "count": "known",
        "table": "opaque",
        "pair": "opaque",
        "stderr": "known",
        "_ZTV5Shape": "known",
        "own": "bitcode",
        "rows": "bitcode",  # a table that names a function; the private string does not appear
    }
    assert manifest.symbols["rows"].calls == ("f",)


def test_a_native_only_library() -> None:
    manifest = describe(None, elf("my_square", bitcode=False), native=True, consumers=[])
    assert manifest.bitcode is None
    assert manifest.native
    assert manifest.roots == ()
    assert (manifest.symbols["my_square"].status, manifest.symbols["my_square"].detail) == (
        "opaque",
        "machine code only",
    )


def test_rules_for_functions_that_are_not_here_are_noted() -> None:
    facts = module(defined("kernel"), rules=[RuleFact(index=0, symbol=None)])
    (rule,) = describe(facts, elf("kernel"), rules=[derivative("kernels")]).rules
    assert rule.problems[0].finding == "EB008"
    assert "did you mean 'kernel'?" in rule.problems[0].text
    assert rule.functions == {
        "augmented": "augmented_kernels", "gradient": "gradient_kernels", "tangent": "tangent_kernels",
    }  # fmt: skip


def test_a_rule_for_a_function_that_a_linked_library_knows_is_no_problem() -> None:
    linked = describe(None, elf("my_square", bitcode=False), native=True)
    facts = module(defined("kernel"), rules=[RuleFact(index=0, symbol=None)])
    (rule,) = describe(facts, elf("kernel"), rules=[derivative("my_square")], linked=[linked]).rules
    assert rule.problems == ()


def test_the_manifest_fits_its_schema_and_does_not_depend_on_the_order_of_facts() -> None:
    members = [
        defined("kernel", "helper", "sin", "my_square"),
        defined("helper"),
        declared("sin"),
        declared("my_square", used=[("kernel", 7), ("kernel", 3)]),
    ]
    manifest = describe(module(*members), elf("kernel", "helper"))
    jsonschema.validate(json.loads(encode_manifest(manifest)), json_schema())
    assert decode_manifest(encode_manifest(manifest), shown="x") == manifest
    assert encode_manifest(describe(module(*reversed(members)), elf("kernel", "helper"))) == encode_manifest(manifest)
