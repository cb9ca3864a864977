"""What this process asks of its C library's memory."""

import ctypes

LARGE_BYTES = 128 * 1024  # glibc's own limit, before it adapts

_M_MMAP_THRESHOLD = -3  # of malloc.h


def give_back_large_buffers() -> bool:
    """Have each large buffer, once freed, go back to the system; False where that is not known.

    Without being told, glibc moves its limit up with the first large buffer that is freed, and
    takes all after it from the heap, where whatever is allocated behind them keeps them resident:
    for a list of 1,000 objects 4 MiB. Once, before other threads start.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES))
    except (OSError, AttributeError):  # another C library
        return False
