"""The floor: bare threads that make only the needed calls, each on its own two connections.

It knows nothing of failures, of other writers or of what changes later. It says what the servers
and Python allow at most.
"""

import datetime
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bare import APPLY, JSON_PATCH, Connection, LldapConnection
from benchmarks.job import Job
from benchmarks.objects import FINALIZERS, Object, collection, mark_of
from controller.api import API_VERSION

CREATE_USER = "mutation($user: CreateUserInput!) { createUser(user: $user) { id uuid } }"
ADD_MEMBER = (
    "mutation($user: String!, $group: Int!) "
    "{ addUserToGroup(userId: $user, groupId: $group) { ok } }"
)
CREATE_GROUP = (
    "mutation($group: CreateGroupInput!) "
    "{ createGroupWithDetails(request: $group) { id uuid displayName } }"
)
DELETE_USER = "mutation($user: String!) { deleteUser(userId: $user) { ok } }"
GROUPS = "{ groups { id uuid displayName } }"


class Worker:
    """One thread's connections and its part of the work. One thread."""

    def __init__(self, job: Job, token: str, shared: "Shared") -> None:
        self._job = job
        self._api = Connection(job.api, ca=job.ca, token=job.token)
        self._lldap = LldapConnection(job.lldap, job.lldap_password, token)
        self._shared = shared

    def close(self) -> None:
        """Close them."""
        self._api.close()
        self._lldap.close()

    def user(self, obj: Object) -> None:
        """Finalizer, account, status."""
        version = self._add_finalizer(obj)
        spec = obj["spec"]
        user = {
            "id": spec["username"],
            "email": spec["email"],
            "displayName": spec["displayName"],
            "attributes": [{"name": "kubernetes-owner", "value": [mark_of(obj)]}],
        }
        made = self._lldap.graphql(CREATE_USER, {"user": user})["createUser"]
        status = {"userId": made["id"], "uuid": made["uuid"], "origin": "Created"}
        self._apply_status(obj, version, status)

    def group(self, obj: Object) -> None:
        """Finalizer, group, status."""
        version = self._add_finalizer(obj)
        name = obj["spec"]["displayName"]
        mark = {"name": "kubernetes-owner", "value": [mark_of(obj)]}
        group = {"displayName": name, "attributes": [mark]}
        made = self._lldap.graphql(CREATE_GROUP, {"group": group})["createGroupWithDetails"]
        self._shared.note(made)
        status = {"groupId": made["id"], "uuid": made["uuid"], "origin": "Created"}
        self._apply_status(obj, version, status)

    def membership(self, obj: Object) -> None:
        """Finalizer, edge, status; no two calls at a time for one group, as lldap needs it."""
        version = self._add_finalizer(obj)
        spec = obj["spec"]
        group = self._shared.groups[spec["groupName"]]
        with self._shared.locks[spec["groupName"]]:
            self._lldap.graphql(ADD_MEMBER, {"user": spec["userName"], "group": group["id"]})
        status = {
            "userId": spec["userName"],
            "groupId": group["id"],
            "groupUuid": group["uuid"],
        }
        self._apply_status(obj, version, status)

    def deleted_user(self, obj: Object) -> None:
        """Account, finalizer."""
        self._lldap.graphql(DELETE_USER, {"user": obj["spec"]["username"]})
        self._remove_finalizer(obj)

    def say_ready(self, obj: Object) -> None:
        """Only the status."""
        self._apply_status(obj, obj["metadata"]["resourceVersion"], {})

    def _path(self, obj: Object) -> str:
        return f"{collection(self._job.namespace, obj['kind'])}/{obj['metadata']['name']}"

    def _add_finalizer(self, obj: Object) -> str:
        metadata = obj["metadata"]
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {
                "op": "test",
                "path": "/metadata/resourceVersion",
                "value": metadata["resourceVersion"],
            },
            {"op": "add", "path": "/metadata/finalizers", "value": [FINALIZERS[obj["kind"]]]},
        ]
        answer = self._api.call("PATCH", self._path(obj), patch, JSON_PATCH)
        version: str = answer["metadata"]["resourceVersion"]
        return version

    def _remove_finalizer(self, obj: Object) -> None:
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": obj["metadata"]["uid"]},
            {"op": "remove", "path": "/metadata/finalizers/0"},
        ]
        self._api.call("PATCH", self._path(obj), patch, JSON_PATCH)

    def _apply_status(self, obj: Object, version: str, status: dict[str, Any]) -> None:
        metadata = obj["metadata"]
        body = {
            "apiVersion": API_VERSION,
            "kind": obj["kind"],
            "metadata": {"name": metadata["name"], "resourceVersion": version},
            "status": status
            | {
                "instance": "default",
                "observedGeneration": metadata["generation"],
                "conditions": [_ready(metadata["generation"])],
            },
        }
        path = f"{self._path(obj)}/status?fieldManager=lldap-operator&force=true"
        self._api.call("PATCH", path, body, APPLY)


def _ready(generation: int) -> dict[str, Any]:
    now = datetime.datetime.now(datetime.UTC)
    return {
        "type": "Ready",
        "status": "True",
        "reason": "Verified",
        "message": "it is in lldap as declared",
        "observedGeneration": generation,
        "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


class Shared:
    """What all threads look at: the groups of lldap, and a lock for each."""

    def __init__(self, lldap: LldapConnection) -> None:
        self.groups: dict[str, Object] = {}
        self.locks: dict[str, threading.Lock] = {}
        for group in lldap.graphql(GROUPS)["groups"]:
            self.note(group)

    def note(self, group: Object) -> None:
        """One more; each group is noted by one thread, before others ask for it."""
        self.groups[group["displayName"]] = group
        self.locks[group["displayName"]] = threading.Lock()


Do = Callable[[Worker, Object], None]

_WORK: dict[str, dict[str, Do]] = {
    "users": {"LldapUser": Worker.user},
    "memberships": {"LldapMembership": Worker.membership},
    "deletions": {"LldapUser": Worker.deleted_user},
    "mixed": {
        "LldapGroup": Worker.group,
        "LldapUser": Worker.user,
        "LldapMembership": Worker.membership,
    },
}


def run(job: Job) -> None:
    """List what there is, then do all of it, one kind after the other."""
    api = Connection(job.api, ca=job.ca, token=job.token)
    lldap = LldapConnection(job.lldap, job.lldap_password)
    kinds = _WORK[job.work]
    listed = {kind: api.call("GET", collection(job.namespace, kind))["items"] for kind in kinds}
    shared = Shared(lldap)
    api.close()
    lldap.close()
    workers = [Worker(job, lldap.token, shared) for _ in range(job.threads)]
    try:
        for kind, do in kinds.items():
            _do_all(workers, do, listed[kind])
    finally:
        for worker in workers:
            worker.close()


def _do_all(workers: list[Worker], do: Do, items: list[Object]) -> None:
    todo, lock = iter(items), threading.Lock()  # guards todo
    failures: list[Exception] = []

    def work(worker: Worker) -> None:
        try:
            for obj in _shared(todo, lock):
                do(worker, obj)
        except Exception as error:  # noqa: BLE001 - told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _shared(items: Iterator[Object], lock: threading.Lock) -> Iterator[Object]:
    while True:
        with lock:
            item = next(items, None)
        if item is None:
            return
        yield item


if __name__ == "__main__":
    run(Job.read(Path(sys.argv[1])))
