"""What the tests of `export` and `import-bootstrap` share."""

import argparse
import base64
import io
from collections.abc import Iterator
from typing import Any

import yaml

from controller.migrate.commands import Console, add_commands
from controller.migrate.export import Export
from controller.migrate.manifests import Manifest
from controller.migrate.place import Place
from controller.migrate.progress import Progress
from controller.migrate.report import Report
from controller.migrate.selection import Selection
from lldap import AttributeSchema, AttributeType, Client, Credentials, Session, Target
from sandbox.lldap.transport import InProcessTransport
from tests.support.bed import ADMIN_PASSWORD, PLURALS, Bed

VIRTUAL = "lldap-system"
PLACE = Place("default", VIRTUAL, VIRTUAL)
CORE = {"Secret": "secrets", "ConfigMap": "configmaps"}


class Outcome:
    """What a command line came to."""

    def __init__(self, *arguments: str, **environ: str) -> None:
        parser = argparse.ArgumentParser("lldap-operator", allow_abbrev=False)
        commands = parser.add_subparsers(required=True)
        add_commands(commands)
        self.out, self.err = io.StringIO(), io.StringIO()
        parsed = parser.parse_args(arguments)
        self.code = parsed.run(parsed, Console(environ, self.out, self.err))

    @property
    def kinds(self) -> list[str]:
        return [each["kind"] for each in yaml.safe_load_all(self.out.getvalue()) if each]

    @property
    def said(self) -> str:
        return self.err.getvalue()


class Run:
    """One run of a command's core: what it made and what it said."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.report = Report(self.stream)
        self.progress = Progress(self.stream, lambda: 0.0)
        self.manifests: list[Manifest] = []

    @property
    def text(self) -> str:
        """The manifests as they are printed."""
        return "".join(manifest.text() for manifest in self.manifests)

    @property
    def said(self) -> str:
        return self.stream.getvalue()

    @property
    def left_out(self) -> list[str]:
        return [line for line in self.said.splitlines() if line.startswith("not carried over: ")]

    @property
    def notes(self) -> list[str]:
        return [line for line in self.said.splitlines() if line.startswith("note: ")]

    def of(self, kind: str) -> dict[str, dict[str, Any]]:
        """The objects of one kind, by name, as YAML is read."""
        return {
            each["metadata"]["name"]: each
            for each in yaml.safe_load_all(self.text)
            if each["kind"] == kind
        }

    def spec(self, kind: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.of(kind)[name]["spec"]
        return found


def client_of(bed: Bed) -> Client:
    transport = InProcessTransport(bed.lldap, caller="export")
    credentials = Credentials("admin", ADMIN_PASSWORD)
    return Client(Session(transport, lambda: credentials, clock=bed.clock, call_seconds=8.0))


def exported(
    bed: Bed, place: Place = PLACE, *, secrets: bool = False, **patterns: list[str]
) -> Run:
    run = Run()
    what = Export("admin", place, Selection(**patterns), secrets)
    run.manifests = what.run(client_of(bed), run.report, run.progress)
    return run


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    return (each for each in yaml.load_all(text, yaml.CSafeLoader) if each)


def apply_text(bed: Bed, text: str) -> list[dict[str, Any]]:
    """Apply YAML documents as `kubectl apply --server-side` does; what became of them."""
    return [apply_object(bed, each) for each in objects_in(text)]


def apply_object(bed: Bed, body: dict[str, Any]) -> dict[str, Any]:
    metadata = body["metadata"]
    if body["kind"] in CORE:
        path = f"/api/v1/namespaces/{metadata['namespace']}/{CORE[body['kind']]}/{metadata['name']}"
    elif body["kind"] == "Namespace":
        path = f"/api/v1/namespaces/{metadata['name']}"
    else:
        assert body["kind"] in PLURALS, f"{body['kind']} is no kind of ours"
        path = bed.path(body["kind"], metadata["namespace"], metadata["name"])
    return bed.admin.patch(
        path,
        body,
        content_type="application/apply-patch+yaml",
        field_manager="kubectl",
        force=True,
    )


# One grey dot, which lldap takes for a JPEG.
_SOI = "ffd8"
_REST = (
    "ffdb0043000101010101010101010101010101010101010101010101010101010101010101010101010101010101"
    "0101010101010101010101010101010101010101010101ffc0000b080001000101011100ffc400140001000000"
    "00000000000000000000000000ffc40014100100000000000000000000000000000000ffda0008010100003f00"
    "7fffd9"
)


def jpeg(size: int = 2000) -> bytes:
    """A picture of about that many bytes: the dot and comments."""
    comments = b""
    while size - len(comments) > 400:
        length = min(size - len(comments), 60_000)
        comments += b"\xff\xfe" + length.to_bytes(2) + b"-" * (length - 2)
    return bytes.fromhex(_SOI) + comments + bytes.fromhex(_REST)


def picture(size: int = 2000) -> str:
    """The same as lldap keeps it."""
    return base64.b64encode(jpeg(size)).decode()


# --- what lldap holds -----------------------------------------------------------------------


def declare(client: Client) -> None:
    string, integer = AttributeType.STRING, AttributeType.INTEGER
    client.add_attribute(Target.USER, AttributeSchema("phone", string, is_list=True))
    client.add_attribute(Target.USER, AttributeSchema("size", integer, is_visible=True))
    client.add_attribute(Target.GROUP, AttributeSchema("since", AttributeType.DATE_TIME))


def built_in_id(bed: Bed, name: str) -> int:
    with bed.lldap.database() as store:
        return int(store.state.groups.keys[name])


def small(bed: Bed) -> None:
    """alice and bob in devs, carol in nothing."""
    client = client_of(bed)
    for user in ("alice", "bob", "carol"):
        client.create_user(user, f"{user}@example.org")
    group = client.create_group_with_details("devs")
    for user in ("alice", "bob"):
        client.add_user_to_group(user, group.id)
