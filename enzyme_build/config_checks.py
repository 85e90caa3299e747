"""What one table of `[tool.enzyme-build]` alone cannot tell: links between libraries, files that are not there.

Every function yields finished lines, `file: dotted.key: what is wrong; what to write instead`.
"""

from __future__ import annotations

import datetime
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from enzyme_build._toml import did_you_mean
from enzyme_build.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from enzyme_build.config import Config, ExtensionTable, LibraryTable, WaiverTable

__all__ = ["config_problems", "is_bare_name"]

_SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C")
_FORTRAN_SUFFIXES = (".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08")
_LIBRARY_SUFFIX = re.compile(r"\.(so|dylib|dll)(\.\d+)*$")
_STEM = re.compile(r"\w[\w.+-]*")  # becomes lib<stem>.so and -l<stem>: no separator, no space, no leading dash
_MACRO = re.compile(r"[A-Za-z_]\w*(\([^)]*\))?(=.*)?", re.DOTALL)


def is_bare_name(text: str) -> bool:
    """Return whether `text` can be the `x` of `libx.so`."""
    return _STEM.fullmatch(text) is not None and not _LIBRARY_SUFFIX.search(text)


def config_problems(config: Config, project: Path, *, top: str) -> list[str]:
    """Return every problem, in the order of the document; `top` is file and dotted key of the table itself."""
    problems = [*_consumer_problems(config.consumers, f"{top}.consumers")]
    problems += _relative_problems(config.rules, f"{top}.rules")
    if config.llvm is not None and not config.llvm.strip():
        problems.append(f"{top}.llvm: is empty; leave the key out to look for an LLVM in the usual places")
    for index, library in enumerate(config.library):
        where = f"{top}.library[{index}]"
        problems += _name_problems(config.library, index, where)
        problems += _source_problems(library, project, where)
        problems += _macro_problems(library.define, f"{where}.define")
        problems += _link_problems(library, [other.name for other in config.library], where)
        problems += _relative_problems(library.rules, f"{where}.rules")
        problems += _blank_problems(library.roots, f"{where}.roots")
    problems += _cycle_problems(config.library, top)
    for index, extension in enumerate(config.extension):
        where = f"{top}.extension[{index}]"
        problems += _module_problems(config.extension, index, where)
        problems += _relative_problems(extension.rules, f"{where}.rules")
        problems += _blank_problems(extension.roots, f"{where}.roots")
    problems += _waiver_problems(config.check.waivers, f"{top}.check.waivers")
    return problems


def _consumer_problems(consumers: Sequence[str], where: str) -> Iterator[str]:
    from enzyme_build.toolchain import consumer  # reads the profiles, which most callers never need  # noqa: PLC0415

    for index, name in enumerate(consumers):
        try:
            consumer(name)
        except ConfigError as error:
            yield from (f"{where}[{index}]: {problem}" for problem in error.problems)
        if name in consumers[:index]:
            yield f"{where}[{index}]: {name!r} is listed twice"


def _name_problems(libraries: Sequence[LibraryTable], index: int, where: str) -> Iterator[str]:
    library = libraries[index]
    if not is_bare_name(library.name):
        stem = _LIBRARY_SUFFIX.sub("", library.name.rpartition("/")[2]).removeprefix("lib")
        advice = f"; write {stem!r} for 'lib{stem}.so'" if is_bare_name(stem) else ""
        yield f"{where}.name: {library.name!r} is not the bare name of a library{advice}"
    first = next(at for at, other in enumerate(libraries) if other.name == library.name)
    if first < index:
        yield f"{where}.name: {library.name!r} is already the name of library[{first}]"
    if not _is_dotted_name(library.package):
        yield f"{where}.package: {library.package!r} is not a dotted package name, such as 'package.subpackage'"


def _module_problems(extensions: Sequence[ExtensionTable], index: int, where: str) -> Iterator[str]:
    module = extensions[index].module
    if not _is_dotted_name(module):
        yield f"{where}.module: {module!r} is not a dotted module name, such as 'package._ext'"
    first = next(at for at, other in enumerate(extensions) if other.module == module)
    if first < index:
        yield f"{where}.module: {module!r} is already the module of extension[{first}]"


def _macro_problems(macros: Sequence[str], where: str) -> Iterator[str]:
    for index, macro in enumerate(macros):
        if not _MACRO.fullmatch(macro):
            advice = "; leave out '-D'" if macro.startswith("-D") else ""
            yield f"{where}[{index}]: {macro!r} is not 'NAME' or 'NAME=value'{advice}"


def _source_problems(library: LibraryTable, project: Path, where: str) -> Iterator[str]:
    if not library.sources:
        yield f"{where}.sources: is empty; list at least one C or C++ file"
    for index, source in enumerate(library.sources):
        here = f"{where}.sources[{index}]"
        outside = _why_outside(source)
        suffix = PurePosixPath(source).suffix
        if outside:
            yield f"{here}: {source!r} {outside}"
        elif suffix.lower() in _FORTRAN_SUFFIXES:
            yield f"{here}: {source!r} is Fortran, which this version does not compile"
        elif suffix not in _SOURCE_SUFFIXES:
            yield f"{here}: {source!r} is not a C or C++ source ({', '.join(_SOURCE_SUFFIXES)})"
        elif not (project / source).is_file():
            yield f"{here}: no such file: {source!r}{did_you_mean(source, _files_near(project, source))}"
        if source in library.sources[:index]:
            yield f"{here}: {source!r} is listed twice"
    for index, folder in enumerate(library.include_dirs):
        if not (project / folder).is_dir():
            folders = (path.relative_to(project).as_posix() for path in project.glob("*/") if path.is_dir())
            yield f"{where}.include-dirs[{index}]: no such folder: {folder!r}{did_you_mean(folder, folders)}"


def _files_near(project: Path, source: str) -> Iterable[str]:
    """Return the sources in the folder that `source` names, or else in the project's own folder and one below."""
    folder = (project / source).parent
    found = folder.iterdir() if folder.is_dir() else (path for at in ("*", "*/*") for path in project.glob(at))
    return [path.relative_to(project).as_posix() for path in sorted(found) if path.suffix in _SOURCE_SUFFIXES]


def _link_problems(library: LibraryTable, names: Sequence[str], where: str) -> Iterator[str]:
    for index, name in enumerate(library.links):
        if name == library.name:
            yield f"{where}.links[{index}]: {name!r} links itself"
        elif name not in names:
            near = did_you_mean(name, (other for other in names if other != library.name))
            other = near or "; libraries from outside this project belong into `libraries`"
            yield f"{where}.links[{index}]: no library table is named {name!r}{other}"
        elif name in library.links[:index]:
            yield f"{where}.links[{index}]: {name!r} is listed twice"


def _cycle_problems(libraries: Sequence[LibraryTable], top: str) -> Iterator[str]:
    """Yield one problem for each ring of libraries that link one another, at its first table."""
    links = {library.name: [name for name in library.links if name != library.name] for library in libraries}
    place = {library.name: index for index, library in enumerate(libraries)}
    settled: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> Iterator[str]:
        if name in path:
            ring = path[path.index(name) :]
            settled.update(ring)
            shown = " -> ".join((*ring, name))
            yield f"{top}.library[{place[name]}].links: libraries link each other in a ring: {shown}"
        elif name not in settled:
            for other in links.get(name, ()):
                yield from walk(other, (*path, name))
            settled.add(name)

    for library in libraries:
        yield from walk(library.name, ())


def _waiver_problems(waivers: Sequence[WaiverTable], where: str) -> Iterator[str]:
    symbols = [waiver.symbol for waiver in waivers]
    for index, waiver in enumerate(waivers):
        if not waiver.symbol.strip():
            yield f"{where}[{index}].symbol: is empty; name the symbol as the report does"
        elif waiver.symbol in symbols[:index]:
            first = symbols.index(waiver.symbol)
            yield f"{where}[{index}].symbol: {waiver.symbol!r} is already waived by waivers[{first}]"
        if not waiver.reason.strip():
            yield f"{where}[{index}].reason: is empty; say why {waiver.symbol!r} is no harm"
        if waiver.expires is not None and not _is_date(waiver.expires):
            yield f"{where}[{index}].expires: {waiver.expires!r} is no day; write it as '2027-06-30'"


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None


def _relative_problems(patterns: Sequence[str], where: str) -> Iterator[str]:
    for index, pattern in enumerate(patterns):
        outside = _why_outside(pattern)
        if outside:
            yield f"{where}[{index}]: {pattern!r} {outside}"


def _blank_problems(words: Sequence[str], where: str) -> Iterator[str]:
    for index, word in enumerate(words):
        if not word.strip():
            yield f"{where}[{index}]: is empty"


def _why_outside(path: str) -> str | None:
    """Return why `path` is not one below the project folder: an sdist would not carry it."""
    if not path.strip():
        return "is empty"
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "is absolute; write it relative to the project folder"
    if "\\" in path:
        return "has a backslash; write '/' between folders"
    if ".." in PurePosixPath(path).parts:
        return "leaves the project folder; an sdist would not contain it"
    return None


def _is_dotted_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))
