"""`[tool.enzyme-build]`: what is read, and every message for what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_build.config import Config, config_advice, library_order, load_config
from enzyme_build.errors import ConfigError
from enzyme_build.model import Mode
from support.examples import check_problems

INVALID = Path(__file__).parent / "invalid"

WHOLE = """
[tool.enzyme-build]
consumers = ["julia-1.11", "llvm-18"]
rules = ["rules/*.toml"]
optimize = "O3"
llvm = "/usr/lib/llvm-15"
modes = ["reverse"]

[[tool.enzyme-build.library]]
name = "kernel"
package = "demo.sub"
sources = ["src/kernel.c", "src/util.c"]
include-dirs = ["src"]
define = ["FAST", "WIDTH=3"]
compile-args = ["-fno-math-errno"]
link-args = ["-Wl,-z,now"]
libraries = ["m"]
links = ["square"]
rules = ["more/*.toml"]
roots = ["kernel"]

[[tool.enzyme-build.library]]
name = "square"
package = "demo"
sources = ["src/my_square.c"]
bitcode = false

[[tool.enzyme-build.extension]]
module = "demo._ext"
roots = ["run"]

[tool.enzyme-build.check]
waivers = [{ symbol = "log_step", reason = "prints only" }]
fail-on = "warning"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("src/kernel.c", "src/util.c", "src/my_square.c", "src/solver.cpp", "src/old.f90", "src/kernel.h"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


def load(project: Path, text: str) -> Config | None:
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    return load_config(project)


def test_every_key_is_read(project: Path) -> None:
    config = load(project, WHOLE)
    assert config is not None
    assert config.consumers == ("julia-1.11", "llvm-18")
    assert (config.optimize, config.llvm, config.modes) == ("O3", "/usr/lib/llvm-15", (Mode.REVERSE,))
    kernel, square = config.library
    assert kernel.include_dirs == ("src",)
    assert (kernel.define, kernel.compile_args) == (("FAST", "WIDTH=3"), ("-fno-math-errno",))
    assert (kernel.link_args, kernel.libraries, kernel.links) == (("-Wl,-z,now",), ("m",), ("square",))
    assert (kernel.bitcode, square.bitcode) == (True, False)
    assert (kernel.rules, kernel.roots, config.rules) == (("more/*.toml",), ("kernel",), ("rules/*.toml",))
    assert (config.extension[0].module, config.extension[0].roots) == ("demo._ext", ("run",))
    assert config.check.waivers[0].reason == "prints only"
    assert config.check.fail_on == "warning"


def test_defaults(project: Path) -> None:
    config = load(project, "[tool.enzyme-build]")
    assert config == Config()
    assert config is not None
    assert (config.consumers, config.optimize, config.llvm) == ((), "O2", None)
    assert config.check.fail_on == "error"


@pytest.mark.parametrize("text", ["", "[tool]", "[project]\nname = 'x'", "[tool.other]\nx = 1"])
def test_a_project_without_the_table_has_no_settings(project: Path, text: str) -> None:
    assert load(project, text) is None


def test_a_folder_without_pyproject_has_no_settings(tmp_path: Path) -> None:
    assert load_config(tmp_path) is None


@pytest.mark.parametrize("path", sorted(INVALID.glob("*.toml")), ids=lambda path: path.stem)
def test_invalid_examples(project: Path, path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(project, path.read_text(encoding="utf-8"))
    check_problems(path, caught.value.problems)


def test_link_order_puts_what_is_linked_first(project: Path) -> None:
    tables = "".join(
        f'[[tool.enzyme-build.library]]\nname = "{name}"\npackage = "p"\nsources = ["src/util.c"]\nlinks = {links}\n'
        for name, links in [("top", '["middle", "base"]'), ("other", "[]"), ("middle", '["base"]'), ("base", "[]")]
    )
    config = load(project, tables)
    assert config is not None
    assert [library.name for library in library_order(config)] == ["base", "middle", "top", "other"]


def test_a_name_with_lib_in_front_is_advised_against_but_accepted(project: Path) -> None:
    table = '[[tool.enzyme-build.library]]\nname = "{}"\npackage = "p"\nsources = ["src/util.c"]\n'
    config = load(project, table.format("libkernel") + table.format("kernel2"))
    assert config is not None
    (advice,) = config_advice(config)
    assert advice.startswith("pyproject.toml: tool.enzyme-build.library[0].name: 'libkernel' becomes 'liblibkernel.so'")
    assert advice.endswith("; write 'kernel' for 'libkernel.so'")


def test_paths_with_spaces_and_other_letters(project: Path) -> None:
    (project / "src" / "wärme fluß.c").touch()
    table = '[[tool.enzyme-build.library]]\nname = "wärme"\npackage = "größe"\nsources = ["src/wärme fluß.c"]\n'
    config = load(project, table)
    assert config is not None
    assert config.library[0].sources == ("src/wärme fluß.c",)


def test_text_that_is_no_toml(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"^pyproject\.toml: not valid TOML: .* \(at line 1, column \d+\)$"):
        load(project, "[tool.enzyme-build\n")
