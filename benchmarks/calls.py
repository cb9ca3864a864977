"""`python -m benchmarks.calls`: the CPU time of one call, beside a bare connection of http.client.

The server does nothing but answer, in a process of its own and without TLS. The least of many
rounds counts: it is what the call costs when nothing disturbs it.
"""

import http.client
import multiprocessing
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from multiprocessing.queues import Queue

from kubernetes import client

from informers import ApiClientTransport, PatchType, RestClient
from lldap import HttpTransport, SystemClock

Call = Callable[[], object]
Caller = Callable[[int], AbstractContextManager[Call]]

CALLS = 300
ROUNDS = 15
SECONDS = 8.0
START_SECONDS = 60.0
REQUEST = b'{"metadata":{"finalizers":["a"]}}'
TOKEN = {"Authorization": "Bearer " + "t" * 200}
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_UID = "7f4e6b1e-3b1c-4c11-9a7e-111111111111"
_API = (
    f"HTTP/1.1 200 OK\r\nAudit-Id: {_UID}\r\nCache-Control: no-cache, private\r\n"
    f"Content-Type: application/json\r\nX-Kubernetes-Pf-Flowschema-Uid: {_UID}\r\n"
    f"X-Kubernetes-Pf-Prioritylevel-Uid: {_UID}\r\nDate: Mon, 30 Nov 2026 15:15:15 GMT\r\n"
).encode()
_LLDAP = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nVary: Origin\r\n"


def _json(size: int) -> bytes:
    return b'{"metadata":{"name":"%b"}}' % (b"x" * size)


def _whole(head: bytes, body: bytes) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _chunked(head: bytes, body: bytes) -> bytes:
    return head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


def _serve(ports: "Queue[int]", answer: bytes) -> None:
    """Answer every request of one connection after the other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ports.put(listener.getsockname()[1])
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while _request(connection):
                    connection.sendall(answer)


def _request(connection: socket.socket) -> bool:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return False
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    found = _LENGTH.search(head)
    left = int(found[1]) - len(body) if found else 0
    while left > 0:
        left -= len(connection.recv(65536))
    return True


@contextmanager
def _server(answer: bytes) -> Iterator[int]:
    """Its port."""
    context = multiprocessing.get_context("spawn")
    ports: Queue[int] = context.Queue()
    process = context.Process(target=_serve, args=(ports, answer))
    process.start()
    try:
        yield ports.get(timeout=START_SECONDS)
    finally:
        process.terminate()
        process.join()
        process.close()
        ports.close()


@contextmanager
def _operator_to_api(port: int) -> Iterator[Call]:
    configuration = client.Configuration(host=f"http://127.0.0.1:{port}")
    with client.ApiClient(configuration) as api_client:
        transport = ApiClientTransport(api_client, user_agent="benchmark")
        rest = RestClient(transport, call_seconds=SECONDS)
        yield lambda: rest.patch("/apis/a/b", {"metadata": {}}, content_type=PatchType.JSON)
        transport.close()


@contextmanager
def _operator_to_lldap(port: int) -> Iterator[Call]:
    transport = HttpTransport(f"http://127.0.0.1:{port}", clock=SystemClock())
    yield lambda: transport.send(
        "POST", "/api/graphql", headers=TOKEN, body=REQUEST, timeout=SECONDS, max_bytes=2**20
    )
    transport.close()


@contextmanager
def _bare(port: int) -> Iterator[Call]:
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:

        def call() -> object:
            connection.request("PATCH", "/apis/a/b", REQUEST, TOKEN)
            return connection.getresponse().read()

        yield call


def _microseconds(call: Call) -> float:
    """Of this thread's CPU, a call."""
    call()
    rounds = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for _ in range(CALLS):
            call()
        rounds.append((time.thread_time() - began) / CALLS * 1e6)
    return min(rounds)


def measured(answer: bytes, caller: Caller) -> float:
    """Microseconds of one call with this answer."""
    with _server(answer) as port, caller(port) as call:
        return _microseconds(call)


def main() -> None:
    """Print a line for each kind of call."""
    answers: dict[str, tuple[bytes, Caller]] = {
        "API server, below 2 KB": (_whole(_API, _json(1500)), _operator_to_api),
        "API server, in chunks": (_chunked(_API, _json(2200)), _operator_to_api),
        "lldap": (_whole(_LLDAP, _json(500)), _operator_to_lldap),
    }
    for name, (answer, operator) in answers.items():
        ours, bare = measured(answer, operator), measured(answer, _bare)
        print(f"{name}: {ours:.0f} us, bare {bare:.0f} us")


if __name__ == "__main__":
    main()
