"""The CMake package `EnzymeBC`; a Python package only so that the entry point `cmake.root` can name it."""
