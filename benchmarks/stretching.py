"""Only the key stretching that a new password needs, one thread a core; then says it is done.

The objects' status is written as it ends, so that it is seen as the operator's is.
"""

import os
import sys
import threading
from pathlib import Path

from benchmarks.bare import Connection, LldapConnection
from benchmarks.floor import Shared, Worker
from benchmarks.job import Job
from benchmarks.objects import Object, collection
from lldap.opaque import Argon2


def main(job: Job) -> None:
    """Stretch once an object."""
    cores = os.cpu_count() or 1
    stretch = Argon2(cores)
    api = Connection(job.api, ca=job.ca, token=job.token)
    todo: list[Object] = api.call("GET", collection(job.namespace, "LldapUser"))["items"]
    lldap = LldapConnection(job.lldap, job.lldap_password)
    shared = Shared(lldap)

    def work(part: list[Object]) -> None:
        worker = Worker(job, lldap.token, shared)
        for obj in part:
            stretch(os.urandom(64))
            worker.say_ready(obj)

    parts = [todo[number::cores] for number in range(cores)]
    threads = [threading.Thread(target=work, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(Job.read(Path(sys.argv[1])))
