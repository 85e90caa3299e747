"""Compile the harness of a rule, run it in batches of seeds, and read what it measured."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from enzyme_build import _run
from enzyme_build.gradcheck.facts import Calls, Course, Crash, Forward, Inactive, Measured, Reverse, Seed, Slope
from enzyme_build.gradcheck.harness import render_harness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from enzyme_build.gradcheck.facts import Slot
    from enzyme_build.toolchain import Toolchain

__all__ = ["build_program", "run_program"]

_BATCH_SECONDS = 1.0  # a batch of seeds takes about so long, so that progress can be shown
_FLAGS = ("-O1", "-w", "-fno-builtin-malloc", "-fno-builtin-calloc", "-fno-builtin-free", "-fno-builtin-realloc")


def build_program(adapter: str, inputs: Sequence[str], *, toolchain: Toolchain, folder: Path, name: str) -> Path:
    """Return the program made of `adapter`, the engine and `inputs`; raises `ToolError` with the compiler's text."""
    source, program = folder / f"{name}.c", folder / name
    source.write_text(render_harness(adapter), encoding="utf-8")
    # not position-independent: the prefix data of carriers holds addresses inside .text
    linker = ("-no-pie", "-Wl,--allow-shlib-undefined", *toolchain.linker_arguments)
    _run.capture([*toolchain.command("c"), *_FLAGS, str(source), "-o", str(program), *inputs, *linker, "-lm", "-ldl"])
    return program


def run_program(
    program: Path,
    slots: Sequence[Slot],
    *,
    seeds: int,
    seconds: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Measured:
    """Run `program` on the first `seeds` seeds and return what it measured; `seconds` is the limit of one batch.

    A crash, or a library function that ends the program, ends the measurement; what came before is kept.
    """
    measured = Measured(slots=tuple(slots))
    done, batch = 0, 1
    while done < seeds and measured.crash is None:
        batch = min(batch, seeds - done)
        started = time.monotonic()
        last = "1" if done + batch == seeds else "0"
        completed = _run.capture([program, str(done), str(batch), str(seconds), last], check=False)
        measured = _joined(measured, completed.stdout)
        if measured.crash is not None:
            measured = replace(measured, crash=replace(measured.crash, said=completed.stderr.strip()[-2000:]))
        elif completed.code:
            crash = Crash(stage="start", signal=-completed.code, said=completed.stderr.strip()[-2000:])
            measured = replace(measured, crash=crash)
        done += batch
        progress(done)
        took = max(time.monotonic() - started, 1e-3)
        batch = max(1, min(seeds, int(batch * _BATCH_SECONDS / took)))
    return measured


def _joined(measured: Measured, text: str) -> Measured:
    """Return `measured` with the facts in `text`, one JSON object a line; a line cut off by a crash is left out."""
    found: dict[int, dict[str, Any]] = {}
    calls = dict(measured.calls)
    overruns = list(measured.overruns)
    crash, limits = measured.crash, measured.range
    for line in text.splitlines():
        try:
            fact = json.loads(line)
        except ValueError:
            continue
        match fact["kind"]:
            case "range":
                limits = (fact["low"], fact["high"])
            case "overrun":
                overruns.append(f"{fact['slot']}[{fact['index']}]")
            case "calls":
                calls[fact["mode"]] = Calls(count=fact["count"], alive=fact["alive"], nanoseconds=fact["nanoseconds"])
            case "crash":
                crash = Crash(stage=fact["stage"], signal=fact["signal"], said="")
            case kind:
                found.setdefault(fact["seed"], {}).setdefault(kind, []).append(fact)
    seeds = tuple(_seed(number, facts) for number, facts in found.items() if "primal" in facts)
    return replace(
        measured,
        seeds=(*measured.seeds, *seeds),
        range=limits,
        calls=calls,
        overruns=tuple(dict.fromkeys(overruns)),
        crash=crash,
    )


def _seed(number: int, facts: dict[str, list[dict[str, Any]]]) -> Seed:
    primal = facts["primal"][0]
    drawn = facts.get("directions", [{}])[0]
    return Seed(
        seed=number,
        inputs=primal["inputs"],
        outputs=primal["outputs"],
        again=primal["again"],
        weights=drawn.get("weights", ()),
        directions=drawn.get("directions", ()),
        slopes=tuple(
            Slope(at=each["at"], steps=each["steps"], values=each["values"], noise=each["noise"])
            for each in facts.get("slope", ())
        ),
        course=next((_course(each) for each in facts.get("course", ())), None),
        reverse=_reverse(facts),
        forward=next(
            (
                Forward(tangents=each["tangents"], again=each["again"], outputs=each["outputs"])
                for each in facts.get("forward", ())
            ),
            None,
        ),
    )


def _course(fact: dict[str, Any]) -> Course:
    keys = ("steps", "values", "noise", "rises", "errors")
    return Course(**{key: fact[key] for key in keys})


def _reverse(facts: dict[str, list[dict[str, Any]]]) -> Reverse | None:
    if "reverse" not in facts:
        return None
    fact = facts["reverse"][0]
    return Reverse(
        weights=fact["weights"],
        adjoints=fact["adjoints"],
        again=fact["again"],
        outputs=fact["outputs"],
        memory=fact["memory"],
        overwritten=facts["overwritten"][0]["adjoints"] if "overwritten" in facts else None,
        inactive=tuple(
            Inactive(
                slot=each["slot"],
                expected=each["expected"],
                adjoints=each["adjoints"],
                outputs=each["outputs"],
                memory=each["memory"],
            )
            for each in facts.get("inactive", ())
        ),
    )
