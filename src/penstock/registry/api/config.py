"""/config: compatibility and what else is set for all, for a context or for a subject."""

from penstock.registry.decisions_config import decide_delete_config, decide_set_config, get_config
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()

    async def get(request: Request) -> Response:
        found = get_config(
            node.state,
            node.rules,
            request.path.get("subject"),
            default_to_global=request.flag("defaultToGlobal"),
        )
        return json_response(found)

    async def put(request: Request) -> Response:
        subject, body = request.path.get("subject"), await request.json_object()
        return await node.change(request, lambda state: decide_set_config(state, subject, body))

    async def delete(request: Request) -> Response:
        subject = request.path.get("subject")
        return await node.change(request, lambda state: decide_delete_config(state, node.rules, subject))

    for path in ("/config", "/config/{subject}"):
        routes.add("GET", path, get)
        routes.add("PUT", path, put)
        routes.add("DELETE", path, delete)
    return routes
