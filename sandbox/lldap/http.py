"""An embedded lldap behind a real socket."""

import asyncio
import contextlib
import socket
import struct
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from aiohttp import web
from multidict import CIMultiDict

from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import ConnectionLostError
from sandbox.lldap.server import Lldap

_IDLE_SECONDS = 5.0  # as lldap
_WORKERS = 4
# Closing a socket that lingers for no time resets the connection.
_RESET = struct.pack("ii", 1, 0)


class LldapServer:
    """Serves lldap on 127.0.0.1 while the context lasts; then its threads are gone.

    Connections that were idle for 5 s are closed. Calls run in worker threads, since checking a
    password takes its time. `port` 0 takes a free one.
    """

    def __init__(self, lldap: Lldap, port: int = 0) -> None:
        self._lldap = lldap
        self._port = port
        # A daemon: Ctrl-C may come between its start and the block whose end would stop it.
        self._thread = threading.Thread(target=self._run, name="lldap-server", daemon=True)
        self._ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        loop, stop = self._ready.result()
        loop.call_soon_threadsafe(stop.set)
        self._thread.join()

    def _run(self) -> None:
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="lldap-call") as workers:
            try:
                asyncio.run(self._serve(workers))
            except OSError as error:
                self._ready.set_exception(error)

    async def _serve(self, workers: ThreadPoolExecutor) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            headers = {name.lower(): value for name, value in request.headers.items()}
            data = await request.content.read()
            caller = headers.get("user-agent", "")
            call = Call(caller, request.method, request.path_qs, headers, data)
            try:
                response = await loop.run_in_executor(workers, self._lldap.send, call)
            except ConnectionLostError:
                return _reset(request)
            return await _send(request, response)

        server = web.Server(handle, keepalive_timeout=_IDLE_SECONDS, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", self._port).start()
            self._port = runner.addresses[0][1]
            self._ready.set_result((loop, stop))
            await stop.wait()
        finally:
            await runner.cleanup()


async def _send(request: web.BaseRequest, response: Response) -> web.StreamResponse:
    headers = CIMultiDict(response.headers)
    if not response.seconds_per_byte:
        return web.Response(status=response.status, headers=headers, body=response.body)
    headers["content-length"] = str(len(response.body))
    dripping = web.StreamResponse(status=response.status, headers=headers)
    await dripping.prepare(request)
    with contextlib.suppress(ConnectionError):
        for byte in response.body:
            await dripping.write(bytes([byte]))
            await asyncio.sleep(response.seconds_per_byte)
    return dripping


def _reset(request: web.BaseRequest) -> web.StreamResponse:
    transport = request.transport
    assert transport is not None
    connection: socket.socket = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    transport.abort()
    return web.Response()
