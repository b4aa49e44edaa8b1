"""All commands of `penstock`: those of the platform, and Kafka's console tools under their short names."""

from typing import NamedTuple

TOOLS_PACKAGE = "penstock.cli.tools"
VIEWS_PACKAGE = "penstock.cli.views"
BEFORE, AFTER = "before the other words", "after the other words"
"""Where a bootstrap server that the user did not give goes in."""
OLDER_FLAG = ("--broker-list",)
"""For the servers, in tools that have taken it once; in others it is a list of brokers."""


class Command(NamedTuple):
    what_it_does: str
    module: str
    bootstrap: str | None = None
    bootstrap_elsewhere: tuple[str, ...] = ()
    """Flags of a tool that may bring the servers with them."""
    view: str | None = None
    """The module that shows the tool's lists and descriptions as tables and as JSON."""
    waiting: str | None = None
    """The module that runs the tool with `--wait`, and stays until its work is done."""
    has_flags: bool = True
    """Whether its flags are in an option table, which completion can read."""


PLATFORM = {
    "up": Command("start the platform, and watch over it until Ctrl-C", "penstock.cli.platform.up"),
    "status": Command("show which services run, and whether they answer", "penstock.cli.platform.status"),
    "restart": Command("restart one service of a running platform", "penstock.cli.platform.restart"),
    "logs": Command("show the logs of the platform's services", "penstock.cli.platform.logs"),
    "down": Command(
        "stop a platform that runs in another shell or in the background", "penstock.cli.platform.down"
    ),
    "init": Command(
        "write config/*.properties for the server and client commands", "penstock.cli.platform.init"
    ),
    "spark": Command("start a master or a worker of a Spark cluster", "penstock.cli.platform.spark"),
    "streams": Command(
        "run a program of streams, print its topology, or have it begin anew", "penstock.cli.streams.command"
    ),
    "top": Command("watch topics, rates and lag", "penstock.cli.top.command"),
    "tail": Command("show the last records of a topic, and those that come", "penstock.cli.records.tail"),
    "cp": Command("copy a topic to a file, back, or to another topic", "penstock.cli.records.cp"),
    "completion": Command(
        "print the completion script for bash, zsh or fish", "penstock.cli.completion.scripts"
    ),
    "version": Command("show the version", "penstock.cli.version"),
}


def _tool(
    name: str,
    what_it_does: str,
    bootstrap: str | None = BEFORE,
    bootstrap_elsewhere: tuple[str, ...] = (),
    *,
    view: bool = False,
    waiting: str | None = None,
    has_flags: bool = True,
) -> Command:
    module = name.replace("-", "_")
    shown_by = f"{VIEWS_PACKAGE}.{module.removeprefix('kafka_')}" if view else None
    return Command(
        what_it_does,
        f"{TOOLS_PACKAGE}.{module}",
        bootstrap,
        bootstrap_elsewhere,
        shown_by,
        waiting,
        has_flags,
    )


TOOLS = {
    "topics": _tool("kafka-topics", "create, list, describe, alter and delete topics", view=True),
    "console-producer": _tool(
        "kafka-console-producer", "send lines of the terminal as records", bootstrap_elsewhere=OLDER_FLAG
    ),
    "console-consumer": _tool("kafka-console-consumer", "print the records of topics"),
    "console-share-consumer": _tool(
        "kafka-console-share-consumer", "print records as a member of a share group"
    ),
    "avro-console-producer": _tool(
        "kafka-avro-console-producer", "send lines of JSON as Avro, with its schema in the registry"
    ),
    "avro-console-consumer": _tool(
        "kafka-avro-console-consumer", "print records of Avro as JSON, by their schemas"
    ),
    "json-schema-console-producer": _tool(
        "kafka-json-schema-console-producer", "send lines of JSON, checked by a schema in the registry"
    ),
    "json-schema-console-consumer": _tool(
        "kafka-json-schema-console-consumer", "print records of JSON with a schema"
    ),
    "protobuf-console-producer": _tool(
        "kafka-protobuf-console-producer", "send lines of JSON as Protobuf, with its schema in the registry"
    ),
    "protobuf-console-consumer": _tool(
        "kafka-protobuf-console-consumer", "print records of Protobuf as JSON, by their schemas"
    ),
    "consumer-groups": _tool("kafka-consumer-groups", "show groups and their lag, reset offsets", view=True),
    "groups": _tool("kafka-groups", "list groups of every kind", view=True),
    "share-groups": _tool("kafka-share-groups", "show share groups and reset their offsets", view=True),
    "streams-groups": _tool(
        "kafka-streams-groups", "show groups of Kafka Streams and reset their offsets", view=True
    ),
    "streams-application-reset": _tool(
        "kafka-streams-application-reset", "have a program of Kafka Streams begin anew"
    ),
    "configs": _tool("kafka-configs", "show and change the configs of topics, brokers, users ...", view=True),
    "acls": _tool("kafka-acls", "show and change who may do what", view=True),
    "get-offsets": _tool("kafka-get-offsets", "show the offsets of partitions", view=True),
    "delete-records": _tool("kafka-delete-records", "delete records up to an offset"),
    "log-dirs": _tool("kafka-log-dirs", "show how much partitions take on disk", view=True),
    "leader-election": _tool("kafka-leader-election", "have leaders elected"),
    "reassign-partitions": _tool(
        "kafka-reassign-partitions",
        "move partitions to other brokers",
        waiting="penstock.cli.tool_commands.reassignment_wait",
    ),
    "transactions": _tool("kafka-transactions", "show transactions, and end those that hang", view=True),
    "cluster": _tool("kafka-cluster", "show the cluster's id and endpoints", AFTER, view=True),
    "features": _tool("kafka-features", "show and change feature flags", view=True),
    "broker-api-versions": _tool(
        "kafka-broker-api-versions", "show which versions of the protocol brokers speak", view=True
    ),
    "dump-log": _tool("kafka-dump-log", "print the contents of segment files", None),
    "verifiable-producer": _tool(
        "kafka-verifiable-producer", "send numbers, and tell of each as JSON", bootstrap_elsewhere=OLDER_FLAG
    ),
    "verifiable-consumer": _tool(
        "kafka-verifiable-consumer", "consume, and tell of it as JSON", bootstrap_elsewhere=OLDER_FLAG
    ),
    "producer-perf-test": _tool(
        "kafka-producer-perf-test",
        "measure how fast records are sent",
        bootstrap_elsewhere=("--producer.config", "--command-config", *OLDER_FLAG),
    ),
    "consumer-perf-test": _tool(
        "kafka-consumer-perf-test", "measure how fast records are read", bootstrap_elsewhere=OLDER_FLAG
    ),
    "e2e-latency": _tool("kafka-e2e-latency", "measure the time from sending to reading"),
    "server-start": _tool("kafka-server-start", "start a broker by itself", None, has_flags=False),
    "server-stop": _tool("kafka-server-stop", "stop brokers", None, has_flags=False),
    "rest-start": _tool("kafka-rest-start", "start the REST proxy by itself", None, has_flags=False),
    "connect-distributed": _tool(
        "connect-distributed", "start a worker of a Connect cluster", None, has_flags=False
    ),
    "connect-standalone": _tool(
        "connect-standalone", "run connectors in a worker by itself", None, has_flags=False
    ),
    "connect-mirror-maker": _tool(
        "connect-mirror-maker", "mirror topics and groups between clusters", None, has_flags=False
    ),
    "mirror-maker": _tool(
        "kafka-mirror-maker", "copy topics to another cluster, at least once", None, has_flags=False
    ),
    "schema-registry-start": _tool(
        "schema-registry-start", "start a Schema Registry by itself", None, has_flags=False
    ),
    "zookeeper-server-start": _tool(
        "zookeeper-server-start", "start the embedded ZooKeeper by itself", None, has_flags=False
    ),
    "zookeeper-server-stop": _tool("zookeeper-server-stop", "stop ZooKeeper", None, has_flags=False),
    "zookeeper-shell": _tool("zookeeper-shell", "look into ZooKeeper", None, has_flags=False),
}

COMMANDS = {**PLATFORM, **TOOLS}
