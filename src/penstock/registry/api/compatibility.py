"""/compatibility: whether a schema could be registered."""

from penstock.registry.lookups import aliased, check_compatibility
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()

    async def check(request: Request) -> Response:
        body = await request.json_object()
        found = check_compatibility(
            node.state,
            node.rules,
            aliased(node.state, request.path["subject"]),
            body,
            request.path.get("version"),
            normalize=request.flag("normalize"),
            verbose=request.flag("verbose"),
        )
        return json_response(found)

    routes.add("POST", "/compatibility/subjects/{subject}/versions", check)
    routes.add("POST", "/compatibility/subjects/{subject}/versions/{version}", check)
    return routes
