from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_build._run import capture
from support.enzyme import Enzyme

SOURCE = """
#include <math.h>
double table[3] = {1, 2, 3};
__thread int counter;
extern double away(double);
extern double *shared_pointer;
__attribute__((weak)) double maybe(double x) { return x; }
__attribute__((visibility("hidden"))) double hidden(double x) { return sin(x); }
static double inner(double x) { return hidden(x) + away(x) + *shared_pointer; }
double kernel(double x) { counter++; return inner(x) + table[0]; }
double kernel_alias(double) __attribute__((alias("kernel")));
"""
VERSIONS = "KERNEL_1.0 { global: kernel; kernel_alias; table; maybe; counter; local: *; };"


@pytest.fixture(scope="session")
def libraries(enzyme: Enzyme, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `libkernel.so` (clang, with bitcode), `libplain.so` (gcc), `kernel.o` and `libkernel.a`."""
    folder = tmp_path_factory.mktemp("elf")
    (folder / "kernel.c").write_text(SOURCE)
    (folder / "versions").write_text(VERSIONS)
    (folder / "plain.c").write_text("double away(double x) { return 2 * x; }\ndouble *shared_pointer;\n")

    def run(command: str) -> None:
        capture([str(enzyme.clang) if word == "clang" else word for word in command.split()], cwd=folder)

    run("gcc -shared -fPIC plain.c -o libplain.so -Wl,-soname,libplain.so.2")
    run("clang -O1 -fPIC -Xclang -fembed-bitcode=all -c kernel.c -o kernel.o")
    run(
        "clang -shared kernel.o -o libkernel.so -L. -lplain -lm -Wl,-soname,libkernel.so.1 -Wl,--build-id=sha1 "
        "-Wl,--version-script=versions -Wl,-rpath,$ORIGIN:$ORIGIN/../lib"
    )
    run("ar rcs libkernel.a kernel.o")
    return folder
