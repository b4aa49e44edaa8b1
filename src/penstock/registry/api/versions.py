"""/subjects/{subject}/versions: registration, versions, who refers to them, deletion."""

from functools import partial

from penstock.registry.api.arguments import page_of, subject_in_path, tags_in_query
from penstock.registry.decisions_delete import decide_delete_version
from penstock.registry.decisions_register import decide_register, find_registered
from penstock.registry.decisions_tags import decide_modify_tags
from penstock.registry.listings import list_referenced_by, list_versions
from penstock.registry.lookups import get_version
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()
    _add_reads(routes, node)
    _add_changes(routes, node)
    return routes


def _add_reads(routes: Routes, node: RegistryNode) -> None:
    @routes.get("/subjects/{subject}/versions")
    async def list_all(request: Request) -> Response:
        found = list_versions(
            node.state,
            node.rules,
            subject_in_path(node, request),
            deleted=request.flag("deleted"),
            deleted_only=request.flag("deletedOnly"),
            deleted_as_negative=request.flag("deletedAsNegative"),
            **page_of(request),
        )
        return json_response(found)

    @routes.get("/subjects/{subject}/versions/{version}")
    async def get_one(request: Request) -> Response:
        found = get_version(
            node.state,
            node.rules,
            subject_in_path(node, request),
            request.path["version"],
            deleted=request.flag("deleted"),
            format_name=request.text("format"),
            reference_format=request.text("referenceFormat"),
            tags=tags_in_query(request),
        )
        return json_response(found)

    @routes.get("/subjects/{subject}/versions/{version}/schema")
    async def get_schema_only(request: Request) -> Response:
        found = get_version(
            node.state,
            node.rules,
            subject_in_path(node, request),
            request.path["version"],
            deleted=request.flag("deleted"),
            format_name=request.text("format"),
        )
        return Response(found["schema"].encode("utf-8", "backslashreplace"))

    @routes.get("/subjects/{subject}/versions/{version}/referencedby")
    async def referenced_by(request: Request) -> Response:
        found = list_referenced_by(
            node.state,
            node.rules,
            subject_in_path(node, request),
            request.path["version"],
            deleted=request.flag("deleted"),
            **page_of(request),
        )
        return json_response(found)


def _add_changes(routes: Routes, node: RegistryNode) -> None:
    @routes.post("/subjects/{subject}/versions")
    async def register(request: Request) -> Response:
        """What is registered already needs no leader."""
        body = await request.json_object()
        subject = subject_in_path(node, request)
        normalize, force, form = request.flag("normalize"), request.flag("force"), request.text("format")
        find = partial(
            find_registered, node.state, node.rules, subject, body, normalize=normalize, format_name=form
        )
        known = await node.read(request, find)
        if known is not None:
            return json_response(known)
        return await node.change(
            request,
            lambda state: decide_register(
                state, node.rules, subject, body, normalize=normalize, force=force, format_name=form
            ),
        )

    @routes.delete("/subjects/{subject}/versions/{version}")
    async def delete(request: Request) -> Response:
        subject, version = subject_in_path(node, request), request.path["version"]
        permanent = request.flag("permanent")
        return await node.change(
            request, lambda state: decide_delete_version(state, subject, version, permanent=permanent)
        )

    @routes.post("/subjects/{subject}/versions/{version}/tags")
    async def change_tags(request: Request) -> Response:
        body = await request.json_object()
        subject, version = subject_in_path(node, request), request.path["version"]
        return await node.change(
            request, lambda state: decide_modify_tags(state, node.rules, subject, version, body)
        )
