"""Codegen: rules rendered as source text."""
