"""Object files and archives, as the compilers and archivers that people use make them."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_build.check.run import check_paths
from enzyme_build.errors import BinaryError
from support.enzyme import Enzyme
from support.library import EMBED, run

SOURCE = "double square(double x) { return x * x; }\nstatic double hidden(double x) { return x; }\ndouble twice(double x) { return hidden(x) * 2; }\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "part.c"
    path.write_text(SOURCE)
    return path


def compiled(enzyme: Enzyme, source: Path, *flags: str, name: str = "part.o") -> Path:
    run(enzyme.clang, "-O1", "-fPIC", *flags, "-c", source, "-o", source.with_name(name))
    return source.with_name(name)


def told(path: Path) -> list[tuple[str, str]]:
    return [(each.id, each.message.replace(f"{path.parent}/", "")) for each in check_paths([path]).findings]


def test_an_object_with_bitcode_is_no_finding(enzyme: Enzyme, source: Path) -> None:
    assert told(compiled(enzyme, source, *EMBED)) == []


def test_an_object_of_gcc_names_the_compiler_and_its_functions(source: Path) -> None:
    run("gcc", "-c", source, "-o", source.with_suffix(".o"))
    ((kind, message),) = told(source.with_suffix(".o"))
    assert kind == "EB041"
    assert message.startswith("part.o, made by GCC: (")
    assert message.endswith("defines square, twice as machine code only")


def test_an_object_of_an_assembler(tmp_path: Path) -> None:
    (tmp_path / "fast.s").write_text('.globl fast\nfast:\n ret\n.section .note.GNU-stack,"",@progbits\n')
    run("gcc", "-c", tmp_path / "fast.s", "-o", tmp_path / "fast.o")
    assert told(tmp_path / "fast.o") == [
        ("EB041", "fast.o, which an assembler made, defines fast as machine code only")
    ]


def test_link_time_optimisation_and_the_marker(enzyme: Enzyme, source: Path) -> None:
    assert told(compiled(enzyme, source, "-flto")) == [
        ("EB041", "part.o is bare LLVM bitcode, made for link-time optimisation")
    ]
    assert told(compiled(enzyme, source, "-fembed-bitcode-marker")) == [("EB004", "part.o: .llvmbc holds no module")]


def test_archives(enzyme: Enzyme, source: Path) -> None:
    good = compiled(enzyme, source, *EMBED, name="a_member_with_a_long_name.o")
    archiver = enzyme.llvm_tool("llvm-ar")
    run(archiver, "rcs", source.with_name("libgood.a"), good)
    assert told(source.with_name("libgood.a")) == []
    # what GNU ar with an LLVM plugin leaves: members, and nothing in the index
    run(archiver, "rcS", source.with_name("libbad.a"), good)
    assert told(source.with_name("libbad.a")) == [
        ("EB042", "libbad.a has no index, and its members define 2 functions")
    ]
    plain = compiled(enzyme, source, name="plain_member_with_a_long_name.o")
    run(archiver, "rcs", source.with_name("libmixed.a"), good, plain)
    ((kind, message),) = told(source.with_name("libmixed.a"))
    assert kind == "EB041"
    assert message.startswith("libmixed.a(plain_member_with_a_long_name.o), made by Debian clang")


def test_what_is_no_object(tmp_path: Path) -> None:
    (tmp_path / "text.o").write_text("hello")
    with pytest.raises(BinaryError, match=r"text\.o: not an object file"):
        check_paths([tmp_path / "text.o"])
    (tmp_path / "cut.a").write_bytes(b"!<arch>\n" + b"x" * 70)
    with pytest.raises(BinaryError, match=r"cut\.a: damaged archive: no member header at byte 8"):
        check_paths([tmp_path / "cut.a"])
