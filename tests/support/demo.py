#!/usr/bin/env python3
"""Walk sample_project from its sources to a derivative, as `./dev demo` shows it; exits with 1 if a number is wrong.

Usage: demo.py --work FOLDER      FOLDER is where `./dev` keeps downloads; the demonstration works in FOLDER/demo
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/, for `support`

from support.enzyme import Enzyme, EnzymeError
from support.enzyme_plugin import get_enzyme

REPOSITORY = Path(__file__).resolve().parents[2]
POINTERS = {"typed": "julia-1.10", "opaque": "llvm-15"}  # who reads LLVM 15, which Enzyme's plugin is made for
# folder, pointers, and what builds the sample; each file has one place where the consumer is named
BUILDS = (
    ("typed", "typed", "setuptools", "pyproject.toml", r'consumers = \["[^"]*"\]', 'consumers = ["{}"]'),
    ("opaque", "opaque", "setuptools", "pyproject.toml", r'consumers = \["[^"]*"\]', 'consumers = ["{}"]'),
    ("cmake", "typed", "CMake", "CMakeLists.txt", r"CONSUMERS \S+\)", "CONSUMERS {})"),
)
POINT = (0.8, -0.3, 1.7)
STEP = 1e-5
TOLERANCE = 1e-7  # that of the central difference: STEP**2 times the third derivative, and rounding divided by STEP

HOST = """
extern void kernel(const double *x, int count, double *out);
int main(void) {
    double x[] = {%(point)s}, d_x[%(count)d], out, d_out = 1.0;
    for (int i = 0; i < %(count)d; i++) d_x[i] = 0.0;
    __enzyme_autodiff((void *)kernel, enzyme_dup, x, d_x, enzyme_const, %(count)d, enzyme_dup, &out, &d_out);
    for (int i = 0; i < %(count)d; i++) printf("%%.17g\\n", d_x[i]);
    for (int i = 0; i < %(count)d; i++) {
        for (int j = 0; j < %(count)d; j++) d_x[j] = i == j;
        d_out = 0.0;
        __enzyme_fwddiff((void *)kernel, enzyme_dup, x, d_x, enzyme_const, %(count)d, enzyme_dup, &out, &d_out);
        printf("%%.17g\\n", d_out);
    }
    return 0;
}
"""

DIFFERENCES = """
import json, sys, sample_project
point, step = json.loads(sys.argv[1]), float(sys.argv[2])
slopes = []
for i in range(len(point)):
    above, below = list(point), list(point)
    above[i] += step
    below[i] -= step
    slopes.append((sample_project.kernel(above) - sample_project.kernel(below)) / (2 * step))
print(json.dumps([str(sample_project.library_path()), sample_project.kernel(point), slopes]))
"""


class StepError(Exception):
    """A command failed; the text is what the user reads."""


def run(command: Sequence[object], log: Path, *, cwd: Path | None = None) -> str:
    """Return what `command` prints; both its streams go to `log` too, whose end is shown when it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"+ {' '.join(words)}\n{done.stdout}{done.stderr}")
    if done.returncode:
        end = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise StepError(f"{words[0]} failed with exit code {done.returncode}:\n{end}\nthe whole log: {log}")
    return done.stdout


def build_and_install(build: Sequence[str], folder: Path, wheelhouse: Path, log: Path) -> tuple[Path, Path]:
    """Build sample_project in one of the `BUILDS` and install it; return its wheel and the Python it is installed for."""
    _, pointers, tool, file, pattern, wanted = build
    project = folder / "sample_project"
    ignored = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "*.so", "*.enzymebc.json")
    shutil.copytree(REPOSITORY / "sample_project", project, ignore=ignored)
    if tool == "CMake":
        (project / "pyproject-cmake.toml").replace(project / "pyproject.toml")
    text, count = re.subn(pattern, wanted.format(POINTERS[pointers]), (project / file).read_text())
    if count != 1:
        raise StepError(f"{project / file}: the consumer is named {count} times, not once")
    (project / file).write_text(text)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run([*pip, "wheel", project, "--no-deps", "--find-links", wheelhouse, "--wheel-dir", folder / "dist"], log)
    wheel = next((folder / "dist").glob("*.whl"))
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    run([*pip, "--python", python, "install", "--no-index", "--no-deps", wheel], log)
    return wheel, python


def differentiate(pointers: str, library: Path, folder: Path, enzyme: Enzyme) -> tuple[list[float], list[float]]:
    """Return the gradient of the installed kernel in reverse and in forward mode."""
    host = HOST % {"point": ", ".join(map(repr, POINT)), "count": len(POINT)}
    numbers = enzyme.differentiate(
        host,
        folder / "enzyme",
        imports=[(library, "kernel")],
        typed=pointers == "typed",
        link=[library.with_name("libmy_square.so")],
    )
    return numbers[: len(POINT)], numbers[len(POINT) :]


def demonstrate(work: Path) -> int:
    """Run all steps and return the exit code."""
    folder = work / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log, wheelhouse, worst = folder / "log.txt", folder / "wheelhouse", 0.0
    enzyme = Enzyme(**{name: Path(path) for name, path in get_enzyme(work / "enzyme").items()})

    say("2. Build the wheel of enzyme-build")
    shutil.rmtree(REPOSITORY / "build", ignore_errors=True)  # setuptools packs what earlier builds left there
    run([sys.executable, "-m", "pip", "wheel", REPOSITORY, "--no-deps", "--wheel-dir", wheelhouse], log)
    say(f"   {next(wheelhouse.glob('*.whl')).name}")

    for number, build in enumerate(BUILDS):
        first = 3 + 4 * number
        name, pointers, tool = build[:3]
        here = folder / name
        here.mkdir()
        what = f"{pointers} pointers (consumer {POINTERS[pointers]})"
        say(f"{first}. Build sample_project with {tool}, {what}, and install it")
        wheel, python = build_and_install(build, here, wheelhouse, log)
        say(f"   {wheel.name}")
        installed = run([python, "-c", DIFFERENCES, json.dumps(POINT), STEP], log)
        library, value, slopes = json.loads(installed)
        say(f"   {Path(library).relative_to(here)}: kernel{POINT} = {value:.12f}")

        say(f"{first + 1}. Check the wheel: enzyme-build check {wheel.name}")
        for line in run(["enzyme-build", "check", wheel], log).splitlines():
            say(f"   {line}".rstrip())

        say(f"{first + 2}. Differentiate the kernel out of the installed library with Enzyme")
        reverse, forward = differentiate(pointers, Path(library), here, enzyme)

        say(f"{first + 3}. Compare")
        say(f"   {'':8}{'derivative':>20}{'finite difference':>20}{'difference':>14}")
        for mode, gradient in (("reverse", reverse), ("forward", forward)):
            for index, (derivative, slope) in enumerate(zip(gradient, slopes, strict=True)):
                worst = max(worst, abs(derivative - slope))
                shown = f"{mode}" if index == 0 else ""
                say(f"   {shown:8}{derivative:20.12f}{slope:20.12f}{derivative - slope:14.1e}   d/dx[{index}]")
    if not worst < TOLERANCE:
        say(f"WRONG: derivative and finite difference differ by {worst:.1e}, more than {TOLERANCE:.0e}")
        return 1
    say(f"All derivatives agree with finite differences; the largest difference is {worst:.1e}.")
    return 0


def say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    try:
        return demonstrate(parser.parse_args().work.resolve())
    except (StepError, EnzymeError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
