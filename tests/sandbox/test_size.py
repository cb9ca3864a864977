"""The sandbox is smaller than the product."""

import pytest

from tests.sandbox.figures import PRODUCT, code_lines, size


def test_the_sandbox_is_smaller_than_the_product() -> None:
    assert 1_000 < size("sandbox") < size(*PRODUCT)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ('"""Of a module."""\n\nx = 1  # one\n', 1),
        ("# nothing\n\nx = (\n    1,\n)\n", 3),
        ('def f():\n    """One\n    two."""\n    return """a\n\n    b"""\n', 4),
    ],
)
def test_what_counts_as_code(text: str, lines: int) -> None:
    assert code_lines(text) == lines
