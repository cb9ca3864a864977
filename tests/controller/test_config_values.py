"""Which texts are taken, and which are refused."""

import datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from controller.configuration import values
from controller.configuration.config import ConfigError, load
from controller.election.leadership import Times
from tests.controller.test_config import DETECTED, SECRET, made, mistakes


@pytest.mark.parametrize(
    "url",
    [
        "lldap:17170",
        "ldap://lldap",
        "http://",
        "http://lldap:port",
        "http://lldap:99999",
        "http://lldap/?a=b",
        "http://lldap/?",
        "http://lldap/#x",
        "http://lldap /",
        "http://lldap\n/",
        "http://[::1",
    ],
)
def test_urls_that_are_refused(url: str) -> None:
    assert list(mistakes(LLDAP_URL=url)) == ["LLDAP_URL"]


@pytest.mark.parametrize(
    ("url", "used"),
    [
        ("http://lldap:17170", "http://lldap:17170"),
        ("HTTPS://lldap", "HTTPS://lldap"),
        ("https://ldap.example.com/lldap/", "https://ldap.example.com/lldap"),
        ("http://[::1]:17170/", "http://[::1]:17170"),
    ],
)
def test_urls_that_are_taken(url: str, used: str) -> None:
    assert made(LLDAP_URL=url).lldap_url == used


@pytest.mark.parametrize("url", [f"http://admin:{SECRET}@lldap", f"http://{SECRET}@lldap/?x"])
def test_B14_a_password_in_the_url_is_refused_without_quoting_it(url: str) -> None:
    assert "user name or password" in mistakes(LLDAP_URL=url)["LLDAP_URL"]


@pytest.mark.parametrize(
    "name", ["LLDAP_ADMIN_PASSWORD_FILE", "LLDAP_PASSWORD_HASH_KEY_FILE", "LLDAP_CA_FILE"]
)
@pytest.mark.parametrize("path", [SECRET, SECRET + "\0"])
def test_B14_a_secret_in_the_place_of_its_files_path_is_not_quoted(name: str, path: str) -> None:
    environ = {"LLDAP_URL": "http://lldap", name: path}
    with pytest.raises(ConfigError) as caught:
        load(environ, {}, DETECTED)

    assert SECRET not in str(caught.value)
    assert f"{name}: the file that it names cannot be read" in str(caught.value)


def test_the_password_is_the_file_but_for_one_line_end(tmp_path: Path) -> None:
    file = tmp_path / "password"
    for content, password in {
        b"secret": "secret",
        b"secret\n": "secret",
        b"secret\r\n": "secret",
        b"secret\n\n": "secret\n",
        b" sec ret ": " sec ret ",
        "pässword\n".encode(): "pässword",
    }.items():
        file.write_bytes(content)
        assert values.read_password(file) == password
    for content in (b"", b"\n", b"\r\n", b"\xff\xfe"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"Write the password"):
            values.read_password(file)


def test_a_hash_key_has_at_least_32_bytes_and_all_count(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"\n" * 31)
    found = mistakes(LLDAP_PASSWORD_HASH_KEY_FILE=str(file))
    assert "31 bytes" in found["LLDAP_PASSWORD_HASH_KEY_FILE"]

    file.write_bytes(b"\xff" * 31 + b"\n")
    path = made(LLDAP_PASSWORD_HASH_KEY_FILE=str(file)).lldap_password_hash_key_file
    assert path is not None
    assert values.read_hash_key(path) == b"\xff" * 31 + b"\n"


def test_a_ca_file_holds_certificates(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    assert "PEM" in mistakes(LLDAP_CA_FILE=str(file))["LLDAP_CA_FILE"]

    file.write_bytes(_certificate())
    assert made(LLDAP_CA_FILE=str(file)).lldap_ca_file == file


def _certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    began = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(began)
        .not_valid_after(began + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def test_a_password_that_is_not_utf_8_is_refused() -> None:
    found = mistakes(LLDAP_ADMIN_PASSWORD="\udcff")
    assert "UTF-8" in found["LLDAP_ADMIN_PASSWORD"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("LLDAP_INSTANCE", "a" * 41),
        ("LLDAP_INSTANCE", "-a"),
        ("LLDAP_INSTANCE", "a."),
        ("LLDAP_INSTANCE", "a\n"),
        ("WATCH_NAMESPACES", "team_a"),
        ("WATCH_NAMESPACES", ","),
        ("WATCH_NAMESPACES", "a" * 64),
        ("POD_NAMESPACE", "a.b"),
        ("POD_NAME", "a\tb"),
        ("LEASE_NAME", "A"),
        ("LEASE_NAME", "a..b"),
        ("LLDAP_CLUSTER_ID", "two words"),
        ("LLDAP_CLUSTER_ID", "c" * 47),
        ("LLDAP_DEAD_CLUSTERS", "a/b"),
        ("LLDAP_ALLOW_UNMANAGED_REFERENCES", "yes"),
        ("LEADER_ELECT", "1"),
        ("LLDAP_MAX_DELETIONS_PER_MINUTE", "-1"),
        ("LLDAP_MAX_DELETIONS_PER_MINUTE", "1.5"),
        ("RESYNC_SECONDS", "10m"),
        ("RESYNC_SECONDS", "nan"),
        ("RESYNC_SECONDS", "1e3"),
        ("RESYNC_SECONDS", "\u0661\u0660"),
        ("WORKERS", "1001"),
        ("WORKERS", " 4"),
        ("LEASE_SECONDS", "15.5"),
        ("RETRY_SECONDS", "0"),
        ("METRICS_ADDRESS", "8080"),
        ("METRICS_ADDRESS", ":"),
        ("METRICS_ADDRESS", ":65536"),
        ("METRICS_ADDRESS", "::1:8080"),
        ("METRICS_ADDRESS", "http://x:80"),
        ("LOG_LEVEL", "DEBUG"),
        ("LOG_FORMAT", "xml"),
    ],
)
def test_values_that_are_refused(name: str, text: str) -> None:
    assert name in mistakes(**{name: text})


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        (":8080", ("", 8080), ":8080"),
        ("127.0.0.1:0", ("127.0.0.1", 0), "127.0.0.1:0"),
        ("[::1]:8080", ("::1", 8080), "[::1]:8080"),
        ("localhost:80", ("localhost", 80), "localhost:80"),
    ],
)
def test_addresses(text: str, address: tuple[str, int], shown: str) -> None:
    found = made(METRICS_ADDRESS=text).metrics_address
    assert found == address
    assert str(found) == shown


@pytest.mark.parametrize(
    ("environ", "name", "says"),
    [
        ({"RENEW_SECONDS": "15"}, "RENEW_SECONDS", "less than 15"),
        ({"RENEW_SECONDS": "2.4"}, "RETRY_SECONDS", "less than 2"),
        ({"CALL_SECONDS": "12.1"}, "CALL_SECONDS", "at most 12"),
        ({"LEASE_SECONDS": "10", "RENEW_SECONDS": "5"}, "CALL_SECONDS", "Write at most 7.33."),
        (
            {"LEASE_SECONDS": "2", "RENEW_SECONDS": "1.9", "CALL_SECONDS": "1"},
            "LEASE_SECONDS",
            "no time for a call",
        ),
        ({"METRICS_ADDRESS": ":8081"}, "HEALTH_ADDRESS", "another port"),
        ({"METRICS_ADDRESS": "127.0.0.1:8081"}, "HEALTH_ADDRESS", "another port"),
        (
            {"LLDAP_CLUSTER_ID": "a", "LLDAP_DEAD_CLUSTERS": "b,a"},
            "LLDAP_DEAD_CLUSTERS",
            "this cluster",
        ),
    ],
)
def test_values_that_contradict_each_other(environ: dict[str, str], name: str, says: str) -> None:
    assert says in mistakes(**environ)[name]


@pytest.mark.parametrize(
    "environ",
    [
        {"CALL_SECONDS": "12"},
        {"RENEW_SECONDS": "2.5", "RETRY_SECONDS": "2"},
        {"METRICS_ADDRESS": "127.0.0.1:0", "HEALTH_ADDRESS": "127.0.0.1:0"},
        {"METRICS_ADDRESS": "0", "HEALTH_ADDRESS": "0"},
        {"METRICS_ADDRESS": "127.0.0.1:80", "HEALTH_ADDRESS": "127.0.0.2:80"},
    ],
)
def test_values_at_the_edge_that_are_taken(environ: dict[str, str]) -> None:
    config = made(**environ)
    assert Times.of(config).usable == 14.0


def test_a_misspelt_variable_is_a_mistake() -> None:
    assert "Write LLDAP_ADOPTION" in mistakes(LLDAP_ADOPTON="Never")["LLDAP_ADOPTON"]


@pytest.mark.parametrize(
    "name",
    [
        "LLDAP_PORT",
        "LLDAP_SERVICE_HOST",
        "LLDAP_PORT_17170_TCP_ADDR",
        "LLDAP_JWT_SECRET",
        "LLDAP_HTTP_URL",
        "LLDAP_KEY_FILE",
        "LLDAP_LDAP_USER_PASS",
        "LLDAP_VERBOSE",
    ],
)
def test_what_kubernetes_and_lldap_itself_set_is_not_ours(name: str) -> None:
    assert made(**{name: "x"}) == made()
