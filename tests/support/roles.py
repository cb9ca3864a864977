"""What the users of the tests' API server may do, as a Role has it."""

from typing import Any

from controller.api import GROUP, KINDS, OPERATE_VERB

ROLES: dict[str, list[dict[str, Any]]] = {
    "tenant": [
        {
            "apiGroups": [GROUP],
            "resources": [k.plural + sub for k in KINDS for sub in ("", "/status")],
            "verbs": ["get", "list", "create", "update", "patch", "delete"],
        }
    ],
}
ROLES["operator"] = [
    *ROLES["tenant"],
    {"apiGroups": [GROUP], "resources": [k.plural for k in KINDS], "verbs": [OPERATE_VERB]},
]
