"""lldap's GraphQL: the recorded introspection, executed by graphql-core."""

import functools
import json
import urllib.parse
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionContext,
    FieldNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    build_client_schema,
    execute_sync,
    get_named_type,
    parse,
    validate,
)
from graphql.pyutils import Path

from sandbox.lldap.bodies import Body, BodyError
from sandbox.lldap.errors import DomainError, Kind, RefusedError
from sandbox.lldap.fields import FIELDS, Field
from sandbox.lldap.filters import condition
from sandbox.lldap.mutations import MUTATIONS
from sandbox.lldap.request import Request
from sandbox.lldap.store import State
from sandbox.lldap.tables import Row
from sandbox.lldap.values import lower_ascii

Arguments = Mapping[str, Any]
Answer = tuple[int, dict[str, Any]]
Projection = Callable[[Any], Any]
_KEPT_DOCUMENTS = 256


def _user(request: Request, arguments: Arguments) -> Row:
    try:
        user_id = lower_ascii(urllib.parse.unquote(arguments["userId"], errors="strict"))
    except UnicodeDecodeError:
        raise RefusedError("Invalid user parameter") from None
    caller = request.caller
    request.require(caller.reads_all or caller.user_id == user_id, "access to user data")
    if user_id not in request.state.users.rows:
        raise DomainError(Kind.NOT_FOUND, user_id)
    return request.state.users.rows[user_id]


def _users(request: Request, arguments: Arguments) -> list[Row]:
    request.require(request.caller.reads_all, "access to user list")
    users = request.state.users.sorted_rows()
    if arguments.get("filters") is None:
        return users
    wanted = condition(arguments["filters"], request.state)
    return [user for user in users if wanted(user)]


def _groups(request: Request, _: Arguments) -> list[Row]:
    request.require(request.caller.reads_all, "access to group list")
    groups = request.state.groups.sorted_rows()
    return sorted(groups, key=lambda group: group.columns["display_name"].lower())


def _group(request: Request, arguments: Arguments) -> Row:
    request.require(request.caller.reads_all, "access to group data")
    group_id = arguments["groupId"]
    if group_id not in request.state.groups.rows:
        raise DomainError(Kind.NOT_FOUND, group_id)
    return request.state.groups.rows[group_id]


def _schema(request: Request, _: Arguments) -> State:
    return request.state


_QUERIES: dict[str, Callable[[Request, Arguments], Any]] = {
    "apiVersion": lambda *_: "1.0",
    "user": _user,
    "users": _users,
    "groups": _groups,
    "group": _group,
    "schema": _schema,
}


class GraphQL:
    """Executes requests on a store. Caller holds lldap's lock.

    The first field that fails ends the request: what its later aliases asked for is not done.
    """

    def answer(self, request: Request, body: Body) -> Answer:
        """Return the status and the value of the answer. BodyError: it is no request."""
        query, variables = body.fields.get("query"), body.fields.get("variables")
        if not isinstance(query, str):
            raise BodyError("data did not match any variant of untagged enum GraphQLBatchRequest")
        try:
            result = execute_sync(
                _executable_schema(),
                _valid(query),
                context_value=request,
                variable_values=variables if isinstance(variables, dict) else None,
                operation_name=body.fields.get("operationName"),
                execution_context_class=_Execution,
            )
        except _InvalidError as invalid:
            return 400, {"errors": [error.formatted for error in invalid.errors]}
        if not result.errors:
            return 200, {"data": result.data}
        return _failed(result.errors)


class _InvalidError(Exception):
    """The document is not valid for the schema."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__()
        self.errors = errors


@functools.lru_cache(_KEPT_DOCUMENTS)
def _valid(query: str) -> DocumentNode:
    try:
        document = parse(query)
    except GraphQLError as error:
        raise _InvalidError([error]) from None
    if errors := validate(_executable_schema(), document):
        raise _InvalidError(errors)
    return document


def _failed(errors: list[GraphQLError]) -> Answer:
    """The answer of a request that was not begun, or of which a field failed."""
    error = errors[0]
    if error.path is None:
        return 400, {"errors": [each.formatted for each in errors]}
    if not isinstance(error.original_error, RefusedError):
        raise error.original_error or error
    # lldap's paths leave out the positions in lists.
    path = [name for name in error.path if isinstance(name, str)]
    return 200, {"data": None, "errors": [{**error.formatted, "path": path}]}


@functools.cache
def _executable_schema() -> GraphQLSchema:
    """What every lldap executes requests with. Shared: nobody changes it."""
    text = resources.files(__package__).joinpath("introspection.json").read_bytes()
    schema = build_client_schema(json.loads(text)["data"])
    for root, functions in (("Query", _QUERIES), ("Mutation", MUTATIONS)):
        for name, function in functions.items():
            _object_type(schema, root).fields[name].resolve = _root_resolver(function)
    for shown, fields in FIELDS.items():
        for name, field in fields.items():
            _object_type(schema, shown).fields[name].resolve = _resolver(field)
    return schema


def _object_type(schema: GraphQLSchema, name: str) -> GraphQLObjectType:
    found = schema.type_map[name]
    assert isinstance(found, GraphQLObjectType)
    return found


def _root_resolver(function: Callable[[Request, Arguments], Any]) -> Callable[..., Any]:
    return lambda _, info, **arguments: function(info.context, arguments)


def _resolver(field: Callable[[Any, Request], Any]) -> Callable[..., Any]:
    return lambda source, info: field(source, info.context)


class _Execution(ExecutionContext):
    """Shows objects by compiled projections where nothing in them can fail.

    graphql-core takes about 10 µs a field, which is seconds for a list of 10,000 users.
    """

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - as graphql-core has it
        super().__init__(*arguments)
        self._projection = functools.cache(self._compiled)

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_nodes: list[FieldNode],
        info: GraphQLResolveInfo,
        path: Path,
        result: Any,  # noqa: ANN401 - as graphql-core has it
    ) -> Any:  # noqa: ANN401 - as graphql-core has it
        """Show one object."""
        if return_type.name in FIELDS and self.context_value.caller.reads_all:
            return self._projection(return_type, tuple(field_nodes))(result)
        return super().complete_object_value(return_type, field_nodes, info, path, result)

    def _compiled(self, shown: GraphQLObjectType, nodes: tuple[FieldNode, ...]) -> Projection:
        request: Request = self.context_value
        parts: list[tuple[str, Field, Projection | None]] = []
        for key, children in self.collect_subfields(shown, list(nodes)).items():
            name = children[0].name.value
            if name == "__typename":
                parts.append((key, lambda _source, _request: shown.name, None))
                continue
            named = get_named_type(shown.fields[name].type)
            inner = (
                self._projection(named, tuple(children))
                if isinstance(named, GraphQLObjectType)
                else None
            )
            parts.append((key, FIELDS[shown.name][name], inner))

        def project(source: Any) -> Any:  # noqa: ANN401 - an object or a list of objects
            if isinstance(source, list):
                return [project(each) for each in source]
            return {
                key: inner(show(source, request)) if inner else show(source, request)
                for key, show, inner in parts
            }

        return project
