"""From the text of one variable to its value. Each parser raises ValueError for a mistake.

Its message says what is wrong and what to write, without the name of the variable, which the
caller knows. It quotes the text only where that cannot hold a secret: a path may be a password
that somebody put into the wrong variable, a URL may hold one.
"""

import re
import ssl
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
_CLUSTER: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?")
_SECONDS: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_ADDRESS: Final = re.compile(
    r"(\[(?P<ip6>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:/\[\]]*)):(?P<port>[0-9]{1,5})"
)

MAX_INSTANCE: Final = 40  # in front of a group's name in a virtual group's, which has 253 at most
MAX_CLUSTER: Final = 46  # what the mark's 450 characters leave when all its other parts are longest
MIN_HASH_KEY: Final = 32  # bytes: as many as the SHA-256 that is keyed with it

E = TypeVar("E", bound=StrEnum)


class Adoption(StrEnum):
    """What becomes of an account of lldap that nobody's object holds when an object names it."""

    ALWAYS = "Always"
    IF_UNPRIVILEGED = "IfUnprivileged"
    NEVER = "Never"


class LogLevel(StrEnum):
    """From which level on the operator's own records are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """Lines for people, or one JSON object a line for machines."""

    TEXT = "text"
    JSON = "json"


class Address(NamedTuple):
    """Where a server listens; an empty host is every interface, port 0 any free port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def url(text: str) -> str:
    """An http or https base URL without a slash at its end."""
    parts = _split_url(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        msg = "is not an http or https URL. Write for example http://lldap.lldap.svc:17170."
        raise ValueError(msg)
    if parts.username is not None or parts.password is not None:
        msg = (
            "holds a user name or password. Write the URL alone, and the account in "
            "LLDAP_ADMIN_USERNAME and LLDAP_ADMIN_PASSWORD_FILE."
        )
        raise ValueError(msg)
    if "?" in text or "#" in text:
        msg = "has a query or a fragment. Write only scheme, host, port and path."
        raise ValueError(msg)
    return text.rstrip("/")


def _split_url(text: str) -> SplitResult:
    # urlsplit drops tabs and line breaks without a word.
    if any(c.isspace() or not c.isprintable() for c in text):
        msg = "has blanks or control characters. Write it without them."
        raise ValueError(msg)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        msg = (
            "is not a URL: its host or port cannot be read. Write for example https://lldap:17170."
        )
        raise ValueError(msg) from None
    return parts


def password(text: str) -> str:
    """A password as it is; only its encoding is looked at."""
    try:
        text.encode()
    except UnicodeEncodeError:
        msg = "is not UTF-8. Write it in UTF-8."
        raise ValueError(msg) from None
    return text


def password_file(text: str) -> Path:
    """The path of a file that holds a password now."""
    read_password(Path(text))
    return Path(text)


def read_password(path: Path) -> str:
    """The password in a file: all of it but one line end at its end, which editors and echo add."""
    try:
        content = _read(path).decode()
    except UnicodeDecodeError:
        msg = "the file that it names is not UTF-8. Write the password in UTF-8."
        raise ValueError(msg) from None
    value = content.removesuffix("\n").removesuffix("\r")
    if not value:
        msg = "the file that it names is empty. Write the password into it."
        raise ValueError(msg)
    return value


def hash_key_file(text: str) -> Path:
    """The path of a file that holds a hash key now."""
    read_hash_key(Path(text))
    return Path(text)


def read_hash_key(path: Path) -> bytes:
    """The key in a file: every byte of it."""
    key = _read(path)
    if len(key) < MIN_HASH_KEY:
        msg = (
            f"the file that it names holds {len(key)} bytes. Write at least {MIN_HASH_KEY} random "
            "ones into it."
        )
        raise ValueError(msg)
    return key


def readable_file(text: str) -> Path:
    """The path of a file that can be read now."""
    _read(Path(text))
    return Path(text)


def ca_file(text: str) -> Path:
    """The path of a file with certificates in PEM of who may have signed another."""
    return certificate_file(text)


def certificate_file(text: str) -> Path:
    """The path of a file with certificates in PEM."""
    _read(Path(text))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=text)
    except (ssl.SSLError, OSError):
        msg = "the file that it names holds no certificate. Write a bundle of certificates in PEM."
        raise ValueError(msg) from None
    return Path(text)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a path"
        msg = f"the file that it names cannot be read ({why}). Write the path of a readable file."
        raise ValueError(msg) from None


def text_value(text: str) -> str:
    """Any text on one line."""
    if not text.isprintable():
        msg = "has control characters. Write it without them."
        raise ValueError(msg)
    return text


def instance(text: str) -> str:
    """A lower-case DNS label of at most 40 characters."""
    if len(text) > MAX_INSTANCE or not _LABEL.fullmatch(text):
        msg = (
            f"{text!r} is not a lower-case DNS label of at most {MAX_INSTANCE} characters. Write "
            "letters a-z, digits and -, with a letter or digit at both ends."
        )
        raise ValueError(msg)
    return text


def namespace(text: str) -> str:
    """The name of a namespace."""
    if len(text) > 63 or not _LABEL.fullmatch(text):
        msg = (
            f"{text!r} is not the name of a namespace. Write at most 63 of a-z, 0-9 and -, with a "
            "letter or digit at both ends."
        )
        raise ValueError(msg)
    return text


def namespaces(text: str) -> tuple[str, ...]:
    """Names of namespaces with commas between them, each once, in their order."""
    return _names(text, namespace, "namespaces")


def object_name(text: str) -> str:
    """The name of an object of Kubernetes."""
    if len(text) > 253 or not _SUBDOMAIN.fullmatch(text):
        msg = f"{text!r} is not the name of an object. Write a-z, 0-9, - and ., at most 253."
        raise ValueError(msg)
    return text


def cluster(text: str) -> str:
    """The id of a cluster, as it stands in marks."""
    if len(text) > MAX_CLUSTER or not _CLUSTER.fullmatch(text):
        msg = (
            f"{text!r} is not the id of a cluster. Write at most {MAX_CLUSTER} letters, digits, "
            "-, _ and ., with a letter or digit at both ends; the uid of a namespace is one."
        )
        raise ValueError(msg)
    return text


def clusters(text: str) -> tuple[str, ...]:
    """Ids of clusters with commas between them, each once, in their order."""
    return _names(text, cluster, "ids of clusters")


def _names(text: str, one: Callable[[str], str], what: str) -> tuple[str, ...]:
    if not text:
        return ()
    names = [part.strip() for part in text.split(",")]
    found = tuple(dict.fromkeys(one(name) for name in names if name))
    if not found:  # "," must not come to mean all of them
        msg = f"{text!r} names none. Write {what} with commas between them, or leave it out."
        raise ValueError(msg)
    return found


def boolean(text: str) -> bool:
    """The words true and false."""
    word = text.lower()
    if word not in {"true", "false"}:
        msg = f"{text!r} is neither true nor false. Write one of the two."
        raise ValueError(msg)
    return word == "true"


def choice(kind: type[E]) -> Callable[[str], E]:
    """A parser for the words of `kind`, exactly as they are written there."""

    def parse(text: str) -> E:
        try:
            return kind(text)
        except ValueError:
            words = ", ".join(kind)
            msg = f"{text!r} is not one of {words}. Write one of these."
            raise ValueError(msg) from None

    return parse


def seconds(text: str) -> float:
    """Seconds; 0 is off."""
    if not _SECONDS.fullmatch(text):
        msg = f"{text!r} is not a number of seconds. Write for example 10 or 2.5, without a unit."
        raise ValueError(msg)
    return float(text)


def positive_seconds(text: str) -> float:
    """Seconds, more than 0."""
    value = seconds(text)
    if value <= 0:
        msg = f"{text!r} is not more than 0 seconds. Write a positive number."
        raise ValueError(msg)
    return value


def whole(smallest: int, largest: int) -> Callable[[str], int]:
    """A parser for whole numbers between two bounds, these included."""

    def parse(text: str) -> int:
        if not _WHOLE.fullmatch(text) or not smallest <= int(text) <= largest:
            msg = f"{text!r} is not a whole number from {smallest} to {largest}. Write one."
            raise ValueError(msg)
        return int(text)

    return parse


def address(text: str) -> Address | None:
    """`host:port`, `:port` for every interface; `0` is None: do not listen."""
    if text == "0":
        return None
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65_535:
        msg = (
            f"{text!r} is not an address to listen on. Write :8080, 127.0.0.1:8080 or [::1]:8080, "
            "or 0 for none."
        )
        raise ValueError(msg)
    return Address(match["ip6"] or match["host"] or "", int(match["port"]))
