from __future__ import annotations

import io

import pytest
from verdicts import CLEAN, FOUND

from enzyme_build.report.text import render_text, wants_colour

WHOLE = """\
rules
  error EB008 rule for an unknown function
    in: rules/r.toml:3: derivative[0]
    f: no function is named 'f'
    why: no library that was checked defines or calls a function of this name, so the rule does nothing
    fix: correct the name, or remove the rule

libgeo.so
  warning EB013 symbol usable in one mode only
    geo::far(double) fails
    symbol: _ZN3geo3farEd
    why: Enzyme, or the rule, can differentiate this function in one of forward and reverse mode; the other
      fails
    fix: add what the other mode needs to a rule, or declare the mode that the project needs (`modes =
      ["reverse"]`)

libkernel.so
  error EB001 opaque symbol (2)
    my_square has neither bitcode nor a rule
    reached: kernel -> helper -> my_square
    used by: caller1 (src/kernel.c:1), caller2 (src/kernel.c:2), caller3 (src/kernel.c:3), caller4
      (src/kernel.c:4), caller5 (src/kernel.c:5) and 2 more
    held by: libmy_square.so (machine code)

        [[inactive]]
        function = "my_square"

    g has neither bitcode nor a rule
    why: Enzyme differentiates LLVM code; a function that is only machine code, and that Enzyme does not know
      by name, stops it or is taken as constant
    fix: write a rule for the function, or compile its source with bitcode as well, or waive it with a reason

  note: calls through pointers were not judged, in kernel

3 errors, 1 warning; checked 2 libraries and 1 native only, 5 symbols reached
"""


def test_the_whole_report() -> None:
    assert render_text(FOUND) == WHOLE


def test_a_clean_verdict_is_one_quiet_line() -> None:
    assert render_text(CLEAN) == "checked 1 library, 1 symbol reached: no findings\n"


def test_colour_changes_nothing_but_colour() -> None:
    painted = render_text(FOUND, colour=True)
    assert "\x1b[1;31merror EB001\x1b[0m" in painted
    for code in ("\x1b[1;31m", "\x1b[1;33m", "\x1b[1m", "\x1b[2m", "\x1b[0m"):
        painted = painted.replace(code, "")
    assert painted == WHOLE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "wanted"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": ""}, True),  # no-color.org: not empty
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"TERM": "xterm"}, False),
    ],
)
def test_when_colour_is_wanted(stream: io.StringIO, environment: dict[str, str], wanted: bool) -> None:
    assert wants_colour(stream, environment) is wanted
