#!/usr/bin/env python3
"""Print how much time enzyme-build takes, as ratios to the work it is added to.

Usage: python tests/benchmark.py [SOURCES]      with enzyme-build installed, or from the repository

Each number is the best of several runs: these machines are noisy, and the best is what the work costs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from enzyme_build.compile import CompileRequest, LinkRequest, compile_sources, link_library  # noqa: E402
from enzyme_build.model import PointerMode  # noqa: E402
from enzyme_build.pipeline import LibraryOptions, finalize_library  # noqa: E402
from enzyme_build.toolchain import find_toolchain  # noqa: E402

RUNS = 5
SOURCE = """
#include <math.h>
double part{n}(const double *x, double *y, int count) {{
  double sum = 0;
  for (int i = 0; i < count; i++) {{ y[i] = sin(x[i]) * exp(-x[i]) + {n}; sum += y[i] * y[i]; }}
  for (int i = 1; i < count; i++) {{ y[i] = y[i] - y[i - 1] * {n}; sum -= y[i]; }}
  return sqrt(sum);
}}
double pick{n}(double x) {{ switch ((int)x) {{ {cases} }} return x; }}
"""


def best(action: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Return the shortest time of `action` in seconds; `before` runs untimed."""
    times = []
    for _ in range(RUNS):
        before()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main(count: int) -> None:
    toolchain = find_toolchain()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        sources = tuple(f"part{n}.c" for n in range(count))
        for n, source in enumerate(sources):
            cases = " ".join(f"case {k}: return cos(x + {k});" for k in range(60))
            (root / source).write_text(SOURCE.format(n=n, cases=cases))
        build = root / "build"

        def compile_all(embed: bool = True) -> tuple[Path, ...]:
            request = CompileRequest(
                root=root, sources=sources, build_directory=build, pointers=PointerMode.OPAQUE, embed_bitcode=embed
            )
            return compile_sources(request, toolchain=toolchain, workers=1).objects

        def clean() -> None:
            shutil.rmtree(build, ignore_errors=True)

        plain = best(lambda: compile_all(embed=False), clean)
        embedded = best(compile_all, clean)
        objects = compile_all()
        nothing = best(compile_all)
        library, linked = root / "libparts.so", root / "linked.so"
        link_library(LinkRequest(root=root, output=linked, objects=objects, libraries=("m",)), toolchain=toolchain)

        def fresh() -> None:
            shutil.copy(linked, library)
            library.with_name("libparts.so.enzymebc.json").unlink(missing_ok=True)

        options = LibraryOptions()
        finalize = best(lambda: finalize_library(library, options, toolchain=toolchain), fresh)
        again = best(lambda: finalize_library(library, options, toolchain=toolchain))
        check = best(
            lambda: subprocess.run(
                [sys.executable, "-m", "enzyme_build", "check", library],
                check=False,
                capture_output=True,
                cwd=REPOSITORY,
            )
        )
    print(f"{count} sources with clang {toolchain.version}, one at a time")
    print(f"  plain compile                 {plain:7.3f} s   1.00")
    for label, seconds in (
        ("compile with bitcode", embedded),
        ("compile, nothing to do", nothing),
        ("finalize", finalize),
        ("finalize, nothing to do", again),
        ("check, a process of its own", check),
    ):
        print(f"  {label:<30}{seconds:7.3f} s   {seconds / plain:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
