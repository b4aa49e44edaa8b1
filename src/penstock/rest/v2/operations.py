"""Every operation of v2."""

from penstock.rest.operations import Operation
from penstock.rest.v2 import metadata, produce
from penstock.rest.v2.consumers.operations import OPERATIONS as CONSUMERS
from penstock.rest.v2.media_types import METADATA, PRODUCE

TOPIC = "/topics/{topic_name}"
PARTITION = f"{TOPIC}/partitions/{{partition_id}}"
TAG = "Topics (v2)"

OPERATIONS: tuple[Operation, ...] = (
    Operation("GET", "/", metadata.get_root, TAG, media_types=METADATA),
    Operation("GET", "/brokers", metadata.list_brokers, TAG, media_types=METADATA),
    Operation("GET", "/topics", metadata.list_topics, TAG, media_types=METADATA),
    Operation("GET", TOPIC, metadata.get_topic, TAG, media_types=METADATA),
    Operation("GET", f"{TOPIC}/partitions", metadata.list_partitions, TAG, media_types=METADATA),
    Operation("GET", PARTITION, metadata.get_partition, TAG, media_types=METADATA),
    Operation("GET", f"{PARTITION}/offsets", metadata.get_offsets, TAG, media_types=METADATA),
    Operation("POST", TOPIC, produce.produce_to_topic, TAG, body=produce.TO_TOPIC, media_types=PRODUCE),
    Operation(
        "POST", PARTITION, produce.produce_to_partition, TAG, body=produce.TO_PARTITION, media_types=PRODUCE
    ),
    *CONSUMERS,
)
