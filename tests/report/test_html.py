"""The HTML page: whole and self-contained, and what a real browser makes of it."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from shutil import which

import pytest
from verdicts import CLEAN, EMPTY, FOUND, OPAQUE, SUMMARY

from enzyme_build.check.finding import Verdict
from enzyme_build.manifest import CertificateRecord, RuleRecord
from enzyme_build.model import Mode
from enzyme_build.report.html import render_html

VOID = {"meta", "input", "line", "rect", "path", "br"}
RULE = RuleRecord(
    kind="derivative", symbol="cube", file="rules/<cube>.toml", key="derivative[0]", line=3, modes=(Mode.REVERSE,),
    functions={"gradient": "gradient_cube"},
)  # fmt: skip
CERTIFICATE = CertificateRecord(symbol="cube", modes=(Mode.REVERSE,), seeds=5, level=1, passed=True)
FULL = dataclasses.replace(
    SUMMARY.libraries[0],
    rules=(RULE,),
    certificates=(CERTIFICATE,),
    differentiable={"kernel": (Mode.REVERSE,), "other": ()},
    consumers=("julia-1.11",),
    classified={"calls through pointers": 2},
)
WHOLE = Verdict(
    findings=(*FOUND.findings, dataclasses.replace(OPAQUE, symbol="<script>alert(1)</script>", chain=())),
    summary=dataclasses.replace(SUMMARY, libraries=(FULL, *SUMMARY.libraries[1:])),
)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs) -> None:
        given = dict(attrs)
        self.links += [given[key] for key in ("href", "src") if key in given]
        self.ids += [given["id"]] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs) -> None:
        self.links += [dict(attrs)[key] for key in ("href", "src") if key in dict(attrs)]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("verdict", [WHOLE, FOUND, CLEAN, EMPTY], ids=["whole", "found", "clean", "empty"])
def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(verdict: Verdict) -> None:
    page = render_html(verdict)
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert all(link.startswith("#") and link[1:] in reader.ids for link in reader.links)
    assert len(reader.ids) == len(set(reader.ids))
    assert not re.search(r"https?://", page)
    assert page == render_html(verdict)


def test_what_is_in_it() -> None:
    reader = Reader()
    reader.feed(render_html(WHOLE))
    text = " ".join("".join(reader.text).split())
    for part in ("4 errors, 1 warning", "julia-1.11", "calls through pointers", "rules/<cube>.toml:3", "gradient_cube"):
        assert part in text
    assert "Certificates (1)" in text
    assert "<script>alert(1)</script>" in text  # as text, that is
    assert "and 1 more" in text  # of the callers in the graph


CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")


def browse(page: Path, query: str = "") -> subprocess.CompletedProcess[str]:
    assert CHROMIUM, "no chromium: install the package `chromium`"
    home = f"--user-data-dir={page.parent / 'browser'}"
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", home, "--enable-logging=stderr", "--dump-dom"]
    return subprocess.run(
        [*command, f"{page.as_uri()}{query}"], capture_output=True, text=True, check=True, timeout=120
    )


def test_a_browser_shows_it_and_its_filter_works(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(render_html(WHOLE), encoding="utf-8")
    whole = browse(page)
    assert "CONSOLE" not in whole.stderr, whole.stderr
    assert whole.stdout.count('class="finding') == 5
    assert " hidden=" not in whole.stdout
    assert whole.stdout.count('<svg class="graph"') >= 1
    filtered = browse(page, "?find=geo%20far")
    assert filtered.stdout.count(' hidden=""') == 4
    assert "1 shown" in filtered.stdout
