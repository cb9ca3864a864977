from pathlib import Path

import pytest

from controller.configuration.config import load
from controller.configuration.credentials import Credentials, CredentialsError
from tests.controller.test_config import DETECTED, SECRET, made


def test_credentials_are_read_anew_at_each_login(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("first\n")
    config = load(
        {"LLDAP_URL": "http://lldap", "LLDAP_ADMIN_PASSWORD_FILE": str(file)}, {}, DETECTED
    )
    told: list[str] = []
    credentials = Credentials(config, told.append)

    assert (credentials.username, credentials.password()) == ("admin", "first")
    file.write_text("second\n")
    assert credentials.password() == "second"
    assert told == ["first", "second"]
    file.unlink()
    with pytest.raises(CredentialsError, match="LLDAP_ADMIN_PASSWORD_FILE"):
        credentials.password()


def test_credentials_from_the_environment_stay() -> None:
    credentials = Credentials(made(), lambda _: None)

    assert credentials.password() == SECRET
    assert SECRET not in repr(credentials)
