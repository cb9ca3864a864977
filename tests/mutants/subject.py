"""What is mutated, and the mutants that are known to change nothing."""

from pathlib import Path

_PATTERNS = (
    "controller/reconcilers/*.py",
    *(f"controller/harness/{name}.py" for name in ("finalizers", "harness", "kindcontroller")),
    "controller/harness/statuswriter.py",
    *(f"controller/ownership/{name}.py" for name in ("heirs", "owned", "ownership")),
    *(f"controller/watching/{name}.py" for name in ("ownwrites", "queues", "resync", "watching")),
    "controller/watching/worker.py",
    "workqueue/*.py",
    "informers/*.py",
    "lldap/mirror.py",
)

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "controller/reconcilers/group.py",
        "self._instance.drop_group(group.id, this.resource)",
        "self._instance.drop_group(group.id, this.resource)",
        "pass",
    ): "the pass that follows reads the group again before it writes, and drops it then",
    (
        "controller/watching/watching.py",
        'return (metadata.get("generation"), label, "deletionTimestamp" in metadata, *annotations)',
        "in",
        "not in",
    ): "two such tuples are compared with one another, and both are turned round",
    (
        "controller/watching/worker.py",
        "if item is None or is_urgent(item.priority) != is_urgent(priority):",
        "item is None or is_urgent(item.priority) != is_urgent(priority)",
        "True",
    ): "one key of an urgency is ended and another begun: the counts stay what they are",
    (
        "controller/reconcilers/virtualgroups.py",
        "return DeletionPolicy.RETAIN",
        "DeletionPolicy.RETAIN",
        "None",
    ): "nobody asks: a virtual object has no finalizer, and its going undoes nothing",
    (
        "workqueue/queue.py",
        "self._getters += 1",
        "1",
        "2",
    ): "more getters than there are let a condition be notified on which nobody waits",
    (
        "informers/reflector.py",
        "self._watching = _Watching(0.0, 0)",
        "0",
        "1",
    ): "stands there until the first watch is opened, and nobody looks at it",
    (
        "informers/exchange.py",
        "if end < 0 or status is None or int(status[1]) in _WITHOUT_BODY:",
        "0",
        "1",
    ): "what begins with the end of a head has no line of a status, and is left for that",
    (
        "lldap/mirror.py",
        "if number > self._shown:  # else a read that began later is shown already",
        ">",
        ">=",
    ): "each read has a number of its own, and is taken over once",
}
"""By file, line, old and new text: why no test can see the difference."""


def files(root: Path) -> list[Path]:
    """Reconcilers and harness, queue, informers, mirror."""
    return sorted({file for pattern in _PATTERNS for file in root.glob(pattern)})
