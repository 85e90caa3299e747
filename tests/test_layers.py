"""The import law: imports only go down, and each foreign thing has one room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "enzyme_build"

# one line a layer, from the ground up; a module may import its own layer and those above it in this list
LAYERS = (
    ("errors", "model", "_run", "_toml", "_schema", "resources"),
    (
        "config",
        "config_checks",
        "rules",
        "toolchain",
        "elf",
        "_elf_parts",
        "elf_objects",
        "elf_debug",
        "llvm",
        "needed",
    ),
    ("codegen", "compile", "manifest"),
    ("finalize",),
    ("check", "gradcheck"),
    ("report",),
    ("pipeline", "schemas"),
    ("backends", "cli", "setuptools", "scikit_build", "__main__", "__init__"),
)
# who may import what: the rooms that own a foreign library
OWNERS = {
    "subprocess": ("_run",),
    "elftools": ("elf", "_elf_parts", "elf_objects", "elf_debug"),
    "setuptools": ("backends", "setuptools"),
    "distutils": ("backends",),
    "scikit_build_core": ("backends",),
    "ctypes": ("llvm",),
    "pycparser": ("rules",),
}


def room_of(path: Path) -> str:
    """Return the first part of a module's name inside the package."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def level_of(room: str) -> int:
    """Return the layer of a room, 0 at the ground."""
    return next(level for level, rooms in enumerate(LAYERS) if room in rooms)


def imports_of(path: Path) -> list[str]:
    """Return every module that is imported anywhere in a file, type checking included."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            names += [f"{base}.{alias.name}" if base == "enzyme_build" else base for alias in node.names]
    return names


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    own = level_of(room_of(path))
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] == "enzyme_build" and len(parts) > 1 and parts[1] != "__version__":
            assert level_of(parts[1]) <= own, f"{path.name} imports {name}, which is above it"
        owners = OWNERS.get(parts[0])
        assert owners is None or room_of(path) in owners, f"{path.name} imports {name}; only {owners} may"


def test_the_law_has_teeth() -> None:
    assert level_of("elf") < level_of("check") < level_of("cli")
    with pytest.raises(StopIteration):
        level_of("a room that is not on the plan")
