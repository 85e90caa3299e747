"""The check: what Enzyme will make of a library, said before anyone differentiates it."""
