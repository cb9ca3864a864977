"""What the package counts, told to a provider: it knows no metrics library.

The provider gives the series their names (rest_client_requests_total and so on, as in client-go).
"""

from typing import Protocol


class RestMetrics(Protocol):
    """Told once for each request, in the thread that sent it. Must not raise."""

    def request(
        self,
        *,
        method: str,
        host: str,
        code: str,
        seconds: float,
        request_bytes: int,
        response_bytes: int,
    ) -> None:
        """`code` is the status, or ``<error>`` without an answer; a watch ends with its headers."""
        ...


class InformerMetrics(Protocol):
    """Told by reflectors and listeners of the informer `name`. Must not raise."""

    def listed(self, name: str, seconds: float, objects: int) -> None:
        """A whole list replaced the cache."""
        ...

    def event(self, name: str, event_type: str) -> None:
        """A watch event changed the cache or, as a BOOKMARK, the version."""
        ...

    def failed(self, name: str, error: str) -> None:
        """A list or a watch failed; `error` is the class of the error or the kind of the status."""
        ...

    def handler_failed(self, name: str) -> None:
        """A handler raised."""
        ...


class NoRestMetrics:
    """Counts nothing."""

    def request(
        self,
        *,
        method: str,
        host: str,
        code: str,
        seconds: float,
        request_bytes: int,
        response_bytes: int,
    ) -> None:
        """Do nothing."""


class NoInformerMetrics:
    """Counts nothing."""

    def listed(self, name: str, seconds: float, objects: int) -> None:
        """Do nothing."""

    def event(self, name: str, event_type: str) -> None:
        """Do nothing."""

    def failed(self, name: str, error: str) -> None:
        """Do nothing."""

    def handler_failed(self, name: str) -> None:
        """Do nothing."""
