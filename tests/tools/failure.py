"""What can go wrong."""


class ToolError(Exception):
    """A program cannot be had here; the text says why, and what to do."""
