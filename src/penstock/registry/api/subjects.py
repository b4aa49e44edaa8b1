"""/subjects: the list of them, the lookup of a schema, deletion."""

from functools import partial

from penstock.registry.api.arguments import page_of, subject_in_path
from penstock.registry.decisions_delete import decide_delete_subject
from penstock.registry.listings import list_subjects
from penstock.registry.lookups import get_latest_with_metadata, lookup
from penstock.registry.names import CONTEXT_WILDCARD
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()

    @routes.get("/subjects")
    async def list_all(request: Request) -> Response:
        found = list_subjects(
            node.state,
            node.rules,
            prefix=request.text("subjectPrefix", CONTEXT_WILDCARD),
            deleted=request.flag("deleted"),
            deleted_only=request.flag("deletedOnly"),
            **page_of(request),
        )
        return json_response(found)

    @routes.post("/subjects/{subject}")
    async def look_up(request: Request) -> Response:
        body = await request.json_object()
        state = node.state
        look = partial(
            lookup,
            state,
            node.rules,
            subject_in_path(node, request),
            body,
            normalize=request.flag("normalize"),
            deleted=request.flag("deleted"),
            format_name=request.text("format"),
        )
        return json_response(await node.read(request, look))

    @routes.delete("/subjects/{subject}")
    async def delete(request: Request) -> Response:
        subject = subject_in_path(node, request)
        permanent = request.flag("permanent")
        return await node.change(
            request, lambda state: decide_delete_subject(state, subject, permanent=permanent)
        )

    @routes.get("/subjects/{subject}/metadata")
    async def latest_with_metadata(request: Request) -> Response:
        state = node.state
        found = get_latest_with_metadata(
            state,
            node.rules,
            subject_in_path(node, request),
            dict(zip(request.texts("key"), request.texts("value"), strict=False)),
            deleted=request.flag("deleted"),
            format_name=request.text("format"),
        )
        return json_response(found)

    return routes
