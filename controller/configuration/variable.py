"""One variable of the configuration, described as data on the type of the field that holds it."""

import socket
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")

Found = Mapping[str, Any]
"""The values so far, by field; one whose text was a mistake is missing."""


@dataclass(frozen=True, slots=True)
class Variable:
    """How a text becomes a value, which text stands for none, and what the value means.

    `default` may name fields declared earlier in braces; without it the value is None. `shown` is
    what the docs say instead of `default`.
    """

    parse: Callable[[str], object]
    meaning: str
    default: str | None = None
    shown: str = ""
    required: bool = False
    secret: bool = False

    @property
    def shown_default(self) -> str:
        """What the docs say that holds when nothing is set."""
        return "required" if self.required else self.shown or self.default or "none"

    def value(self, text: str, found: Found) -> object:
        """What `text` stands for; "" is the default. Raises ValueError for a mistake.

        Raises KeyError if the default depends on a field that is a mistake itself.
        """
        if text:
            return self.parse(text)
        if self.required:
            msg = f"is not set. Write this: {self.meaning}"
            raise ValueError(msg)
        return None if self.default is None else self.parse(self.default.format_map(found))


def variables_of(config: type) -> Iterator[tuple[str, Variable]]:
    """The variables of `config` by field, in order."""
    for name, hint in typing.get_type_hints(config, include_extras=True).items():
        for described in getattr(hint, "__metadata__", ()):
            if isinstance(described, Variable):
                yield name, described


def detect(
    environ: Mapping[str, str], *, terminal: bool, namespace_file: Path = _NAMESPACE_FILE
) -> dict[str, str]:
    """What the machine says where nobody else does, as texts by field.

    `terminal`: whether the log goes to one.
    """
    return {
        "pod_namespace": _content(namespace_file) or "default",
        "pod_name": socket.gethostname(),
        "leader_elect": "true" if "KUBERNETES_SERVICE_HOST" in environ else "false",
        "log_format": "text" if terminal else "json",
    }


def _content(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""
