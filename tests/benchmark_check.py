#!/usr/bin/env python3
"""Print how many seconds the check takes for 10,000 symbols, on manifests made up in several shapes.

Usage: python tests/benchmark_check.py [SYMBOLS]      with enzyme-build installed, or from the repository

The shapes: a chain and a bush of calls, one opaque function in ten, and many roots that share most of what they reach.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from enzyme_build.check.judge import judge  # noqa: E402
from enzyme_build.manifest import (  # noqa: E402
    BitcodeRecord,
    LibraryRecord,
    Manifest,
    SiteRecord,
    SymbolRecord,
    VariableRecord,
    encode_manifest,
    read_manifest,
)
from enzyme_build.model import PointerMode  # noqa: E402
from enzyme_build.report.html import render_html  # noqa: E402
from enzyme_build.report.text import render_text  # noqa: E402


def made_up(count: int, shape: str) -> Manifest:
    """Return a manifest of `count` symbols: nine in ten with bitcode, one in twenty a variable that code changes."""
    symbols: dict[str, SymbolRecord] = {}
    names = [f"f{number}" for number in range(count)]
    for number, name in enumerate(names):
        below = [2 * number + 1, 2 * number + 2] if shape == "bush" else [number + 1, (number * 7 + 3) % count]
        calls = tuple(sorted({names[each] for each in below if each < count} - {name}))
        if number % 10 == 9:
            sites = tuple(SiteRecord(caller=names[max(0, number - each)]) for each in range(1, 4))
            symbols[name] = SymbolRecord(status="opaque", type="double (double)", sites=sites)
        elif number % 20 == 8:
            variable = VariableRecord(readers=(names[number - 1],), writers=(names[number // 2],), holds=("number",))
            symbols[name] = SymbolRecord(status="bitcode", kind="variable", type="double", variable=variable)
        else:
            symbols[name] = SymbolRecord(status="bitcode", type="double (double)", exported=True, calls=calls)
    roots = [name for name in names if symbols[name].exported][:: 1 if shape == "many roots" else count]
    return Manifest(
        schema="enzymebc-manifest/1",
        generator="benchmark",
        library=LibraryRecord(file="libx.so", machine="x86-64"),
        bitcode=BitcodeRecord(
            llvm="15.0.6", pointers=PointerMode.OPAQUE, triple="x", datalayout="e", optimization="O2", modules=1
        ),
        consumers=("llvm-15",),
        roots=tuple(roots or names[:1]),
        symbols=symbols,
        rules=(),
        dependencies=(),
        waivers=(),
    )


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "libx.so.enzymebc.json")
        for shape in ("chain", "bush", "many roots"):
            path.write_bytes(encode_manifest(made_up(count, shape)))
            start = time.perf_counter()
            manifest = read_manifest(path)
            read = time.perf_counter()
            verdict = judge([("libx.so", manifest, None)])
            judged = time.perf_counter()
            render_text(verdict)
            rendered = time.perf_counter()
            render_html(verdict)
            page = time.perf_counter()
            scale = 10_000 / count
            print(
                f"{shape:>10}: {scale * (judged - start):.2f} s for 10,000 symbols (reading {scale * (read - start):.2f}), "
                f"text {scale * (rendered - judged):.2f} s, page {scale * (page - rendered):.2f} s, "
                f"{len(verdict.findings)} findings"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
