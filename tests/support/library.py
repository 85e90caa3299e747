"""Build small real libraries for tests, and finalize them without a front door."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from enzyme_build.elf import read_section
from enzyme_build.finalize.embed import embed_bitcode
from enzyme_build.finalize.facts import FinalizeRequest, LinkedModule, ModuleFacts
from enzyme_build.finalize.run import finalize_module
from enzyme_build.model import Origin, PointerMode
from enzyme_build.rules.model import Rule
from support.enzyme import Enzyme

ORIGIN = Origin(file="rules/test.toml", key="test[0]", line=1)
EMBED = ["-Xclang", "-fembed-bitcode=all"]
TYPED = ["-Xclang", "-no-opaque-pointers"]
# the derivative of kernel at 2, by reverse and by forward mode
HOST = """
double kernel(double x);
double outer(double x) { return kernel(x); }
int main(void) {
  printf("%.17g ", __enzyme_autodiff((void *)outer, 2.0));
  printf("%.17g\\n", __enzyme_fwddiff((void *)outer, 2.0, 1.0));
}
"""


def run(*command: object) -> None:
    """Run a command of the test's set-up; its output is part of the failure."""
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def build_library(
    enzyme: Enzyme,
    folder: Path,
    name: str,
    sources: Mapping[str, str],
    *,
    typed: bool = False,
    embed: Sequence[str] = EMBED,
    flags: Sequence[str] = (),
    link: Sequence[Path] = (),
) -> Path:
    """Return `lib<name>.so`, linked from `sources` (file name to text), not finalized."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for file_name, text in sources.items():
        source = folder / file_name
        source.write_text(text)
        objects.append(source.with_suffix(".o"))
        compiler = [enzyme.clang, "-O2", "-fno-math-errno", "-fPIC", *embed, *(TYPED if typed else []), *flags]
        run(*compiler, "-c", source, "-o", objects[-1])
    library = folder / f"lib{name}.so"
    rpath = [f"-Wl,-rpath,{other.parent}" for other in link]
    run(enzyme.clang, "-shared", f"-Wl,-soname,{library.name}", "-o", library, *objects, *link, *rpath, "-lm")
    return library


def native_library(enzyme: Enzyme, folder: Path, name: str, text: str) -> Path:
    """Return a library without bitcode: opaque to Enzyme."""
    return build_library(enzyme, folder, name, {f"{name}.c": text}, embed=())


def finalize(
    enzyme: Enzyme, library: Path, rules: Sequence[Rule] = (), *, typed: bool = False, linked: Sequence[Path] = ()
) -> ModuleFacts:
    """Finalize `library` in place and return the facts."""
    section, output = library.with_suffix(".section"), library.with_suffix(".bc")
    section.write_bytes(read_section(library, ".llvmbc") or b"")
    modules = []
    for other in linked:
        bitcode = other.with_suffix(".linked")
        bitcode.write_bytes(read_section(other, ".llvmbc") or b"")
        modules.append(LinkedModule(library=other.name, bitcode=str(bitcode)))
    request = FinalizeRequest(
        libllvm=str(enzyme.libllvm),
        llvm_version="15.0.6",
        name=library.name,
        section=str(section),
        output=str(output),
        pointers=PointerMode.TYPED if typed else PointerMode.OPAQUE,
        linked=tuple(modules),
        rules=tuple(rules),
    )
    facts = finalize_module(request)
    embed_bitcode(library, output, objcopy=enzyme.objcopy)
    return facts
