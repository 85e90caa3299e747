"""Rules: what Enzyme cannot find out by itself, read from TOML files into frozen values."""
