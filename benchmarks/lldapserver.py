"""The sandbox's lldap as a process of its own. It prints its URL. Not for ratios."""

import signal
import sys
import threading

from controller.clock import SystemClock
from sandbox.lldap.http import LldapServer
from sandbox.lldap.server import Lldap


def main(password: str) -> None:
    """Serve until SIGTERM."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: ended.set())
    with LldapServer(Lldap(SystemClock(), admin_password=password)) as server:
        print(server.url, flush=True)
        ended.wait()


if __name__ == "__main__":
    main(sys.argv[1])
