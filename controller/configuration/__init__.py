"""The configuration: variables and flags, read and checked once at the start."""
