"""Editable installs: the library lies in the source package, or is linked into setuptools' link tree."""

from __future__ import annotations

import pytest

FILES = ["libkernel.so", "libkernel.so.enzymebc.json", "libmy_square.so", "libmy_square.so.enzymebc.json"]
LOAD = "import sample_project; print(sample_project.library_path(), sample_project.kernel([1.0]))"


@pytest.fixture
def editable(sample, tmp_path):
    """A function that installs the sample editably, away from the shared environment, and returns a way to run code."""

    def install(*options):
        prefix, elsewhere = tmp_path / "prefix", tmp_path / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        arguments = ["-m", "pip", "install", "--no-build-isolation", "--no-deps", "--prefix", prefix, *options]
        sample.run(*arguments, "--editable", ".").ok()
        (site,) = prefix.glob("lib/python*/site-packages")
        return lambda code: sample.run("-c", f"import site; site.addsitedir({str(site)!r})\n{code}", cwd=elsewhere).ok()

    return install


def test_lenient_puts_library_and_manifest_into_the_source_package(editable, sample):
    path, value = editable()(LOAD).split()
    assert path == str(sample.folder / "sample_project/libkernel.so")
    assert float(value) == pytest.approx(0.3095598756531122)
    assert libraries(sample.folder / "sample_project") == FILES


def test_lenient_again_after_a_change_takes_the_change(editable, sample):
    before = float(editable()(LOAD).split()[1])
    sample.edit("src/util.c", "return exp(-damping)", "return 2.0 * exp(-damping)")
    assert float(editable()(LOAD).split()[1]) == pytest.approx(2.0 * before)


def test_strict_links_every_file_into_the_tree(editable, sample):
    path, value = editable("--config-settings", "editable_mode=strict")(LOAD).split()
    assert "__editable__" in path
    assert float(value) == pytest.approx(0.3095598756531122)
    tree = next((sample.folder / "build").glob("__editable__*"))
    assert libraries(tree / "sample_project") == FILES
    assert (tree / "sample_project/libkernel.so").is_symlink()


def test_a_failed_check_leaves_the_source_package_as_it_was(editable, sample):
    editable()
    before = {path.name: path.read_bytes() for path in (sample.folder / "sample_project").glob("lib*")}
    (sample.folder / "rules/my_square.toml").write_text("# no rule\n")
    output = sample.hook("build_editable", "dist").failed()
    assert "EB001" in output
    assert {path.name: path.read_bytes() for path in (sample.folder / "sample_project").glob("lib*")} == before


def test_inplace_by_hand(sample):
    sample.run("-c", "from setuptools import setup; setup()", "build_enzyme", "--inplace").ok()
    assert libraries(sample.folder / "sample_project") == FILES


def libraries(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("lib"))
