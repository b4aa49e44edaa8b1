"""Every operation under `/v3`."""

from collections.abc import Iterator

from penstock.rest.operations import EVENTS, Operation
from penstock.rest.v3 import (
    acls,
    clusters,
    configs,
    consume,
    events,
    groups,
    lags,
    new_records,
    partitions,
    produce,
    topics,
)

CLUSTER = "/v3/clusters/{cluster_id}"
BROKER = f"{CLUSTER}/brokers/{{broker_id}}"
TOPIC = f"{CLUSTER}/topics/{{topic_name}}"
GROUP = f"{CLUSTER}/consumer-groups/{{consumer_group_id}}"
MEMBER = f"{GROUP}/consumers/{{consumer_id}}"
PARTITION = f"{TOPIC}/partitions/{{partition_id}}"

_CLUSTERS = (
    Operation("GET", "/v3/clusters", clusters.list_clusters, "Clusters"),
    Operation("GET", CLUSTER, clusters.get_cluster, "Clusters"),
    Operation("GET", f"{CLUSTER}/brokers", clusters.list_brokers, "Brokers"),
    Operation("GET", BROKER, clusters.get_broker, "Brokers"),
    Operation("GET", f"{BROKER}/partition-replicas", partitions.list_replicas_of_broker, "Brokers"),
)
_TOPICS = (
    Operation("GET", f"{CLUSTER}/topics", topics.list_topics, "Topics"),
    Operation("POST", f"{CLUSTER}/topics", topics.create_topic, "Topics", 201, body=topics.NEW_TOPIC),
    Operation("GET", TOPIC, topics.get_topic, "Topics", query=(topics.INCLUDE_OPERATIONS,)),
    Operation("PATCH", TOPIC, topics.update_partitions, "Topics", body=topics.MORE_PARTITIONS),
    Operation("DELETE", TOPIC, topics.delete_topic, "Topics", 204),
)
_PARTITIONS = (
    Operation("GET", f"{TOPIC}/partitions", partitions.list_partitions, "Partitions"),
    Operation("GET", PARTITION, partitions.get_partition, "Partitions"),
    Operation(
        "GET",
        f"{PARTITION}/offset",
        partitions.get_offsets,
        "Partitions",
        query=(partitions.OFFSET_TYPE,),
    ),
    Operation("GET", f"{PARTITION}/replicas", partitions.list_replicas, "Partitions"),
    Operation("GET", f"{PARTITION}/replicas/{{broker_id}}", partitions.get_replica, "Partitions"),
    Operation("GET", f"{PARTITION}/reassignment", partitions.get_reassignment, "Partitions"),
    Operation("GET", f"{TOPIC}/partitions/-/reassignment", partitions.list_topic_reassignments, "Partitions"),
    Operation(
        "GET", f"{CLUSTER}/topics/-/partitions/-/reassignment", partitions.list_reassignments, "Partitions"
    ),
)
_OF_PARTITION = "{topic_name}/partitions/{partition_id}"
_GROUPS = (
    Operation("GET", f"{CLUSTER}/consumer-groups", groups.list_groups, "Consumer groups"),
    Operation("GET", GROUP, groups.get_group, "Consumer groups"),
    Operation("GET", f"{GROUP}/consumers", groups.list_consumers, "Consumer groups"),
    Operation("GET", MEMBER, groups.get_consumer, "Consumer groups"),
    Operation("GET", f"{MEMBER}/assignments", groups.list_assignments, "Consumer groups"),
    Operation("GET", f"{MEMBER}/assignments/{_OF_PARTITION}", groups.get_assignment, "Consumer groups"),
    Operation("GET", f"{GROUP}/lag-summary", lags.get_lag_summary, "Consumer groups"),
    Operation("GET", f"{GROUP}/lags", lags.list_lags, "Consumer groups"),
    Operation("GET", f"{GROUP}/lags/{_OF_PARTITION}", lags.get_lag, "Consumer groups"),
)
_ACLS = (
    Operation("GET", f"{CLUSTER}/acls", acls.search_acls, "ACLs", query=acls.SEARCH),
    Operation("POST", f"{CLUSTER}/acls", acls.create_acl, "ACLs", 201, body=acls.NEW_ACL),
    Operation("DELETE", f"{CLUSTER}/acls", acls.remove_acls, "ACLs", query=acls.DELETION),
    Operation("POST", f"{CLUSTER}/acls:batch", acls.create_all_acls, "ACLs", 204, body=acls.NEW_ACLS),
)
_RECORDS = (
    Operation("POST", f"{TOPIC}/records", produce.produce, "Records", body=new_records.RECORD),
    Operation(
        "POST", f"{TOPIC}/records:batch", produce.produce_batch, "Records", 207, body=new_records.BATCH
    ),
    Operation("GET", f"{PARTITION}/records", consume.read_records, "Records", query=consume.PARAMETERS),
    Operation(
        "GET",
        f"{TOPIC}/records",
        events.stream_records,
        "Records",
        query=events.PARAMETERS,
        media_types=EVENTS,
    ),
)


def _configs(base: str, whose: str) -> Iterator[Operation]:
    handlers = configs.handlers_for(whose)
    yield Operation("GET", base, handlers.list, "Configs")
    yield Operation("POST", f"{base}:alter", handlers.alter, "Configs", 204, body=configs.CHANGES)
    yield Operation("GET", f"{base}/{{name}}", handlers.get, "Configs")
    yield Operation("PUT", f"{base}/{{name}}", handlers.update, "Configs", 204, body=configs.NEW_VALUE)
    yield Operation("DELETE", f"{base}/{{name}}", handlers.reset, "Configs", 204)


_CONFIGS = (
    *_configs(f"{TOPIC}/configs", "a topic"),
    *_configs(f"{BROKER}/configs", "a broker"),
    *_configs(f"{CLUSTER}/broker-configs", "all brokers at once"),
    Operation("GET", f"{CLUSTER}/topics/-/configs", configs.list_all_topic_configs, "Configs"),
    Operation("GET", f"{CLUSTER}/brokers/-/configs", configs.list_all_broker_configs, "Configs"),
)

OPERATIONS: tuple[Operation, ...] = (
    *_CLUSTERS,
    *_TOPICS,
    *_PARTITIONS,
    *_CONFIGS,
    *_GROUPS,
    *_ACLS,
    *_RECORDS,
)
