"""Stamps: what an output was made from, so that it is made again when, and only when, that changed.

A stamp is a JSON file beside its output. It holds the recipe (command, compiler, environment) and the size and time
of every input and of the output itself: times are compared for equality, so an older header put in place counts too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Stamp", "current_stamp", "read_depfile", "write_stamp"]

State = tuple[int, int]  # modification time in nanoseconds, size in bytes


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """The recipe, the state of each input by its path as given, the output's state, and what the tool said."""

    recipe: tuple[str, ...]
    inputs: dict[str, State]
    output: State
    said: str = ""


def current_stamp(stamp: Path, *, output: Path, recipe: Sequence[str], root: Path) -> Stamp | None:
    """Return the stamp if `output` is what `recipe` would make again; relative inputs are relative to `root`."""
    try:
        written = msgspec.json.decode(stamp.read_bytes(), type=Stamp)
    except (OSError, msgspec.DecodeError):  # never made, or cut off while it was written
        return None
    if written.recipe != tuple(recipe) or _state(output) != written.output:
        return None
    unchanged = all(_state(root / name) == state for name, state in written.inputs.items())
    return written if unchanged else None


def write_stamp(
    stamp: Path,
    *,
    output: Path,
    recipe: Sequence[str],
    root: Path,
    inputs: Sequence[str],
    started: int,
    said: str = "",
) -> None:
    """Record that `output` is made from `inputs`; `started` is the time (ns) just before the tool ran.

    No stamp is written when an input changed since then: which state the tool saw is unknown.
    """
    states = {name: _state(root / name) for name in inputs}
    made = _state(output)
    known = {name: state for name, state in states.items() if state is not None and state[0] < started}
    if made is None or len(known) != len(states):
        return
    document = Stamp(recipe=tuple(recipe), inputs=known, output=made, said=said)
    partial = stamp.with_name(f"{stamp.name}.partial")
    partial.write_bytes(msgspec.json.encode(document))
    partial.replace(stamp)


def read_depfile(depfile: Path) -> tuple[str, ...]:
    r"""Return the inputs that a Makefile fragment of clang names (`object: a.c a.h`), without the target.

    Clang writes a space as `\ `, `#` as `\#`, `$` as `$$`, and breaks lines with a backslash.
    """
    text = depfile.read_text(encoding="utf-8", errors="surrogateescape")
    _, _, listed = text.replace("\\\n", " ").partition(":")
    words = re.findall(r"(?:\\[ #]|[^\s])+", listed)
    return tuple(re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words)


def _state(path: Path) -> State | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size)
