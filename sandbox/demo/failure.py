"""Why the demo ends before its end."""


class DemoError(Exception):
    """Something did not work; the text is for the person who looks on."""
