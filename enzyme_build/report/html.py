"""The report as one self-contained HTML page: libraries, findings with their call graphs, rules, certificates."""

from __future__ import annotations

from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from enzyme_build import __version__
from enzyme_build.model import Mode
from enzyme_build.report.graph import call_graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from enzyme_build.check.finding import Finding, LibrarySummary, Verdict
    from enzyme_build.manifest import CertificateRecord, RuleRecord

__all__ = ["render_html"]

_STATUSES = {
    "bitcode": "differentiated",
    "rule": "has a rule",
    "known": "known to Enzyme",
    "inactive": "inactive",
    "waived": "waived",
    "opaque": "opaque",
}
_SHOWN_ROOTS = 200


def render_html(verdict: Verdict) -> str:
    """Return the page; the same verdict gives the same text."""
    read = resources.files("enzyme_build.resources").joinpath
    style, script = (read(name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    errors = len(verdict.errors)
    warnings = len(verdict.findings) - errors
    of_project = [finding for finding in verdict.findings if finding.library is None]
    names = dict.fromkeys(
        [library.name for library in verdict.summary.libraries]
        + [finding.library for finding in verdict.findings if finding.library is not None]
    )
    summaries = {library.name: library for library in verdict.summary.libraries}
    sections = [
        _library(name, summaries.get(name), [each for each in verdict.findings if each.library == name])
        for name in names
    ]
    if of_project:
        sections.insert(0, f'<section id="rules"><h2>Rules and waivers</h2>{_findings(of_project)}</section>')
    if verdict.summary.native:
        listed = "".join(f"<li><code>{escape(name)}</code></li>" for name in verdict.summary.native)
        sections.append(f"<section><h2>Native only</h2><p>Libraries without bitcode:</p><ul>{listed}</ul></section>")
    accepted = verdict.summary.accepted
    told = f", {accepted} accepted by the baseline" if accepted else ""
    state = "bad" if errors else "warn" if warnings else "good"
    verdict_text = f"{_number(errors, 'error')}, {_number(warnings, 'warning')}{told}"
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>enzyme-build check: {escape(verdict_text)}</title><style>\n{style}</style></head>\n<body>\n"
        '<svg width="0" height="0" aria-hidden="true" style="position:absolute"><defs><marker id="arrow" '
        'viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker></defs></svg>\n'
        f'<header><h1>enzyme-build check</h1><p class="verdict {state}">{escape(verdict_text)}</p>'
        '<p><label>Find <input id="filter" type="search" placeholder="symbol, id or file"></label> '
        f'<span id="count"></span></p>{_contents(names, verdict)}</header>\n<main>\n'
        + "\n".join(sections)
        + f"\n</main>\n<footer>made by enzyme-build {escape(__version__)}</footer>\n<script>\n{script}</script>\n"
        "</body></html>\n"
    )


def _contents(names: Iterable[str], verdict: Verdict) -> str:
    rows = []
    for name in names:
        own = [finding for finding in verdict.findings if finding.library == name]
        errors = sum(finding.level == "error" for finding in own)
        said = f"{_number(errors, 'error')}, {_number(len(own) - errors, 'warning')}" if own else "no findings"
        rows.append(f'<li><a href="#{_anchor(name)}">{escape(name)}</a> <span>{said}</span></li>')
    return f"<nav><ul>{''.join(rows)}</ul></nav>" if rows else "<p>Nothing with bitcode was found.</p>"


def _library(name: str, summary: LibrarySummary | None, findings: Sequence[Finding]) -> str:
    parts = [f'<section class="library" id="{_anchor(name)}"><h2><code>{escape(name)}</code></h2>']
    if summary is not None:
        parts.append(_facts(summary))
    parts.append(_findings(findings) if findings else '<p class="good">No findings.</p>')
    if summary is not None:
        parts += [_roots(summary), _rules(summary.rules), _certificates(summary.certificates)]
    return "\n".join([*parts, "</section>"])


def _facts(summary: LibrarySummary) -> str:
    total = sum(summary.statuses.values()) or 1
    bar = "".join(
        f'<span class="{status}" style="flex-grow:{number}" title="{number} {words}"></span>'
        for status, words in _STATUSES.items()
        if (number := summary.statuses.get(status, 0))
    )
    legend = ", ".join(
        f'<span class="key {status}"></span>{number} {words}'
        for status, words in _STATUSES.items()
        if (number := summary.statuses.get(status, 0))
    )
    pairs = [("bitcode", summary.bitcode or "none"), ("consumers", ", ".join(summary.consumers) or "none named")]
    pairs.append(("symbols reached", str(total if summary.statuses else 0)))
    pairs += [(kind, str(number)) for kind, number in summary.classified.items()]
    rows = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in pairs)
    notes = "".join(f"<li>{escape(note)}</li>" for note in summary.notes)
    noted = f'<ul class="notes">{notes}</ul>' if notes else ""
    return f'<div class="bar">{bar}</div><p class="legend">{legend}</p><dl>{rows}</dl>{noted}'


def _findings(findings: Sequence[Finding]) -> str:
    return "\n".join(_finding(finding) for finding in findings)


def _finding(finding: Finding) -> str:
    name = finding.demangled or finding.symbol or ""
    about = f": <code>{escape(name)}</code>" if name else ""
    parts = [
        f'<details open class="finding {finding.level}">',
        f"<summary><b>{finding.id}</b> {escape(finding.title)}{about}</summary>",
        f"<p>{escape(finding.message)}</p>",
        call_graph(finding),
    ]
    rows = [("in", finding.place), ("symbol", finding.symbol if finding.demangled else None)]
    rows += [("held by", f"{finding.held_by} (machine code)" if finding.held_by else None)]
    sites = [f"{caller.caller} ({caller.location})" for caller in finding.callers if caller.location is not None]
    rows += [("used by", ", ".join(sites[:10]) or None), ("why", finding.cause), ("what to do", finding.fix)]
    listed = "".join(f"<dt>{key}</dt><dd>{escape(value)}</dd>" for key, value in rows if value is not None)
    parts.append(f"<dl>{listed}</dl>")
    if finding.stanza is not None:
        parts.append(f"<pre><code>{escape(finding.stanza)}</code></pre>")
    return "".join([*parts, "</details>"])


def _roots(summary: LibrarySummary) -> str:
    if not summary.differentiable:
        return ""
    rows = "".join(
        f"<tr><td><code>{escape(root)}</code></td>"
        + "".join(f"<td>{'yes' if mode in modes else '<b>no</b>'}</td>" for mode in Mode)
        + "</tr>"
        for root, modes in list(summary.differentiable.items())[:_SHOWN_ROOTS]
    )
    more = len(summary.differentiable) - _SHOWN_ROOTS
    left = f"<p>and {more} more</p>" if more > 0 else ""
    head = "".join(f"<th>{mode.value}</th>" for mode in Mode)
    return _table(f"Functions that are differentiated from ({summary.roots})", f"<th>function</th>{head}", rows) + left


def _rules(rules: Sequence[RuleRecord]) -> str:
    if not rules:
        return ""
    rows = "".join(
        f"<tr><td>{escape(rule.kind)}</td><td><code>{escape(rule.symbol)}</code></td>"
        f"<td>{escape(rule.file)}{f':{rule.line}' if rule.line else ''}</td>"
        f"<td>{', '.join(mode.value for mode in rule.modes)}</td>"
        f"<td>{', '.join(f'{escape(role)} <code>{escape(name)}</code>' for role, name in rule.functions.items())}</td>"
        "</tr>"
        for rule in rules
    )
    head = "".join(f"<th>{title}</th>" for title in ("kind", "for", "written in", "modes", "functions"))
    return _table(f"Rules ({len(rules)})", head, rows)


def _certificates(certificates: Sequence[CertificateRecord]) -> str:
    if not certificates:
        return ""
    rows = "".join(
        f"<tr><td><code>{escape(each.symbol)}</code></td><td>{', '.join(mode.value for mode in each.modes)}</td>"
        f"<td>{'passed' if each.passed else '<b>failed</b>'}</td><td>{each.level}</td><td>{each.seeds}</td>"
        f"<td>{escape('; '.join(each.complaints))}</td></tr>"
        for each in certificates
    )
    head = "".join(f"<th>{title}</th>" for title in ("rule for", "modes", "result", "level", "points", "complaints"))
    return _table(f"Certificates ({len(certificates)})", head, rows)


def _table(title: str, head: str, rows: str) -> str:
    return (
        f"<details><summary>{escape(title)}</summary><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></details>"
    )


def _anchor(name: str) -> str:
    return "library-" + "".join(each if each.isalnum() else f"-{ord(each):x}-" for each in name)


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
