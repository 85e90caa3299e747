"""Make the tables of a family of functions out of one: a list of names, or a text with element types to fill in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeGuard

__all__ = ["expand_family"]

_HOLE = re.compile(r"\$\{(\w*)\}")
_CALLED = re.compile(r"(\w+)(?=\s*\()")


def expand_family(table: dict[str, Any]) -> tuple[list[dict[str, Any]], tuple[tuple[str, str], ...]]:
    """Return the tables that `table` stands for, and (dotted key, message) of what is wrong with its lists.

    What has another type than it should is left as it is, for the reader of the table to complain of.
    """
    problems: list[tuple[str, str]] = []
    filled = _fill(table, problems)
    found = [named for each in filled for named in _rename(each, problems)]
    return found, tuple(dict.fromkeys(problems))


def _fill(table: dict[str, Any], problems: list[tuple[str, str]]) -> list[dict[str, Any]]:
    lists = table.get("for-each")
    holes = sorted(_holes({key: value for key, value in table.items() if key != "for-each"}))
    if not isinstance(lists, dict) or not all(_is_texts(each) for each in lists.values()):
        problems += [("", f"${{{name}}} has no list in 'for-each'") for name in holes if lists is None]
        return [table]
    problems += [("for-each", f"${{{name}}} has no list") for name in holes if name not in lists]
    problems += [(f"for-each.{name}", f"nothing in the table says ${{{name}}}") for name in lists if name not in holes]
    lengths = {name: len(each) for name, each in lists.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        problems.append(("for-each", f"the lists must be equally long: {shown}"))
        return [table]
    rest = {key: value for key, value in table.items() if key != "for-each"}
    count = next(iter(lengths.values()), 0)
    return [_replace(rest, {name: each[index] for name, each in lists.items()}) for index in range(count)] or [rest]


def _rename(table: dict[str, Any], problems: list[tuple[str, str]]) -> list[dict[str, Any]]:
    names = table.get("names")
    if not _is_texts(names):
        return [table]
    own = {key: value for key, value in table.items() if key != "names"}
    if isinstance(own.get("prototype"), str):
        called = _CALLED.search(own["prototype"])
        if called is None:
            return [own]
        text = own["prototype"]
        others = [{**own, "prototype": text[: called.start()] + name + text[called.end() :]} for name in names]
        problems += [("names", f"{name!r} is no C name") for name in names if not re.fullmatch(r"[A-Za-z_]\w*", name)]
        return [own, *others]
    if "prototype" in own:
        return [own]
    return [*([own] if "function" in own else []), *({**own, "function": name} for name in names)]


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _holes(value: Any) -> set[str]:
    if isinstance(value, str):
        return set(_HOLE.findall(value))
    if isinstance(value, dict):
        return _holes(list(value)) | _holes(list(value.values()))
    return set().union(*(_holes(item) for item in value)) if isinstance(value, list) else set()


def _replace(value: Any, entries: dict[str, str]) -> Any:
    if isinstance(value, str):
        return _HOLE.sub(lambda match: entries.get(match[1], match[0]), value)
    if isinstance(value, dict):
        return {_replace(key, entries): _replace(item, entries) for key, item in value.items()}
    return [_replace(item, entries) for item in value] if isinstance(value, list) else value
