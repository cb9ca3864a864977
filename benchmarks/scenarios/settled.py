"""With objects that are as they should be: a restart, a resync, one change, new passwords."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import orjson

from benchmarks import contestants, objects
from benchmarks.bare import APPLY, MERGE_PATCH, Connection
from benchmarks.bed import Bed
from benchmarks.process import Process, Sample
from benchmarks.results import Run, percentile
from benchmarks.scenarios.throughput import PATIENCE, SECONDS_PER_OBJECT
from benchmarks.watch import Watch

CHANGES = 200  # the 99th percentile of fewer is the slowest one
REST_SECONDS = 0.02  # between two changes, whoever carries them out
LISTING_SECONDS = 900.0
RESYNC_SECONDS = 10
CALLS = "lldap_operator_lldap_calls_total"
RECONCILES = "controller_runtime_reconcile_total"
UPDATE_USER = "mutation($user: UpdateUserInput!) { updateUser(user: $user) { ok } }"


@dataclass(frozen=True, slots=True)
class Settled:
    """Users that are Ready, in a namespace of their own."""

    bed: Bed
    namespace: str
    names: list[str]

    def change(self, api: Connection, name: str, text: str) -> float:
        """Give a user another display name; when the API server had it."""
        path = f"{objects.collection(self.namespace, 'LldapUser')}/{name}"
        api.call("PATCH", path, {"spec": {"displayName": text}}, MERGE_PATCH)
        return time.monotonic()

    def rotate(self, api: Connection, name: str, text: str) -> float:
        """Give a user's Secret another password; when the API server had it."""
        path = f"{objects.collection(self.namespace, 'Secret')}/secret-{name}"
        body = {"stringData": {"password": f"{text}-of-{name}"}}
        api.call("PATCH", path, body, MERGE_PATCH)
        return time.monotonic()

    def watch(self) -> Watch:
        """Sees them."""
        size = len(self.names)
        return Watch(self.bed.api, self.namespace, "LldapUser", expected=size)


@contextmanager
def settled(bed: Bed, size: int, *, passwords: bool = False) -> Iterator[tuple[Settled, Process]]:
    """Users made by the operator, which is idle now and ends with the block."""
    bed.clean_lldap()
    namespace, names = bed.namespace(), bed.names(size)
    if passwords:
        bed.create(namespace, objects.secrets(names))
    bed.create(namespace, objects.users(names, passwords=passwords))
    made = Settled(bed, namespace, names)
    with made.watch() as seen, contestants.operator(bed, namespace, "users") as process:
        if size:
            seen.wait(PATIENCE + size * SECONDS_PER_OBJECT)
        process.wait_until_idle(PATIENCE)
        yield made, process


def restart(bed: Bed, size: int, repetition: int) -> Iterator[Run]:
    """Start again with everything settled, beside reading and parsing the same lists."""
    with settled(bed, size) as (made, _):
        pass
    # Not before a start with so many is over, on a slow machine too.
    options = [f"--resync-seconds={max(RESYNC_SECONDS, size // 250)}"]
    with contestants.operator(bed, made.namespace, "users", options) as process:
        idle, found = _settled_again(process, size)
        memory = process.memory("VmRSS")
        values = {
            "seconds to idle": idle.time - process.started,
            "CPU s": idle.cpu,
            "lldap calls": contestants.total(found, CALLS),
            "API reads": contestants.total(found, "rest_client_requests_total", "PATCH", "POST"),
            "API writes": contestants.total(found, "rest_client_requests_total", '"GET"'),
            "RSS MiB": memory,
            "peak MiB": process.memory(),
        }
        values |= _resync(process)
    yield Run("restart", "operator", size, repetition, values)
    with contestants.listing(bed, made.namespace, "users") as process:
        process.wait(LISTING_SECONDS)
    alone = orjson.loads(process.log.read_bytes())
    yield Run("restart", "listing and parsing alone", size, repetition, alone)


def _settled_again(process: Process, size: int) -> tuple[Sample, dict[str, float]]:
    """When it had looked at everything; while it waits for a server it only looks idle."""
    deadline = time.monotonic() + LISTING_SECONDS
    while True:
        idle = process.wait_until_idle(LISTING_SECONDS)
        if time.monotonic() > deadline:
            raise TimeoutError(f"not everything was looked at: see {process.log}")
        try:
            found = contestants.metrics()
        except OSError:  # it does not serve yet
            continue
        if contestants.total(found, RECONCILES) >= size and _directories(found):
            return idle, found


def _directories(found: dict[str, float]) -> int:
    return sum(int(v) for name, v in found.items() if CALLS in name and '"directory"' in name)


def _resync(process: Process) -> dict[str, float]:
    """One resync of what has not changed."""
    before, began = contestants.metrics(), process.sample()
    after, count = before, _directories(before)
    while _directories(after) == count:
        time.sleep(1.0)
        after = contestants.metrics()
    ended = process.wait_until_idle(LISTING_SECONDS)
    after = contestants.metrics()
    resyncs = _directories(after) - count  # another may have begun before this one was over
    calls = contestants.total(after, CALLS) - contestants.total(before, CALLS)
    return {
        "resync CPU s": (ended.cpu - began.cpu) / resyncs,
        "resync lldap calls": calls / resyncs,
    }


def one_change(bed: Bed, size: int, repetition: int) -> Iterator[Run]:
    """One display name, again and again: beside its bare calls, quiet and under load."""
    quiet, loaded = "one change, quiet", f"one change, under {size:,} others"
    with settled(bed, CHANGES) as (made, _), made.watch() as seen:
        yield Run(quiet, "operator", CHANGES, repetition, _changes(made, seen, quiet))
    yield Run(quiet, "its bare calls", CHANGES, repetition, _bare_changes(made))
    bed.create(made.namespace, objects.users(bed.names(size)))
    with (
        Watch(bed.api, made.namespace, "LldapUser", expected=CHANGES + size) as seen,
        contestants.operator(bed, made.namespace, "users"),
    ):
        seen.wait(PATIENCE, count=min(CHANGES, size) // 2)  # work is under way
        values = _changes(made, seen, loaded, lambda: len(seen.done) >= size * 0.9)
        yield Run(loaded, "operator", size, repetition, values)


def _changes(
    made: Settled, seen: Watch, text: str, until: Callable[[], bool] = lambda: False
) -> dict[str, float]:
    """From the API server's answer to the status, one change after the other."""
    api, found = made.bed.api(), []
    for number, name in enumerate(made.names):
        seen.forget_one(name)
        changed = made.change(api, name, f"{text} {number}")
        found.append(seen.wait_for(name, PATIENCE) - changed)
        if until():
            break
        time.sleep(REST_SECONDS)
    api.close()
    return _milliseconds(found)


def _milliseconds(seconds: list[float]) -> dict[str, float]:
    return {
        "p50 ms": percentile(seconds, 0.5) * 1000,
        "p99 ms": percentile(seconds, 0.99) * 1000,
        "measured": len(seconds),
    }


def _bare_changes(made: Settled) -> dict[str, float]:
    """What one change needs: one call to lldap, one status."""
    api, lldap, found = made.bed.api(), made.bed.directory(), []
    base = objects.collection(made.namespace, "LldapUser")
    with made.watch() as seen:
        for name in made.names:
            obj = api.call("GET", f"{base}/{name}")
            obj["metadata"]["generation"] += 1
            del obj["metadata"]["resourceVersion"]
            seen.forget_one(name)
            changed = made.change(api, name, "bare")
            lldap.graphql(UPDATE_USER, {"user": {"id": name, "displayName": "bare"}})
            _say_ready(api, f"{base}/{name}", obj)
            found.append(seen.wait_for(name, PATIENCE) - changed)
            time.sleep(REST_SECONDS)
    api.close()
    lldap.close()
    return _milliseconds(found)


def _say_ready(api: Connection, path: str, obj: objects.Object) -> None:
    metadata, status = obj["metadata"], obj["status"]
    generation = metadata["generation"]
    for condition in status["conditions"]:
        condition["observedGeneration"] = generation
    body = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "metadata": {"name": metadata["name"]},
        "status": status | {"observedGeneration": generation},
    }
    api.call("PATCH", f"{path}/status?fieldManager=lldap-operator&force=true", body, APPLY)


def rotation(bed: Bed, size: int, repetition: int) -> Iterator[Run]:
    """New passwords: of one user, then of all at once."""
    with settled(bed, size, passwords=True) as (made, process), made.watch() as seen:
        api, found = bed.api(), []
        for name in made.names[:10]:
            seen.forget_one(name)
            changed = made.rotate(api, name, "second")
            found.append(seen.wait_for(name, PATIENCE) - changed)
        yield Run("rotation of one Secret", "operator", 1, repetition, _milliseconds(found))
        seen.forget()
        began, changed_at = process.sample(), {}
        lock = threading.Lock()  # guards changed_at

        def rotate(to: Connection, name: str) -> None:
            at = made.rotate(to, name, "third")
            with lock:
                changed_at[name] = at

        objects.in_parallel(bed.api, made.names, rotate)
        seen.wait(PATIENCE + size * SECONDS_PER_OBJECT)
        ended = process.sample()
        values = _milliseconds([seen.done[name] - changed_at[name] for name in made.names])
        values["objects a second"] = size / (ended.time - began.time)
        values["CPU ms an object"] = (ended.cpu - began.cpu) / size * 1000
        yield Run("rotation of all Secrets", "operator", size, repetition, values)
