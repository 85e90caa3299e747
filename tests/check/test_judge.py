"""What is found, at which level, and in which words; each finding with its negative twin."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest
from by_hand import JULIA, declared, defined, derivative, describe, elf, module, variable

from enzyme_build.check.finding import Verdict
from enzyme_build.check.judge import judge
from enzyme_build.elf import ElfFacts
from enzyme_build.finalize.facts import FunctionFact, RuleFact
from enzyme_build.manifest import Manifest
from enzyme_build.model import Mode, PointerMode
from enzyme_build.rules.model import RuleProblem

KERNEL = elf("kernel")


def verdict(*manifests: Manifest, library: ElfFacts | None = None, **more) -> Verdict:
    return judge([(manifest.library.file, manifest, library) for manifest in manifests], **more)


def ids(found: Verdict) -> list[str]:
    return [finding.id for finding in found.findings]


def kernel(*members, **more) -> Manifest:
    return describe(module(*members), KERNEL, **more)


def test_clean() -> None:
    found = verdict(kernel(defined("kernel", "helper", "sin"), defined("helper", local=True), declared("sin")))
    assert found.findings == ()
    assert found.exit_code == 0
    (library,) = found.summary.libraries
    assert dict(library.statuses) == {"bitcode": 2, "known": 1}
    assert library.bitcode == "LLVM 15.0.6, opaque pointers"


def test_an_opaque_function_with_all_that_helps_to_deal_with_it() -> None:
    found = verdict(
        kernel(
            defined("kernel", "helper"),
            defined("helper", "deeper", local=True),
            defined("deeper", "my_square", local=True),
            declared("my_square", "void (ptr, ptr)", used=[("deeper", 12), ("unreached", 3)]),
            holders={"my_square": "libmy_square.so"},
        )
    )
    (finding,) = found.findings
    assert (finding.id, finding.level, finding.symbol) == ("EB001", "error", "my_square")
    assert finding.message == "my_square has neither bitcode nor a rule"
    assert finding.chain == ("kernel", "helper", "deeper", "my_square")
    assert [(site.caller, str(site.location)) for site in finding.callers] == [("deeper", "kernel.c:12")]
    assert finding.held_by == "libmy_square.so"
    assert finding.stanza is not None
    assert 'prototype = "void my_square(double *a0, double *a1)"' in finding.stanza
    assert found.exit_code == 1


def test_the_chain_is_a_shortest_one() -> None:
    found = verdict(
        kernel(defined("kernel", "a", "f"), defined("a", "b"), defined("b", "f"), declared("f"), roots=["kernel"])
    )
    assert found.findings[0].chain == ("kernel", "f")


def test_a_rule_deals_with_it() -> None:
    facts = module(defined("kernel", "my_square"), declared("my_square"), rules=[RuleFact(index=0, symbol="my_square")])
    assert ids(verdict(describe(facts, KERNEL, rules=[derivative("my_square")]))) == []


def test_what_no_root_reaches_is_only_noted() -> None:
    members = [defined("kernel"), defined("unused", "f", local=True), declared("f")]
    found = verdict(kernel(*members))
    assert found.findings == ()
    assert found.summary.libraries[0].notes == ("1 opaque symbol reached from no root: f",)
    assert ids(verdict(kernel(*members, roots=["unused"]))) == ["EB001"]


def test_a_function_in_a_table_is_reached() -> None:
    found = verdict(
        kernel(
            defined("kernel", "table", indirect_calls=1),
            variable("table", "ptr", known_here=True, local=True, names=["f"]),
            declared("f"),
        )
    )
    assert found.findings[0].chain == ("kernel", "table", "f")
    assert [(each.id, each.symbol) for each in found.findings] == [("EB001", "f"), ("EB034", "kernel")]
    assert found.summary.libraries[0].classified["calls through pointers"] == 1


def test_the_silent_constant_is_an_error_in_its_own_words() -> None:
    (finding,) = verdict(kernel(defined("kernel", "get_state"), declared("get_state", "double ()"))).findings
    assert finding.id == "EB001"
    assert finding.message.endswith("Enzyme would take it as constant, derivative 0, without a word")
    assert finding.stanza == '[[inactive]]\nfunction = "get_state"'
    assert "declare it inactive if that is right" in finding.fix


def test_the_detail_of_a_known_crash_is_told() -> None:
    (finding,) = verdict(kernel(defined("kernel", "lgamma"), declared("lgamma"))).findings
    assert finding.message == "lgamma has neither bitcode nor a rule (Enzyme crashes at it)"


def test_cxx_names_are_read_aloud() -> None:
    (finding,) = verdict(kernel(defined("kernel", "_ZN3geo3farEd"), declared("_ZN3geo3farEd"))).findings
    assert finding.symbol == "_ZN3geo3farEd"
    assert finding.demangled == "geo::far(double)"
    assert finding.message.startswith("geo::far(double) has neither")
    assert finding.chain == ("kernel", "geo::far(double)")


def test_a_demangler_is_asked_only_when_there_is_something_to_demangle() -> None:
    def refuse(names):
        raise AssertionError(names)

    assert ids(verdict(kernel(defined("kernel", "f"), declared("f")), demangle=refuse)) == ["EB001"]


def test_an_intrinsic_gets_no_stanza() -> None:
    (finding,) = verdict(kernel(defined("kernel", "llvm.x86.sse2.sqrt.pd"), declared("llvm.x86.sse2.sqrt.pd"))).findings
    assert finding.id == "EB027"
    assert finding.stanza is None


def test_exported_machine_code() -> None:
    facts = module(defined("kernel"))
    (finding,) = verdict(describe(facts, elf("kernel", "gcc_part"))).findings
    assert (finding.id, finding.symbol) == ("EB012", "gcc_part")
    assert finding.message == "gcc_part is exported, but its code is machine code only"
    assert ids(verdict(describe(facts, elf("kernel", "gcc_part"), roots=["kernel"]))) == []


def one_mode(*, reverse: bool, body: bool = False) -> Manifest:
    members: list[FunctionFact] = [defined("kernel", "f")]
    if body:
        members += [defined("f", "f__enzymebc_body"), defined("f__enzymebc_body", "g", stands_for="f"), declared("g")]
    else:
        members += [declared("f")]
    facts = module(*members, rules=[RuleFact(index=0, symbol="f", primal_has_body=body)])
    return describe(facts, KERNEL, rules=[derivative("f", reverse=reverse, forward=not reverse)])


def test_one_mode_only_is_a_warning() -> None:
    (finding,) = verdict(one_mode(reverse=True)).findings
    assert (finding.id, finding.level, finding.symbol) == ("EB013", "warning", "f")
    assert "in forward mode" in finding.message


def test_one_mode_only_is_an_error_or_nothing_when_the_modes_are_declared() -> None:
    assert ids(verdict(one_mode(reverse=True), modes=[Mode.REVERSE])) == []
    (finding,) = verdict(one_mode(reverse=True), modes=[Mode.FORWARD]).findings
    assert (finding.id, finding.level) == ("EB013", "error")
    assert [each.level for each in verdict(one_mode(reverse=False), modes=list(Mode)).findings] == ["error"]


def test_the_mode_without_a_rule_looks_into_the_body() -> None:
    (finding,) = verdict(one_mode(reverse=True, body=True)).findings
    assert (finding.id, finding.symbol, finding.chain) == ("EB013", "g", ("kernel", "f", "g"))
    assert ids(verdict(one_mode(reverse=True, body=True), modes=[Mode.REVERSE])) == []
    assert ids(verdict(one_mode(reverse=True, body=True), modes=[Mode.FORWARD])) == ["EB001"]


def test_an_external_pointer_is_a_warning_plain_data_is_not() -> None:
    (finding,) = verdict(kernel(defined("kernel", "table"), variable("table", "ptr"))).findings
    assert (finding.id, finding.level) == ("EB014", "warning")
    assert finding.stanza == '[[inactive-global]]\nvariable = "table"'
    assert ids(verdict(kernel(defined("kernel", "count"), variable("count", "double")))) == []


def test_inline_assembly() -> None:
    assert ids(verdict(kernel(defined("kernel", inline_assembly=1)))) == ["EB023"]
    unreached = [defined("kernel"), defined("unused", inline_assembly=1, local=True)]
    assert ids(verdict(kernel(*unreached))) == []


def test_waivers_silence_and_unused_ones_are_told() -> None:
    members = [defined("kernel", "f"), declared("f")]
    assert ids(verdict(kernel(*members, waivers={"f": "fine"}))) == []
    (finding,) = verdict(kernel(*members, waivers={"f": "fine", "g": "was opaque"})).findings
    assert (finding.id, finding.level, finding.symbol) == ("EB017", "warning", "g")
    assert "'was opaque'" in finding.message


def test_a_waiver_that_another_library_of_the_project_needs_is_used() -> None:
    waivers = {"f": "fine"}
    first = kernel(defined("kernel", "f"), declared("f"), waivers=waivers)
    second = describe(module(defined("other")), elf("other"), file="libother.so", waivers=waivers)
    assert ids(verdict(first, second)) == []


@pytest.mark.parametrize(
    ("roots", "message"),
    [
        (["kernal"], "no function is named 'kernal'; did you mean 'kernel'?"),
        (["grad_*"], "no function fits the pattern 'grad_*'"),
        (["f"], "the root 'f' is called by the library, but not defined in it"),
    ],
)
def test_unknown_roots(roots: list[str], message: str) -> None:
    facts = module(defined("kernel", "f"), declared("f"))
    manifest = describe(facts, KERNEL, roots=roots)
    assert [finding.message for finding in verdict(manifest).findings] == [f"libkernel.so: {message}"]
    assert ids(verdict(manifest)) == ["EB009"]


def test_no_root() -> None:
    (finding,) = verdict(describe(module(defined("hidden", local=True)), elf())).findings
    assert (finding.id, finding.level) == ("EB016", "warning")


def test_the_python_api_is_summed_up_unless_a_root_reaches_it() -> None:
    facts = module(
        defined("PyInit__ext", "PyModule_Create2"),
        defined("call", "PyFloat_FromDouble", "square", local=True),
        defined("square", local=True),
        declared("PyModule_Create2", "ptr (ptr, i32)"),
        declared("PyFloat_FromDouble", "ptr (double)"),
    )
    named = describe(facts, elf("PyInit__ext"), python_extension=True, roots=["square"])
    found = verdict(named)
    assert found.findings == ()
    assert found.summary.libraries[0].notes == ("2 functions of CPython's C API used, by code that no root reaches",)
    reached = describe(facts, elf("PyInit__ext"), python_extension=True, roots=["call"])
    assert [finding.symbol for finding in verdict(reached).findings] == ["PyFloat_FromDouble"]
    (finding,) = verdict(describe(facts, elf("PyInit__ext"), python_extension=True)).findings
    assert finding.id == "EB016"


def test_bitcode_of_another_library_that_is_not_merged() -> None:
    first = kernel(defined("kernel", "util"), declared("util"))
    second = describe(module(defined("util")), elf("util"), file="libutil.so")
    (finding,) = verdict(first, second).findings
    assert (finding.id, finding.level) == ("EB022", "warning")
    assert "libutil.so, which is not merged" in finding.message
    assert ids(verdict(first)) == ["EB001"]


def test_a_library_that_should_have_bitcode() -> None:
    missing = describe(None, elf("kernel", bitcode=False))
    assert ids(verdict(missing)) == ["EB002"]
    meant = describe(None, elf("kernel", bitcode=False), native=True)
    found = verdict(meant)
    assert found.findings == ()
    assert found.summary.native == ("libkernel.so",)


def test_the_consumer_must_read_the_version() -> None:
    facts = module(defined("kernel"), llvm_version="19.1.7", pointers=PointerMode.TYPED)
    (finding,) = verdict(describe(facts, KERNEL, consumers=[JULIA])).findings
    assert finding.id == "EB005"
    assert finding.message == "libkernel.so: bitcode of LLVM 19.1.7; julia-1.11 reads LLVM 16 and older"
    older = module(defined("kernel"), llvm_version="15.0.6", pointers=PointerMode.TYPED)
    assert ids(verdict(describe(older, KERNEL, consumers=[JULIA]))) == []


def test_the_consumer_must_read_the_pointers() -> None:
    opaque = module(defined("kernel"), pointers=PointerMode.OPAQUE)
    (finding,) = verdict(describe(opaque, KERNEL, consumers=[JULIA])).findings
    assert finding.id == "EB006"
    typed = module(defined("kernel"), pointers=PointerMode.TYPED)
    assert ids(verdict(describe(typed, KERNEL, consumers=[JULIA]))) == []
    assert ids(verdict(describe(typed, KERNEL))) == []  # readers with opaque pointers convert


def test_a_consumer_of_a_newer_version_is_noted() -> None:
    manifest = msgspec.structs.replace(kernel(defined("kernel")), consumers=("julia-9.9",))
    found = verdict(manifest)
    assert found.findings == ()
    assert found.summary.libraries[0].notes[0].startswith("consumer 'julia-9.9' is unknown")


def test_stripped_changed_and_foreign_libraries() -> None:
    manifest = kernel(defined("kernel"))
    assert ids(verdict(manifest, library=KERNEL)) == []
    stripped = dataclasses.replace(KERNEL, bitcode_section=False, section_sha256=None)
    (finding,) = verdict(manifest, library=stripped).findings
    assert finding.id == "EB007"
    assert "has no section .llvmbc any more" in finding.message
    changed = dataclasses.replace(KERNEL, section_sha256="0ther")
    assert "is not the one that the manifest describes" in verdict(manifest, library=changed).findings[0].message
    rebuilt = dataclasses.replace(KERNEL, build_id="fedcba9876543210")
    assert "of build 0123456789ab" in verdict(manifest, library=rebuilt).findings[0].message


def test_problems_of_rules_are_told_once_and_with_their_place() -> None:
    problem = RuleProblem(finding="EB010", text="gradient_f must return void", fix="return void")
    facts = module(defined("kernel"), rules=[RuleFact(index=0, symbol="f", problems=(problem,))])
    manifest = describe(facts, KERNEL, rules=[derivative("f")])
    library = msgspec.structs.replace(manifest.library, file="libb.so")
    renamed = {"other": manifest.symbols["kernel"]}  # two libraries with one name would be a finding of their own
    other = msgspec.structs.replace(manifest, library=library, symbols=renamed, roots=("other",))
    (finding,) = verdict(manifest, other).findings
    assert (finding.id, finding.place) == ("EB010", "rules/r.toml:1: derivative[0]")
    assert (finding.message, finding.fix) == ("gradient_f must return void", "return void")


def test_a_rule_is_unknown_only_when_every_library_says_so() -> None:
    unknown = describe(
        module(defined("kernel"), rules=[RuleFact(index=0, symbol=None)]), KERNEL, rules=[derivative("f")]
    )
    (finding,) = verdict(unknown).findings
    assert finding.id == "EB008"
    assert finding.message.startswith("f: no function is named 'f'")
    facts = module(defined("g", "f"), declared("f"), rules=[RuleFact(index=0, symbol="f")])
    knows = describe(facts, elf("g"), rules=[derivative("f")], file="libg.so")
    assert ids(verdict(unknown, knows)) == []


def test_registrations_that_do_nothing() -> None:
    manifest = describe(module(defined("kernel"), registrations=("__enzyme_register_gradient_f",)), KERNEL)
    (finding,) = verdict(manifest).findings
    assert (finding.id, finding.level, finding.symbol) == ("EB020", "warning", "__enzyme_register_gradient_f")


def test_what_fails() -> None:
    warned = verdict(one_mode(reverse=True))
    assert not warned.fails()
    assert warned.fails("warning")
    assert warned.exit_code == 0
    failed = verdict(kernel(defined("kernel", "f"), declared("f")))
    assert failed.fails()
    assert not failed.fails("never")


def test_recursion_ends() -> None:
    found = verdict(kernel(defined("kernel", "a"), defined("a", "b"), defined("b", "a", "kernel")))
    assert found.findings == ()
