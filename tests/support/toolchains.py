"""The toolchains of this machine, for tests that choose between several."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from enzyme_build.toolchain import Toolchain, survey
from enzyme_build.toolchain.search import SETTING_VARIABLE


@dataclass(frozen=True, kw_only=True)
class Toolchains:
    """Two real toolchains, and the environment variables that have both on PATH and neither set.

    `older` is of LLVM 15, as Enzyme's plugin is: Debian 12's, elsewhere that of the plugin's wheel. `newer` is of the
    next LLVM that is here: 16 on Debian 12, on a Debian without it the one `./dev test` installs.
    """

    environment: dict[str, str]
    older: Toolchain
    newer: Toolchain

    def with_path(self, *directories: Path) -> dict[str, str]:
        """Return the environment with these directories before all others on PATH."""
        return {**self.environment, "PATH": os.pathsep.join([*map(str, directories), self.environment["PATH"]])}


def find_toolchains(clang15: Path) -> Toolchains:
    """Return the two; `clang15` need not be on PATH. That one of them is not there is a failure, never a skip."""
    environment = {name: value for name, value in os.environ.items() if name != SETTING_VARIABLE}
    environment["PATH"] = os.pathsep.join([environment["PATH"], str(clang15.parent)])
    found = [candidate.toolchain for candidate in survey(environment=environment) if candidate.place.origin == "PATH"]
    usable = [toolchain for toolchain in found if toolchain is not None]
    older = [toolchain for toolchain in usable if toolchain.major == 15]
    newer = [toolchain for toolchain in usable if toolchain.major > 15]
    assert older, f"no LLVM 15 on PATH, nor at {clang15}: run ./dev test, which installs it"
    assert newer, "no LLVM newer than 15 on PATH: run ./dev test, which installs one"
    return Toolchains(environment=environment, older=older[0], newer=min(newer, key=lambda toolchain: toolchain.major))
