"""One informer alone in a process: this project's or the kubernetes package's own. On Secrets.

It prints a line when it has the whole list, and one when every object was updated once.
"""

import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import orjson
from kubernetes import client
from kubernetes.informer import MODIFIED
from kubernetes.informer import SharedInformer as KubernetesInformer

from benchmarks.job import Job
from benchmarks.objects import collection
from controller.clock import SystemClock
from informers import ApiClientTransport, ListWatch, RestClient, SharedInformer


def tell(what: str) -> None:
    """A line for who measures."""
    usage = {"what": what, "time": time.monotonic(), "cpu": time.process_time()}
    print(orjson.dumps(usage).decode(), flush=True)


class Counter:
    """Handler that counts the updates. One thread."""

    def __init__(self, expected: int) -> None:
        self.updates = 0
        self.expected = expected
        self.all = threading.Event()

    def on_add(self, obj: object, initial: bool) -> None:
        """See informers.Handler."""

    def on_update(self, old: object, new: object) -> None:
        """See informers.Handler."""
        del old, new
        self.updates += 1
        if self.updates >= self.expected:
            self.all.set()

    def on_delete(self, obj: object, final_state_unknown: bool) -> None:
        """See informers.Handler."""


def api_client(job: Job) -> client.ApiClient:
    """The kubernetes package's client."""
    configuration = client.Configuration()
    configuration.host = job.api
    configuration.ssl_ca_cert = job.ca
    configuration.api_key = {"authorization": f"Bearer {job.token}"}
    configuration.proxy = None
    return client.ApiClient(configuration)


def ours(job: Job, expected: int, counter: Counter) -> None:
    """This project's."""
    rest = RestClient(ApiClientTransport(api_client(job), user_agent="benchmark"), call_seconds=60)
    source = ListWatch(rest, collection(job.namespace, "Secret"))
    rng = random.Random(1)
    informer = SharedInformer(source, clock=SystemClock(), random=rng, name="secrets")
    registration = informer.add_handler(counter)
    for step in (informer.reflectors[0].step, registration.step):
        threading.Thread(target=_loop, args=(step,), daemon=True).start()
    while not registration.has_synced():
        time.sleep(0.005)
    assert len(informer.lister.list()) == expected


def _loop(step: Callable[[], float]) -> None:
    while True:
        time.sleep(min(step(), 0.005))


def kubernetes(job: Job, expected: int, counter: Counter) -> None:
    """The kubernetes package's."""
    api = client.CoreV1Api(api_client(job))
    informer = KubernetesInformer(api.list_namespaced_secret, namespace=job.namespace)
    informer.add_event_handler(MODIFIED, lambda obj: counter.on_update(None, obj))
    informer.start()
    while len(informer.cache.list_keys()) < expected:
        time.sleep(0.005)


def main(whose: str, job: Job, expected: int) -> None:
    """Have everything, then see every object updated."""
    counter = Counter(expected)
    tell("started")
    {"ours": ours, "kubernetes": kubernetes}[whose](job, expected, counter)
    tell("listed")
    counter.all.wait()
    tell("updated")


if __name__ == "__main__":
    main(sys.argv[1], Job.read(Path(sys.argv[2])), int(sys.argv[3]))
