"""Flags and variables that both commands share with the operator, by the same names."""

import argparse
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from controller.configuration.config import ConfigError, configuration_table
from controller.configuration.contradictions import Mistake
from controller.configuration.values import instance, namespace
from controller.configuration.variable import detect
from controller.migrate.place import Place

INSTANCE: Final = "LLDAP_INSTANCE"
VIRTUAL: Final = "LLDAP_VIRTUAL_GROUP_NAMESPACE"
OWN: Final = "POD_NAMESPACE"
ADMIN: Final = "LLDAP_ADMIN_USERNAME"
NAMESPACE: Final = "--namespace"

Flags = Mapping[str, str | None]


def add_variables(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    """Flags for variables of the operator; `flags_of` gives them back."""
    for row in configuration_table():
        if row.variable in names:
            # A secret's flag is taken only to be refused: argparse would quote an unknown one.
            flag = row.flag or "--" + row.variable.lower().replace("_", "-")
            default = "" if "required" in row.default else f" Default: {row.default}."
            meaning = f"{row.meaning}{default}".replace("%", "%%")
            help_text = meaning if row.flag else argparse.SUPPRESS
            parser.add_argument(flag, dest=row.variable, metavar="VALUE", help=help_text)


def flags_of(arguments: argparse.Namespace) -> dict[str, str | None]:
    """The variables that were given as flags, by their names in lower case."""
    known = {row.variable for row in configuration_table()}
    return {name.lower(): value for name, value in vars(arguments).items() if name in known}


def add_namespace(parser: argparse.ArgumentParser) -> None:
    """The flag for the namespace of the objects."""
    parser.add_argument(
        NAMESPACE,
        metavar="NAME",
        help="Namespace of the objects; who is in a built-in group goes to that of the virtual "
        "groups all the same. Default: that of the virtual groups.",
    )


def place_of(environ: Mapping[str, str], flags: Flags, namespace_flag: str | None) -> Place:
    """Where the objects go. Raises ConfigError.

    The operator's own namespace is known in its Pod. Elsewhere it is not guessed: who may write
    there may make admins.
    """
    given = {name: environ.get(name, "") for name in (INSTANCE, VIRTUAL, OWN)}
    given |= {name.upper(): value for name, value in flags.items() if value}
    virtual = given[VIRTUAL] or given[OWN] or _namespace_of_the_pod(environ)
    mistakes: list[Mistake] = []
    if not virtual:
        why = "is not set. Write the namespace of the operator, where its virtual groups are."
        mistakes.append(Mistake(VIRTUAL, why))
    texts = {INSTANCE: given[INSTANCE] or "default", VIRTUAL: virtual, NAMESPACE: namespace_flag}
    mistakes += _mistakes({name: text for name, text in texts.items() if text})
    if mistakes:
        raise ConfigError(tuple(mistakes))
    return Place(
        instance=given[INSTANCE] or "default",
        namespace=namespace_flag or virtual,
        virtual_namespace=virtual,
    )


def _namespace_of_the_pod(environ: Mapping[str, str]) -> str:
    in_a_pod = "KUBERNETES_SERVICE_HOST" in environ
    return detect(environ, terminal=False)["pod_namespace"] if in_a_pod else ""


def _mistakes(texts: Mapping[str, str]) -> Iterator[Mistake]:
    for name, text in texts.items():
        try:
            (instance if name == INSTANCE else namespace)(text)
        except ValueError as error:
            yield Mistake(name, str(error))
