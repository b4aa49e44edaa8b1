"""Every operation under `/v3`."""

from penstock.rest.operations import Operation
from penstock.rest.v3 import clusters, produce

CLUSTER = "/v3/clusters/{cluster_id}"
TOPIC = f"{CLUSTER}/topics/{{topic_name}}"

_CLUSTERS = (
    Operation("GET", "/v3/clusters", clusters.list_clusters, "Clusters"),
    Operation("GET", CLUSTER, clusters.get_cluster, "Clusters"),
    Operation("GET", f"{CLUSTER}/brokers", clusters.list_brokers, "Brokers"),
    Operation("GET", f"{CLUSTER}/brokers/{{broker_id}}", clusters.get_broker, "Brokers"),
)
_RECORDS = (
    Operation("POST", f"{TOPIC}/records", produce.produce, "Records"),
    Operation("POST", f"{TOPIC}/records:batch", produce.produce_batch, "Records", 207),
)

OPERATIONS: tuple[Operation, ...] = (*_CLUSTERS, *_RECORDS)
