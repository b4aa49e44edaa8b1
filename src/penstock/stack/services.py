"""The services of the platform: ports, order, and the configuration that each is started with."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from penstock.errors import ConfigError

EVERY_INTERFACE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Whoever reaches these may run programs on this machine anyway."""
MOST_BROKERS = 99
MOST_REPLICAS = 3
"""Of a topic for which nobody has asked for a number; fewer if there are not so many brokers."""


@dataclass(frozen=True, slots=True)
class ServiceKind:
    """`module` is the command line that runs it; None while the service is not there yet. What it needs beside the
    package itself comes with an extra."""

    name: str
    port: int
    module: str | None = None
    needs: str | None = None
    extra: str | None = None

    @property
    def is_installed(self) -> bool:
        return self.needs is None or find_spec(self.needs) is not None

    @property
    def how_to_get_it(self) -> str:
        return f"it needs {self.needs}; get it with: pip install 'penstock[{self.extra}]'"


# In the order of their start; they stop in the opposite order.
KINDS = {
    kind.name: kind
    for kind in (
        ServiceKind("zookeeper", 2181, "penstock.cli.tools.zookeeper_server_start"),
        ServiceKind("broker", 9092, "penstock.cli.tools.kafka_server_start"),
        ServiceKind("registry", 8081, "penstock.cli.tools.schema_registry_start"),
        ServiceKind("rest", 8082, "penstock.cli.tools.kafka_rest_start"),
        ServiceKind(
            "connect", 8083, "penstock.cli.tools.connect_distributed", needs="pyspark", extra="spark"
        ),
        ServiceKind("sql", 8088),
        ServiceKind("monitor", 8000),
        ServiceKind("ui", 3030),
    )
}
AVAILABLE = tuple(name for name, kind in KINDS.items() if kind.module is not None)


@dataclass(frozen=True, slots=True)
class StackOptions:
    data_dir: Path
    ephemeral: bool = False
    brokers: int = 1
    port_offset: int = 0
    only: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    overrides: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By kind of service, or by the name of one broker; each over what the platform would give it."""

    @property
    def replicas(self) -> int:
        return min(MOST_REPLICAS, self.brokers)

    @property
    def replicas_in_sync(self) -> int:
        """How many a record has to be on before it is acknowledged: one broker may die, and writes go on."""
        return max(1, self.replicas - 1)


@dataclass(frozen=True, slots=True)
class Service:
    """One process to run: where it listens, and the properties it starts with."""

    name: str
    kind: str
    host: str
    port: int
    module: str
    properties: Mapping[str, str]

    @property
    def connect_host(self) -> str:
        """Where it is reached from this machine."""
        return EVERY_INTERFACE.get(self.host, self.host)

    @property
    def address(self) -> str:
        return _address(self.connect_host, self.port)


def plan(options: StackOptions) -> list[Service]:
    """The services that the options ask for, in the order of their start."""
    _check(options)
    wanted = _wanted_kinds(options.only)
    return [service for name in KINDS if name in wanted for service in _BUILDERS[name](options, wanted)]


def broker_name(number: int) -> str:
    return f"broker-{number}"


def broker_number(name: str) -> int | None:
    """None if it is not the name of a broker."""
    found = re.fullmatch(r"broker-([1-9]\d*)", name)
    return int(found[1]) if found else None


def _check(options: StackOptions) -> None:
    if not 1 <= options.brokers <= MOST_BROKERS:
        raise ConfigError(f"--brokers: got {options.brokers}; takes 1 to {MOST_BROKERS}")
    _check_settings(options)
    if not 0 <= options.port_offset <= 65535 - max(kind.port for kind in KINDS.values()):
        raise ConfigError(f"--port-offset: got {options.port_offset}; takes 0 to 56443")
    if "," in str(options.data_dir):
        raise ConfigError(f"--data-dir: got {str(options.data_dir)!r}; takes a path without a comma")


def _check_settings(options: StackOptions) -> None:
    for name in options.settings:
        number = broker_number(name)
        if number is not None and number > options.brokers:
            there = "broker-1" if options.brokers == 1 else f"broker-1 to broker-{options.brokers}"
            raise ConfigError(f"--set: got {name}; the brokers are {there}")
    if options.brokers == 1:
        return
    for where, given in (
        ("--override: ", options.overrides),
        ("--set: broker.", options.settings.get("broker", {})),
    ):
        for name in _EACH_ITS_OWN & given.keys():
            raise ConfigError(
                f"{where}{name}: brokers can't share it; give it to one, as in --set broker-1.{name}=..."
            )
    for name, given in options.settings.items():
        if broker_number(name) is not None and _IDS & given.keys():
            raise ConfigError(
                f"--set: {name}.{min(_IDS & given.keys())}: several brokers have the numbers of their names"
            )


def _wanted_kinds(only: Sequence[str]) -> set[str]:
    for name in only:
        if name not in KINDS:
            raise ConfigError(f"--only: got {name!r}; takes {', '.join(AVAILABLE)}")
        if name not in AVAILABLE:
            raise ConfigError(f"--only: {name} is not available yet; takes {', '.join(AVAILABLE)}")
        if not KINDS[name].is_installed:
            raise ConfigError(f"--only: {name} can't be started: {KINDS[name].how_to_get_it}")
    return set(only or (name for name in AVAILABLE if KINDS[name].is_installed))


def left_out(options: StackOptions) -> list[str]:
    """One line for each service that is not started because something is not installed."""
    if options.only:
        return []
    missing = [KINDS[name] for name in AVAILABLE if not KINDS[name].is_installed]
    return [f"{kind.name} is left out: {kind.how_to_get_it}" for kind in missing]


def _zookeeper(options: StackOptions, wanted: set[str]) -> list[Service]:
    port = KINDS["zookeeper"].port + options.port_offset
    properties = {
        "dataDir": str(options.data_dir / "zookeeper"),
        "clientPort": str(port),
        "clientPortAddress": options.host or "0.0.0.0",
        "maxClientCnxns": "0",
    }
    if options.ephemeral:
        properties["forceSync"] = "no"
    return [_service("zookeeper", "zookeeper", options, port, properties)]


_IDS = {"broker.id", "node.id"}
_EACH_ITS_OWN = _IDS | {"listeners", "advertised.listeners", "log.dir", "log.dirs"}


def _brokers(options: StackOptions, wanted: set[str]) -> list[Service]:
    return [_broker(options, number) for number in range(1, options.brokers + 1)]


def _broker(options: StackOptions, number: int) -> Service:
    name, port = broker_name(number), _broker_port(options, number)
    properties = {
        "broker.id": str(number),
        "listeners": f"PLAINTEXT://{_address(options.host, port)}",
        "log.dirs": str(options.data_dir / name),
        "zookeeper.connect": _from_here(options, "zookeeper"),
        **_replication(options),
        "group.initial.rebalance.delay.ms": "0",  # as Kafka's own server.properties has it
        **_advertised(options.host, port),
        **options.overrides,
    }
    service = _service(name, "broker", options, port, properties)
    return replace(service, properties={**service.properties, **options.settings.get(name, {})})


def _replication(options: StackOptions) -> dict[str, str]:
    """Given in so many words: a broker makes no internal topic of fewer replicas than it was told."""
    replicas, in_sync = str(options.replicas), str(options.replicas_in_sync)
    of_all = {"default.replication.factor": replicas, "min.insync.replicas": in_sync}
    return {
        **(of_all if options.brokers > 1 else {}),
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
    }


def _registry(options: StackOptions, wanted: set[str]) -> list[Service]:
    port = KINDS["registry"].port + options.port_offset
    properties = {
        "listeners": _listener(options, port),
        "kafkastore.bootstrap.servers": bootstrap_of(options),
        "kafkastore.topic.replication.factor": str(options.replicas),
    }
    if options.host not in EVERY_INTERFACE:
        properties["host.name"] = options.host
    return [_service("registry", "registry", options, port, properties)]


def _rest(options: StackOptions, wanted: set[str]) -> list[Service]:
    port = KINDS["rest"].port + options.port_offset
    properties = {"listeners": _listener(options, port), "bootstrap.servers": bootstrap_of(options)}
    if "registry" in wanted:
        properties["schema.registry.url"] = f"http://{_from_here(options, 'registry')}"
    return [_service("rest", "rest", options, port, properties)]


def _connect(options: StackOptions, wanted: set[str]) -> list[Service]:
    port = KINDS["connect"].port + options.port_offset
    converter = "org.apache.kafka.connect.json.JsonConverter"
    properties = {
        "listeners": _listener(options, port),
        "bootstrap.servers": bootstrap_of(options),
        "group.id": "connect-cluster",
        "key.converter": converter,
        "value.converter": converter,
        **{f"{each}.storage.topic": f"connect-{each}s" for each in ("config", "offset")},
        "status.storage.topic": "connect-status",
        **{
            f"{each}.storage.replication.factor": str(options.replicas)
            for each in ("config", "offset", "status")
        },
        "data.dir": str(options.data_dir / "connect"),
    }
    if options.host not in EVERY_INTERFACE:
        properties["rest.advertised.host.name"] = options.host
    if options.host in LOOPBACK:
        properties["program.deploy.enable"] = "true"
    return [_service("connect", "connect", options, port, properties)]


def _listener(options: StackOptions, port: int) -> str:
    return f"http://{_address(options.host or '0.0.0.0', port)}"


def _from_here(options: StackOptions, kind: str) -> str:
    """Where the other services of the platform reach one."""
    return _address(_here(options), KINDS[kind].port + options.port_offset)


def bootstrap_of(options: StackOptions) -> str:
    """Where they reach the brokers: all of them, so that one may be away."""
    ports = (_broker_port(options, number) for number in range(1, options.brokers + 1))
    return ",".join(_address(_here(options), port) for port in ports)


def _broker_port(options: StackOptions, number: int) -> int:
    return KINDS["broker"].port + options.port_offset + number - 1


def _here(options: StackOptions) -> str:
    return EVERY_INTERFACE.get(options.host, options.host)


def _advertised(host: str, port: int) -> dict[str, str]:
    """A broker on every interface is advertised by this machine's name."""
    if host not in EVERY_INTERFACE:
        return {}
    from penstock.settings.endpoints import name_of_this_machine

    return {"advertised.listeners": f"PLAINTEXT://{name_of_this_machine()}:{port}"}


def _service(
    name: str, kind: str, options: StackOptions, port: int, properties: Mapping[str, str]
) -> Service:
    module = KINDS[kind].module
    assert module is not None
    given = options.settings.get(kind, {})
    return Service(name, kind, options.host, port, module, {**properties, **given})


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_BUILDERS = {
    "zookeeper": _zookeeper,
    "broker": _brokers,
    "registry": _registry,
    "rest": _rest,
    "connect": _connect,
}
