"""Programs that some tests need and no Python package has; `python -m tests.tools --help`.

They go into the user's cache, once for all checkouts. Where they cannot be had the tests that
need them are skipped and counted. Nothing but Python's standard library is used here.
"""
