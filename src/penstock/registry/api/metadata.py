"""The registry itself: /, and /v1/metadata."""

import penstock
from penstock.registry.node import RegistryNode
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(node: RegistryNode) -> Routes:
    routes = Routes()

    async def root(request: Request) -> Response:
        """Says that it is there."""
        return json_response({})

    @routes.get("/v1/metadata/id")
    async def get_id(request: Request) -> Response:
        clusters = {
            "kafka-cluster": node.kafka_cluster_id(),
            "schema-registry-cluster": node.settings.schema_registry_group_id,
        }
        return json_response({"scope": {"path": [], "clusters": clusters}, "id": ""})

    @routes.get("/v1/metadata/version")
    async def get_version(request: Request) -> Response:
        return json_response({"version": penstock.__version__, "commitId": ""})

    @routes.get("/v1/metadata/deployment")
    async def get_deployment(request: Request) -> Response:
        return json_response({"attributes": []})

    routes.add("GET", "/", root)
    routes.add("POST", "/", root)
    return routes
