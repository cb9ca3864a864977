"""Users of a bootstrap folder: fields, password, picture and groups."""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from controller.migrate.bootstrap.files import NoFile, read_named
from controller.migrate.bootstrap.folder import Record
from controller.migrate.bootstrap.values import AVATAR, Values
from controller.migrate.drafts import Password, UserDraft
from controller.migrate.fit import LARGEST_OBJECT
from controller.migrate.report import Report, user_words
from controller.migrate.text import quoted
from lldap.names import group_key

LONGEST_PASSWORD: Final = 4096  # bytes, as the operator takes them
_JPEG: Final = b"\xff\xd8\xff"
_TO_FILL_IN: Final = Password(manage=True)


@dataclass(slots=True)
class Users:
    """Makes drafts of users' records. One thread."""

    folder: Path
    values: Values
    report: Report
    passwords: bool
    """Whether passwords are read at all."""
    edges: dict[tuple[str, str], str] = field(default_factory=dict)

    def draft(self, key: str, record: Record) -> UserDraft | None:
        """The draft of a user; its groups go to `edges`."""
        report, words = self.report, user_words(key)
        email = record.text("email", words, report)
        if email is None:
            report.left_out(words, f"it has no e-mail: write one in {record.where}")
            return None
        names = {
            python: record.text(name, words, report)
            for name, python in (
                ("displayName", "display_name"),
                ("firstName", "first_name"),
                ("lastName", "last_name"),
            )
        }
        self._join(key, record, words)
        return UserDraft(
            id=key,
            email=email,
            **names,
            attributes={**self.values.of(record, words), **self._avatar(record, words)},
            password=self._password(record, words),
        )

    # --- groups ------------------------------------------------------------------------------

    def _join(self, key: str, record: Record, words: str) -> None:
        groups = record.fields.get("groups")
        if not isinstance(groups, list):
            if groups is not None:
                why = f"it is no list of names: correct it in {record.where}"
                self.report.left_out(f"groups of {words}", why)
            return
        for group in groups:
            if isinstance(group, str) and group:
                self.edges[key, group_key(group)] = str(group)
            elif group != "":
                why = f"one of them is no name: correct it in {record.where}"
                self.report.left_out(f"groups of {words}", why)

    # --- passwords ---------------------------------------------------------------------------

    def _password(self, record: Record, words: str) -> Password | None:
        named = [name for name in ("password_file", "password") if record.fields.get(name)]
        if not named:
            return None
        if not self.passwords:
            self.report.left_out(
                f"password of {words}",
                "passwords are written with --passwords only: use it, or make the Secret that the "
                "object names",
            )
            return _TO_FILL_IN
        try:
            return Password(True, self._password_value(record, named[0]))
        except NoFile as problem:
            why = f"{problem} ({named[0]} in {record.where}); or make the Secret by hand"
            self.report.left_out(f"password of {words}", why)
            return _TO_FILL_IN

    def _password_value(self, record: Record, name: str) -> bytes:
        """The bytes; raises NoFile if they are no password."""
        given = record.fields[name]
        if not isinstance(given, str):
            raise NoFile("it is no text: correct it")
        value = given.encode()
        if name == "password_file":
            value = read_named(given, self.folder, LONGEST_PASSWORD + 1)
            value = value.rstrip(b"\n")  # as the shell does
        if not 0 < len(value) <= LONGEST_PASSWORD:
            raise NoFile(f"it must have 1 to {LONGEST_PASSWORD} bytes: choose another one")
        try:
            value.decode()
        except UnicodeDecodeError:
            raise NoFile("it is not UTF-8: choose another one") from None
        return value

    # --- pictures ----------------------------------------------------------------------------

    def _avatar(self, record: Record, words: str) -> dict[str, tuple[str, ...]]:
        network = [name for name in ("avatar_url",) if record.fields.get(name) is not None]
        network += ["gravatar_avatar"] if record.is_true("gravatar_avatar") else []
        if network:
            self.report.left_out(
                f"avatar of {words}",
                f"{' and '.join(network)} would be downloaded: do that once, and name the JPEG in "
                f"avatar_file in {record.where}",
            )
            return {}
        file = record.text("avatar_file", words, self.report)
        if not file:
            return {}
        try:
            return {AVATAR: (self._picture(file),)}
        except NoFile as problem:
            why = f"{problem} ({quoted(file)} in {record.where})"
            self.report.left_out(f"avatar of {words}", why)
            return {}

    def _picture(self, file: str) -> str:
        picture = read_named(file, self.folder, LARGEST_OBJECT)
        if not picture.startswith(_JPEG):
            raise NoFile("it is no JPEG, which is all that lldap takes: convert it")
        return base64.b64encode(picture).decode()
