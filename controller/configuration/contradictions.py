"""Mistakes that no variable shows by itself: two that contradict each other, a misspelt name."""

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from controller.configuration.values import Address
from controller.configuration.variable import Found
from controller.serving.servertls import server_context

LEASE_MARGIN: Final = 15
"""A leader counts the last 1/LEASE_MARGIN of its lease as over: room for clocks that differ."""

RETRY_FACTOR: Final = 1.2  # client-go's: at least one more try before the renew deadline

# What Kubernetes puts into the environment of a Pod for a Service whose name begins with lldap.
_SERVICE_LINK: Final = re.compile(
    r"_(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
_MISSPELT: Final = 0.9  # difflib's ratio: one letter wrong or left out in a name of ten or more


class Mistake(NamedTuple):
    """One thing to mend: which variable, what is wrong with it and what to write."""

    variable: str
    message: str

    def __str__(self) -> str:
        return f"{self.variable}: {self.message}"


def contradictions(found: Found) -> Iterator[Mistake]:
    """What does not go together among the values that are there."""
    rules: tuple[tuple[tuple[str, ...], Callable[..., Iterator[Mistake]]], ...] = (
        (("lldap_admin_password", "lldap_admin_password_file"), _one_password),
        (("lldap_cluster_id", "lldap_dead_clusters"), _alive_and_dead),
        (("lease_seconds", "renew_seconds"), _renew_before_lease),
        (("renew_seconds", "retry_seconds"), _retry_before_renew),
        (("lease_seconds", "retry_seconds", "call_seconds"), _call_before_lease),
        (("metrics_address", "health_address"), _one_address_each),
        (("metrics_tls_cert_file", "metrics_tls_key_file"), _certificate_and_key),
        (("metrics_tls_cert_file", "metrics_auth"), _tokens_over_tls),
    )
    for fields, rule in rules:
        if all(field in found for field in fields):
            yield from rule(*(found[field] for field in fields))


def _one_password(password: str | None, file: object) -> Iterator[Mistake]:
    if password is None and file is None:
        yield Mistake(
            "LLDAP_ADMIN_PASSWORD_FILE",
            "is not set, nor is LLDAP_ADMIN_PASSWORD. Write the path of a file with the password "
            "of the operator's account in lldap.",
        )
    if password is not None and file is not None:
        yield Mistake(
            "LLDAP_ADMIN_PASSWORD",
            "is set, and so is LLDAP_ADMIN_PASSWORD_FILE. Leave one of the two out.",
        )


def _alive_and_dead(cluster: str | None, dead: tuple[str, ...]) -> Iterator[Mistake]:
    if cluster in dead:
        yield Mistake(
            "LLDAP_DEAD_CLUSTERS",
            f"names this cluster, {cluster}. Leave it out: its objects would lose their accounts.",
        )


def _renew_before_lease(lease: float, renew: float) -> Iterator[Mistake]:
    if renew >= lease:
        yield Mistake(
            "RENEW_SECONDS",
            f"{renew:g} is not below LEASE_SECONDS ({lease:g}), so a leader would go on when "
            f"another may start. Write less than {lease:g}.",
        )


def _retry_before_renew(renew: float, retry: float) -> Iterator[Mistake]:
    if renew <= RETRY_FACTOR * retry:
        yield Mistake(
            "RETRY_SECONDS",
            f"{retry:g} leaves no second try before RENEW_SECONDS ({renew:g}). Write less than "
            f"{renew / RETRY_FACTOR:g}.",
        )


def _call_before_lease(lease: float, retry: float, call: float) -> Iterator[Mistake]:
    exactly = lease - retry - lease / LEASE_MARGIN
    if call <= exactly:
        return
    most = math.floor(exactly * 100) / 100  # what the message says to write must be taken
    if most <= 0:
        yield Mistake(
            "LEASE_SECONDS",
            f"{lease:g} leaves no time for a call between two renewals (RETRY_SECONDS is "
            f"{retry:g}). Write more.",
        )
        return
    yield Mistake(
        "CALL_SECONDS",
        f"{call:g} is more than LEASE_SECONDS - RETRY_SECONDS - LEASE_SECONDS/{LEASE_MARGIN} = "
        f"{most:g}, so a call could outlive the lease. Write at most {most:g}.",
    )


def _one_address_each(metrics: Address | None, health: Address | None) -> Iterator[Mistake]:
    if metrics is None or health is None or metrics.port != health.port or metrics.port == 0:
        return
    if metrics.host == health.host or not (metrics.host and health.host):
        yield Mistake(
            "HEALTH_ADDRESS",
            f"{health} is taken by METRICS_ADDRESS ({metrics}). Write another port.",
        )


def _certificate_and_key(certificate: Path | None, key: Path | None) -> Iterator[Mistake]:
    if (certificate is None) is not (key is None):
        missing = "METRICS_TLS_KEY_FILE" if key is None else "METRICS_TLS_CERT_FILE"
        yield Mistake(missing, "is not set, but the other half of TLS is. Write both or none.")
    elif certificate is not None and key is not None:
        try:
            server_context(certificate, key)
        except OSError:
            yield Mistake(
                "METRICS_TLS_KEY_FILE",
                "is not the key of the certificate in METRICS_TLS_CERT_FILE. Write the two that "
                "belong together, in PEM and without a password.",
            )


def _tokens_over_tls(certificate: Path | None, auth: bool) -> Iterator[Mistake]:
    if auth and certificate is None:
        yield Mistake(
            "METRICS_AUTH",
            "is true without METRICS_TLS_CERT_FILE, so that the scraper's token could be read on "
            "the way. Write a certificate and its key, or false.",
        )


def misspellings(environ: Mapping[str, str], known: Collection[str]) -> Iterator[Mistake]:
    """Names that are nearly one of ours: `LLDAP_ADOPTON=Never`, not seen, would hand out rights."""
    for name in environ:
        if not name.startswith("LLDAP_") or name in known or _SERVICE_LINK.search(name):
            continue
        for meant in difflib.get_close_matches(name, known, n=1, cutoff=_MISSPELT):
            yield Mistake(name, f"is no variable of the operator. Write {meant}, or leave it out.")
