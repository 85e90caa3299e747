"""What the tables ask for, as paths."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from enzyme_build.backends.plan import plan_libraries, relative_rpath, source_files
from enzyme_build.config import Config, ExtensionTable, LibraryTable


def table(name, *, links=(), package="pkg", **keys):
    return LibraryTable(name=name, package=package, sources=(f"src/{name}.c",), links=links, **keys)


@pytest.mark.parametrize(
    ("library", "linked", "expected"),
    [
        ("pkg/liba.so", "pkg/libb.so", "$ORIGIN"),
        ("pkg/liba.so", "pkg/lib/libb.so", "$ORIGIN/lib"),
        ("pkg/liba.so", "other/libb.so", "$ORIGIN/../other"),
        ("pkg/deep/liba.so", "pkg/libb.so", "$ORIGIN/.."),
        ("pkg/deep/liba.so", "other/far/libb.so", "$ORIGIN/../../other/far"),
    ],
)
def test_rpaths_lead_from_library_to_library(library, linked, expected):
    assert relative_rpath(PurePosixPath(library), PurePosixPath(linked)) == expected


def test_plans_come_in_link_order():
    config = Config(library=(table("a", links=("b", "c")), table("b", links=("c",), package="pkg.sub"), table("c")))
    plans = plan_libraries(config)
    assert [str(plan.path) for plan in plans] == ["pkg/libc.so", "pkg/sub/libb.so", "pkg/liba.so"]
    assert [link.table.name for link in plans[2].links] == ["b", "c"]


def test_an_sdist_needs_sources_headers_and_rules_and_nothing_from_build_folders(tmp_path):
    files = [
        "src/a.c",
        "src/beside.h",
        "src/beside.txt",
        "include/deep/far.hpp",
        "include/.hidden/no.h",
        "include/build/no.h",
        "include/venv/pyvenv.cfg",
        "include/venv/no.h",
        "rules/one.toml",
        "rules/two.toml",
        "rules/readme.md",
        "own/a.toml",
        "ext/module.c",
        "ext/module.h",
    ]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    config = Config(
        rules=("rules/*.toml",),
        library=(table("a", include_dirs=("include", "/usr/include"), rules=("own/*.toml",)), table("missing")),
        extension=(ExtensionTable(module="pkg._ext", rules=("nothing/*.toml",)),),
    )
    assert source_files(config, tmp_path, more_sources=["ext/module.c", "/etc/passwd"]) == (
        "ext/module.c",
        "ext/module.h",
        "include/deep/far.hpp",
        "own/a.toml",
        "rules/one.toml",
        "rules/two.toml",
        "src/a.c",
        "src/beside.h",
    )
