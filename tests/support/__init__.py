"""Helpers of the tests and of the demonstration: the real Enzyme plugin, and the import of Enzyme.jl."""
