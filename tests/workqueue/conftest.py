"""A clock, and one queue of each layer: what the plain queue promises, every layer keeps."""

from collections.abc import Callable

import pytest

from tests.support.clock import FakeClock
from workqueue import DelayingQueue, ItemExponential, Queue, RateLimitingQueue


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def plain(clock: FakeClock) -> Queue[str]:
    return Queue(clock=clock)


def delaying(clock: FakeClock) -> Queue[str]:
    return DelayingQueue(clock=clock)


def rate_limiting(clock: FakeClock) -> Queue[str]:
    return RateLimitingQueue(clock=clock, limiter=ItemExponential())


@pytest.fixture(params=[plain, delaying, rate_limiting])
def queue(request: pytest.FixtureRequest, clock: FakeClock) -> Queue[str]:
    make: Callable[[FakeClock], Queue[str]] = request.param
    return make(clock)
