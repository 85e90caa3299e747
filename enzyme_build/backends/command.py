"""The command `build_enzyme`, a sub-command of `build`: plain shared libraries inside the packages of a wheel."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from setuptools import Command

from enzyme_build.backends.border import as_build_errors, without_traceback
from enzyme_build.backends.build import build_libraries, check_built, prepare
from enzyme_build.backends.plan import plan_libraries, source_files
from enzyme_build.backends.staging import place, remove_stale
from enzyme_build.config import config_advice
from enzyme_build.errors import ConfigError
from enzyme_build.manifest import manifest_path

if TYPE_CHECKING:
    from enzyme_build.backends.build import BuildSetting, BuiltLibrary
    from enzyme_build.backends.plan import LibraryPlan
    from enzyme_build.config import Config

__all__ = ["BuildEnzyme", "package_folder", "work_folder"]


class BuildEnzyme(Command):
    """Build the `library` tables; follows the protocol of `setuptools.command.build.SubCommand`.

    `config` and `root` are set on the subclass made for a distribution; `built` holds, after `run`, the finished
    libraries by table name.
    """

    COMMAND: ClassVar[str] = "build_enzyme"
    config: ClassVar[Config]
    root: ClassVar[Path]

    description = "build shared libraries with bitcode that Enzyme can use"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = [
        ("build-lib=", "b", "directory for the libraries, laid out as the wheel is"),
        ("inplace", "i", "put the libraries into the source folders of their packages"),
    ]
    boolean_options: ClassVar[list[str]] = ["inplace"]
    editable_mode: bool = False

    def initialize_options(self) -> None:
        """Set every option to its unset value."""
        self.build_lib: str | None = None
        self.inplace = False
        self.editable_mode = False
        self.built: dict[str, BuiltLibrary] = {}
        self._setting: BuildSetting | None = None

    def finalize_options(self) -> None:
        """Take over the build folder from `build`."""
        self.set_undefined_options("build", ("build_lib", "build_lib"))

    def run(self) -> None:
        """Build, check, then put every library and its manifest where they belong."""
        with without_traceback(editable=self.editable_mode), as_build_errors():
            plans = self._plans()
            if not plans:
                return
            self._refuse_packages_without_their_python_files(plans)
            for advice in config_advice(self.config):
                self.tell(advice)
            setting = self.setting()
            self.built = build_libraries(plans, setting)
            check_built(tuple(self.built.values()), setting, all_built=not self.config.extension)
            placed = []
            for library in self.built.values():
                target = self._target(library.path.parts)
                placed += [target, manifest_path(target)]
                changed = place(library.library, target) | place(library.manifest, manifest_path(target))
                if changed:
                    self.tell(f"{library.path}: now in {target.parent}")
            remove_stale(setting.work / "placed" / ("source.json" if self._in_source() else "build.json"), placed)

    def setting(self) -> BuildSetting:
        """Return toolchain, consumers and folders of this build, found once."""
        if self._setting is None:
            work = work_folder(self)
            self._setting = prepare(self.config, root=self.root, work=self.root / work, announce=self.tell)
        return self._setting

    def tell(self, line: str) -> None:
        """Print a line of progress; pip shows it with `-v`."""
        self.announce(f"enzyme-build: {line}", logging.INFO)

    def get_source_files(self) -> list[str]:
        """Return the files an sdist needs: sources, headers and rules, relative to the project."""
        modules = {extension.module for extension in self.config.extension}
        sources = [
            str(source)
            for extension in self.distribution.ext_modules or []
            if extension.name in modules
            for source in extension.sources
        ]
        return list(source_files(self.config, self.root, more_sources=sources))

    def get_outputs(self) -> list[str]:
        """Return the files of this command as they would lie in the build folder."""
        return [str(Path(self._build_lib(), *parts)) for parts in self._wheel_paths()]

    def get_output_mapping(self) -> dict[str, str]:
        """Return, in editable mode, output to file in the source folder; else nothing."""
        if not self._in_source():
            return {}
        return {str(Path(self._build_lib(), *parts)): str(self._target(parts)) for parts in self._wheel_paths()}

    def _plans(self) -> tuple[LibraryPlan, ...]:
        return plan_libraries(self.config)

    def _wheel_paths(self) -> list[tuple[str, ...]]:
        """Return the path of every library and manifest in the wheel, in parts."""
        libraries = [plan.path for plan in self._plans()]
        return [
            (*path.parent.parts, name) for path in libraries for name in (path.name, manifest_path(Path(path)).name)
        ]

    def _build_lib(self) -> str:
        if self.build_lib is None:
            msg = "finalize_options was not called"
            raise AssertionError(msg)
        return self.build_lib

    def _in_source(self) -> bool:
        return self.editable_mode or self.inplace

    def _target(self, parts: tuple[str, ...]) -> Path:
        """Return where the file goes that is `parts` in the wheel."""
        if not self._in_source():
            return Path(self._build_lib(), *parts)
        return package_folder(self, ".".join(parts[:-1])) / parts[-1]

    def _refuse_packages_without_their_python_files(self, plans: tuple[LibraryPlan, ...]) -> None:
        """Raise `ConfigError` for a library whose package has Python files that will not be in the wheel.

        A folder `src/` with C files makes setuptools look for packages there; the wheel would hold the library alone.
        """
        known = set(self.distribution.packages or ())
        problems = []
        for plan in plans:
            package = plan.table.package
            folder = package_folder(self, package)
            if not (folder / "__init__.py").is_file():  # src-layout was assumed: get_package_dir looks below `src`
                folder = self.root.joinpath(*package.split("."))
            if package not in known and (folder / "__init__.py").is_file():
                found = ", ".join(sorted(known)) or "none"
                problems.append(
                    f"library {plan.table.name!r}: package {package!r} is not among the packages of this distribution"
                    f" (setuptools found: {found}), so its Python files would be missing in the wheel"
                )
        if problems:
            hint = f"name the packages in pyproject.toml: [tool.setuptools] packages = [{plans[0].table.package!r}]"
            raise ConfigError(problems, hint=hint)


def package_folder(command: object, package: str) -> Path:
    """Return the source folder of a package, as setuptools' own commands see it; `command` is any of them."""
    asking: Any = command
    return Path(asking.get_finalized_command("build_py").get_package_dir(package))


def work_folder(command: Command) -> Path:
    """Return the folder, relative to the project, for objects and stages: `build/enzyme.<platform>-<python>`.

    Not `build_temp`, which is a new temporary folder in each editable install.
    """
    build: Any = command.get_finalized_command("build")
    return Path(build.build_base, f"enzyme.{build.plat_name}-{sys.implementation.cache_tag}")
