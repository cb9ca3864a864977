"""What the operator can be told: every variable once, as data, and the frozen object made of them.

Each is given by environment variable or by the flag of the same name (`LLDAP_URL`, `--lldap-url`);
the flag wins; an empty text is as good as none. Mistakes are reported all at once.
"""

import argparse
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from controller.configuration import values
from controller.configuration.contradictions import Mistake, contradictions, misspellings
from controller.configuration.values import Address, Adoption, LogFormat, LogLevel
from controller.configuration.variable import Variable, variables_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The configuration of one operator, valid as a whole. No secret is in its repr."""

    lldap_url: Annotated[
        str,
        Variable(values.url, "Base URL of lldap; a path below the host is allowed.", required=True),
    ]
    lldap_admin_username: Annotated[
        str,
        Variable(
            values.text_value,
            "The operator's account in lldap, a member of `lldap_admin`.",
            default="admin",
        ),
    ]
    lldap_admin_password: Annotated[
        str | None,
        Variable(
            values.password,
            "Its password. By environment only: everybody on the host can read a command line.",
            shown="this or the next is required",
            secret=True,
        ),
    ] = field(repr=False)
    lldap_admin_password_file: Annotated[
        Path | None,
        Variable(
            values.password_file,
            "A file with its password, read again at each login; one line end at the end of the "
            "file is not part of it.",
            shown="this or the one before is required",
        ),
    ]
    lldap_ca_file: Annotated[
        Path | None,
        Variable(
            values.ca_file,
            "Certificates in PEM of who may have signed lldap's certificate.",
            shown="the system's",
        ),
    ]
    lldap_instance: Annotated[
        str,
        Variable(
            values.instance,
            "Value of the instance label that this operator serves.",
            default="default",
        ),
    ]
    watch_namespaces: Annotated[
        tuple[str, ...],
        Variable(
            values.namespaces,
            "Namespaces to look at, with commas between them.",
            default="",
            shown="all",
        ),
    ]
    pod_namespace: Annotated[
        str,
        Variable(
            values.namespace,
            "The operator's own namespace.",
            shown="that of the service account, else `default`",
        ),
    ]
    pod_name: Annotated[
        str,
        Variable(
            values.text_value,
            "The operator's name in events and in the Lease.",
            shown="the host's name",
        ),
    ]
    lldap_virtual_group_namespace: Annotated[
        str,
        Variable(
            values.namespace,
            "Where the objects of lldap's built-in groups live.",
            default="{pod_namespace}",
            shown="POD_NAMESPACE",
        ),
    ]
    lldap_cluster_id: Annotated[
        str | None,
        Variable(
            values.cluster,
            "The name of this cluster in the marks on accounts; required where the namespace "
            "kube-system cannot be read.",
            shown="the uid of kube-system",
        ),
    ]
    lldap_dead_clusters: Annotated[
        tuple[str, ...],
        Variable(
            values.clusters,
            "Clusters that are gone, with commas between them: their marks count as dead.",
            default="",
            shown="none",
        ),
    ]
    lldap_adoption: Annotated[
        Adoption,
        Variable(
            values.choice(Adoption),
            "Whether to take over accounts that nobody holds: `Always`, `IfUnprivileged`, `Never`.",
            default=Adoption.IF_UNPRIVILEGED.value,
        ),
    ]
    lldap_allow_unmanaged_references: Annotated[
        bool,
        Variable(
            values.boolean,
            "Whether a membership may name users and groups that no object manages.",
            default="false",
        ),
    ]
    lldap_require_attribute_schema: Annotated[
        bool,
        Variable(
            values.boolean,
            "Whether a custom attribute needs an LldapAttributeSchema.",
            default="true",
        ),
    ]
    lldap_password_hash_key_file: Annotated[
        Path | None,
        Variable(
            values.hash_key_file,
            "A file of 32 random bytes or more that key the password hashes and seals in status.",
        ),
    ]
    lldap_max_deletions_per_minute: Annotated[
        int,
        Variable(
            values.whole(0, 1_000_000),
            "More deletions of users, groups and attributes wait their turn; 0 is no limit.",
            default="60",
        ),
    ]
    resync_seconds: Annotated[
        float,
        Variable(
            values.seconds,
            "How often everything is listed anew and compared with lldap, in seconds; 0 is never.",
            default="600",
        ),
    ]
    workers: Annotated[int, Variable(values.whole(1, 1000), "Worker threads in all.", default="16")]
    leader_elect: Annotated[
        bool,
        Variable(
            values.boolean,
            "Whether a replica works only while it holds the Lease.",
            shown="true in a cluster, else false",
        ),
    ]
    lease_name: Annotated[
        str,
        Variable(
            values.object_name,
            "Name of the Lease.",
            default="lldap-operator-{lldap_instance}",
            shown="lldap-operator-INSTANCE",
        ),
    ]
    lease_namespace: Annotated[
        str,
        Variable(
            values.namespace,
            "Namespace of the Lease.",
            default="{pod_namespace}",
            shown="POD_NAMESPACE",
        ),
    ]
    lease_seconds: Annotated[
        int,
        Variable(
            values.whole(1, 86_400),
            "How long a Lease holds that is not renewed, in whole seconds.",
            default="15",
        ),
    ]
    renew_seconds: Annotated[
        float,
        Variable(
            values.positive_seconds,
            "A leader that could not renew for so long gives up; below LEASE_SECONDS.",
            default="10",
        ),
    ]
    retry_seconds: Annotated[
        float,
        Variable(
            values.positive_seconds,
            "Pause between two tries for the Lease; 1.2 times this is below RENEW_SECONDS.",
            default="2",
        ),
    ]
    call_seconds: Annotated[
        float,
        Variable(
            values.positive_seconds,
            "Deadline of one call to lldap or the API server; at most LEASE_SECONDS - "
            "RETRY_SECONDS - LEASE_SECONDS/15.",
            default="8",
        ),
    ]
    metrics_address: Annotated[
        Address | None,
        Variable(values.address, "Where `/metrics` is served; 0 is nowhere.", default=":8080"),
    ]
    metrics_tls_cert_file: Annotated[
        Path | None,
        Variable(
            values.certificate_file,
            "A certificate chain in PEM: `/metrics` is served over TLS with it, a new one as soon "
            "as the file changes.",
            shown="plain HTTP",
        ),
    ]
    metrics_tls_key_file: Annotated[
        Path | None, Variable(values.readable_file, "The private key of that certificate, in PEM.")
    ]
    metrics_auth: Annotated[
        bool,
        Variable(
            values.boolean,
            "Whether `/metrics` is only for tokens of accounts that may `get` that path; needs "
            "TLS.",
            default="false",
        ),
    ]
    health_address: Annotated[
        Address | None,
        Variable(
            values.address,
            "Where `/healthz` and `/readyz` are served; 0 is nowhere.",
            default=":8081",
        ),
    ]
    log_level: Annotated[
        LogLevel,
        Variable(values.choice(LogLevel), "`debug`, `info`, `warning` or `error`.", default="info"),
    ]
    log_format: Annotated[
        LogFormat,
        Variable(
            values.choice(LogFormat),
            "`text` or `json`.",
            shown="text on a terminal, else json",
        ),
    ]
    kubeconfig: Annotated[
        str | None,
        Variable(
            values.text_value,
            "How to reach the API server from outside of the cluster.",
            shown="in the cluster its service account, else the user's file",
        ),
    ]


_VARIABLES: Final = tuple(variables_of(Config))


class ConfigError(Exception):
    """The configuration cannot be used. Names every mistake; quotes no secret. Exit code 2."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        self.mistakes = mistakes
        lines = "\n".join(f"  {mistake}" for mistake in mistakes)
        super().__init__(f"The configuration has mistakes:\n{lines}")


class ConfigurationRow(NamedTuple):
    """One row of the reference table in the docs."""

    variable: str
    flag: str
    default: str
    meaning: str


def configuration_table() -> tuple[ConfigurationRow, ...]:
    """All variables, for the docs, in the order in which people need them."""
    return tuple(
        ConfigurationRow(
            name.upper(),
            "" if variable.secret else _flag(name),
            variable.shown_default,
            variable.meaning,
        )
        for name, variable in _VARIABLES
    )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give `parser` a flag for each variable. Make it with allow_abbrev=False."""
    for name, variable in _VARIABLES:
        # The flag of a secret is taken only to be refused: argparse would quote an unknown one.
        meaning = argparse.SUPPRESS if variable.secret else variable.meaning.replace("%", "%%")
        parser.add_argument(_flag(name), dest=name, metavar="VALUE", help=meaning)


def load(
    environ: Mapping[str, str], flags: Mapping[str, str | None], detected: Mapping[str, str]
) -> Config:
    """The configuration, from the environment and, by field, from flags and what was detected.

    Raises ConfigError with every mistake in it. Reads the files that are named.
    """
    texts = {**detected, **dict(_given(environ, flags))}
    found: dict[str, Any] = {}
    mistakes = [
        *_refused_flags(flags),
        *_parse(texts, found),
        *contradictions(found),
        *misspellings(environ, [name.upper() for name, _ in _VARIABLES]),
    ]
    if mistakes:
        raise ConfigError(tuple(mistakes))
    return Config(**found)


def load_some(
    fields: Collection[str],
    environ: Mapping[str, str],
    flags: Mapping[str, str | None],
    detected: Mapping[str, str],
) -> Mapping[str, Any]:
    """The values of some variables by field, for a command that looks at no others.

    Raises ConfigError with every mistake in them.
    """
    texts = {**detected, **dict(_given(environ, flags))}
    found: dict[str, Any] = {}
    mistakes = tuple(_parse(texts, found, fields))
    if mistakes:
        raise ConfigError(mistakes)
    return found


def _given(
    environ: Mapping[str, str], flags: Mapping[str, str | None]
) -> Iterator[tuple[str, str]]:
    for name, _ in _VARIABLES:
        flag = flags.get(name)
        text = environ.get(name.upper(), "") if flag is None else flag
        if text:
            yield name, text


def _refused_flags(flags: Mapping[str, str | None]) -> Iterator[Mistake]:
    for name, variable in _VARIABLES:
        if variable.secret and flags.get(name) is not None:
            yield Mistake(
                name.upper(),
                "is a flag here, and everybody on the host can read a command line. Write it into "
                f"a file and the file's path into {name.upper()}_FILE.",
            )


def _parse(
    texts: Mapping[str, str], found: dict[str, Any], fields: Collection[str] | None = None
) -> Iterator[Mistake]:
    for name, variable in _VARIABLES:
        if fields is not None and name not in fields:
            continue
        try:
            found[name] = variable.value(texts.get(name, ""), found)
        except ValueError as error:
            yield Mistake(name.upper(), str(error))
        except KeyError:  # its default depends on a value that is a mistake: one report is enough
            continue
