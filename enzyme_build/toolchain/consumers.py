"""Consumer profiles: the shipped ones, `llvm-N`, and the pointer mode that a list of them has in common."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from enzyme_build._toml import did_you_mean, load_toml, struct_from_table
from enzyme_build.errors import ConfigError, ToolError
from enzyme_build.model import Consumer, PointerMode
from enzyme_build.toolchain.model import NEWEST_TYPED, OLDEST_MAJOR, supported_modes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.toolchain.model import Toolchain

__all__ = ["choose_pointer_mode", "common_modes", "consumer", "default_consumers", "load_consumers"]


class _ConsumerTable(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    name: str
    llvm_major: int
    pointers: tuple[PointerMode, ...]


class _ConsumersDocument(msgspec.Struct, frozen=True, kw_only=True):
    consumer: tuple[_ConsumerTable, ...]


@functools.cache
def load_consumers() -> tuple[Consumer, ...]:
    """Return the shipped profiles (`resources/consumers.toml`), in the file's order."""
    path = Path(__file__).parent.with_name("resources") / "consumers.toml"
    table, _ = load_toml(path, shown="consumers.toml", error=ConfigError)
    problems: list[str] = []
    document = struct_from_table(_ConsumersDocument, table, where="consumers.toml", problems=problems)
    if document is None:
        raise ConfigError(problems, hint="the installation of enzyme-build is damaged: reinstall it")
    return tuple(
        Consumer(name=entry.name, llvm_major=entry.llvm_major, pointers=entry.pointers) for entry in document.consumer
    )


def consumer(name: str) -> Consumer:
    """Return the profile `name`: a shipped one or `llvm-N`.

    Raises `ConfigError` for any other name, with the known ones that are close to it.
    """
    known = {profile.name: profile for profile in load_consumers()}
    if name in known:
        return known[name]
    if number := re.fullmatch(r"llvm-([1-9]\d*)", name):
        major = int(number[1])
        if major < OLDEST_MAJOR:
            raise ConfigError([f"consumer {name!r}: LLVM older than {OLDEST_MAJOR} cannot be served"])
        return _plain(major)
    close = did_you_mean(name, known)
    raise ConfigError(
        [f"unknown consumer {name!r}{close}"], hint=f"known are {', '.join(known)} and llvm-N (as in llvm-18)"
    )


def default_consumers(toolchain: Toolchain) -> tuple[Consumer, ...]:
    """Return the consumer that is assumed when the user named none: the LLVM of the toolchain itself."""
    return (_plain(toolchain.major),)


def common_modes(consumers: Sequence[Consumer]) -> tuple[PointerMode, ...]:
    """Return the pointer modes that all of `consumers` accept, in the order the first of them prefers."""
    if not consumers:
        return (PointerMode.OPAQUE, PointerMode.TYPED)
    first, *others = consumers
    return tuple(mode for mode in first.pointers if all(mode in other.pointers for other in others))


def choose_pointer_mode(consumers: Sequence[Consumer], toolchain: Toolchain) -> PointerMode:
    """Return the pointer mode to compile in: the first that all consumers accept and the toolchain can make.

    Raises `ConfigError` when the consumers have no mode in common, `ToolError` when the toolchain cannot make one.
    """
    accepted = common_modes(consumers)
    names = ", ".join(profile.name for profile in consumers)
    if not accepted:
        raise ConfigError([f"consumers {names} accept no common pointer mode: build once for each"])
    for mode in accepted:
        if toolchain.supports(mode):
            return mode
    able = " or ".join(mode.value for mode in supported_modes(toolchain.major)) or "no"
    wanted = " or ".join(mode.value for mode in accepted)
    msg = f"clang {toolchain.version} ({toolchain.clang}) makes {able} pointers only; {names} reads {wanted} pointers"
    raise ToolError(
        msg,
        hint=f"typed pointers need clang {OLDEST_MAJOR} or {NEWEST_TYPED}; point ENZYME_BUILD_LLVM at one",
    )


def _plain(major: int) -> Consumer:
    return Consumer(name=f"llvm-{major}", llvm_major=major, pointers=(PointerMode.OPAQUE, PointerMode.TYPED))
