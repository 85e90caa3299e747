"""Compilers that write no bitcode, or bitcode that is too new; launchers; link-time optimisation; other machines."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time

import pytest

from enzyme_build.elf import read_elf
from support.cmake import bitcode_sources, compile_commands, manifest_of, run

SOURCES = ("src/scale.c", "src/kernel.c", "src/shared_source.c", "src/shift.c")


def kernel_of(build):
    return build.folder / "libkernel.so.1.2.3"


def compiler_of(library):
    done = run("readelf", "--string-dump=.comment", library)
    return done.ok()


@pytest.fixture
def reference(plain):
    """A function that returns the hash of the kernel's bitcode as the suitable clang embeds it."""

    def digest(generator="Ninja"):
        build = plain(folder="reference", generator=generator)  # in another order of objects it is another module
        build.configure().ok()
        build.build().ok()
        return manifest_of(kernel_of(build)).library.section_sha256

    return digest


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_gcc_compiles_and_clang_adds_the_same_bitcode(plain, enzyme, reference, generator):
    build = plain(f"-DENZYMEBC_LLVM={enzyme.clang}", c="gcc", generator=generator)
    said = build.configure().ok()
    assert re.search(r"GNU writes no LLVM bitcode: bitcode of C sources comes from \S*clang", said)
    build.build().ok()
    kernel = kernel_of(build)
    assert sorted(bitcode_sources(kernel)) == sorted(SOURCES)
    assert "GCC: (" in compiler_of(kernel)
    assert "clang" not in compiler_of(kernel)
    expected = reference(generator)
    assert manifest_of(kernel).library.section_sha256 == expected
    assert all(re.match(r"\S*gcc ", entry["command"]) for entry in compile_commands(build))
    before = kernel.stat().st_mtime_ns
    assert "finalize" not in build.build().ok()
    assert kernel.stat().st_mtime_ns == before
    build.edit("include/shift.h", "1.0", "2.0")  # gcc's own dependency files are in force
    build.build().ok()
    assert manifest_of(kernel).library.section_sha256 != expected


def test_a_source_that_only_gcc_compiles(plain, enzyme):
    build = plain(f"-DENZYMEBC_LLVM={enzyme.clang}", c="gcc")
    build.edit(
        "src/base.c", "double base(double x) {", "double base(double x) { double f(void) { return 0; } x += f();"
    )
    build.configure().ok()
    for _ in range(2):
        said = build.build("--target", "base").failed()
        assert "src/base.c compiles, but clang" in said
        assert "function definition is not allowed here" in said


def test_a_clang_of_which_the_consumer_can_read_nothing(plain, enzyme, tmp_path):
    """A clang that calls itself newer; the bitcode comes from the one that the consumer reads."""
    newer = tmp_path / "bin/clang"
    newer.parent.mkdir()
    newer.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) echo "clang version 99.0.0"; exit;; esac\n'
        f'exec "{enzyme.clang}" -D__clang_major__=99 -Wno-builtin-macro-redefined "$@"\n'
    )
    newer.chmod(0o755)
    build = plain(f"-DENZYMEBC_LLVM={enzyme.clang}", c=str(newer))
    said = build.configure().ok()
    assert "the bitcode of clang 99.0.6 is too new: bitcode of C sources comes from" in said
    build.build().ok()
    assert bitcode_sources(kernel_of(build)) == SOURCES


def test_a_consumer_that_nothing_here_serves(plain):
    build = plain("-DCONSUMER=llvm-3", c="gcc")
    said = build.configure().failed()
    assert "enzymebc_target(): enzyme-build: consumer 'llvm-3': LLVM older than 15 cannot be served" in said
    build = plain("-DENZYMEBC_LLVM=/nowhere/llvm", c="gcc")
    assert "enzymebc_target(): enzyme-build: no usable LLVM toolchain for llvm-15" in build.configure().failed()


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_ccache(plain, enzyme, reference, tmp_path, compiler):
    environment = {"CCACHE_DIR": str(tmp_path / "cache"), "CCACHE_BASEDIR": str(tmp_path)}
    options = ("-DCMAKE_C_COMPILER_LAUNCHER=ccache", f"-DENZYMEBC_LLVM={enzyme.clang}")
    c = "gcc" if compiler == "gcc" else ""
    compiled = 7 if compiler == "clang" else 7 + 6  # of cube.c no bitcode is made
    for expected in ({"cache_miss"}, set()):
        run("ccache", "--zero-stats", environment=environment).ok()
        build = plain(*options, c=c)
        build.environment.update(environment)
        shutil.rmtree(build.folder, ignore_errors=True)
        build.configure().ok()
        build.build().ok()
        assert manifest_of(kernel_of(build)).library.section_sha256 == reference()
        done = run("ccache", "--print-stats", environment=environment).ok()
        stats = {name: int(number) for name, number in (line.split("\t") for line in done.splitlines())}
        assert {name for name in ("cache_miss", "unsupported_compiler_option") if stats[name]} == expected
        assert stats["direct_cache_hit"] + stats["preprocessed_cache_hit"] + stats["cache_miss"] == compiled


@pytest.fixture
def distccd(tmp_path, enzyme):
    """A distcc server on the loopback; its log tells what it compiled."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path / "distccd.log"
    command = ["distccd", "--no-detach", "--daemon", "--allow", "127.0.0.1", "--listen", "127.0.0.1"]
    command += ["--port", str(port), "--log-stderr", "--log-level", "info", "--enable-tcp-insecure", "--jobs", "2"]
    user = ["--user", "nobody"] if os.getuid() == 0 else []
    with log.open("w") as stream:  # the server itself is a user who may not write here
        server = subprocess.Popen([*command, *user], stdout=subprocess.DEVNULL, stderr=stream)
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield port, log
    server.terminate()
    server.wait()


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_distcc(plain, enzyme, reference, distccd, compiler):
    port, log = distccd
    build = plain(
        "-DCMAKE_C_COMPILER_LAUNCHER=distcc", f"-DENZYMEBC_LLVM={enzyme.clang}", c="gcc" if compiler == "gcc" else ""
    )
    build.environment.update(
        {"DISTCC_HOSTS": f"127.0.0.1:{port}", "DISTCC_FALLBACK": "0", "DISTCC_DIR": str(log.parent)}
    )
    build.configure().ok()
    build.build("-j4").ok()
    assert manifest_of(kernel_of(build)).library.section_sha256 == reference()
    assert log.read_text().count("COMPILE_OK") == (7 if compiler == "clang" else 7 + 6)


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_link_time_optimisation_of_the_project_is_left_out(plain, enzyme, compiler):
    build = plain(
        "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON",
        "-DCMAKE_POLICY_DEFAULT_CMP0069=NEW",
        f"-DENZYMEBC_LLVM={enzyme.clang}",
        "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=bfd",
        c="gcc" if compiler == "gcc" else "",
    )
    build.configure().ok()
    assert any("-flto" in entry["command"] for entry in compile_commands(build))
    build.build("--target", "scale", "shift", "base").ok()
    assert bitcode_sources(build.folder / "libbase.so") == ("src/base.c", "src/shared_source.c")


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_another_machine(plain, enzyme, tmp_path, compiler):
    toolchain = tmp_path / "aarch64.cmake"
    lines = ["set(CMAKE_SYSTEM_NAME Linux)", "set(CMAKE_SYSTEM_PROCESSOR aarch64)"]
    if compiler == "clang":
        lines += [f"set(CMAKE_C_COMPILER {enzyme.clang})", "set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)"]
    else:
        lines.append("set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)")
    toolchain.write_text("\n".join(lines))
    build = plain(
        f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
        f"-DENZYMEBC_LLVM={enzyme.clang}",
        c="" if compiler == "clang" else "aarch64-linux-gnu-gcc",
    )
    build.configure().ok()
    build.build().ok()
    build.test().ok()
    prefix = tmp_path / "prefix"
    build.install(prefix, "--strip").ok()
    kernel = prefix / "lib/libkernel.so.1.2.3"
    assert read_elf(kernel).machine == "AArch64"
    assert bitcode_sources(kernel) == SOURCES
    assert manifest_of(kernel).bitcode.triple.startswith("aarch64-")


def test_flags_of_the_project_that_spoil_bitcode(plain, enzyme):
    """Fortified and instrumented functions stay in the native code of gcc; flags that only gcc knows do no harm."""
    flags = "-O2 -D_FORTIFY_SOURCE=2 -finstrument-functions -Wall -Werror -fconserve-stack"
    build = plain(f"-DCMAKE_C_FLAGS={flags}", f"-DENZYMEBC_LLVM={enzyme.clang}", c="gcc")
    build.configure().ok()
    build.build().ok()
    kernel = kernel_of(build)
    assert "__cyg_profile_func_enter" in {symbol.name for symbol in read_elf(kernel).undefined}
    assert not [name for name in manifest_of(kernel).symbols if "__cyg_profile" in name]
