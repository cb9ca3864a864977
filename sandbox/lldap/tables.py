"""The tables of users and of groups, and the schemas of their attributes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sandbox.lldap.errors import NO_ROW, DomainError, Kind, unique
from sandbox.lldap.opaque import PasswordRecord

Key = str | int
Values = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a schema. `kind` is GraphQL's AttributeType."""

    name: str
    kind: str = "STRING"
    is_list: bool = False
    is_visible: bool = True
    is_editable: bool = True
    is_hardcoded: bool = False
    is_readonly: bool = False


@dataclass(slots=True)
class Row:
    """A user or a group. Dates and values are texts, as they read back."""

    columns: dict[str, str]
    attributes: Values
    links: set[Key] = field(default_factory=set)
    password: PasswordRecord | None = None


@dataclass(slots=True)
class Table:
    """The rows of one entity ("user" or "group") and its schema. Caller holds lldap's lock.

    `columns` are the table's own; `stored` are rows of the schema table, the only ones that can
    be set as attributes. A stored attribute may bear a column's name and then comes first.
    """

    entity: str
    columns: tuple[Attribute, ...]
    object_classes: tuple[str, ...]
    unique_column: str
    constraint: str
    stored: dict[str, Attribute]
    rows: dict[Key, Row] = field(default_factory=dict)
    keys: dict[str, Key] = field(default_factory=dict)

    def find(self, name: str) -> Attribute | None:
        """The attribute that a lower-case name means."""
        return self.stored.get(name) or next((c for c in self.columns if c.name == name), None)

    def listing(self) -> list[Attribute]:
        """All attributes, by name."""
        return sorted([*self.stored.values(), *self.columns], key=lambda a: a.name)

    def sorted_rows(self) -> list[Row]:
        """All rows, by key."""
        return [row for _, row in sorted(self.rows.items())]

    def insert(self, key: Key, row: Row) -> None:
        """Add a row."""
        self._check_unique(None, row.columns)
        if key in self.rows:
            raise DomainError(Kind.DATABASE, unique(1555, "users.user_id"))
        for name in row.attributes:
            if name not in self.stored:
                # The line break is lldap's.
                text = f"Attribute name {name} doesn't exist in the {self.entity} schema,\n{'':36}"
                raise DomainError(
                    Kind.INTERNAL, f"{text}yet was attempted to be inserted in the database"
                )
        row.attributes = dict(sorted(row.attributes.items()))
        self.rows[key] = row
        self.keys[row.columns[self.unique_column].lower()] = key

    def update(
        self, key: Key, columns: Mapping[str, str | None], remove: Iterable[str], insert: Values
    ) -> None:
        """Change a row: None unsets a column, removals come before insertions."""
        remove = set(remove)
        self._check_stored(insert, "inserted in")
        self._check_stored(remove, "removed from")
        row = self.row(key)
        self._check_unique(key, columns)
        del self.keys[row.columns[self.unique_column].lower()]
        merged = {**row.columns, **columns}
        row.columns = {name: value for name, value in merged.items() if value is not None}
        self.keys[row.columns[self.unique_column].lower()] = key
        kept = {name: values for name, values in row.attributes.items() if name not in remove}
        row.attributes = dict(sorted({**kept, **insert}.items()))

    def row(self, key: Key) -> Row:
        """The row that an update needs."""
        if key not in self.rows:
            raise DomainError(Kind.DATABASE, NO_ROW)
        return self.rows[key]

    def delete(self, key: Key) -> Row:
        """Remove a row."""
        if key not in self.rows:
            raise DomainError(Kind.NOT_FOUND, f"No such {self.entity}: '{key}'")
        row = self.rows.pop(key)
        del self.keys[row.columns[self.unique_column].lower()]
        return row

    def add_attribute(self, attribute: Attribute, other: "Table") -> None:
        """Add to the schema, unless the `other` one has that name with another type."""
        twin = other.stored.get(attribute.name)
        if twin and twin.kind != attribute.kind:
            raise DomainError(
                Kind.INTERNAL,
                f"A {other.entity} attribute '{twin.name}' already exists with type "
                f"{_spelled(twin)}, cannot create a {self.entity} attribute with type "
                f"{_spelled(attribute)}. "
                "LDAP requires each attribute name to have a single type.",
            )
        if attribute.name in self.stored:
            table = f"{self.entity}_attribute_schema"
            raise DomainError(Kind.DATABASE, unique(1555, f"{table}.{table}_name"))
        self.stored[attribute.name] = attribute

    def delete_attribute(self, name: str) -> None:
        """Remove from the schema, and everybody's values."""
        del self.stored[name]
        for row in self.rows.values():
            row.attributes.pop(name, None)

    def _check_unique(self, key: Key | None, columns: Mapping[str, str | None]) -> None:
        value = columns.get(self.unique_column)
        if value is not None and self.keys.get(value.lower(), key) != key:
            raise DomainError(Kind.DATABASE, unique(2067, self.constraint))

    def _check_stored(self, names: Iterable[str], done: str) -> None:
        for name in names:
            if name not in self.stored:
                raise DomainError(
                    Kind.INTERNAL,
                    f"{self.entity.capitalize()} attribute name {name} doesn't exist in the "
                    f"schema, yet was attempted to be {done} the database",
                )


def users() -> Table:
    """The table of users of a fresh lldap."""
    columns = (
        _column("creation_date", "DATE_TIME"),
        _column("display_name", readonly=False),
        _column("mail", readonly=False),
        _column("modified_date", "DATE_TIME"),
        _column("password_modified_date", "DATE_TIME"),
        _column("user_id"),
        _column("uuid"),
    )
    stored = (
        _column("avatar", "JPEG_PHOTO", readonly=False),
        _column("first_name", readonly=False),
        _column("last_name", readonly=False),
    )
    classes = ("inetOrgPerson", "posixAccount", "mailAccount", "person")
    known = {attribute.name: attribute for attribute in stored}
    return Table("user", columns, classes, "mail", "users.lowercase_email", known)


def groups() -> Table:
    """The table of groups of a fresh lldap."""
    columns = (
        _column("creation_date", "DATE_TIME"),
        _column("display_name", readonly=False),
        _column("group_id", "INTEGER"),
        _column("modified_date", "DATE_TIME"),
        _column("uuid"),
    )
    classes = ("groupOfUniqueNames", "groupOfNames")
    return Table("group", columns, classes, "display_name", "groups.lowercase_display_name", {})


def _column(name: str, kind: str = "STRING", *, readonly: bool = True) -> Attribute:
    return Attribute(name, kind, is_editable=not readonly, is_hardcoded=True, is_readonly=readonly)


def _spelled(attribute: Attribute) -> str:
    return attribute.kind.title().replace("_", "")
