"""The work queue and the informer by themselves."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from benchmarks import contestants, objects
from benchmarks.bare import MERGE_PATCH, Connection
from benchmarks.bed import Bed
from benchmarks.results import Run
from controller.clock import SystemClock
from workqueue import ItemExponential, RateLimitingQueue

INFORMING_SECONDS = 300.0


def queue(_bed: Bed, size: int, repetition: int) -> Iterator[Run]:
    """Add, take, done and forget of `size` keys, in one thread."""
    made = RateLimitingQueue[str](clock=SystemClock(), limiter=ItemExponential())
    keys = [f"namespace/name-{number}" for number in range(size)]
    began = time.process_time()
    for key in keys:
        made.add(key)
    added = time.process_time()
    while (item := made.try_get()) is not None:
        made.forget(item.key)
        made.done(item.key)
    ended = time.process_time()
    values = {
        "adds a second": size / (added - began),
        "take, forget, done a second": size / (ended - added),
    }
    yield Run("work queue alone", "workqueue", size, repetition, values)


def informer(bed: Bed, size: int, repetition: int) -> Iterator[Run]:
    """List `size` Secrets, then see each of them change, beside the kubernetes package's own."""
    namespace = bed.namespace()
    bed.create(namespace, objects.secrets(bed.names(size)))
    for whose in ("ours", "kubernetes"):
        with contestants.informing(bed, namespace, whose, size) as process:
            _wait_for(process.log, "listed")
            _touch_all(bed, namespace, f"{whose}-{repetition}")
            _wait_for(process.log, "updated")
            at = {line["what"]: line for line in _lines(process.log)}
            values = {
                "listed objects a CPU second": size / (at["listed"]["cpu"] - at["started"]["cpu"]),
                "events a CPU second": size / (at["updated"]["cpu"] - at["listed"]["cpu"]),
            }
            if memory := process.memory():  # not known of one that has ended meanwhile
                values["peak MiB"] = memory
        contestant = "informers" if whose == "ours" else "kubernetes package"
        yield Run("informer alone", contestant, size, repetition, values)


def _touch_all(bed: Bed, namespace: str, text: str) -> None:
    path = objects.collection(namespace, "Secret")
    api = bed.api()
    names = [item["metadata"]["name"] for item in api.call("GET", path)["items"]]
    api.close()

    def touch(to: Connection, name: str) -> None:
        to.call("PATCH", f"{path}/{name}", {"metadata": {"labels": {"seen": text}}}, MERGE_PATCH)

    objects.in_parallel(bed.api, names, touch)


def _lines(log: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in log.read_bytes().splitlines() if line[:1] == b"{"]


def _wait_for(log: Path, what: str) -> None:
    deadline = time.monotonic() + INFORMING_SECONDS
    while all(line["what"] != what for line in _lines(log)):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: see {log}")
        time.sleep(0.05)
