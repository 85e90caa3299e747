"""Add the build of `[tool.enzyme-build]` to a setuptools distribution."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from enzyme_build.backends.border import as_setup_errors
from enzyme_build.backends.command import BuildEnzyme
from enzyme_build.backends.extension import BuildExtMixin
from enzyme_build.backends.wheel import BdistWheelMixin
from enzyme_build.config import load_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from setuptools import Distribution

__all__ = ["extend_distribution"]

MARKER = "_enzyme_build_config"


def extend_distribution(dist: Distribution, root: Path) -> None:
    """Register `build_enzyme` and extend the commands of `dist`; does nothing without a library or extension table.

    Command classes are wrapped when setuptools asks for them, not now: `cmdclass` and `ext-modules` of pyproject.toml
    are read only after this hook, and other plugins may still replace a class.
    """
    if hasattr(dist, MARKER):
        return
    with as_setup_errors():
        config = load_config(root)
    if config is None or not (config.library or config.extension):
        return
    setattr(dist, MARKER, config)
    distribution: Any = dist  # three of its methods are replaced on the instance, as plugins of setuptools do
    had_modules = distribution.has_ext_modules
    distribution.has_ext_modules = lambda: True
    original = distribution.get_command_class
    shared = {"config": config, "root": root}

    @functools.cache
    def wrapped(base: type, name: str) -> type:
        return _wrap_command(base, name, shared, had_modules)

    def get_command_class(name: str) -> type:
        if name == BuildEnzyme.COMMAND:
            return wrapped(BuildEnzyme, name)
        return wrapped(original(name), name)

    distribution.get_command_class = get_command_class


def _wrap_command(base: type, name: str, shared: dict[str, Any], had_modules: Callable[[], bool]) -> type:
    """Return `base`, or the subclass of it that knows enzyme-build; its name is the command's, distutils shows it."""
    if issubclass(base, (BuildExtMixin, BdistWheelMixin)):
        return base  # another plugin (scikit-build-core) asked for the class before and put a subclass of it in place
    match name:
        case BuildEnzyme.COMMAND:
            return type(name, (base,), shared)
        case "build":
            commands = list(getattr(base, "sub_commands", ()))
            # before build_ext: an extension module may link one of the libraries
            at = next((index for index, (each, _) in enumerate(commands) if each == "build_ext"), len(commands))
            commands.insert(at, (BuildEnzyme.COMMAND, None))
            return type(name, (base,), {"sub_commands": commands})
        case "build_ext":
            return type(name, (BuildExtMixin, base), shared)
        case "bdist_wheel":
            return type(name, (BdistWheelMixin, base), {"has_other_modules": staticmethod(had_modules)})
        case _:
            return base
