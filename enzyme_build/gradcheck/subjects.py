"""Find the libraries and rules behind the path that a user names: a library, a manifest, or a wheel."""

from __future__ import annotations

import fnmatch
import zipfile
from typing import TYPE_CHECKING

from enzyme_build.errors import BinaryError, UsageError
from enzyme_build.gradcheck.facts import RuleUnderTest, Subject
from enzyme_build.manifest import SUFFIX, manifest_path, read_manifest
from enzyme_build.model import Origin
from enzyme_build.rules.model import DerivativeRule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from enzyme_build.manifest import Manifest, RuleRecord

__all__ = ["find_subjects", "rules_under_test"]

_UNKNOWN = "EB008"  # the rule is for a function of another library


def find_subjects(path: Path, *, folder: Path) -> list[tuple[str, Path, Manifest]]:
    """Return (shown name, library, manifest) of every library with a manifest behind `path`.

    A wheel is unpacked into `folder`. Raises `UsageError` for a path that does not exist, `BinaryError` for a library
    without manifest or a file that is no wheel.
    """
    if not path.exists():
        msg = f"{path}: no such file"
        raise UsageError(msg, hint="name a library, its manifest or a wheel")
    if path.suffix == ".whl":
        try:
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
        except zipfile.BadZipFile as error:
            msg = f"{path}: not a sound wheel: {error}"
            raise BinaryError(msg, hint="build the wheel anew") from error
        found = [file.with_name(file.name.removesuffix(SUFFIX)) for file in sorted(folder.rglob(f"*{SUFFIX}"))]
        return [
            (f"{path}: {library.relative_to(folder).as_posix()}", library, read_manifest(manifest_path(library)))
            for library in found
            if library.exists()
        ]
    library = path.with_name(path.name.removesuffix(SUFFIX)) if path.name.endswith(SUFFIX) else path
    beside = manifest_path(library)
    if not library.is_file() or not beside.exists():
        missing = library if not library.is_file() else beside
        msg = f"{path}: there is no {missing.name} beside it"
        raise BinaryError(msg, hint="build the library with enzyme-build, or run `enzyme-build finalize` on it")
    return [(str(library), library, read_manifest(beside))]


def rules_under_test(
    shown: str, library: Path, manifest: Manifest, *, rules: RuleSet | None, symbols: Sequence[str]
) -> Subject:
    """Return the derivative rules of a library.

    `rules`, read from files, say how to test and override what the manifest remembers; `symbols` (names or patterns)
    choose some of them.
    """
    fresh = {} if rules is None else {_key(rule): rule for rule in rules.rules if isinstance(rule, DerivativeRule)}
    found = []
    for record in manifest.rules:
        if record.kind != "derivative" or any(problem.finding == _UNKNOWN for problem in record.problems):
            continue
        if symbols and not any(fnmatch.fnmatchcase(record.symbol, symbol) for symbol in symbols):
            continue
        written = record.written
        newer = None if written is None else fresh.get(_key(written))
        found.append(_rule(record, newer or written))
    return Subject(shown=shown, path=library, rules=tuple(found))


def _key(rule: DerivativeRule) -> str:
    return rule.function


def _rule(record: RuleRecord, written: DerivativeRule | None) -> RuleUnderTest:
    return RuleUnderTest(
        symbol=record.symbol,
        place=str(Origin(file=record.file, key=record.key, line=record.line)),
        rule=written,
        modes=record.modes,
        problems=tuple(f"{problem.finding} {problem.text}; {problem.fix}" for problem in record.problems),
        digest=record.digest,
    )
