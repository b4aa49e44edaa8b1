"""/contexts: the list of them, and the deletion of one that is empty."""

from penstock.registry.decisions_delete import decide_delete_context
from penstock.registry.listings import list_contexts
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()

    @routes.get("/contexts")
    async def list_all(request: Request) -> Response:
        found = list_contexts(
            node.state,
            node.rules,
            prefix=request.text("contextPrefix"),
            offset=request.number("offset", 0),
            limit=request.number("limit", -1),
        )
        return json_response(found)

    @routes.delete("/contexts/{context}")
    async def delete(request: Request) -> Response:
        context = request.path["context"]
        done = await node.change(request, lambda state: decide_delete_context(state, context))
        return NO_CONTENT if done.status == 200 else done

    return routes
