"""Who can reach whom in a call graph, answered for many pairs of functions at once.

Sets of functions are the bits of one integer: a graph of 10,000 functions is settled in a tenth of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from enzyme_build.manifest import Manifest

__all__ = ["Calls"]


class Calls:
    """The call graph of a library's bitcode, for questions about the `asked` functions."""

    def __init__(self, manifest: Manifest, asked: Collection[str]) -> None:
        symbols = manifest.symbols
        below = {name: [called for called in record.calls if called in symbols] for name, record in symbols.items()}
        above: dict[str, list[str]] = {name: [] for name in symbols}
        for name, following in below.items():
            for called in following:
                above[called].append(name)
        self._bits = {name: 1 << number for number, name in enumerate(sorted(asked))}
        root_bits = {name: 1 << number for number, name in enumerate(manifest.roots)}
        order = _postorder(below)
        self._below = _gathered(order, below, self._bits)
        self._roots = _gathered(order[::-1], above, root_bits)
        for root, bit in root_bits.items():
            if root in self._roots:
                self._roots[root] |= bit

    def reaches(self, caller: str, called: str) -> bool:
        """Tell whether `caller` calls `called`, directly or not; both are among those asked for."""
        return bool(self._below.get(caller, 0) & self._bits[called])

    def share_root(self, one: str, other: str) -> bool:
        """Tell whether one differentiation can reach both functions."""
        return bool(self._roots.get(one, 0) & self._roots.get(other, 0))

    def has_other_root(self, one: str, other: str) -> bool:
        """Tell whether a differentiation can reach `one` without reaching `other`."""
        return bool(self._roots.get(one, 0) & ~self._roots.get(other, 0))


def _postorder(edges: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names so that each comes after what it leads to, as far as there are no rings."""
    done: list[str] = []
    seen: set[str] = set()
    for start in edges:
        if start in seen:
            continue
        seen.add(start)
        path = [(start, iter(edges[start]))]
        while path:
            name, following = path[-1]
            fresh = next((each for each in following if each not in seen), None)
            if fresh is None:
                done.append(name)
                path.pop()
            else:
                seen.add(fresh)
                path.append((fresh, iter(edges[fresh])))
    return done


def _gathered(order: Sequence[str], edges: Mapping[str, Sequence[str]], bits: Mapping[str, int]) -> dict[str, int]:
    """Return for each name the bits of all that it leads to; rings take another round until nothing changes."""
    found = dict.fromkeys(order, 0)
    changed = True
    while changed:
        changed = False
        for name in order:
            gathered = found[name]
            for each in edges[name]:
                gathered |= found[each] | bits.get(each, 0)
            if gathered != found[name]:
                found[name] = gathered
                changed = True
    return found
