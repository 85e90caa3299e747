"""sample_project becomes the wheel, the sdist and the installation that a user expects."""

from __future__ import annotations

import json
import math
import tarfile
import zipfile

from elftools.elf.elffile import ELFFile

LIBRARIES = ("libkernel.so", "libmy_square.so")


def members(wheel):
    return sorted(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_is_for_every_python_of_this_platform(sample_wheel):
    assert sample_wheel.name == "sample_project-0.1.0-py3-none-linux_x86_64.whl"
    text = zipfile.ZipFile(sample_wheel).read("sample_project-0.1.0.dist-info/WHEEL").decode()
    assert "Root-Is-Purelib: false" in text
    assert "Tag: py3-none-linux_x86_64" in text


def test_the_wheel_holds_libraries_manifests_and_nothing_else_of_the_build(sample_wheel):
    assert members(sample_wheel) == [
        "sample_project-0.1.0.dist-info/METADATA",
        "sample_project-0.1.0.dist-info/RECORD",
        "sample_project-0.1.0.dist-info/WHEEL",
        "sample_project-0.1.0.dist-info/top_level.txt",
        "sample_project/__init__.py",
        "sample_project/libkernel.so",
        "sample_project/libkernel.so.enzymebc.json",
        "sample_project/libmy_square.so",
        "sample_project/libmy_square.so.enzymebc.json",
    ]


def test_only_the_library_with_bitcode_has_bitcode(sample_wheel):
    with zipfile.ZipFile(sample_wheel) as archive:
        sections = {}
        for name in LIBRARIES:
            with archive.open(f"sample_project/{name}") as stream:
                sections[name] = {section.name for section in ELFFile(stream).iter_sections()}
        manifests = {name: json.loads(archive.read(f"sample_project/{name}.enzymebc.json")) for name in LIBRARIES}
    assert ".llvmbc" in sections["libkernel.so"]
    assert ".llvmbc" not in sections["libmy_square.so"]
    assert not any(".llvmcmd" in names for names in sections.values())
    assert manifests["libkernel.so"]["bitcode"]["pointers"] == "typed"
    assert manifests["libmy_square.so"]["bitcode"] is None
    assert manifests["libkernel.so"]["symbols"]["my_square"]["status"] == "rule"


def test_the_installed_package_computes_and_its_libraries_find_each_other(sample_wheel, installed):
    value = installed(sample_wheel)("import sample_project; print(sample_project.kernel([0.5, 1.5]))")
    expected = sum(math.exp(-x) * math.sin(x * x) for x in (0.5, 1.5))
    assert math.isclose(float(value), expected, rel_tol=1e-14)


def test_the_sdist_holds_what_a_build_needs(sample):
    sample.hook("build_sdist", "dist").ok()
    with tarfile.open(sample.folder / "dist/sample_project-0.1.0.tar.gz") as archive:
        names = sorted(name.partition("/")[2] for name in archive.getnames() if archive.getmember(name).isfile())
    assert [name for name in names if ".egg-info/" not in name] == [
        "PKG-INFO",
        "include/kernel.h",
        "include/my_square.h",
        "pyproject.toml",
        "rules/my_square.toml",
        "sample_project/__init__.py",
        "setup.cfg",
        "src/kernel.c",
        "src/my_square.c",
        "src/util.c",
    ]


def test_the_wheel_from_the_sdist_is_the_same_byte_for_byte(sample, sample_wheel, tmp_path):
    sample.hook("build_sdist", "dist").ok()
    sdist = sample.folder / "dist/sample_project-0.1.0.tar.gz"
    out = tmp_path / "from-sdist"
    sample.run("-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", out, sdist).ok()
    (wheel,) = out.glob("*.whl")
    assert members(wheel) == members(sample_wheel)
    for member in members(wheel):
        assert zipfile.ZipFile(wheel).read(member) == zipfile.ZipFile(sample_wheel).read(member), member


def test_pip_builds_it_in_isolation_too(sample, wheelhouse, sample_wheel):
    done = sample.run("-m", "pip", "wheel", "--no-deps", "--find-links", wheelhouse, "--wheel-dir", "dist", ".")
    done.ok()
    assert [path.name for path in (sample.folder / "dist").glob("*.whl")] == [sample_wheel.name]


def test_the_plugin_hook_alone_builds_the_same(sample, sample_wheel):
    sample.edit(
        "pyproject.toml", 'build-backend = "enzyme_build.setuptools"', 'build-backend = "setuptools.build_meta"'
    )
    assert members(sample.wheel()) == members(sample_wheel)


def test_a_path_with_spaces_and_letters_of_all_the_world(sample, sample_wheel):
    folder = sample.folder.with_name("mein Pröjekt 项目")
    sample.folder.rename(folder)
    moved = type(sample)(folder, sample.python)
    wheel = moved.wheel()
    for name in LIBRARIES:  # where it was built leaves no trace
        member = f"sample_project/{name}"
        assert zipfile.ZipFile(wheel).read(member) == zipfile.ZipFile(sample_wheel).read(member)
