"""The checks of `lldap-operator doctor` on the way to lldap, step by step."""

import datetime
import socket
import ssl
from urllib.parse import urlsplit

from controller.api import MARK_ATTRIBUTE
from controller.configuration.config import Config
from controller.doctor.findings import Report, note, ok, wrong
from controller.harness.explain import explain_probe
from controller.oneshot import Lldap, opaque_clients
from controller.ownership.mark import owner_uid
from controller.ownership.markattribute import SHAPE
from lldap import Client, LldapError, Mirror, Target
from lldap.clock import Clock
from lldap.names import BUILT_IN_GROUPS, LLDAP_ADMIN, user_key
from lldap.opaque import InvalidMessage
from lldap.passwords import PasswordExchange, ServerVersion

CONNECT_SECONDS = 5.0
MAX_BYTES = 1024 * 1024
SOON = datetime.timedelta(days=14)


class LldapChecks:
    """Each needs the one before it: the first that fails is the last. One thread.

    `mirror` has what lldap holds, once `run` has come so far.
    """

    def __init__(self, config: Config, lldap: Lldap, report: Report, clock: Clock) -> None:
        self._config = config
        self._lldap = lldap
        self._client = Client(lldap.session)
        self._report = report
        self.mirror = Mirror(user_key(config.lldap_admin_username), owner_uid, clock=clock)

    def run(self) -> None:
        """All of them."""
        steps = (self._address, self._answer, self._login, self._rights, self._read)
        if all(step() for step in steps):
            self._passwords()
            self._mark()
            self._built_in_groups()

    # --- the way there ---------------------------------------------------------------------

    def _address(self) -> bool:
        url = urlsplit(self._config.lldap_url)
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        try:
            connection = socket.create_connection((host, port), CONNECT_SECONDS)
        except socket.gaierror:
            self._report(
                wrong(
                    "LLDAP_URL",
                    f"no address is known for {host}",
                    "correct the name; in a cluster it is SERVICE.NAMESPACE.svc",
                )
            )
            return False
        except OSError as error:
            mend = "check that lldap runs there, its Service, and network policies"
            self._report(wrong("LLDAP_URL", f"{host}:{port} {_why(error)}", mend))
            return False
        with connection:
            self._report(ok("LLDAP_URL", f"{host}:{port} takes connections"))
            return url.scheme != "https" or self._tls(connection, host)

    def _tls(self, connection: socket.socket, host: str) -> bool:
        context = ssl.create_default_context(cafile=self._config.lldap_ca_file)
        try:
            with context.wrap_socket(connection, server_hostname=host) as encrypted:
                certificate = encrypted.getpeercert() or {}
        except ssl.SSLCertVerificationError as error:
            mend = (
                "put the CA that signed it into LLDAP_CA_FILE, or give lldap a certificate "
                "for that name that is not over"
            )
            self._report(wrong("TLS", f"{host}: {error.verify_message}", mend))
            return False
        except OSError as error:
            mend = "check that this port speaks TLS: LLDAP_URL may have to begin with http://"
            self._report(wrong("TLS", f"{host}: {_why(error)}", mend))
            return False
        self._certificate(str(certificate.get("notAfter", "")))
        return True

    def _certificate(self, until: str) -> None:
        end = datetime.datetime.fromtimestamp(ssl.cert_time_to_seconds(until), datetime.UTC)
        if end - datetime.datetime.now(datetime.UTC) < SOON:
            self._report(note("TLS", f"lldap's certificate ends on {end:%Y-%m-%d}", "renew it"))
        else:
            self._report(ok("TLS", f"lldap's certificate is trusted and ends on {end:%Y-%m-%d}"))

    def _answer(self) -> bool:
        try:
            answer = self._lldap.transport.send(
                "GET",
                "/health",
                headers={},
                body=None,
                timeout=CONNECT_SECONDS,
                max_bytes=MAX_BYTES,
            )
        except LldapError as error:
            self._report(wrong("LLDAP_URL", explain_probe(error).message, "look at lldap's log"))
            return False
        if answer.status != 200:
            found = f"{self._config.lldap_url}/health answers {answer.status}"
            mend = "this is no lldap, or its path is not that of LLDAP_URL"
            self._report(wrong("LLDAP_URL", found, mend))
            return False
        return True

    # --- the account -----------------------------------------------------------------------

    def _login(self) -> bool:
        name = self._config.lldap_admin_username
        try:
            self._lldap.session.renew()
        except Exception as error:  # noqa: BLE001 - the password's file is among the reasons
            mend = "make the Secret and lldap agree; no restart is needed"
            self._report(wrong("login", explain_probe(error).message, mend))
            return False
        self._report(ok("login", f"{name} can log in"))
        return True

    def _rights(self) -> bool:
        try:
            groups = self._client.own_groups().values()
        except LldapError as error:
            self._report(wrong("rights", explain_probe(error).message, "look at lldap's log"))
            return False
        if LLDAP_ADMIN not in groups:
            name = self._config.lldap_admin_username
            self._report(
                wrong(
                    "rights", f"{name} is not in {LLDAP_ADMIN}", f"put it there in lldap ({name})"
                )
            )
            return False
        self._report(ok("rights", f"the account is in {LLDAP_ADMIN}"))
        return True

    def _read(self) -> bool:
        try:
            self.mirror.refresh(self._client)
        except LldapError as error:
            mend = "use lldap 0.6"
            self._report(wrong("lldap", explain_probe(error).message, mend))
            return False
        users, groups = len(self.mirror.users()), len(self.mirror.groups())
        self._report(ok("lldap", f"{users} users and {groups} groups can be read"))
        return True

    # --- what it brings --------------------------------------------------------------------

    def _passwords(self) -> None:
        session, own = self._lldap.session, self._lldap.own
        exchange = PasswordExchange(session, opaque_clients())
        try:
            version = ServerVersion(session, own, exchange).current()
        except (LldapError, InvalidMessage) as error:
            mend = "use releases of lldap and of the operator that know each other"
            self._report(wrong("passwords", explain_probe(error).message, mend))
            return
        self._report(ok("passwords", f"lldap speaks OPAQUE {version.value}"))

    def _mark(self) -> None:
        shapes = {target: self.mirror.attribute(target, MARK_ATTRIBUTE) for target in Target}
        other = [
            target.name.lower() for target, shape in shapes.items() if shape not in {None, SHAPE}
        ]
        if other:
            found = f"{MARK_ATTRIBUTE} of {' and '.join(other)} is not what the operator makes"
            self._report(wrong("mark", found, "delete that attribute in lldap; it is made anew"))
        elif None in shapes.values():
            self._report(note("mark", f"{MARK_ATTRIBUTE} is added before the first write"))
        else:
            self._report(ok("mark", f"{MARK_ATTRIBUTE} is there"))

    def _built_in_groups(self) -> None:
        missing = [name for name in sorted(BUILT_IN_GROUPS) if not self.mirror.group_by_name(name)]
        if missing:
            found = f"lldap has no group {', '.join(missing)}"
            mend = "restart lldap, which makes it; a renamed one gets its name back by hand"
            self._report(wrong("built-in groups", found, mend))


def _why(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"does not answer within {CONNECT_SECONDS:g} s"
    return f"cannot be talked to ({error.strerror or type(error).__name__})"
