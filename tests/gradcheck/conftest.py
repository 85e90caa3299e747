"""One library with right rules and one with wrong ones, built once for all tests of gradcheck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rule_cases import PRELUDE, RIGHT, WRONG, Case

from enzyme_build import pipeline
from enzyme_build.rules.load import load_rules
from enzyme_build.toolchain import Toolchain, find_toolchain
from support.enzyme import Enzyme
from support.library import build_library


@pytest.fixture(scope="session")
def toolchain_15(enzyme: Enzyme) -> Toolchain:
    """The toolchain that the Enzyme plugin belongs to."""
    return find_toolchain(setting=str(enzyme.clang))


@pytest.fixture(scope="session")
def make(enzyme: Enzyme, toolchain_15: Toolchain) -> Callable[..., Path]:
    """Build and finalize a library from cases."""

    def make_library(folder: Path, cases: Sequence[Case], *, typed: bool = False, extra: str = "") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        text = PRELUDE + "\n".join(case.code for case in cases) + extra
        library = build_library(enzyme, folder, "cases", {"cases.c": text}, typed=typed)
        (folder / "rules.toml").write_text("\n".join(case.toml() for case in cases))
        rules = load_rules(["rules.toml"], root=folder)
        options = pipeline.LibraryOptions(rules=rules)
        pipeline.finalize_library(library, options, toolchain=toolchain_15)
        return library

    return make_library


@pytest.fixture(scope="session")
def right(make: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("right"), RIGHT)


@pytest.fixture(scope="session")
def wrong(make: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("wrong"), [case for case, _, _ in WRONG.values()])
