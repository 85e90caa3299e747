"""Verdicts to render."""

from __future__ import annotations

import dataclasses

from enzyme_build.check.finding import LibrarySummary, Summary, Verdict, make_finding
from enzyme_build.model import CallSite, SourceLocation

OPAQUE = dataclasses.replace(
    make_finding("EB001", "my_square has neither bitcode nor a rule", library="libkernel.so", symbol="my_square"),
    chain=("kernel", "helper", "my_square"),
    callers=tuple(
        CallSite(caller=f"caller{number}", location=SourceLocation(file="src/kernel.c", line=number))
        for number in range(1, 8)
    ),
    held_by="libmy_square.so",
    stanza='[[inactive]]\nfunction = "my_square"',
)
OTHER = make_finding("EB001", "g has neither bitcode nor a rule", library="libkernel.so", symbol="g")
MANGLED = dataclasses.replace(
    make_finding("EB013", "geo::far(double) fails", library="libgeo.so", symbol="_ZN3geo3farEd"),
    demangled="geo::far(double)",
)
RULE = make_finding("EB008", "f: no function is named 'f'", place="rules/r.toml:3: derivative[0]", symbol="f")
SUMMARY = Summary(
    libraries=(
        LibrarySummary(
            name="libkernel.so", bitcode="LLVM 15.0.6, typed pointers", roots=1, statuses={"bitcode": 2, "opaque": 2},
            notes=("calls through pointers were not judged, in kernel",),
        ),
        LibrarySummary(name="libgeo.so", bitcode="LLVM 15.0.6, typed pointers", roots=1, statuses={"known": 1}),
    ),
    native=("libplain.so",),
)  # fmt: skip
FOUND = Verdict(findings=(RULE, MANGLED, OPAQUE, OTHER), summary=SUMMARY)
CLEAN = Verdict(findings=(), summary=Summary(libraries=SUMMARY.libraries[1:]))
EMPTY = Verdict(findings=(), summary=Summary())
