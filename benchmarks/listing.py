"""Reads and parses what a starting operator has to read, and nothing else; prints the seconds."""

import sys
import time
from pathlib import Path

import orjson

from benchmarks.bare import Connection, LldapConnection
from benchmarks.job import Job
from benchmarks.objects import FINALIZERS, collection

DIRECTORY = (
    "{ users { id email displayName firstName lastName uuid creationDate "
    "attributes { name value } groups { id } } "
    "groups { id displayName uuid creationDate attributes { name value } } }"
)


def main(job: Job) -> None:
    """Each list once, one after the other."""
    began = time.monotonic()
    api = Connection(job.api, ca=job.ca, token=job.token)
    for kind in (*FINALIZERS, "Secret"):
        api.call("GET", collection(job.namespace, kind))
    listed = time.monotonic()
    LldapConnection(job.lldap, job.lldap_password).graphql(DIRECTORY)
    seconds = {"API server s": listed - began, "lldap s": time.monotonic() - listed}
    print(orjson.dumps(seconds | {"CPU s": time.process_time()}).decode())


if __name__ == "__main__":
    main(Job.read(Path(sys.argv[1])))
