"""`python -m enzyme_build` is the command `enzyme-build`."""

from __future__ import annotations

import sys

from enzyme_build.cli import main

if __name__ == "__main__":
    sys.exit(main())
