import pytest

from tests.faults.rest import at_rest


@pytest.mark.slow
def test_nothing_to_do_is_nothing_written() -> None:
    """G5 with a few hundred objects; `make faults` does it with 10,000."""
    rest = at_rest(200)
    assert rest.objects > 180
    assert rest.good, (rest, rest.api_writes[:5], rest.mutations[:5])
