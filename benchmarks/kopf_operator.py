"""The same job as a kopf operator, written to make no needless call. Loaded by `kopf run`.

Its diff base is status.observedGeneration, so nothing is written for kopf's own bookkeeping; it
posts no events, keeps connections alive and has no limit on concurrent handlers but lldap's.
"""
# ruff: noqa: ANN401 - handlers take what kopf gives them

import asyncio
import datetime
import os
from pathlib import Path
from typing import Any

import aiohttp
import kopf

from benchmarks.floor import ADD_MEMBER, CREATE_GROUP, CREATE_USER, DELETE_USER, GROUPS
from benchmarks.job import Job
from benchmarks.objects import FINALIZERS, PLURALS, Object, mark_of
from controller.api import GROUP, VERSION

DELETE_GROUP = "mutation($group: Int!) { deleteGroup(groupId: $group) { ok } }"
REMOVE_MEMBER = (
    "mutation($user: String!, $group: Int!) "
    "{ removeUserFromGroup(userId: $user, groupId: $group) { ok } }"
)

JOB = Job.read(Path(os.environ["BENCH_JOB"]))
USERS = (GROUP, VERSION, PLURALS["LldapUser"])
GROUPS_OF_LLDAP = (GROUP, VERSION, PLURALS["LldapGroup"])
MEMBERSHIPS = (GROUP, VERSION, PLURALS["LldapMembership"])


class ObservedGeneration(kopf.DiffBaseStorage):
    """Handled is what has a status for its generation."""

    def fetch(self, *, body: kopf.Body) -> Any:
        observed = body.get("status", {}).get("observedGeneration")
        if observed is None:
            return None
        return self.build(body=body) if observed == body["metadata"]["generation"] else {}

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: Any) -> None:
        """The handler's own status says it."""


class Lldap:
    """The calls to lldap, with as many connections as the others have."""

    def __init__(self) -> None:
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=JOB.threads))
        self.groups: dict[str, Object] = {}
        self._there: dict[str, asyncio.Event] = {}

    def there(self, name: str) -> asyncio.Event:
        """Set when that user or group of this run is in lldap: who waits writes nothing."""
        return self._there.setdefault(name, asyncio.Event())

    async def login(self) -> None:
        login = {"username": "admin", "password": JOB.lldap_password}
        async with self.session.post(f"{JOB.lldap}/auth/simple/login", json=login) as answer:
            token = (await answer.json())["token"]
        self.session.headers["Authorization"] = f"Bearer {token}"
        groups = await self.graphql(GROUPS, {})
        self.groups = {group["displayName"]: group for group in groups["groups"]}

    async def graphql(self, query: str, variables: Object) -> Any:
        body = {"query": query, "variables": variables}
        async with self.session.post(f"{JOB.lldap}/api/graphql", json=body) as answer:
            found = await answer.json()
        if found.get("errors"):
            raise kopf.TemporaryError(str(found["errors"])[:200], delay=1)
        return found["data"]


@kopf.on.startup()
async def start(settings: kopf.OperatorSettings, memo: kopf.Memo, **_: Any) -> None:
    settings.persistence.finalizer = FINALIZERS["LldapUser"]
    settings.persistence.diffbase_storage = ObservedGeneration()
    settings.posting.enabled = False
    memo.lldap = Lldap()
    await memo.lldap.login()


@kopf.on.create(*USERS)
async def create_user(body: Any, spec: Any, patch: Any, memo: kopf.Memo, **_: Any) -> None:
    user = {
        "id": spec["username"],
        "email": spec["email"],
        "displayName": spec["displayName"],
        "attributes": [{"name": "kubernetes-owner", "value": [mark_of(body)]}],
    }
    made = (await memo.lldap.graphql(CREATE_USER, {"user": user}))["createUser"]
    memo.lldap.there(made["id"]).set()
    _show(patch, body, userId=made["id"], uuid=made["uuid"], origin="Created")


@kopf.on.delete(*USERS)
async def delete_user(spec: Any, memo: kopf.Memo, **_: Any) -> None:
    await memo.lldap.graphql(DELETE_USER, {"user": spec["username"]})


@kopf.on.create(*GROUPS_OF_LLDAP)
async def create_group(body: Any, spec: Any, patch: Any, memo: kopf.Memo, **_: Any) -> None:
    mark = {"name": "kubernetes-owner", "value": [mark_of(body)]}
    group = {"displayName": spec["displayName"], "attributes": [mark]}
    made = (await memo.lldap.graphql(CREATE_GROUP, {"group": group}))["createGroupWithDetails"]
    memo.lldap.groups[made["displayName"]] = made
    memo.lldap.there(made["displayName"]).set()
    _show(patch, body, groupId=made["id"], uuid=made["uuid"], origin="Created")


@kopf.on.create(*MEMBERSHIPS)
async def add_member(body: Any, spec: Any, patch: Any, memo: kopf.Memo, **_: Any) -> None:
    if JOB.work == "mixed":
        await memo.lldap.there(spec["userName"]).wait()
        await memo.lldap.there(spec["groupName"]).wait()
    group = memo.lldap.groups[spec["groupName"]]
    await memo.lldap.graphql(ADD_MEMBER, {"user": spec["userName"], "group": group["id"]})
    _show(patch, body, userId=spec["userName"], groupId=group["id"], groupUuid=group["uuid"])


@kopf.on.delete(*GROUPS_OF_LLDAP)
async def delete_group(status: Any, memo: kopf.Memo, **_: Any) -> None:
    """Without a handler of deletions there would be no finalizer."""
    await memo.lldap.graphql(DELETE_GROUP, {"group": status["groupId"]})


@kopf.on.delete(*MEMBERSHIPS)
async def remove_member(status: Any, memo: kopf.Memo, **_: Any) -> None:
    edge = {"user": status["userId"], "group": status["groupId"]}
    await memo.lldap.graphql(REMOVE_MEMBER, edge)


def _show(patch: Any, body: Any, **fields: Any) -> None:
    now = datetime.datetime.now(datetime.UTC)
    generation = body["metadata"]["generation"]
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Verified",
        "message": "it is in lldap as declared",
        "observedGeneration": generation,
        "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    patch.status.update(
        fields
        | {"instance": "default", "observedGeneration": generation, "conditions": [condition]}
    )
