"""Give C, C++ and Fortran libraries bitcode and rules that Enzyme can use.

Nothing is imported here: the setuptools hook of this package runs in every project of an environment.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
