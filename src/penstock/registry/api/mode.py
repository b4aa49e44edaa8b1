"""/mode: who may write what, for all, for a context or for a subject."""

from penstock.registry.decisions_config import decide_delete_mode, decide_set_mode, get_mode
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()

    async def get(request: Request) -> Response:
        found = get_mode(
            node.state, request.path.get("subject"), default_to_global=request.flag("defaultToGlobal")
        )
        return json_response(found)

    async def put(request: Request) -> Response:
        subject, body, force = request.path.get("subject"), await request.json_object(), request.flag("force")
        return await node.change(
            request, lambda state: decide_set_mode(state, node.rules, subject, body, force=force)
        )

    async def delete(request: Request) -> Response:
        subject, recursive = request.path.get("subject"), request.flag("recursive")
        return await node.change(
            request, lambda state: decide_delete_mode(state, node.rules, subject, recursive=recursive)
        )

    for path in ("/mode", "/mode/{subject}"):
        routes.add("GET", path, get)
        routes.add("PUT", path, put)
        routes.add("DELETE", path, delete)
    return routes
