"""`lldap-operator doctor`: looks at everything that the operator needs, and changes nothing."""

import argparse
from collections.abc import Callable, Mapping

from controller.clock import SystemClock
from controller.cluster import ClusterId
from controller.configuration.config import Config, add_flags, load
from controller.configuration.rules import Rules
from controller.doctor.cluster import ClusterChecks
from controller.doctor.findings import Finding, Verdict, note
from controller.doctor.lldap import LldapChecks
from controller.doctor.objects import ObjectChecks
from controller.oneshot import api_server, lldap_server
from informers import RestClient

Say = Callable[[str], None]


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """The flags of the command: the operator's own."""
    add_flags(parser)


def run_doctor(
    arguments: argparse.Namespace,
    environ: Mapping[str, str],
    detected: Mapping[str, str],
    say: Say,
) -> int:
    """Run the command; the exit code: 1 if something is wrong. Raises ConfigError."""
    flags = {name: value for name, value in vars(arguments).items() if name != "command"}
    doctor = Doctor(load(environ, flags, detected), say)
    doctor.run()
    return doctor.conclude()


class Doctor:
    """One look at one configuration. One thread."""

    def __init__(self, config: Config, say: Say) -> None:
        self._config = config
        self._say = say
        self._wrong = 0

    def run(self) -> None:
        """All checks; one that fails leaves out only those that need it. Raises ConfigError."""
        config, clock = self._config, SystemClock()
        if config.lldap_password_hash_key_file is None:
            found = "without it a password's plain hash stands in the status of its object"
            mend = "write 32 random bytes into a file and its path into this variable"
            self._report(note("LLDAP_PASSWORD_HASH_KEY_FILE", found, mend))
        with (
            lldap_server(config, clock) as lldap,
            api_server(config.kubeconfig, config.call_seconds, clock) as rest,
        ):
            checks = LldapChecks(config, lldap, self._report, clock)
            checks.run()
            if ClusterChecks(config, rest, self._report).run():
                rules = Rules.of(config, self._cluster(rest))
                ObjectChecks(rest, rules, self._report).run(checks.mirror)

    def conclude(self) -> int:
        """Say how many checks found something wrong; the exit code."""
        self._say(f"{self._wrong} wrong" if self._wrong else "nothing is wrong")
        return 1 if self._wrong else 0

    def _cluster(self, rest: RestClient) -> str:
        """Its id; if it cannot be read, that was a missing right above, and no mark counts."""
        cluster = ClusterId(self._config.lldap_cluster_id, rest)
        cluster.step()
        return cluster.value or ""

    def _report(self, finding: Finding) -> None:
        self._wrong += finding.verdict is Verdict.WRONG
        self._say(str(finding))
