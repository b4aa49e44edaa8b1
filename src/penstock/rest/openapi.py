"""The API's description (OpenAPI 3), made of the table of operations that also makes the routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import penstock
from penstock.rest.fields import ANYTHING, OPENAPI_TYPES, Field, Fields, Parameter
from penstock.rest.operations import Operation

_PATH_PARAMETER = re.compile(r"{(\w+)}")
_ERROR = "#/components/schemas/Error"


def describe(operations: Iterable[Operation]) -> dict[str, Any]:
    table = list(operations)
    paths: dict[str, dict[str, Any]] = {}
    for each in table:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.0.3",
        "info": {"title": "Penstock REST proxy", "version": penstock.__version__},
        "paths": paths,
        "components": {"schemas": {"Error": _error_schema(), **_body_schemas(table)}},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [
            *(_in_path(name) for name in _PATH_PARAMETER.findall(operation.path)),
            *(_in_query(each) for each in operation.query),
        ],
        "responses": {
            str(operation.status): _response(operation),
            "4XX": _failure("What was asked is wrong."),
        }
        | {"503": _failure("Kafka cannot be reached now; Retry-After says when to try again.")},
    }
    if operation.body is not None:
        schema = _reference(operation.body)
        content = {media_type: {"schema": schema} for media_type in operation.media_types.consumes}
        found["requestBody"] = {"required": True, "content": content}
    return found


def operation_id(operation: Operation) -> str:
    """Unique: the method and the fixed parts of the path."""
    words = re.split(r"[^A-Za-z0-9]+", operation.path.replace("/-", "/all"))
    return "_".join([operation.method.lower(), *(word for word in words if word)])


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _in_query(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.description,
        "schema": {"type": OPENAPI_TYPES[parameter.kind]},
    }


def _response(operation: Operation) -> dict[str, Any]:
    if operation.status == 204:
        return {"description": "Done."}
    return {"description": "Done.", "content": {operation.media_types.produces[0]: {}}}


def _failure(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": {"$ref": _ERROR}}}}


def _error_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["error_code", "message"],
        "properties": {"error_code": {"type": "integer"}, "message": {"type": "string"}},
    }


def _reference(fields: Fields) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{fields.name}"}


def _body_schemas(table: Iterable[Operation]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    left = [each.body for each in table if each.body is not None]
    while left:
        fields = left.pop()
        found[fields.name] = _schema(fields)
        left += [field.items for field in fields.fields.values() if field.items is not None]
    return dict(sorted(found.items()))


def _schema(fields: Fields) -> dict[str, Any]:
    required = [name for name, field in fields.fields.items() if field.required]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _field(field) for name, field in fields.fields.items()},
    }
    return schema | ({"required": required} if required else {})


def _field(field: Field) -> dict[str, Any]:
    if field.kind is dict and field.items is not None:
        return _reference(field.items)
    schema: dict[str, Any] = {} if field.kind is ANYTHING else {"type": OPENAPI_TYPES[field.kind]}
    if field.description:
        schema["description"] = field.description
    if field.values:
        schema["enum"] = list(field.values)
    if field.kind is list:
        schema["items"] = _reference(field.items) if field.items is not None else {}
    return schema
