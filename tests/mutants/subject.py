"""What is mutated, and the mutants that are known to change nothing."""

from pathlib import Path

_CONTROLLER = (
    "attributes attributeschema edge finalizers group groupchange groupdeletion groupfinder "
    "grouppass harness heirs kindcontroller membership owned ownership ownwrites password queues "
    "resync statuswriter user userchange userpass virtualgroups watching wholeseconds worker"
)

EQUIVALENT: dict[tuple[str, str, str, str], str] = {}
"""By file, line, old and new text: why no test can see the difference."""


def files(root: Path) -> list[Path]:
    """Reconcilers and harness, queue, informers, mirror."""
    controller = [root / "controller" / f"{name}.py" for name in _CONTROLLER.split()]
    libraries = [*(root / "workqueue").glob("*.py"), *(root / "informers").glob("*.py")]
    return sorted([*controller, *libraries, root / "lldap" / "mirror.py"])
