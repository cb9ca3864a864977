"""Waiting for a socket that does not wait by itself.

A timeout of the socket's own has to be set anew before each operation, and with TLS an operation
first finds out that it has to wait. Each of that is a moment in which a thread gives up the
interpreter, and gets it back late when others want it.
"""

import math
import select
import socket
import ssl
from collections.abc import Callable
from typing import Final

TO_READ: Final = select.POLLIN  # also when the other side has closed
TO_SEND: Final = select.POLLOUT


def never_wait(sock: socket.socket) -> None:
    """From now on an operation that would have to wait raises.

    Not with urllib3's TLS inside the TLS of a proxy: half of that waits all the same.
    """
    if isinstance(sock, socket.socket) and not never_waits(sock):
        sock.settimeout(0)


def never_waits(sock: socket.socket) -> bool:
    """Whether it is so; then it can be used with `when_ready`."""
    return sock.gettimeout() == 0


def when_ready(
    sock: socket.socket,
    work: Callable[[], int | None],
    event: int,
    left: Callable[[], float],
    *,
    at_once: bool,
) -> int:
    """Do `work` as soon as the socket is ready for it, and give what it gives.

    `work` is an operation of this socket, which never waits. `at_once`: it is tried before
    anything is waited for. `left`: the seconds that are left; raises TimeoutError if none are.
    """
    if not at_once:
        _wait(sock, event, left())
    while True:
        try:
            done = work()
        except ssl.SSLWantReadError:  # TLS may have to read to send
            event = TO_READ
        except ssl.SSLWantWriteError:
            event = TO_SEND
        except BlockingIOError:
            pass
        else:
            if done is not None:  # a file of a plain socket says it so
                return done
        _wait(sock, event, left())


def _wait(sock: socket.socket, event: int, seconds: float) -> None:
    poll = select.poll()
    poll.register(sock, event)
    if not poll.poll(math.ceil(seconds * 1000)):
        raise TimeoutError("the time of the call is over")
