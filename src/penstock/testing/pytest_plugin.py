"""Fixtures for tests that need a Kafka broker; pytest finds them when Penstock is installed.

Nothing of Penstock is imported before a fixture is asked for: those who do not use them should not notice that
the plugin is there.
"""

import re
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from penstock.testing.config_text import as_text

if TYPE_CHECKING:
    from penstock.client.consumer.kafka_consumer import KafkaConsumer
    from penstock.client.producer.kafka_producer import KafkaProducer
    from penstock.testing import (
        Cluster,
        ConnectProcess,
        InProcessBroker,
        InProcessRegistry,
        InProcessRestProxy,
        Interceptor,
    )

INI_NAME = "penstock_settings"
SETTINGS_MARKER = "penstock_settings"
TOPIC_MARKER = "penstock_topic"
MAX_READABLE_NAME = 180
"""Of the 249 characters that a topic's name may have."""
BROKERS_OF_A_CLUSTER = 3
CONSUMER_TIMEOUT_MS = 10_000
"""A test that waits for a record that never comes should end, and say so."""
_MARKERS = (
    f"{SETTINGS_MARKER}(settings): the test gets a broker with these settings: "
    '@pytest.mark.penstock_settings({"message.max.bytes": 1000})',
    f"{TOPIC_MARKER}(partitions, configs): what `penstock_topic` is made with: "
    '@pytest.mark.penstock_topic(partitions=3, configs={"cleanup.policy": "compact"})',
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        INI_NAME,
        "settings of the broker that the Penstock fixtures start, one name=value a line, as in server.properties",
        type="linelist",
    )


def pytest_configure(config: pytest.Config) -> None:
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with settings of its own has the session's broker started anew with these, once for all such tests."""
    marker = metafunc.definition.get_closest_marker(SETTINGS_MARKER)
    if marker is None or "penstock_broker" not in metafunc.fixturenames:
        return
    settings = as_text(*marker.args, **marker.kwargs)
    _refuse_unknown(settings, f"@pytest.mark.{SETTINGS_MARKER} of {metafunc.definition.nodeid}")
    label = ",".join(f"{name}={value}" for name, value in settings.items())
    metafunc.parametrize("penstock_broker", [settings], indirect=True, ids=[label], scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """A broker that a test has stopped is there again for the next one."""
    broker = getattr(item, "funcargs", {}).get("penstock_broker")
    if broker is not None and not broker.is_running:
        broker.start_broker()


# fixtures


@pytest.fixture(scope="session")
def penstock_settings(pytestconfig: pytest.Config) -> dict[str, str]:
    """The settings that the broker is started with, on top of those that suit tests.

    They come from `penstock_settings` in pytest's configuration file. Override this fixture in the conftest.py at
    the root of the tests to compute them; mark a test with `penstock_settings` to give it a broker of its own kind.
    """
    lines = pytestconfig.getini(INI_NAME)
    for line in lines:
        if "=" not in line:
            raise pytest.UsageError(f"{INI_NAME}: got {line!r}; takes name=value, as in num.partitions=3")
    settings = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
    _refuse_unknown(settings, INI_NAME)
    return settings


@pytest.fixture(scope="session")
def penstock_broker(
    request: pytest.FixtureRequest, penstock_settings: dict[str, str]
) -> Iterator["InProcessBroker"]:
    """A real Kafka broker on a free port, started once per session: `penstock_broker.bootstrap_servers`.

    Under xdist each worker has its own. It creates topics on demand, like Kafka; `penstock_topic` is a topic of one's
    own. `create_topic`, `delete_topic`, `stop_broker`, `start_broker` and `restart` do what they say.
    """
    from penstock.testing import InProcessBroker

    with InProcessBroker(as_text({**penstock_settings, **getattr(request, "param", {})})) as broker:
        yield broker


@pytest.fixture
def penstock_bootstrap_servers(penstock_broker: "InProcessBroker") -> str:
    """The broker's address, as clients take it: `host:port`."""
    return penstock_broker.bootstrap_servers


@pytest.fixture
def penstock_topic(request: pytest.FixtureRequest, penstock_broker: "InProcessBroker") -> Iterator[str]:
    """The name of a new topic, made for this test and deleted after it.

    It has one partition. `@pytest.mark.penstock_topic(partitions=3, configs={"cleanup.policy": "compact"})` says
    otherwise.
    """
    name = _topic_name(request.node.name)
    partitions, configs = _topic_options(request.node)
    penstock_broker.create_topic(name, partitions, configs)
    yield name
    _delete_topic(penstock_broker, name)


@pytest.fixture
def penstock_producer(penstock_bootstrap_servers: str) -> Iterator["KafkaProducer"]:
    """A `penstock.KafkaProducer` of bytes and text, closed after the test."""
    from penstock.client.producer.kafka_producer import KafkaProducer

    with KafkaProducer(bootstrap_servers=penstock_bootstrap_servers) as producer:
        yield producer


@pytest.fixture
def penstock_consumer(penstock_bootstrap_servers: str, penstock_topic: str) -> Iterator["KafkaConsumer"]:
    """A `penstock.KafkaConsumer` of `penstock_topic`, from its first record on, in a group of its own.

    Iteration ends when nothing has come for ten seconds.
    """
    from penstock.client.consumer.kafka_consumer import KafkaConsumer

    with KafkaConsumer(
        penstock_topic,
        bootstrap_servers=penstock_bootstrap_servers,
        group_id=f"{penstock_topic}-group",
        auto_offset_reset="earliest",
        consumer_timeout_ms=CONSUMER_TIMEOUT_MS,
    ) as consumer:
        yield consumer


@pytest.fixture(scope="session")
def penstock_registry(penstock_broker: "InProcessBroker") -> Iterator["InProcessRegistry"]:
    """A real Schema Registry on a free port, with its schemas in `penstock_broker`: `penstock_registry.url`.

    One per session, so that its subjects and ids are there for all tests; `penstock_topic` gives a test subjects of
    its own.
    """
    from penstock.testing import InProcessRegistry

    with InProcessRegistry(penstock_broker.bootstrap_servers) as registry:
        yield registry


@pytest.fixture(scope="session")
def penstock_rest(
    penstock_broker: "InProcessBroker", penstock_registry: "InProcessRegistry"
) -> Iterator["InProcessRestProxy"]:
    """A real REST proxy on a free port, before `penstock_broker` and `penstock_registry`: `penstock_rest.url`."""
    from penstock.testing import InProcessRestProxy

    settings = {"schema.registry.url": penstock_registry.url}
    with InProcessRestProxy(penstock_broker.bootstrap_servers, settings) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def penstock_connect_settings() -> dict[str, str]:
    """Settings of the worker that `penstock_connect` starts, as in connect-distributed.properties; none by default.

    Override this fixture in the conftest.py at the root of the tests, to try out a connector of your own:

        @pytest.fixture(scope="session")
        def penstock_connect_settings():
            return {"plugin.path": "connectors"}
    """
    return {}


@pytest.fixture(scope="session")
def _penstock_connect_worker(
    penstock_broker: "InProcessBroker", penstock_connect_settings: Mapping[str, object]
) -> Iterator["ConnectProcess"]:
    from penstock.testing import ConnectProcess

    with ConnectProcess(penstock_broker.bootstrap_servers, as_text(penstock_connect_settings)) as worker:
        yield worker


@pytest.fixture
def penstock_connect(_penstock_connect_worker: "ConnectProcess") -> Iterator["ConnectProcess"]:
    """A real Connect worker before `penstock_broker`, on a Spark of its own: `penstock_connect.url`.

        penstock_connect.start_connector("lake", {"connector.class": "LakeSink", "topics": penstock_topic, ...})

    returns when all its tasks run. The worker is one per session, in a process of its own, and takes seconds to start;
    connectors are deleted after the test. It needs `penstock[spark]`.
    """
    yield _penstock_connect_worker
    for name in _penstock_connect_worker.connectors():
        _penstock_connect_worker.delete_connector(name)


@pytest.fixture(scope="session")
def penstock_cluster_settings() -> dict[str, object]:
    """Settings of the brokers of `penstock_cluster`, as in server.properties; none by default.

    Override this fixture in the conftest.py at the root of the tests. `brokers` is how many there are, if not three:

        @pytest.fixture(scope="session")
        def penstock_cluster_settings():
            return {"brokers": 5, "min.insync.replicas": 3}
    """
    return {}


@pytest.fixture(scope="session")
def _penstock_running_cluster(penstock_cluster_settings: Mapping[str, object]) -> Iterator["Cluster"]:
    from penstock.testing import Cluster

    settings = dict(penstock_cluster_settings)
    with Cluster(int(str(settings.pop("brokers", BROKERS_OF_A_CLUSTER))), settings) as cluster:
        yield cluster


@pytest.fixture
def penstock_cluster(_penstock_running_cluster: "Cluster") -> Iterator["Cluster"]:
    """A cluster of three real brokers, each a process, for tests of faults: `penstock_cluster.bootstrap_servers`.

        penstock_cluster.create_topic("orders")
        penstock_cluster.kill(penstock_cluster.leader("orders"))

    There are `kill`, `stop`, `start`, `pause`, `resume`, `partition`, `heal` and `wait_until_in_sync`. One per
    session; after each test it is made whole again, and keeps its topics.
    """
    yield _penstock_running_cluster
    _penstock_running_cluster.restore()


@pytest.fixture
def penstock_intercept(penstock_broker: "InProcessBroker") -> Iterator["Interceptor"]:
    """Delays requests, drops them, answers them with an error, and lists those that came.

        penstock_intercept.answer("Produce", error="NOT_LEADER_OR_FOLLOWER", times=2)
        penstock_intercept.delay("Fetch", seconds=0.5, topic="orders")
        penstock_intercept.drop("Metadata", client_id="billing", nth=3)
        penstock_intercept.seen("OffsetCommit")[-1].message.group_id

    Rules end with the test.
    """
    with penstock_broker.interceptor.recording() as interceptor:
        yield interceptor


def _refuse_unknown(settings: Mapping[str, str], where: str) -> None:
    from penstock.errors import ConfigError
    from penstock.settings.broker import find_unknown
    from penstock.settings.table import refuse_unknown

    try:
        refuse_unknown(find_unknown(settings), where)
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from None


def _topic_name(test: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", test).strip("-")[:MAX_READABLE_NAME]
    return f"{readable}-{uuid.uuid4().hex[:6]}"


def _topic_options(node: Any) -> tuple[int, dict[str, str]]:
    """What the markers say, the nearest one first."""
    options: dict[str, Any] = {}
    for marker in node.iter_markers(TOPIC_MARKER):
        unknown = set(marker.kwargs) - {"partitions", "configs"}
        if marker.args or unknown:
            got = ", ".join([*map(repr, marker.args), *sorted(unknown)])
            raise pytest.UsageError(f"{TOPIC_MARKER}: got {got}; takes partitions=... and configs=...")
        options = {**marker.kwargs, **options}
    return options.get("partitions", 1), as_text(options.get("configs", {}))


def _delete_topic(broker: "InProcessBroker", name: str) -> None:
    from penstock.errors import ApiError

    try:
        broker.delete_topic(name)
    except ApiError:
        pass  # the test has deleted it, or has the broker forbid it
