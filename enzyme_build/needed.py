"""Where the libraries that a library needs are, and which of them natively holds a symbol."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.elf import holds_symbols
from enzyme_build.errors import BinaryError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from enzyme_build.elf import ElfFacts

__all__ = ["find_needed", "native_holders"]

# the dynamic linker's trusted folders (ld.so(8)), with Debian's and Fedora's multiarch spellings
_SYSTEM_FOLDERS = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib")


def find_needed(library: Path, facts: ElfFacts, *, search: Sequence[Path] = ()) -> dict[str, Path | None]:
    """Return for each needed soname the file the dynamic linker would load, `None` when it is not found here.

    `search` comes first: while a project is built its libraries are not yet where run paths point.
    """
    origin = library.resolve().parent
    folders = list(search)
    folders += [Path(re.sub(r"\$ORIGIN|\$\{ORIGIN\}", str(origin), entry)) for entry in facts.runpath]
    folders += [Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    multiarch = {"x86-64": "x86_64-linux-gnu", "AArch64": "aarch64-linux-gnu"}.get(facts.machine)
    for folder in _SYSTEM_FOLDERS:
        folders += [Path(folder, multiarch)] if multiarch else []
        folders.append(Path(folder))
    folders.append(origin)  # not the dynamic linker's choice, but where the libraries of one build lie side by side
    return {
        soname: next((folder / soname for folder in folders if (folder / soname).is_file()), None)
        for soname in facts.needed
    }


def native_holders(names: Collection[str], needed: Mapping[str, Path | None]) -> dict[str, str]:
    """Return for each of `names` that a needed library exports the soname of the first that does."""
    holders: dict[str, str] = {}
    missing = set(names)
    for soname, path in needed.items():
        if path is None or not missing:
            continue
        try:
            held = holds_symbols(path, missing)
        except BinaryError:
            continue  # a linker script or a foreign file under the soname holds nothing we could name
        holders.update(dict.fromkeys(held, soname))
        missing -= held
    return holders
