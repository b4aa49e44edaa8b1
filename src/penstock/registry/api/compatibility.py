"""/compatibility: whether a schema could be registered."""

from functools import partial

from penstock.registry.lookups import aliased, check_compatibility
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()

    async def answer(request: Request) -> Response:
        body = await request.json_object()
        check = partial(
            check_compatibility,
            node.state,
            node.rules,
            aliased(node.state, request.path["subject"]),
            body,
            request.path.get("version"),
            normalize=request.flag("normalize"),
            verbose=request.flag("verbose"),
        )
        return json_response(await node.off_the_loop(check))

    routes.add("POST", "/compatibility/subjects/{subject}/versions", answer)
    routes.add("POST", "/compatibility/subjects/{subject}/versions/{version}", answer)
    return routes
