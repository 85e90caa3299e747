"""The command as a whole: help, exit codes, and what happens to errors."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import enzyme_build
from enzyme_build import cli
from enzyme_build.cli import main, run_reporting_errors
from enzyme_build.errors import BinaryError, ConfigError, ToolError, UsageError

COMMANDS = (
    "doctor",
    "flags",
    "finalize",
    "check",
    "gradcheck",
    "inspect",
    "extract",
    "find",
    "rules",
    "restore",
    "schema",
    "wrap",
)


def command(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "enzyme_build", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"enzyme-build {enzyme_build.__version__}\n"


def test_the_module_is_the_command() -> None:
    assert command("--version").stdout == f"enzyme-build {enzyme_build.__version__}\n"


def test_help_names_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n    {name} " in said for name in COMMANDS)
    assert "exit codes:" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert f"usage: enzyme-build {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["check", "finalize", "inspect", "extract", "find"])
def test_help_shows_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert f"examples:\n  enzyme-build {name} " in capsys.readouterr().out


def test_a_command_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chekc"]) == 2
    assert "invalid choice: 'chekc'" in capsys.readouterr().err


def test_no_command_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "commands:" in capsys.readouterr().err


def test_the_start_is_light() -> None:
    program = (
        "import sys\n"
        "from enzyme_build.cli import main\n"
        "main(['--version'])\n"
        "heavy = {'msgspec', 'elftools', 'pycparser', 'ctypes', 'subprocess', 'importlib.resources', 'zipfile', 'json'}\n"
        "loaded = heavy & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_start_is_fast() -> None:
    bare, ours = [], []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - start)
        start = time.perf_counter()
        command("--version")
        ours.append(time.perf_counter() - start)
    assert min(ours) - min(bare) < 0.15  # 30 ms on a quiet machine


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UsageError("wrong"), 2, "enzyme-build: wrong\n"),
        (ConfigError(["one", "two"]), 3, "enzyme-build: 2 problems in the configuration:\n- one\n- two\n"),
        (BinaryError("bad", hint="rebuild"), 3, "enzyme-build: bad\n  hint: rebuild\n"),
        (ToolError("missing"), 4, "enzyme-build: missing\n"),
        (PermissionError(13, "Permission denied", "lib.so"), 3, "enzyme-build: lib.so: Permission denied\n"),
    ],
)
def test_errors_become_text_and_a_code(
    error: Exception, code: int, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENZYME_BUILD_DEBUG", raising=False)

    def fail() -> int:
        raise error

    assert run_reporting_errors(fail) == code
    assert capsys.readouterr().err == text


def test_an_unexpected_error_asks_for_a_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENZYME_BUILD_DEBUG", raising=False)

    def fail() -> int:
        raise ZeroDivisionError("by zero")

    assert run_reporting_errors(fail) == 70
    said = capsys.readouterr().err
    assert said.startswith("enzyme-build: unexpected ZeroDivisionError: by zero\n")
    assert "please report it" in said
    assert "Traceback" not in said
    monkeypatch.setenv("ENZYME_BUILD_DEBUG", "1")
    assert run_reporting_errors(fail) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise KeyboardInterrupt

    assert run_reporting_errors(fail) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_closed_pipe_is_quiet() -> None:
    program = "import sys; from enzyme_build.cli import main; sys.exit(main(['schema', 'manifest']))"
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; "{sys.executable}" -c "{program}" | true; echo "${{PIPESTATUS[0]}}"'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "0"
    assert done.stderr == ""


def test_each_command_is_registered_and_has_the_two_functions() -> None:
    folder = Path(cli.__file__).parent
    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    assert files == set(COMMANDS)
    for file in files:
        tree = ast.parse((folder / f"{file}.py").read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {"configure", "execute"} <= functions
