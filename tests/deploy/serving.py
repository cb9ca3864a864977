"""An operator at work for an lldap of its own, as an account of a real API server."""

from contextlib import ExitStack
from pathlib import Path

from sandbox.controlplane import User
from tests.support.cluster import Cluster
from tests.support.live import LiveLldap, Replica, new_lldap, running

HOME = "lldap-operator"


def serve(
    stack: ExitStack, cluster: Cluster, account: User, folder: Path, **environ: str
) -> tuple[Replica, LiveLldap]:
    """It ends with the stack. `environ` goes before what is set here."""
    lldap = new_lldap()
    url = stack.enter_context(lldap.door())
    whole = {"KUBECONFIG": str(cluster.write_kubeconfig(account)), "LLDAP_URL": url, **environ}
    namespace = whole.setdefault("POD_NAMESPACE", HOME)
    cluster.released_lease(namespace, f"lldap-operator-{whole.get('LLDAP_INSTANCE', 'default')}")
    replica = Replica("operator", folder, whole)
    stack.enter_context(running(replica))
    return replica, lldap
