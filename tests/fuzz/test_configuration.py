"""Whatever stands in the environment and in its files: a configuration, or a list of mistakes."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from controller.configuration.config import Config, ConfigError, configuration_table, load

CANARY = "S3cr3t-CANARY"
NAMES = [row.variable for row in configuration_table()]
# The environment holds no NUL, and what is no UTF-8 comes as lone surrogates.
TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=40)
NEAR = st.sampled_from(
    [
        "http://[::1", "http://a:b@c", "https://lldap:0", "http://\u0130.example", "1e309", "nan",
        "-0", "\u0663", "+7", "0x10", "10 000", "true ", "TRUE", "a,,b", ",", "*", "0", "[::]:443",
        ":99999", ":8443", "/", "/dev/null", "/proc/self/mem", ".", "\ud800", "A" * 300,
    ]
)  # fmt: skip
VALUES = st.one_of(TEXTS, NEAR)


DETECTED = {"pod_namespace": "lldap-system", "pod_name": "operator-0"}


def mistakes(environ: dict[str, str], flags: dict[str, str | None]) -> str:
    """What is told of them; empty for a configuration. Any other error ends the test."""
    try:
        config = load({"LLDAP_URL": "http://lldap", **environ}, flags, DETECTED)
    except ConfigError as error:
        named = {mistake[0] for mistake in error.mistakes}
        return str(error) if named and named <= set(NAMES) else f"{CANARY}: {named}"
    return "" if isinstance(config, Config) else CANARY


@given(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8))
def test_any_environment(found: dict[str, str]) -> None:
    assert CANARY not in mistakes({"LLDAP_ADMIN_PASSWORD": CANARY, **found}, {})


FILES = sorted(name for name in NAMES if name.endswith("_FILE"))


@given(st.sampled_from(FILES), st.binary(max_size=80))
def test_any_content_of_a_file(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(CANARY.encode() + content)
        beside = {} if name == "LLDAP_ADMIN_PASSWORD_FILE" else {"LLDAP_ADMIN_PASSWORD": "x" * 8}
        assert CANARY not in mistakes({name: str(path), **beside}, {})


@given(st.dictionaries(st.sampled_from([name.lower() for name in NAMES]), VALUES, max_size=5))
def test_any_flags(flags: dict[str, str | None]) -> None:
    assert CANARY not in mistakes({"LLDAP_ADMIN_PASSWORD": CANARY}, flags)
