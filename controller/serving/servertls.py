"""The certificate of a server, read again when it is replaced."""

import logging
import ssl
import threading
from pathlib import Path

_LOG = logging.getLogger("controller.serving.servertls")

_Stamp = tuple[tuple[int, int, int], ...]


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """TLS 1.2 or newer with that certificate.

    Raises OSError (of which ssl.SSLError is one) if the two cannot be read or do not belong
    together; a key that needs a password counts as one that cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key, password="")  # else OpenSSL asks on the terminal
    return context


class ServerTLS:
    """Gives the context for the next connection. Any thread.

    A kubelet replaces the files of a Secret some time after each other's metadata changes: a pair
    that does not fit, or is gone, leaves the last good one in use.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        """Raises OSError: see server_context."""
        self._certificate = certificate
        self._key = key
        self._lock = threading.Lock()  # guards _stamp and _context; the files are read under it
        self._stamp = self._stamp_now()
        self._context = server_context(certificate, key)

    def context(self) -> ssl.SSLContext:
        """With the certificate that is there now, or the last good one."""
        with self._lock:
            stamp = self._stamp_now()
            if stamp != self._stamp:
                self._stamp = stamp
                self._reload()
            return self._context

    def _reload(self) -> None:
        try:
            self._context = server_context(self._certificate, self._key)
        except OSError as error:
            _LOG.warning(
                "METRICS_TLS_CERT_FILE and METRICS_TLS_KEY_FILE changed and cannot be used (%s): "
                "the certificate before stays in use",
                error.strerror or type(error).__name__,
            )

    def _stamp_now(self) -> _Stamp:
        try:
            found = [path.stat() for path in (self._certificate, self._key)]
        except OSError:
            return ()
        return tuple((each.st_mtime_ns, each.st_size, each.st_ino) for each in found)
