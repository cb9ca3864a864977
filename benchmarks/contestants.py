"""Who is measured: the operator, the floor in two languages, a kopf operator."""

import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from benchmarks.bed import ROOT, THREADS, Bed
from benchmarks.objects import CLUSTER
from benchmarks.process import Process

Start = Callable[[Bed, str, str], Process]
"""Takes the bed, the namespace and the work."""

METRICS_PORT = 20500
IMAGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Of the environment that the image sets, what has to do with speed."""

_NOTHING: Mapping[str, str] = MappingProxyType({})
_SERIES = re.compile(r"^(\w+)(\{[^}]*\})? (\S+)$", re.MULTILINE)


def operator(bed: Bed, namespace: str, _work: str, options: Sequence[str] = ()) -> Process:
    """The product, as it is shipped but for leader election and limits on deletions."""
    command = [
        sys.executable,
        "-m",
        "controller",
        "run",
        f"--lldap-url={bed.lldap}",
        f"--kubeconfig={bed.plane.write_kubeconfig(bed.plane.operator)}",
        f"--metrics-address=127.0.0.1:{METRICS_PORT}",
        "--health-address=0",
        "--pod-namespace=lldap-operator",
        f"--watch-namespaces={namespace},lldap-operator",
        "--lldap-allow-unmanaged-references=true",
        "--lldap-max-deletions-per-minute=0",
        f"--lldap-cluster-id={CLUSTER}",
        "--leader-elect=false",
        f"--workers={THREADS}",
        *options,
    ]
    environment = {"LLDAP_ADMIN_PASSWORD": bed.password, "PYTHONPATH": str(ROOT), **IMAGE}
    return Process(command, bed.log("operator"), environment)


def _module(
    bed: Bed, name: str, *arguments: str, environment: Mapping[str, str] = _NOTHING
) -> Process:
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    return Process(command, bed.log(name), {"PYTHONPATH": str(ROOT), **environment})


def floor(bed: Bed, namespace: str, work: str) -> Process:
    """Bare Python threads."""
    return _module(bed, "floor", str(bed.job(work, namespace)))


def argon2(bed: Bed, namespace: str, work: str) -> Process:
    """Only the key stretching of passwords, on all cores."""
    return _module(bed, "stretching", str(bed.job(work, namespace)))


def argon2_as_in_the_image(bed: Bed, namespace: str, work: str) -> Process:
    """The same with the operator's environment."""
    return _module(bed, "stretching", str(bed.job(work, namespace)), environment=IMAGE)


def listing(bed: Bed, namespace: str, work: str) -> Process:
    """Only reading and parsing what a start reads."""
    return _module(bed, "listing", str(bed.job(work, namespace)))


def informing(bed: Bed, namespace: str, whose: str, size: int) -> Process:
    """One informer, `ours` or `kubernetes`."""
    return _module(bed, "informing", whose, str(bed.job("inform", namespace)), str(size))


def go_floor(bed: Bed, namespace: str, work: str) -> Process:
    """Bare Go routines."""
    return Process([str(built_go_floor(bed.folder)), str(bed.job(work, namespace))], bed.log("go"))


def kopf(bed: Bed, namespace: str, work: str) -> Process:
    """A kopf operator that does the same job."""
    environment = {
        "PYTHONPATH": str(ROOT),
        # It lists namespaces and CRDs, which the operator has no right to.
        "KUBECONFIG": str(bed.plane.write_kubeconfig(bed.plane.admin)),
        "BENCH_JOB": str(bed.job(work, namespace)),
    }
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", namespace]
    command += ["--module", "benchmarks.kopf_operator"]
    return Process(command, bed.log("kopf"), environment)


def built_go_floor(folder: Path) -> Path:
    """The Go program, built once a run."""
    program = folder / "floor-go"
    if not program.exists():
        go = shutil.which("go")
        assert go is not None
        source = ROOT / "benchmarks" / "floor-go"
        subprocess.run([go, "build", "-o", str(program), "."], cwd=source, check=True)
    return program


def metrics() -> dict[str, float]:
    """The operator's own numbers: series to value."""
    with urllib.request.urlopen(f"http://127.0.0.1:{METRICS_PORT}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return {f"{name}{labels}": float(value) for name, labels, value in _SERIES.findall(text)}


def total(found: dict[str, float], name: str, *but: str) -> int:
    """The sum of a family's series, without those that hold one of `but`."""
    return int(
        sum(
            value
            for series, value in found.items()
            if series.startswith(f"{name}{{") and not any(word in series for word in but)
        )
    )
