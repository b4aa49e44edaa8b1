"""Every operation on consumer instances."""

from penstock.rest.operations import Operation
from penstock.rest.v2.consumers import handlers, records
from penstock.rest.v2.consumers.formats import CONSUMERS
from penstock.rest.v2.consumers.handlers import COMMIT, PARTITIONS, POSITIONS, SUBSCRIPTION
from penstock.rest.v2.consumers.instance_config import NEW_INSTANCE

INSTANCE = "/consumers/{group}/instances/{instance}"
TAG = "Consumer instances (v2)"

_TABLE = (
    ("POST", "/consumers/{group}", handlers.create, 200, NEW_INSTANCE),
    ("DELETE", INSTANCE, handlers.delete, 204, None),
    ("POST", f"{INSTANCE}/subscription", handlers.subscribe, 204, SUBSCRIPTION),
    ("GET", f"{INSTANCE}/subscription", handlers.get_subscription, 200, None),
    ("DELETE", f"{INSTANCE}/subscription", handlers.unsubscribe, 204, None),
    ("POST", f"{INSTANCE}/assignments", handlers.assign, 204, PARTITIONS),
    ("GET", f"{INSTANCE}/assignments", handlers.get_assignments, 200, None),
    ("POST", f"{INSTANCE}/positions", handlers.seek, 204, POSITIONS),
    ("POST", f"{INSTANCE}/positions/beginning", handlers.seek_to_beginning, 204, PARTITIONS),
    ("POST", f"{INSTANCE}/positions/end", handlers.seek_to_end, 204, PARTITIONS),
    ("POST", f"{INSTANCE}/offsets", handlers.commit, 200, COMMIT),
    ("GET", f"{INSTANCE}/offsets", handlers.get_committed, 200, PARTITIONS),
)

OPERATIONS: tuple[Operation, ...] = (
    *(
        Operation(method, path, handler, TAG, status, body=body, media_types=CONSUMERS)
        for method, path, handler, status, body in _TABLE
    ),
    Operation(
        "GET",
        f"{INSTANCE}/records",
        records.read_records,
        TAG,
        query=records.PARAMETERS,
        media_types=CONSUMERS,
    ),
)
