"""`bdist_wheel` for wheels with plain shared libraries: bound to a platform, but to no Python version."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    import setuptools.command.bdist_wheel

    _Base = setuptools.command.bdist_wheel.bdist_wheel
else:
    _Base = object  # the class that the distribution would use otherwise; see `distribution.wrap_command`

__all__ = ["BdistWheelMixin"]


class BdistWheelMixin(_Base):
    """Give the tag `py3-none-<platform>` unless an extension module ties the wheel to a Python version.

    `has_other_modules` is the answer of the distribution to `has_ext_modules` before enzyme-build said yes.
    """

    has_other_modules: ClassVar[Callable[[], bool]]

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tag of the wheel: interpreter, ABI, platform."""
        interpreter, abi, platform = super().get_tag()
        if type(self).has_other_modules() or self._holds_modules():
            return interpreter, abi, platform
        return self.python_tag, "none", platform

    def _holds_modules(self) -> bool:
        """Return whether a module is in what is packed, put there by a plugin that `has_ext_modules` does not know."""
        suffix = sysconfig.get_config_var("EXT_SUFFIX")  # such as .cpython-311-x86_64-linux-gnu.so
        folder = Path(self.bdist_dir or "")
        endings = (suffix, ".abi3.so") if suffix else (".abi3.so",)
        return self.bdist_dir is not None and any(path.name.endswith(endings) for path in folder.rglob("*.so"))
