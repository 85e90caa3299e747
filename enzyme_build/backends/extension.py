"""`build_ext` for the extension modules that `[[tool.enzyme-build.extension]]` names.

setuptools (or whoever subclasses its `build_ext`) keeps the lead: sources are found, transpiled and linked by it.
Only the compiler's `compile` is answered by clang with embedded bitcode while a named module is built, and the link
goes to the work folder, since what is linked must be finalized and checked before it is put into place.
"""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from enzyme_build._toml import did_you_mean
from enzyme_build.backends.border import as_build_errors, without_traceback
from enzyme_build.backends.build import check_built, finish
from enzyme_build.backends.command import BuildEnzyme, package_folder
from enzyme_build.backends.extension_compile import CompileJob, compile_extension, named_arguments
from enzyme_build.backends.plan import relative_rpath
from enzyme_build.backends.staging import digest, place
from enzyme_build.errors import ConfigError
from enzyme_build.manifest import manifest_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import setuptools.command.build_ext
    from setuptools import Extension

    from enzyme_build.backends.build import BuildSetting, BuiltLibrary
    from enzyme_build.config import Config, ExtensionTable

    _Base = setuptools.command.build_ext.build_ext
else:
    _Base = object  # the class that the distribution would use otherwise; see `distribution.wrap_command`

__all__ = ["BuildExtMixin"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Current:
    """The extension module that a thread is building: its path in the wheel and where the linker shall put it."""

    name: str
    path: PurePosixPath
    linked: Path


class BuildExtMixin(_Base):
    """Compile with bitcode, then finalize and check, the modules that have a table; leave the others alone."""

    config: ClassVar[Config]
    root: ClassVar[Path]

    def initialize_options(self) -> None:
        """Set every option to its unset value."""
        super().initialize_options()
        self._finished: list[BuiltLibrary] = []
        self._here = threading.local()  # `build_ext --parallel` builds several extensions at once

    def run(self) -> None:
        """Build all extension modules; raises for a table that names none of them."""
        with without_traceback(editable=self.editable_mode):
            with as_build_errors():
                self._refuse_unknown_modules()
            super().run()

    def build_extensions(self) -> None:
        """Build all extension modules, check those with a table, then put them and their manifests into place.

        While that goes on, the compiler's `compile` is answered by `_compile`.
        """
        self._finished = []
        compiler: Any = self.compiler
        compiler.compile = functools.partial(self._compile, compiler.compile)
        try:
            super().build_extensions()
        finally:
            del compiler.compile
        if not self._finished:
            return
        with as_build_errors():
            command = self._build_enzyme()
            check_built([*command.built.values(), *self._finished], command.setting())
            for built in self._finished:
                target = Path(self.build_lib, built.path)
                place(built.library, target)
                place(built.manifest, manifest_path(target))

    def build_extension(self, ext: Extension) -> None:
        """Build one extension module, and finish it when it has a table."""
        table = self._tables().get(self.get_ext_fullname(ext.name))
        if table is None:
            super().build_extension(ext)
            return
        with as_build_errors():
            command = self._build_enzyme()
            setting = command.setting()
            path = self._wheel_path(ext.name)
            current = _Current(name=table.module, path=path, linked=setting.link_path(path))
            links = self._links(ext, current, setting, command.built)
            self._forget_other_links(ext, current, setting)
        self._here.current = current
        depends = ext.depends
        # a file that never exists: setuptools then does not compare times, it calls `compile`, which looks closer
        ext.depends = [*depends, str(current.linked.with_name("always"))]
        try:
            super().build_extension(ext)
        finally:
            self._here.current = None
            ext.depends = depends
        with as_build_errors():
            built = finish(
                current.linked,
                path,
                setting=setting,
                rules=table.rules,
                roots=table.roots,
                links=links,
                python_extension=True,
                include_directories=ext.include_dirs,
            )
        self._finished.append(built)

    def get_ext_fullpath(self, ext_name: str) -> str:
        """Return where the linker puts the module; while a module with a table is built, the work folder."""
        current: _Current | None = getattr(self._here, "current", None)
        if current is not None and self.get_ext_fullname(ext_name) == current.name:
            return str(current.linked)
        return super().get_ext_fullpath(ext_name)

    def copy_extensions_to_source(self) -> None:
        """Copy modules built in place, and their manifests."""
        super().copy_extensions_to_source()
        for built, source in self._manifests_in_place():
            place(Path(built), Path(source))

    def get_outputs(self) -> list[str]:
        """Return the modules and their manifests as they lie in the build folder."""
        outputs: list[str] = super().get_outputs()
        return sorted(
            {*outputs, *(str(manifest_path(Path(self.get_ext_fullpath(name)))) for name in self._built_names())}
        )

    def get_output_mapping(self) -> dict[str, str]:
        """Return, in place, output to file in the source folder."""
        return {**super().get_output_mapping(), **dict(self._manifests_in_place())}

    def _tables(self) -> dict[str, ExtensionTable]:
        return {table.module: table for table in self.config.extension}

    def _built_names(self) -> list[str]:
        """Return the extension modules that have a table."""
        return [ext.name for ext in self.extensions or () if self.get_ext_fullname(ext.name) in self._tables()]

    def _manifests_in_place(self) -> Iterator[tuple[str, str]]:
        if not self.inplace and not self.editable_mode:
            return
        for name in self._built_names():
            package = self.get_ext_fullname(name).rpartition(".")[0]
            built = manifest_path(Path(self.build_lib, self._wheel_path(name)))
            yield str(built), str(package_folder(self, package) / built.name)

    def _wheel_path(self, name: str) -> PurePosixPath:
        """Return the path of an extension module in the wheel."""
        command: Any = self  # setuptools' own method has no types
        return PurePosixPath(command.get_ext_filename(self.get_ext_fullname(name)))

    def _refuse_unknown_modules(self) -> None:
        names = [self.get_ext_fullname(ext.name) for ext in self.extensions or ()]
        problems = []
        for index, table in enumerate(self.config.extension):
            if table.module not in names:
                known = did_you_mean(table.module, names) or f"; there are: {', '.join(names) or 'none'}"
                problems.append(
                    f"pyproject.toml: tool.enzyme-build.extension[{index}].module: setuptools builds no extension"
                    f" module {table.module!r}{known}"
                )
        if problems:
            hint = "a table is for a module of `ext_modules` in setup.py or of [[tool.setuptools.ext-modules]]"
            raise ConfigError(problems, hint=hint)

    def _build_enzyme(self) -> BuildEnzyme:
        """Return the command that builds the libraries, after it has run."""
        if self._links_our_libraries():
            self.run_command("build_enzyme")
        command = self.get_finalized_command("build_enzyme")
        if not isinstance(command, BuildEnzyme):
            msg = f"the command build_enzyme was replaced by {type(command).__name__}"
            raise TypeError(msg)
        return command

    def _links_our_libraries(self) -> bool:
        names = {library.name for library in self.config.library}
        return any(names.intersection(ext.libraries) for ext in self.extensions or ())

    def _links(
        self, ext: Extension, current: _Current, setting: BuildSetting, built: dict[str, BuiltLibrary]
    ) -> tuple[BuiltLibrary, ...]:
        """Return the libraries of our tables that `ext.libraries` names, and tell the linker where they are."""
        links = tuple(built[name] for name in ext.libraries if name in built)
        for link in links:
            _append_once(ext.library_dirs, str(setting.link_path(link.path).parent))
            _append_once(ext.runtime_library_dirs, relative_rpath(current.path, link.path))
        return links

    def _forget_other_links(self, ext: Extension, current: _Current, setting: BuildSetting) -> None:
        """Remove the linked module when it was linked in another way; setuptools compares only times of objects."""
        compiler: Any = self.compiler
        words = (ext.libraries, ext.library_dirs, ext.runtime_library_dirs, ext.extra_objects, ext.extra_link_args)
        recipe = digest([words, ext.export_symbols, ext.language, compiler.linker_so, self.libraries, self.rpath])
        stamp = setting.work / "stamps" / f"{current.path}.link"
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != recipe:
            current.linked.unlink(missing_ok=True)
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(recipe, encoding="utf-8")
        current.linked.parent.mkdir(parents=True, exist_ok=True)

    def _compile(
        self,
        ordinary: Callable[..., list[str]],
        sources: Sequence[str],
        *positional: Any,  # the signature is distutils' own
        **keywords: Any,
    ) -> list[str]:
        """Stand in for the compiler object's `compile` while a module with a table is built."""
        current: _Current | None = getattr(self._here, "current", None)
        if current is None:
            return ordinary(sources, *positional, **keywords)
        with as_build_errors():
            job = CompileJob(
                module=current.name,
                folder=current.path,
                compiler=self.compiler,
                arguments=named_arguments(positional, keywords),
            )
            return compile_extension(job, sources, ordinary, self._build_enzyme().setting())


def _append_once(words: list[str], word: str) -> None:
    if word not in words:
        words.append(word)
