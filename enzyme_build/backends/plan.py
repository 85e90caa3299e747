"""What `[tool.enzyme-build]` asks for, as paths: pure functions of the configuration and the project's files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from enzyme_build.config import library_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from enzyme_build.config import Config, LibraryTable

__all__ = ["LibraryPlan", "plan_libraries", "relative_rpath", "source_files"]

HEADER_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tpp", ".def"})
NOT_SOURCES = frozenset({"build", "dist", "node_modules", "__pycache__"})


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryPlan:
    """A library table, where its file goes in the wheel, and the plans of the tables it links."""

    table: LibraryTable
    path: PurePosixPath
    links: tuple[LibraryPlan, ...] = ()


def plan_libraries(config: Config) -> tuple[LibraryPlan, ...]:
    """Return a plan for each library table, every library after those that it links."""
    plans: dict[str, LibraryPlan] = {}
    for table in library_order(config):
        path = PurePosixPath(*table.package.split("."), f"lib{table.name}.so")
        plans[table.name] = LibraryPlan(table=table, path=path, links=tuple(plans[name] for name in table.links))
    return tuple(plans.values())


def relative_rpath(library: PurePosixPath, linked: PurePosixPath) -> str:
    """Return where `library` finds `linked` at run time, both as paths in the wheel."""
    relative = PurePosixPath(os.path.relpath(linked.parent, library.parent))
    return "$ORIGIN" if relative == PurePosixPath() else f"$ORIGIN/{relative}"


def source_files(config: Config, root: Path, *, more_sources: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what the build reads and an sdist must hold: sources, headers and rule files, relative with `/`.

    `more_sources` are those of the extension modules. Headers are those beside a source and those in an
    `include-dirs` folder inside the project. A file that is not there, or lies outside of the project, is left out:
    the build says so, an sdist cannot hold it.
    """
    found: set[Path] = set()
    patterns = [*config.rules]
    patterns += (pattern for library in config.library for pattern in library.rules)
    patterns += (pattern for extension in config.extension for pattern in extension.rules)
    sources = [*more_sources, *(source for library in config.library for source in library.sources)]
    for source in sources:
        found.add(root / source)
        found.update(_headers(_files((root / source).parent)))
    for library in config.library:
        for folder in library.include_dirs:
            found.update(_headers(_tree(root / folder)))
    for pattern in patterns:
        if not Path(pattern).is_absolute():
            found.update(root.glob(pattern))
    inside = (_inside(path, root) for path in found if path.is_file())
    return tuple(sorted(path for path in inside if path is not None))


def _headers(files: Iterable[Path]) -> Iterator[Path]:
    return (file for file in files if file.suffix.lower() in HEADER_SUFFIXES)


def _files(folder: Path) -> Iterator[Path]:
    """Yield what lies in `folder`, nothing when there is no such folder."""
    return folder.iterdir() if folder.is_dir() else iter(())


def _tree(folder: Path) -> Iterator[Path]:
    """Yield the files below `folder`, leaving out hidden folders, build output and virtual environments."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in NOT_SOURCES
            and not name.endswith(".egg-info")
            and not Path(parent, name, "pyvenv.cfg").exists()
        )
        yield from (Path(parent, name) for name in files)


def _inside(path: Path, root: Path) -> str | None:
    """Return `path` relative to `root`, `None` when it lies outside."""
    relative = Path(os.path.relpath(path, root))
    return None if relative.parts[:1] == (os.pardir,) else relative.as_posix()
