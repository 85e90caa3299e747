"""The command: what it takes, what it says, and its exit codes."""

from __future__ import annotations

import json
import os
import pty
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from rule_cases import PRODUCT, SQUARE, SQUARE_PROTOTYPE, case

from enzyme_build.cli import main
from enzyme_build.gradcheck.words import json_schema
from enzyme_build.manifest import manifest_path, read_manifest


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["gradcheck", *(str(argument) for argument in arguments)])
    written = capsys.readouterr()
    return code, written.out, written.err


def test_the_report_for_programs_fits_its_schema(right: Path, wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys,
        right,
        wrong,
        "--no-plugin",
        "--seeds",
        1,
        "--format",
        "json",
        "--symbol",
        "square",
        "--symbol",
        "wrong_s*",
    )
    report = json.loads(out)
    jsonschema.validate(report, json_schema())
    assert code == 1
    assert report["ok"] is False
    assert [len(library["rules"]) for library in report["libraries"]] == [1, 5]
    assert report["libraries"][0]["section_sha256"] == read_manifest(manifest_path(right)).library.section_sha256


def test_a_manifest_stands_for_its_library(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, manifest_path(right), "--no-plugin", "--symbol", "norm", "--seeds", 1)
    assert code == 0
    assert "passed: norm (reverse and forward)" in out
    assert "guessed: x has 16 elements; n = 4; x in [0.5, 1.5]" in out


def test_a_wheel_is_checked_without_the_rule_files(
    right: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "cases-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in (right, manifest_path(right)):
            archive.write(file, f"cases/{file.name}")
    code, out, _ = run(capsys, wheel, "--no-plugin", "--symbol", "matvec", "--seeds", 2)
    assert code == 0
    assert out.startswith(f"{wheel}: cases/libcases.so\n  passed: matvec")
    assert "guessed: a, x, y in [0.5, 1.5]" in out  # the sizes came with the manifest
    code, _, err = run(capsys, wheel, "--update-manifest")
    assert code == 2
    assert "a wheel is not changed" in err


def test_rule_files_say_how_to_test(right: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = case(
        "norm",
        "double NAME(const double *x, int n)",
        "",
        forward=True,
        test="seeds = 3\narguments = { x = [2, 3], n = 2 }",
    )
    (tmp_path / "rules.toml").write_text(given.toml())
    code, out, _ = run(capsys, right, "--no-plugin", "--symbol", "norm", "--rules", "rules.toml", "--project", tmp_path)
    assert code == 0
    assert "tested: 3 points" in out
    assert "guessed: x has 4 elements\n" in out


def test_rules_without_prototype_are_guessed_from_types(
    make: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = make(tmp_path, [case("plain", SQUARE_PROTOTYPE, SQUARE)])
    rules = (tmp_path / "rules.toml").read_text()
    (tmp_path / "rules.toml").write_text(
        rules.replace('prototype = "void plain(const double *x, double *out)"', 'function = "plain"')
    )
    code, out, _ = run(capsys, library, "--no-plugin", "--seeds", 2, "--rules", "rules.toml", "--project", tmp_path)
    assert code == 0
    assert "every pointer of unknown type is taken for one to double" in out


def test_a_static_function_is_checked_from_its_bitcode(
    make: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = case(
        "hidden",
        "double NAME(double x, double y)",
        PRODUCT.replace("__attribute__((noinline)) double", "static __attribute__((noinline)) double")
        .replace("double aug_NAME", "static double aug_NAME")
        .replace("Two grad_NAME", "static Two grad_NAME")
        .replace("Pair fwd_NAME", "static Pair fwd_NAME")
        + "__attribute__((used)) static void *keep[] = {(void *)aug_NAME, (void *)grad_NAME, (void *)fwd_NAME};"
        "double kernel(double x) { return NAME(x, 2); }",
    )
    library = make(tmp_path, [hidden])
    code, out, _ = run(capsys, library, "--no-plugin", "--seeds", 3)
    assert code == 0
    assert "passed: hidden (reverse and forward)" in out
    assert "note: the function is no symbol of the library: its bitcode was compiled for the check" in out


def test_a_second_run_says_the_same(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        wrong,
        "--no-plugin",
        "--seeds",
        2,
        "--format",
        "json",
        "--symbol",
        "wrong_sign",
        "--symbol",
        "wrong_tape",
    )
    first, second = (json.loads(run(capsys, *command)[1]) for _ in range(2))
    for report in (first, second):
        for rule in report["libraries"][0]["rules"]:
            del rule["nanoseconds"]
    assert first == second


@pytest.mark.parametrize(
    ("make_path", "code", "words"),
    [
        (lambda folder, right: folder / "missing.so", 2, "no such file"),
        (
            lambda folder, right: shutil.copy(right, folder / "libalone.so"),
            3,
            "there is no libalone.so.enzymebc.json beside it",
        ),
        (lambda folder, right: shutil.copy(right, folder / "broken.whl"), 3, "not a sound wheel"),
    ],
    ids=["no file", "no manifest", "no wheel"],
)
def test_what_cannot_be_checked(
    right: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], make_path, code: int, words: str
) -> None:
    found, out, err = run(capsys, Path(make_path(tmp_path, right)), "--no-plugin")
    assert (found, out) == (code, "")
    assert words in err


def test_a_name_without_a_rule(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, right, "--no-plugin", "--symbol", "nothing")
    assert code == 2
    assert "there is no derivative rule for nothing to check" in err


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_seeds_is_a_positive_number(right: Path, capsys: pytest.CaptureFixture[str], number: str) -> None:
    code, _, err = run(capsys, right, "--seeds", number)
    assert code == 2
    assert "--seeds" in err


def test_progress_is_shown_on_a_terminal_only(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, right, "--no-plugin", "--symbol", "square", "--seeds", 1)[2] == ""
    program = f"import sys; sys.path[:] = {sys.path!r}; from enzyme_build.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [
        sys.executable,
        "-c",
        program,
        "gradcheck",
        str(right),
        "--no-plugin",
        "--symbol",
        "square",
        "--seeds",
        "2",
    ]
    written = []

    def read(terminal: int) -> bytes:
        data = os.read(terminal, 65536)
        written.append(data)
        return data

    status = pty.spawn(command, read, lambda _: b"")
    assert os.waitstatus_to_exitcode(status) == 0
    text = b"".join(written).decode()
    assert "square (1 of 1)" in text
    assert "square: 2 of 2 points" in text


NAMES = ("reverse", "draw", "slots", "tape", "count", "primal", "state")  # the harness speaks of these too


def test_functions_may_be_called_as_parts_of_the_harness_are(
    make: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = make(tmp_path, [case(name, "double NAME(double x, double y)", PRODUCT) for name in NAMES])
    code, out, _ = run(capsys, library, "--no-plugin", "--seeds", 2)
    assert code == 0, out
    assert out.endswith(f"{len(NAMES)} checked: {len(NAMES)} passed\n")
