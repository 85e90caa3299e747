"""Find the line of a key in a rule file: the TOML parser gives no positions, so keys are found by their look."""

from __future__ import annotations

import re
from dataclasses import dataclass

from enzyme_build.model import Origin

__all__ = ["Places"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """A table's place in a file: its origin, and the lines of the file's text."""

    origin: Origin
    lines: tuple[str, ...]

    @classmethod
    def of(cls, text: str, origin: Origin) -> Places:
        """Return the places in the table of `text` that `origin` names."""
        return cls(origin=origin, lines=tuple(text.splitlines()))

    def at(self, key: str, inner: str | None = None) -> str:
        """Return `file:line: table.key` for messages."""
        dotted = f"{self.origin.key}.{key}" + ("" if inner is None else f".{_bare(inner)}")
        return str(Origin(file=self.origin.file, key=dotted, line=self.line(key, inner)))

    def line(self, key: str, inner: str | None = None) -> int | None:
        """Return the line of `key`, or of `inner` in the table `key`; that of the table's header if it is not seen."""
        if self.origin.line is None:
            return None
        own = self._find(key) or self._find_header(key)
        if inner is None:
            return own or self.origin.line
        dotted = self._find(f"{key}.{inner}") or self._find(f'{key}."{inner}"')
        header = self._find_header(key)
        return dotted or (header and self._find(inner, after=header)) or own or self.origin.line

    def content(self, key: str) -> int | None:
        """Return the line at which the text of the multi-line string `key` begins."""
        line = self._find(key)
        if line is None:
            return None
        opened = re.search(r"=\s*(\"\"\"|''')(.*)", self.lines[line - 1])
        return line + 1 if opened is not None and not opened[2].strip() else line

    def _find(self, key: str, *, after: int | None = None) -> int | None:
        spelt = "|".join(re.escape(each) for each in (key, f'"{key}"', f"'{key}'"))
        return self._search(re.compile(rf"\s*(?:{spelt})\s*="), after=after)

    def _find_header(self, key: str) -> int | None:
        return self._search(re.compile(rf"\s*\[\s*[\w-]+\.{re.escape(key)}\s*\]"))

    def _search(self, pattern: re.Pattern[str], *, after: int | None = None) -> int | None:
        if self.origin.line is None:
            return None
        for number in range(after or self.origin.line, len(self.lines)):
            line = self.lines[number]
            if re.match(r"\s*\[\[", line):
                return None
            if pattern.match(line):
                return number + 1
        return None


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else f'"{key}"'
