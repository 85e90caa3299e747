"""Prove rule and library against each other: derivatives by the rule, and by differences of the shipped function."""
