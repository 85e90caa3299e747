"""Run the command `enzyme-build` of the package that this folder belongs to: the door through which CMake comes.

usage: run.py VERSION ARGUMENT...

The folder lies in the installed package (`enzyme_build/cmake`) or in the source tree (`cmake/EnzymeBC`); elsewhere,
after `cmake --install`, the package is the one that Python finds. VERSION is that of the CMake package.
"""

from __future__ import annotations

import sys
from pathlib import Path

_FAILED = 4  # a tool is missing


def main(arguments: list[str]) -> int:
    """Import the package beside this folder and hand it the arguments."""
    version, *rest = arguments
    root = Path(__file__).resolve().parents[2]
    del sys.path[0]  # this folder, which Python put there
    if (root / "enzyme_build" / "__init__.py").is_file():
        # before other installations of the package, but not before the standard library
        places = (n for n, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
        sys.path.insert(next(places, len(sys.path)), str(root))
    try:
        from enzyme_build import __file__ as found  # noqa: PLC0415 - only now it is clear where from
        from enzyme_build import __version__  # noqa: PLC0415 - as above
        from enzyme_build.cli import main as run  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        hint = (
            f"run `{sys.executable} -m pip install enzyme-build=={version}`, or set ENZYMEBC_PYTHON to a Python with it"
        )
        sys.stderr.write(f"enzyme-build: {sys.executable} has no module {error.name!r}\n  hint: {hint}\n")
        return _FAILED
    if __version__ != version:
        sys.stderr.write(
            f"enzyme-build: CMake was configured for version {version}, Python finds {__version__} ({found})\n"
            "  hint: run CMake again; if that does not help, install both parts from one place\n"
        )
        return _FAILED
    code: int = run(rest)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
