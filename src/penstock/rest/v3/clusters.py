"""The cluster behind the proxy, and its brokers."""

from __future__ import annotations

from penstock.client.admin.cluster_nodes import ClusterDescription, describe_cluster
from penstock.rest.errors import not_found
from penstock.rest.fields import read_integer
from penstock.rest.kafka import Kafka
from penstock.rest.v3.resources import Links, Resource, links_of, listing
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.wire_client import Node


async def list_clusters(kafka: Kafka, request: Request) -> Response:
    """List the clusters that the proxy knows: the one behind it."""
    links = Links(kafka, request, await kafka.find_cluster_id())
    found = _cluster(links, await describe_cluster(kafka.cluster))
    return listing("KafkaCluster", links.root, [found])


async def get_cluster(kafka: Kafka, request: Request) -> Response:
    """Get the cluster."""
    links = await links_of(kafka, request)
    return json_response(_cluster(links, await describe_cluster(kafka.cluster)))


def _cluster(links: Links, description: ClusterDescription) -> Resource:
    controller = description.controller_id
    return links.resource(
        "KafkaCluster",
        links.to(),
        "",
        {
            "controller": links.related("brokers", controller) if controller >= 0 else None,
            "acls": links.related("acls"),
            "brokers": links.related("brokers"),
            "broker_configs": links.related("broker-configs"),
            "consumer_groups": links.related("consumer-groups"),
            "topics": links.related("topics"),
            "partition_reassignments": links.related("topics", "-", "partitions", "-", "reassignment"),
        },
    )


async def list_brokers(kafka: Kafka, request: Request) -> Response:
    """List the brokers of the cluster."""
    links = await links_of(kafka, request)
    nodes = await brokers_of(kafka)
    return listing("KafkaBroker", links.to("brokers"), (_broker(links, node) for node in nodes))


async def get_broker(kafka: Kafka, request: Request) -> Response:
    """Get a broker."""
    links = await links_of(kafka, request)
    return json_response(_broker(links, await required_broker(kafka, request)))


async def brokers_of(kafka: Kafka) -> list[Node]:
    described = await describe_cluster(kafka.cluster)
    return sorted((each.node for each in described.nodes), key=lambda node: node.id)


async def required_broker(kafka: Kafka, request: Request) -> Node:
    """The broker that the path names."""
    broker_id = read_integer("broker_id", request.path["broker_id"], most=2**31 - 1)
    for node in await brokers_of(kafka):
        if node.id == broker_id:
            return node
    raise not_found(f"Broker {broker_id} cannot be found.")


def _broker(links: Links, node: Node) -> Resource:
    return links.resource(
        "KafkaBroker",
        links.to("brokers", node.id),
        f"/broker={node.id}",
        {
            "broker_id": node.id,
            "host": node.host,
            "port": node.port,
            "rack": node.rack,
            "configs": links.related("brokers", node.id, "configs"),
            "partition_replicas": links.related("brokers", node.id, "partition-replicas"),
        },
    )
