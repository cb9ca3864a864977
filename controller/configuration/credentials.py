"""The operator's account in lldap, as it is at the moment of a login."""

from collections.abc import Callable

from controller.configuration import values as config_values
from controller.configuration.config import Config


class CredentialsError(Exception):
    """The password cannot be had now. Names the variable, never quotes the file's content."""


class Credentials:
    """User name and password for one login. Any thread.

    A password file is read anew at each login, so that a rotated Secret needs no restart; one line
    end at its end is not part of the password. `on_read` is told each password before it is used,
    for whoever keeps it out of the log.
    """

    def __init__(self, config: Config, on_read: Callable[[str], None]) -> None:
        self.username = config.lldap_admin_username
        self._password = config.lldap_admin_password
        self._file = config.lldap_admin_password_file
        self._on_read = on_read

    def __repr__(self) -> str:
        return f"<Credentials of {self.username}>"

    def password(self) -> str:
        """The password now. Raises CredentialsError if its file is not readable, or is empty."""
        value = self._password
        if self._file is not None:
            try:
                value = config_values.read_password(self._file)
            except ValueError as error:
                msg = f"LLDAP_ADMIN_PASSWORD_FILE: {error}"
                raise CredentialsError(msg) from None
        assert value is not None, "the configuration has one of the two"
        self._on_read(value)
        return value
