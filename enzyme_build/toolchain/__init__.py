"""Find clang, its libLLVM and objcopy for those who will read the bitcode, and say which flags clang accepts."""

from enzyme_build.toolchain.consumers import choose_pointer_mode, consumer, default_consumers, load_consumers
from enzyme_build.toolchain.flags import DroppedFlag, FlagChoice, drop_harmful_flags, keep_accepted_flags
from enzyme_build.toolchain.model import EnzymePlugin, Language, Toolchain
from enzyme_build.toolchain.plugin import find_enzyme_plugin
from enzyme_build.toolchain.select import Candidate, find_toolchain, survey

__all__ = [
    "Candidate",
    "DroppedFlag",
    "EnzymePlugin",
    "FlagChoice",
    "Language",
    "Toolchain",
    "choose_pointer_mode",
    "consumer",
    "default_consumers",
    "drop_harmful_flags",
    "find_enzyme_plugin",
    "find_toolchain",
    "keep_accepted_flags",
    "load_consumers",
    "survey",
]
