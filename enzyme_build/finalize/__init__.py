"""Finalize: make the one module that Enzyme imports out of what the linker left in a library."""
