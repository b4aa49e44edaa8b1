"""/schemas: by id, by guid, all of them, and their types."""

from penstock.registry.api.arguments import page_of, subject_in_query, tags_in_query
from penstock.registry.listings import (
    list_schema_types,
    list_schemas,
    list_subjects_of_id,
    list_versions_of_id,
)
from penstock.registry.lookups import get_schema_by_guid, get_schema_by_id, list_ids_of_guid
from penstock.registry.node import RegistryNode
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()
    _add_all(routes, node)
    _add_by_id(routes, node)
    _add_by_guid(routes, node)
    return routes


def _add_all(routes: Routes, node: RegistryNode) -> None:
    @routes.get("/schemas")
    async def list_all(request: Request) -> Response:
        found = list_schemas(
            node.state,
            node.rules,
            prefix=request.text("subjectPrefix"),
            aliases=request.flag("aliases"),
            deleted=request.flag("deleted"),
            latest_only=request.flag("latestOnly"),
            rule_type=request.text("ruleType"),
            **page_of(request),
        )
        return json_response(found)

    @routes.get("/schemas/types")
    async def list_types(request: Request) -> Response:
        return json_response(list_schema_types(node.rules))


def _add_by_id(routes: Routes, node: RegistryNode) -> None:
    @routes.get("/schemas/ids/{id}")
    async def get_by_id(request: Request) -> Response:
        found = get_schema_by_id(
            node.state,
            node.rules,
            _id(request),
            subject_in_query(node, request),
            format_name=request.text("format"),
            reference_format=request.text("referenceFormat"),
            tags=tags_in_query(request),
            fetch_max_id=request.flag("fetchMaxId"),
        )
        return json_response(found)

    @routes.get("/schemas/ids/{id}/schema")
    async def get_schema_only(request: Request) -> Response:
        found = get_schema_by_id(
            node.state,
            node.rules,
            _id(request),
            subject_in_query(node, request),
            format_name=request.text("format"),
        )
        return Response(found["schema"].encode("utf-8", "backslashreplace"))

    @routes.get("/schemas/ids/{id}/subjects")
    async def list_subjects(request: Request) -> Response:
        found = list_subjects_of_id(
            node.state,
            node.rules,
            _id(request),
            subject_in_query(node, request),
            deleted=request.flag("deleted"),
            **page_of(request),
        )
        return json_response(found)

    @routes.get("/schemas/ids/{id}/versions")
    async def list_versions(request: Request) -> Response:
        found = list_versions_of_id(
            node.state,
            node.rules,
            _id(request),
            subject_in_query(node, request),
            deleted=request.flag("deleted"),
            **page_of(request),
        )
        return json_response(found)


def _add_by_guid(routes: Routes, node: RegistryNode) -> None:
    @routes.get("/schemas/guids/{guid}")
    async def get_by_guid(request: Request) -> Response:
        found = get_schema_by_guid(
            node.state, node.rules, request.path["guid"], format_name=request.text("format")
        )
        return json_response(found)

    @routes.get("/schemas/guids/{guid}/ids")
    async def list_ids(request: Request) -> Response:
        return json_response(list_ids_of_guid(node.state, request.path["guid"]))


def _id(request: Request) -> int:
    try:
        return int(request.path["id"])
    except ValueError:
        raise HttpError(404) from None
