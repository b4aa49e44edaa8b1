"""What must hold between a broker's settings, beyond each by itself: as Kafka checks at the start."""

from typing import TYPE_CHECKING, Any

from penstock.errors import ConfigError
from penstock.settings.endpoints import refuse_shared_ports, refuse_unreachable

if TYPE_CHECKING:
    from penstock.settings.broker import BrokerSettings

_MIB = 1024 * 1024


def broker_id_from_node_id(values: dict[str, Any]) -> int:
    """node.id is another name of broker.id."""
    node_id: int = values["node_id"]
    if values.get("broker_id") not in (None, node_id):
        raise ConfigError(
            f"node.id: got {node_id}, but broker.id is {values['broker_id']}; takes the same number"
        )
    return node_id


def check(settings: "BrokerSettings") -> None:
    _check_broker_id(settings)
    _check_listeners(settings)
    _check_log(settings)
    _check_limits(settings)
    _check_order(settings)


def _refuse(key: str, got: object, takes: str) -> None:
    raise ConfigError(f"{key}: got {got!r}; takes {takes}")


def _check_broker_id(settings: "BrokerSettings") -> None:
    generated = settings.broker_id_generation_enable
    if settings.broker_id < 0 and not generated:
        _refuse("broker.id", settings.broker_id, "0 or more while broker.id.generation.enable is false")
    if generated and settings.broker_id > settings.reserved_broker_max_id:
        _refuse(
            "broker.id",
            settings.broker_id,
            f"at most reserved.broker.max.id, which is {settings.reserved_broker_max_id}, "
            "while broker.id.generation.enable is true",
        )


def _check_listeners(settings: "BrokerSettings") -> None:
    names = {endpoint.listener_name for endpoint in settings.endpoints}
    if not names:
        _refuse("listeners", ",".join(settings.listeners), "one that controller.listener.names does not name")
    refuse_shared_ports(settings.endpoints)
    for endpoint in settings.endpoints:
        if endpoint.security_protocol != "PLAINTEXT":
            _refuse(
                "listeners", str(endpoint), f"PLAINTEXT only: {endpoint.security_protocol} is not there yet"
            )
    refuse_unreachable(settings.advertised_endpoints)
    for endpoint in settings.advertised_endpoints:
        if endpoint.listener_name not in names:
            _refuse(
                "advertised.listeners", str(endpoint), f"the names of listeners: {', '.join(sorted(names))}"
            )
    _check_inter_broker_listener(settings)


def _check_inter_broker_listener(settings: "BrokerSettings") -> None:
    control_plane = settings.overrides.get("control.plane.listener.name")
    if control_plane:
        _refuse(
            "control.plane.listener.name",
            control_plane,
            "no name: the controller reaches brokers by inter.broker.listener.name, too; leave it out",
        )
    if settings.inter_broker_listener_name and "security.inter.broker.protocol" in settings.overrides:
        _refuse(
            "inter.broker.listener.name",
            settings.inter_broker_listener_name,
            "effect only without security.inter.broker.protocol; set one of the two",
        )
    names = sorted(endpoint.listener_name for endpoint in settings.advertised_endpoints)
    if settings.inter_broker_listener not in names:
        _refuse(
            "inter.broker.listener.name",
            settings.inter_broker_listener,
            f"the name of an advertised listener: {', '.join(names)}",
        )


def _check_log(settings: "BrokerSettings") -> None:
    directories = settings.data_dirs
    if not directories or "" in directories:
        _refuse("log.dirs", ",".join(directories), "at least one directory, none of them empty")
    if len(set(directories)) < len(directories):
        _refuse("log.dirs", ",".join(directories), "each directory once")
    for key in ("log.retention.ms", "log.retention.minutes", "log.retention.hours"):
        if getattr(settings, key.replace(".", "_")) == 0:
            _refuse(key, 0, "-1 for no limit, or 1 or more")
    for key, least in (("log.roll.ms", 1), ("log.roll.jitter.ms", 0)):
        value = getattr(settings, key.replace(".", "_"))
        if value is not None and value < least:
            _refuse(key, value, f"{least} or more")
    if settings.log_cleaner_dedupe_buffer_size // max(1, settings.log_cleaner_threads) <= _MIB:
        _refuse(
            "log.cleaner.dedupe.buffer.size",
            settings.log_cleaner_dedupe_buffer_size,
            "more than 1 MiB for each of log.cleaner.threads",
        )


def _check_limits(settings: "BrokerSettings") -> None:
    if 0 < settings.queued_max_request_bytes < settings.socket_request_max_bytes:
        _refuse(
            "queued.max.request.bytes",
            settings.queued_max_request_bytes,
            f"at least socket.request.max.bytes, which is {settings.socket_request_max_bytes}, or -1",
        )
    if settings.max_connections_per_ip == 0 and not settings.max_connections_by_ip:
        _refuse("max.connections.per.ip", 0, "0 only with max.connections.per.ip.overrides")
    for key in ("replica.socket.timeout.ms", "replica.lag.time.max.ms"):
        limit = getattr(settings, key.replace(".", "_"))
        if settings.replica_fetch_wait_max_ms > limit:
            _refuse(
                "replica.fetch.wait.max.ms", settings.replica_fetch_wait_max_ms, f"at most {key}: {limit}"
            )


# The first of a pair must not be larger than the second.
_IN_ORDER = (
    ("log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"),
    ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
    *(
        order
        for kind in ("consumer", "share", "streams")
        for what in ("session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms")
        for order in (
            (f"group.{kind}.min.{what}", f"group.{kind}.{what}"),
            (f"group.{kind}.{what}", f"group.{kind}.max.{what}"),
        )
    ),
    ("group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"),
    ("group.share.heartbeat.interval.ms", "group.share.session.timeout.ms"),
    ("group.streams.heartbeat.interval.ms", "group.streams.session.timeout.ms"),
    ("group.streams.num.standby.replicas", "group.streams.max.standby.replicas"),
    ("group.share.min.delivery.count.limit", "group.share.delivery.count.limit"),
    ("group.share.delivery.count.limit", "group.share.max.delivery.count.limit"),
    ("group.share.min.record.lock.duration.ms", "group.share.record.lock.duration.ms"),
    ("group.share.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"),
    ("group.share.min.partition.max.record.locks", "group.share.partition.max.record.locks"),
    ("group.share.partition.max.record.locks", "group.share.max.partition.max.record.locks"),
)


def _check_order(settings: "BrokerSettings") -> None:
    for lower, upper in _IN_ORDER:
        low, high = (getattr(settings, name.replace(".", "_")) for name in (lower, upper))
        if low > high:
            _refuse(lower, low, f"at most {upper}, which is {high}")
    if not settings.group_consumer_assignors:
        _refuse("group.consumer.assignors", "", "at least one assignor")


def parse_connection_overrides(text: str) -> dict[str, int]:
    limits = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        host, _, limit = pair.rpartition(":")
        if not host or not limit.strip().isdecimal():
            _refuse("max.connections.per.ip.overrides", pair, "address:limit pairs, as in 127.0.0.1:200")
        limits[host.strip()] = int(limit)
    return limits
