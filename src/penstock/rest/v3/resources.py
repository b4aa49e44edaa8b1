"""The shape of what `/v3` answers: resources that say where they are, and where what belongs to them is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

from penstock.rest.addresses import root
from penstock.rest.kafka import Kafka
from penstock.web.request import Request
from penstock.web.response import Response, json_response

Resource = dict[str, Any]


class Links:
    """Addresses of one cluster's resources, as the client that asks reaches the proxy."""

    def __init__(self, kafka: Kafka, request: Request, cluster_id: str) -> None:
        self.root = f"{root(kafka, request)}/v3/clusters"
        self.cluster_id = cluster_id
        self._base = f"{self.root}/{quote(cluster_id, safe='')}"

    def to(self, *steps: object, query: dict[str, str] | None = None) -> str:
        path = "".join(f"/{quote(str(step), safe=':')}" for step in steps)
        return f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")

    def related(self, *steps: object) -> dict[str, str]:
        return {"related": self.to(*steps)}

    def resource(self, kind: str, address: str, name: str, fields: Resource) -> Resource:
        """`name` follows the cluster's in Confluent's name of the resource: `/topic=orders/partition=1`."""
        return {
            "kind": kind,
            "metadata": {"self": address, "resource_name": f"crn:///kafka={self.cluster_id}{name}"},
            "cluster_id": self.cluster_id,
            **fields,
        }


async def links_of(kafka: Kafka, request: Request) -> Links:
    """For a request under `/v3/clusters/{cluster_id}`; refuses another cluster's id."""
    cluster_id = request.path["cluster_id"]
    await kafka.require_cluster(cluster_id)
    return Links(kafka, request, cluster_id)


def listing(kind: str, address: str, resources: Iterable[Resource]) -> Response:
    return json_response(
        {"kind": f"{kind}List", "metadata": {"self": address, "next": None}, "data": list(resources)}
    )
