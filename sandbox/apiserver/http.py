"""The API server on a socket: plain HTTP/1.1 on loopback, as kubectl takes it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml
from aiohttp import web

from sandbox.apiserver.app import MAX_BODY, ApiServer
from sandbox.apiserver.messages import Request, Stream, response_headers

HOST = "127.0.0.1"
STEP_SECONDS = 0.1  # how often the server looks what is due, and watches look at the time
START_SECONDS = 10.0


class ApiServerHttp:
    """Serves an ApiServer between `__enter__` and `__exit__`, in one thread of its own.

    The thread has the event loop, answers every request and calls `step`. `url` and
    `kubeconfig`: any thread, while it runs.
    """

    def __init__(self, server: ApiServer, port: int = 0) -> None:
        """Port 0 is any that is free."""
        self._server = server
        self._port = port
        # A daemon: Ctrl-C may come between its start and the block whose end would stop it.
        self._thread = threading.Thread(target=self._run, name="sandbox-apiserver", daemon=True)
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._written = asyncio.Event()  # set and replaced at every write

    def __enter__(self) -> Self:
        """Raises OSError when the port is taken."""
        self._thread.start()
        if not self._ready.wait(START_SECONDS):
            raise OSError("the API server's thread did not start in time")
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End all calls and watches, then the thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """Where the server listens."""
        return f"http://{HOST}:{self._port}"

    def kubeconfig(self, path: Path, *, token: str = "", namespace: str = "default") -> None:
        """Write a kubeconfig for this server; the file can be read by its owner only.

        Clients of client-go, kubectl among them, send no token over plain HTTP.
        """
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "sandbox",
            "clusters": [{"name": "sandbox", "cluster": {"server": self.url}}],
            "users": [{"name": "sandbox", "user": {"token": token} if token else {}}],
            "contexts": [
                {
                    "name": "sandbox",
                    "context": {"cluster": "sandbox", "user": "sandbox", "namespace": namespace},
                }
            ],
        }
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config))

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        application = web.Application(client_max_size=2 * MAX_BODY)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, HOST, self._port)
            await site.start()
        except OSError as error:
            self._failure = error
            self._ready.set()
            await runner.cleanup()
            return
        self._port = runner.addresses[0][1]
        forget = self._server.store.on_change(self._wake)
        self._ready.set()
        await self._step_until_stopped()
        forget()
        self._notify()
        await runner.cleanup()

    async def _step_until_stopped(self) -> None:
        while not self._stopping.is_set():
            self._server.step()
            await _wait(self._stopping)

    def _wake(self) -> None:
        """Somebody wrote, in whatever thread: let the watches look."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._notify)

    def _notify(self) -> None:
        self._written.set()
        self._written = asyncio.Event()

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        request = Request(
            http.method,
            http.path,
            dict(http.query),
            {name.lower(): value for name, value in http.headers.items()},
            await http.read(),
        )
        response = self._server.request(request)
        if response.stream is None:
            return web.Response(
                status=response.status, body=response.body, headers=response_headers(response)
            )
        answer = web.StreamResponse(status=response.status, headers=response_headers(response))
        answer.enable_chunked_encoding()
        await answer.prepare(http)
        with contextlib.suppress(ConnectionError):  # who watches may go at any time
            await self._pass_on(answer, response.stream)
        response.stream.close()
        return answer

    async def _pass_on(self, answer: web.StreamResponse, stream: Stream) -> None:
        while not self._stopping.is_set():
            written = self._written
            piece = stream.read()
            if piece is None:
                await _wait(written)
            elif piece:
                await answer.write(piece)
            else:
                return


async def _wait(event: asyncio.Event) -> None:
    """Wait for an event, but no longer than one step."""
    try:
        await asyncio.wait_for(event.wait(), STEP_SECONDS)
    except TimeoutError:
        return
