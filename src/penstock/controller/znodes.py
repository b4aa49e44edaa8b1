"""Kafka's classic layout in ZooKeeper: where things are, and what the JSON in them says."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from penstock.controller.image import BrokerImage
from penstock.replica.replica_set import Assignment, ReplicaSet
from penstock.types import FIRST_LIFE

BROKER_IDS = "/brokers/ids"
BROKER_TOPICS = "/brokers/topics"
BROKER_SEQUENCE = "/brokers/seqid"
CLUSTER_ID = "/cluster/id"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
CONFIG_TOPICS = "/config/topics"
CONFIG_BROKERS = "/config/brokers"
CONFIG_CHANGES = "/config/changes"
CHANGES = "/penstock/changes"
"""Of all that brokers keep in their image; Kafka's own paths for that stay empty."""
CHANGE_PREFIX = f"{CHANGES}/change_"
KNOWN_BROKERS = "/penstock/brokers"
"""Of each broker that was ever registered what it said then, until it is unregistered."""
DELETE_TOPICS = "/admin/delete_topics"
CONFIG_GROUPS = "/config/groups"
FEATURES = "/feature"
PRODUCER_IDS = "/latest_producer_id_block"

PERSISTENT_PATHS = (
    BROKER_IDS,
    BROKER_TOPICS,
    CONFIG_TOPICS,
    CONFIG_BROKERS,
    CONFIG_GROUPS,
    "/config/clients",
    "/config/users",
    CONFIG_CHANGES,
    DELETE_TOPICS,
    BROKER_SEQUENCE,
    CHANGES,
    KNOWN_BROKERS,
    "/isr_change_notification",
    "/log_dir_event_notification",
)
DEFAULT_BROKER = "<default>"
FEATURES_ENABLED = 1


def broker_path(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def known_broker_path(broker_id: int) -> str:
    return f"{KNOWN_BROKERS}/{broker_id}"


def topic_path(topic: str) -> str:
    return f"{BROKER_TOPICS}/{topic}"


def partitions_path(topic: str) -> str:
    return f"{BROKER_TOPICS}/{topic}/partitions"


def partition_path(topic: str, partition: int) -> str:
    return f"{BROKER_TOPICS}/{topic}/partitions/{partition}"


def state_path(topic: str, partition: int) -> str:
    return f"{BROKER_TOPICS}/{topic}/partitions/{partition}/state"


def topic_config_path(topic: str) -> str:
    return f"{CONFIG_TOPICS}/{topic}"


def broker_config_path(broker: str) -> str:
    return f"{CONFIG_BROKERS}/{broker}"


def group_config_path(group_id: str) -> str:
    """The id as in a URL, and without dots: it may be anything, which a node's name may not."""
    return f"{CONFIG_GROUPS}/{quote(group_id, safe='').replace('.', '%2E')}"


def group_of_config_node(name: str) -> str:
    return unquote(name)


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def encode_topic_id(topic_id: bytes) -> str:
    return base64.urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def decode_topic_id(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


def encode_broker(
    endpoints: Mapping[str, tuple[str, int]],
    protocols: Mapping[str, str],
    rack: str | None,
    now_ms: int,
    *,
    whole_since: int | None,
    is_leaving: bool = False,
) -> bytes:
    host, port = next(iter(endpoints.values()))
    value: dict[str, Any] = {
        "features": {},
        "listener_security_protocol_map": dict(protocols),
        "endpoints": [f"{name}://{host}:{port}" for name, (host, port) in endpoints.items()],
        "jmx_port": -1,
        "port": port,
        "host": host,
        "version": 5,
        "timestamp": str(now_ms),
        "whole_since": whole_since,
    }
    if rack is not None:
        value["rack"] = rack
    if is_leaving:
        value["leaving"] = True
    return _json(value)


def decode_broker(broker_id: int, data: bytes, epoch: int) -> BrokerImage:
    value = json.loads(data)
    endpoints: dict[str, tuple[str, int]] = {}
    for endpoint in value["endpoints"]:
        name, _, address = endpoint.partition("://")
        host, _, port = address.rpartition(":")
        endpoints[name] = (host.strip("[]"), int(port))
    whole_since = value.get("whole_since", FIRST_LIFE)
    return BrokerImage(
        broker_id,
        endpoints,
        value.get("rack"),
        epoch,
        is_leaving=bool(value.get("leaving", False)),
        whole_since=epoch if whole_since is None else int(whole_since),
    )


def encode_controller(broker_id: int, now_ms: int) -> bytes:
    return _json({"version": 2, "brokerid": broker_id, "timestamp": str(now_ms), "kraftControllerEpoch": -1})


def decode_controller(data: bytes) -> int:
    return int(json.loads(data)["brokerid"])


def encode_cluster_id(cluster_id: str) -> bytes:
    return _json({"version": "1", "id": cluster_id})


def decode_cluster_id(data: bytes) -> str:
    return str(json.loads(data)["id"])


def encode_topic(topic_id: bytes, partitions: Mapping[int, Assignment]) -> bytes:
    return _json(
        {
            "removing_replicas": {
                str(i): list(each.removing) for i, each in partitions.items() if each.removing
            },
            "partitions": {str(index): list(each.replicas) for index, each in partitions.items()},
            "topic_id": encode_topic_id(topic_id),
            "adding_replicas": {str(i): list(each.adding) for i, each in partitions.items() if each.adding},
            "version": 3,
        }
    )


def decode_topic(data: bytes) -> tuple[bytes, dict[int, Assignment]]:
    value = json.loads(data)
    adding, removing = value.get("adding_replicas", {}), value.get("removing_replicas", {})
    partitions = {
        int(index): Assignment(tuple(replicas), tuple(adding.get(index, ())), tuple(removing.get(index, ())))
        for index, replicas in value["partitions"].items()
    }
    return decode_topic_id(value["topic_id"]), dict(sorted(partitions.items()))


def encode_state(replica_set: ReplicaSet, controller_epoch: int) -> bytes:
    """As Kafka writes it; `isr_epochs` is Penstock's own, which Kafka's tools pass over."""
    value: dict[str, Any] = {
        "controller_epoch": controller_epoch,
        "leader": replica_set.leader,
        "version": 1,
        "leader_epoch": replica_set.leader_epoch,
        "isr": list(replica_set.isr),
    }
    if replica_set.lives:
        value["isr_epochs"] = list(replica_set.lives)
    return _json(value)


def decode_state(data: bytes, assignment: Assignment, version: int, zxid: int) -> ReplicaSet:
    value = json.loads(data)
    isr, lives = tuple(value["isr"]), tuple(value.get("isr_epochs", ()))
    return ReplicaSet(
        assignment.replicas,
        isr,
        value["leader"],
        value["leader_epoch"],
        version=version,
        zxid=zxid,
        controller_epoch=value.get("controller_epoch", 0),
        adding=assignment.adding,
        removing=assignment.removing,
        lives=lives if len(lives) == len(isr) else (),
    )


def encode_configs(configs: Mapping[str, str]) -> bytes:
    return _json({"version": 1, "config": dict(configs)})


def decode_configs(data: bytes) -> dict[str, str]:
    return dict(json.loads(data)["config"])


def encode_features(levels: Mapping[str, int]) -> bytes:
    return _json({"version": 2, "status": FEATURES_ENABLED, "features": dict(levels)})


def decode_features(data: bytes) -> dict[str, int]:
    """The levels; none if the node is of a cluster that has features disabled."""
    value = json.loads(data)
    return dict(value["features"]) if value["status"] == FEATURES_ENABLED else {}


def encode_producer_block(broker_id: int, start: int, end: int) -> bytes:
    return _json({"version": 1, "broker": broker_id, "block_start": str(start), "block_end": str(end)})


def decode_producer_block(data: bytes) -> tuple[int, int]:
    value = json.loads(data)
    return int(value["block_start"]), int(value["block_end"])
