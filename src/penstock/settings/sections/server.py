"""Who the broker is, where it listens, what it lets clients do."""

from dataclasses import dataclass

from penstock.settings.declare import (
    CLUSTER_WIDE,
    HIGH,
    LATER,
    LOW,
    NO_EFFECT,
    PER_BROKER,
    boolean,
    class_name,
    integer,
    items,
    long,
    string,
)
from penstock.settings.kinds import INT_MAX
from penstock.settings.takes import NOT_EMPTY, at_least, one_of


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ServerSettings:
    broker_id: int = integer(
        -1,
        "The broker's number in the cluster; -1 takes the next free number above reserved.broker.max.id.",
        at_least(-1),
        importance=HIGH,
    )
    node_id: int | None = integer(
        None,
        "Kafka's newer name for broker.id; what is set here is the broker.id.",
        at_least(0),
        importance=HIGH,
    )
    broker_id_generation_enable: bool = boolean(True, "Whether a broker.id of -1 takes a generated number.")
    reserved_broker_max_id: int = integer(
        1000, "The largest number that broker.id may be set to; generated numbers lie above it.", at_least(0)
    )
    broker_rack: str | None = string(
        None, "The rack the broker stands in; replicas of a partition are spread over racks."
    )
    zookeeper_connect: str = string(
        "localhost:2181",
        "Where ZooKeeper answers: host:port,host:port, and a path to live under if wanted: host:port/path.",
        NOT_EMPTY,
        importance=HIGH,
    )
    zookeeper_session_timeout_ms: int = integer(
        18_000,
        "How long ZooKeeper keeps the broker's session without a sign of life.",
        at_least(1),
        importance=HIGH,
    )
    zookeeper_connection_timeout_ms: int | None = integer(
        None,
        "How long the start waits for ZooKeeper; zookeeper.session.timeout.ms if not set.",
        at_least(1),
        importance=HIGH,
    )
    zookeeper_max_in_flight_requests: int = integer(
        10,
        "How many requests may wait for ZooKeeper's answers at once.",
        at_least(1),
        importance=HIGH,
        effect=NO_EFFECT,
    )
    zookeeper_set_acl: bool = boolean(
        False,
        "Whether znodes are created so that only their creator can change them.",
        importance=HIGH,
        effect=LATER,
    )
    listeners: tuple[str, ...] = items(
        ("PLAINTEXT://127.0.0.1:9092",),
        "Where the broker listens: NAME://host:port, comma separated; an empty host means every interface.",
        importance=HIGH,
        scope=PER_BROKER,
    )
    advertised_listeners: tuple[str, ...] | None = items(
        None, "What clients are told to connect to, where it differs from listeners.", importance=HIGH
    )
    listener_security_protocol_map: str = string(
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "The security protocol of each listener name, as in INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT.",
        importance=LOW,
        scope=PER_BROKER,
    )
    inter_broker_listener_name: str | None = string(
        None,
        "The listener that brokers use among themselves; security.inter.broker.protocol names it if not set.",
    )
    security_inter_broker_protocol: str = string(
        "PLAINTEXT",
        "The security protocol, and so the listener, that brokers use among themselves.",
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    )
    controller_listener_names: tuple[str, ...] | None = items(
        None, "Listeners of a KRaft controller; they are left out, as ZooKeeper coordinates.", importance=HIGH
    )
    socket_request_max_bytes: int = integer(
        104_857_600, "The largest request; a larger one closes its connection.", at_least(1), importance=HIGH
    )
    socket_send_buffer_bytes: int = integer(
        102_400, "The size of a socket's send buffer; -1 leaves it to the operating system.", importance=HIGH
    )
    socket_receive_buffer_bytes: int = integer(
        -1,
        "The size of a socket's receive buffer; -1 leaves it to the operating system.",
        importance=HIGH,
    )
    socket_listen_backlog_size: int = integer(
        50, "How many connections may wait to be accepted.", at_least(1)
    )
    max_connections: int = integer(
        INT_MAX,
        "How many connections the broker holds at once; the ones above wait or are closed.",
        at_least(0),
        scope=CLUSTER_WIDE,
    )
    max_connections_per_ip: int = integer(
        INT_MAX, "How many connections one address may have.", at_least(0), scope=CLUSTER_WIDE
    )
    max_connections_per_ip_overrides: str = string(
        "", "Other limits for single addresses: 127.0.0.1:200,host:100.", scope=CLUSTER_WIDE
    )
    max_connection_creation_rate: int = integer(
        INT_MAX,
        "How many connections are accepted in a second.",
        at_least(0),
        scope=CLUSTER_WIDE,
        effect=LATER,
    )
    connections_max_idle_ms: int = long(600_000, "How long a connection may be silent before it is closed.")
    connection_failed_authentication_delay_ms: int = integer(
        100,
        "How long the answer to a failed authentication is held back.",
        at_least(0),
        importance=LOW,
        effect=LATER,
    )
    queued_max_requests: int = integer(
        500,
        "How many requests may wait for their answers before the broker stops reading.",
        at_least(1),
        importance=HIGH,
    )
    queued_max_request_bytes: int = long(
        -1, "How many bytes of requests may wait before the broker stops reading; -1 for no limit."
    )
    request_timeout_ms: int = integer(
        30_000,
        "How long the broker waits for an answer to its own requests to other brokers.",
        importance=HIGH,
    )
    fetch_max_bytes: int = integer(57_671_680, "The most bytes that one Fetch answers with.", at_least(1024))
    max_incremental_fetch_session_cache_slots: int = integer(
        1000, "How many incremental fetch sessions are kept.", at_least(0)
    )
    max_request_partition_size_limit: int = integer(
        2000, "The most partitions that one DescribeTopicPartitions answers with.", at_least(1)
    )
    fetch_purgatory_purge_interval_requests: int = integer(
        1000, "Every so many waiting fetches, the ended ones are forgotten.", effect=NO_EFFECT
    )
    producer_purgatory_purge_interval_requests: int = integer(
        1000, "Every so many waiting produces, the ended ones are forgotten.", effect=NO_EFFECT
    )
    delete_records_purgatory_purge_interval_requests: int = integer(
        1, "Every so many waiting DeleteRecords, the ended ones are forgotten.", effect=NO_EFFECT
    )
    num_network_threads: int = integer(
        3,
        "Network threads in Kafka; here one event loop serves all connections.",
        at_least(1),
        importance=HIGH,
        scope=CLUSTER_WIDE,
        effect=NO_EFFECT,
    )
    num_io_threads: int = integer(
        8,
        "Request threads in Kafka; here one event loop serves all requests.",
        at_least(1),
        importance=HIGH,
        scope=CLUSTER_WIDE,
        effect=NO_EFFECT,
    )
    background_threads: int = integer(
        10,
        "Threads for background work in Kafka.",
        at_least(1),
        importance=HIGH,
        scope=CLUSTER_WIDE,
        effect=NO_EFFECT,
    )
    auto_create_topics_enable: bool = boolean(
        True, "Whether a topic that a producer or consumer asks for is created.", importance=HIGH
    )
    delete_topic_enable: bool = boolean(True, "Whether topics can be deleted.", importance=HIGH)
    num_partitions: int = integer(
        1, "The number of partitions of a topic that is created without saying.", at_least(1)
    )
    default_replication_factor: int = integer(
        1, "The number of replicas of a partition of a topic that is created without saying."
    )
    create_topic_policy_class_name: str | None = class_name(
        None, "A class that checks new topics.", importance=LOW, effect=NO_EFFECT
    )
    alter_config_policy_class_name: str | None = class_name(
        None, "A class that checks changed configs.", importance=LOW, effect=NO_EFFECT
    )
    controlled_shutdown_enable: bool = boolean(
        True,
        "Whether a stopping broker first hands its leaderships over.",
    )
    controlled_shutdown_max_retries: int = integer(
        3, "How often the handover is tried in Kafka; here it is asked for once.", effect=NO_EFFECT
    )
    controlled_shutdown_retry_backoff_ms: int = long(
        5000, "The pause between two tries of the handover in Kafka.", effect=NO_EFFECT
    )
