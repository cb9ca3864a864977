"""A TCP proxy on loopback that can cut or hang what goes through it, and speak TLS outwards."""

import asyncio
import contextlib
import enum
import ssl
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

PIECE = 64 * 1024
START_SECONDS = 10.0


class Way(enum.Enum):
    """What becomes of connections."""

    OPEN = enum.auto()
    CUT = enum.auto()  # those that stand are reset, new ones are closed at once
    HANGS = enum.auto()  # they stay, and not a byte goes on


class Proxy:
    """Passes connections on to `target`, as long as its way is open. Any thread may turn it.

    With `certificate` and `key` whoever connects speaks TLS; the target does not.
    """

    def __init__(self, target: str, *, tls: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "", parts.port or 80)
        self.tls = tls
        self.port = 0
        self._way = Way.OPEN
        self._only = b""
        self._thread = threading.Thread(target=self._run, name="proxy")
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._moved = asyncio.Event()
        self._open: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(START_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._call(self._stopping.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def turn(self, way: Way, *, only: bytes = b"") -> None:
        """From now on do that with connections; HANGS alone of those that bring `only`."""

        def change() -> None:
            self._way, self._only = way, only
            if way is Way.CUT:
                for writer in self._open:
                    writer.transport.abort()
            self._moved.set()
            self._moved = asyncio.Event()

        self._call(change)

    def _call(self, function: object) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(function)  # type: ignore[arg-type]

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        async with server:
            await self._stopping.wait()
            self._way = Way.CUT
            self._moved.set()
            for writer in self._open:
                writer.transport.abort()
            while self._open:  # else the loop would end under them, and say so
                await asyncio.sleep(0.01)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            if self._way is Way.CUT:
                return
            with contextlib.suppress(OSError):
                await self._pass_on(reader, writer)
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        self._open.add(far_writer)
        try:
            pumps = [
                asyncio.create_task(self._pump(reader, far_writer)),
                asyncio.create_task(self._pump(far_reader, writer)),
            ]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        finally:
            self._open.discard(far_writer)
            far_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):  # either end may go at any time
            while piece := await reader.read(PIECE):
                while self._way is Way.HANGS and self._only in piece:
                    await self._moved.wait()
                writer.write(piece)
                await writer.drain()
