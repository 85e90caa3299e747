"""Decode TOML documents into frozen msgspec structs, reporting every problem at once.

msgspec stops at the first problem; a user wants them all, so the tables are walked here, one field at a time,
and msgspec judges each value. Key names are the structs' encoded names (`include-dirs`).
"""

from __future__ import annotations

import difflib
import re
import sys
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

if sys.version_info >= (3, 11):
    import tomllib
else:  # the same parser under its PyPI name
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from enzyme_build.errors import DocumentError

__all__ = ["did_you_mean", "header_lines", "load_toml", "struct_from_table", "tomllib"]

StructT = TypeVar("StructT", bound=msgspec.Struct)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the closest known words, or an empty string."""
    close = difflib.get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(match) for match in close)}?" if close else ""


def load_toml(path: Path, *, shown: str, error: type[DocumentError]) -> tuple[dict[str, Any], str]:
    """Return the parsed document and its text; `shown` is the name used in messages.

    Raises `error` with the line and column the parser gives when the text is not TOML or not UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise error([f"{shown}: not UTF-8 text (byte {problem.start})"]) from problem
    except OSError as problem:
        raise error([f"{shown}: cannot be read: {problem.strerror or problem}"]) from problem
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as problem:
        raise error([f"{shown}: not valid TOML: {problem}"]) from problem


def header_lines(text: str, table: str, count: int) -> tuple[int | None, ...]:
    """Return the line of each `[[table]]` header, or `None` for all when the text does not show exactly `count`.

    The parser gives no positions; headers are found by their look, and a look-alike inside a multi-line string
    makes the number differ, in which case no line is claimed.
    """
    pattern = re.compile(rf"^\s*\[\[\s*{re.escape(table)}\s*\]\]\s*(?:#.*)?$")
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if pattern.match(line)]
    return tuple(lines) if len(lines) == count else (None,) * count


def struct_from_table(
    kind: type[StructT], table: Mapping[str, Any], *, where: str, problems: list[str]
) -> StructT | None:
    """Return `table` as a `kind`, or `None` after adding every problem to `problems`.

    `where` is file and dotted key so far, as messages show it (`pyproject.toml: tool.enzyme-build`).
    Fields that are structs, lists of structs or dicts of structs are walked the same way.
    """
    before = len(problems)
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    problems.extend(f"{where}.{key}: unknown key{did_you_mean(key, fields)}" for key in table if key not in fields)
    for key, field in fields.items():
        if key in table:
            values[field.name] = _value(hints[field.name], table[key], where=f"{where}.{key}", problems=problems)
        elif field.required:
            problems.append(f"{where}: missing key {key!r}")
    if len(problems) > before:
        return None
    try:
        return kind(**values)
    except ValueError as error:  # a struct's own __post_init__ judges keys together
        problems.append(f"{where}: {error}")
        return None


def _value(kind: Any, value: Any, *, where: str, problems: list[str]) -> Any:
    """Return `value` decoded as `kind`, adding what is wrong with it to `problems`."""
    inner = [argument for argument in get_args(kind) if argument is not type(None)]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        return struct_from_table(kind, value, where=where, problems=problems)
    if get_origin(kind) is tuple and _is_struct(inner[0]) and isinstance(value, list):
        return tuple(
            _value(inner[0], item, where=f"{where}[{index}]", problems=problems) for index, item in enumerate(value)
        )
    if len(inner) == 1 and _is_struct(inner[0]) and isinstance(value, dict):  # Struct | None
        return struct_from_table(inner[0], value, where=where, problems=problems)
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        problems.append(f"{where}{path.rstrip('`')}: {_in_toml_words(message)}")
        return None


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _in_toml_words(message: str) -> str:
    """Return msgspec's message with TOML's names for types."""
    words = {"`object`": "a table", "`array`": "an array", "`str`": "a string", "`int`": "an integer"}
    words |= {"`bool`": "a boolean", "`float`": "a float", "`null`": "nothing"}
    for jargon, word in words.items():
        message = message.replace(jargon, word)
    return message[:1].lower() + message[1:]
