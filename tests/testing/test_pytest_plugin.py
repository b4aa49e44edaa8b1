"""The plugin as its users have it: small projects, run by pytest in a process of their own."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]

STRICT = """
[pytest]
addopts = --strict-markers --strict-config -p no:cacheprovider
filterwarnings = error
"""


def run(project: pytest.Pytester, *arguments: str, timeout: float = 120) -> pytest.RunResult:
    if not (project.path / "tox.ini").exists():
        project.makeini(STRICT)
    return project.runpytest_subprocess("-q", *arguments, timeout=timeout)


def test_the_fixtures_are_listed_with_what_they_do(pytester: pytest.Pytester) -> None:
    listed = run(pytester, "--fixtures")
    listed.stdout.fnmatch_lines_random(
        [
            "penstock_broker [[]session scope] -- *",
            "*A real Kafka broker on a free port, started once per session*",
            "penstock_settings [[]session scope] -- *",
            "penstock_topic -- *",
            "*The name of a new topic, made for this test and deleted after it.",
            "penstock_bootstrap_servers -- *",
            "penstock_producer -- *",
            "penstock_consumer -- *",
            "penstock_registry [[]session scope] -- *",
            "*A real Schema Registry on a free port, with its schemas in `penstock_broker`*",
            "penstock_rest [[]session scope] -- *",
            "*A real REST proxy on a free port, before `penstock_broker` and `penstock_registry`*",
            "penstock_connect -- *",
            "*A real Connect worker before `penstock_broker`, on a Spark of its own*",
            "penstock_connect_settings [[]session scope] -- *",
            "penstock_cluster -- *",
            "*A cluster of three real brokers, each a process, for tests of faults*",
            "penstock_cluster_settings [[]session scope] -- *",
            "penstock_intercept -- *",
            "*Delays requests, drops them, answers them with an error, and lists those that came.",
        ]
    )
    run(pytester, "--markers").stdout.fnmatch_lines_random(
        ["@pytest.mark.penstock_topic(partitions, configs): *", "@pytest.mark.penstock_settings(settings): *"]
    )


def test_those_who_do_not_use_it_do_not_pay_for_it() -> None:
    program = "import json, sys, penstock.testing.pytest_plugin; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.check_output([sys.executable, "-c", program]))
    assert not {"asyncio", "uvloop", "confluent_kafka", "kazoo"} & set(loaded)
    ours = {name for name in loaded if name.startswith("penstock")}
    assert ours == {
        "penstock",
        "penstock.testing",
        "penstock.testing.config_text",
        "penstock.testing.pytest_plugin",
    }


def test_one_broker_a_topic_for_each_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka import Consumer, Producer
        from confluent_kafka.admin import AdminClient

        ports = set()
        names = set()

        @pytest.fixture
        def cluster(penstock_bootstrap_servers):
            return lambda: AdminClient({"bootstrap.servers": penstock_bootstrap_servers}).list_topics(timeout=30)

        def test_produce_and_consume(penstock_broker, penstock_topic, penstock_bootstrap_servers):
            ports.add(penstock_broker.port)
            names.add(penstock_topic)
            assert penstock_topic.startswith("test_produce_and_consume-")
            producer = Producer({"bootstrap.servers": penstock_bootstrap_servers})
            producer.produce(penstock_topic, b"bread")
            assert producer.flush(30) == 0
            consumer = Consumer(
                {"bootstrap.servers": penstock_bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
            )
            consumer.subscribe([penstock_topic])
            assert consumer.poll(30).value() == b"bread"
            consumer.close()

        @pytest.mark.parametrize("taste", ["sweet & sour", "ümlaut/.."])
        def test_names_are_legal(penstock_broker, penstock_topic, cluster, taste):
            ports.add(penstock_broker.port)
            names.add(penstock_topic)
            assert list(cluster().topics[penstock_topic].partitions) == [0]

        @pytest.mark.penstock_topic(partitions=3, configs={"cleanup.policy": "compact"})
        class TestMarked:
            def test_of_the_class(self, penstock_topic, cluster):
                assert len(cluster().topics[penstock_topic].partitions) == 3

            @pytest.mark.penstock_topic(partitions=5)
            def test_the_nearest_marker_counts(self, penstock_topic, cluster):
                assert len(cluster().topics[penstock_topic].partitions) == 5

        def test_deleted_after_the_test(cluster, penstock_broker):
            assert len(ports) == 1
            assert len(names) == 3
            assert [name for name in cluster().topics if not name.startswith("__")] == []

        def test_stops_the_broker(penstock_broker, penstock_topic):
            penstock_broker.stop_broker()

        def test_finds_it_running_again(cluster):
            cluster()
        """
    )
    run(pytester).assert_outcomes(passed=8)


def test_penstocks_own_clients(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_produce_and_consume(penstock_producer, penstock_consumer, penstock_topic):
            penstock_producer.send(penstock_topic, b"bread").result(30)
            penstock_producer.send(penstock_topic, b"wine", key=b"red")
            penstock_producer.flush()
            records = iter(penstock_consumer)
            first, second = next(records), next(records)
            assert (first.value, second.key, second.value) == (b"bread", b"red", b"wine")

        def test_a_topic_of_its_own(penstock_producer, penstock_consumer, penstock_topic, penstock_intercept):
            rule = penstock_intercept.answer("Produce", error="NOT_LEADER_OR_FOLLOWER", times=1)
            assert penstock_producer.send(penstock_topic, b"cheese").result(30).offset == 0
            rule.assert_matched()
            assert next(iter(penstock_consumer)).value == b"cheese"
        """
    )
    run(pytester).assert_outcomes(passed=2)


def test_a_registry_and_a_rest_proxy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import json
        import urllib.request

        import pytest
        from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

        def asked(url):
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)

        def test_a_schema_is_registered(penstock_registry, penstock_topic):
            with SchemaRegistryClient({"url": penstock_registry.url}) as client:
                schema_id = client.register_schema(f"{penstock_topic}-value", Schema('"string"', "AVRO"))
                assert client.get_schema(schema_id).schema_str == '"string"'

        def test_registry_and_broker_are_those_of_the_session(penstock_registry, penstock_rest, penstock_topic):
            assert "test_a_schema_is_registered" in asked(f"{penstock_registry.url}/subjects")[0]
            (cluster,) = asked(f"{penstock_rest.url}/v3/clusters")["data"]
            topics = asked(cluster["topics"]["related"])["data"]
            assert {"_schemas", penstock_topic} <= {topic["topic_name"] for topic in topics}
            assert penstock_rest.settings.schema_registry_url == penstock_registry.url

        def test_they_outlive_a_broker_that_restarts(penstock_registry, penstock_rest, penstock_broker):
            penstock_broker.restart()
            with SchemaRegistryClient({"url": penstock_registry.url}) as client:
                assert client.register_schema("restarted", Schema('"int"', "AVRO")) == 2
            assert asked(f"{penstock_rest.url}/v3/clusters")["data"]

        @pytest.mark.penstock_settings({"num.partitions": 2})
        def test_another_broker_has_another_registry(penstock_registry, penstock_topic):
            assert asked(f"{penstock_registry.url}/subjects") == []
        """
    )
    run(pytester).assert_outcomes(passed=4)


def test_settings(pytester: pytest.Pytester) -> None:
    pytester.makeini(STRICT + "penstock_settings =\n    num.partitions = 4\n    message.max.bytes=5000\n")
    pytester.makepyfile(
        """
        import pytest

        def partitions(broker):
            return broker.broker.settings.num_partitions

        def test_from_the_configuration_file(penstock_broker):
            assert partitions(penstock_broker) == 4

        @pytest.mark.penstock_settings({"num.partitions": 2, "auto.create.topics.enable": False})
        def test_of_its_own(penstock_broker, penstock_topic):
            settings = penstock_broker.broker.settings
            assert (settings.num_partitions, settings.auto_create_topics_enable) == (2, False)
            assert settings.message_max_bytes == 5000

        def test_back_to_those_of_all(penstock_broker):
            assert partitions(penstock_broker) == 4
        """
    )
    run(pytester).assert_outcomes(passed=3)
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def penstock_settings():
            return {"num.partitions": 4, "delete.topic.enable": False, "message.max.bytes": 5000}
        """
    )
    pytester.makeini(STRICT)
    run(pytester).assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("line", "marker", "says"),
    [
        ("num.partitions", "", "penstock_settings: got 'num.partitions'; takes name=value"),
        ("num.partitions=0", "", "num.partitions: got '0'"),
        ("", "@pytest.mark.penstock_topic(3)", "penstock_topic: got 3; takes partitions=... and configs=..."),
        ("", '@pytest.mark.penstock_topic(configs={"cleanup.policy": "no"})', "cleanup.policy"),
    ],
)
def test_what_is_wrong_is_said(pytester: pytest.Pytester, line: str, marker: str, says: str) -> None:
    pytester.makeini(STRICT + f"penstock_settings =\n    {line}\n")
    pytester.makepyfile(f"import pytest\n\n{marker}\ndef test_it(penstock_topic): pass\n")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    assert says in result.stdout.str()


def test_under_xdist_each_worker_has_its_own_broker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pathlib
        import pytest
        from confluent_kafka import Producer

        @pytest.mark.parametrize("number", range(6))
        def test_it(number, penstock_broker, penstock_topic, worker_id):
            producer = Producer({"bootstrap.servers": penstock_broker.bootstrap_servers})
            producer.produce(penstock_topic, b"bread")
            assert producer.flush(30) == 0
            pathlib.Path(f"{worker_id}-{penstock_broker.port}").touch()
        """
    )
    run(pytester, "-n2").assert_outcomes(passed=6)
    assert len(list(pytester.path.glob("gw0-*"))) == len(list(pytester.path.glob("gw1-*"))) == 1


def test_a_misspelt_setting_is_refused(pytester: pytest.Pytester) -> None:
    """In the mark, and in pytest's own file; Kafka's settings that a broker of ours does not act on are no mistake."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.penstock_settings({"message.max.byts": 1000})
        def test_it(penstock_broker): ...
        """
    )
    said = run(pytester)
    assert said.ret == pytest.ExitCode.INTERRUPTED
    where = "@pytest.mark.penstock_settings of *::test_it"
    said.stdout.fnmatch_lines([f"*{where}: message.max.byts is no setting; did you mean message.max.bytes?"])
    pytester.makepyfile(
        """
        def test_it(penstock_broker):
            assert penstock_broker.bootstrap_servers
        """
    )
    pytester.makeini(f"{STRICT}penstock_settings =\n  num.partitons = 3\n")
    said = run(pytester)
    said.stdout.fnmatch_lines(
        ["*penstock_settings: num.partitons is no setting; did you mean num.partitions?*"]
    )
    pytester.makeini(f"{STRICT}penstock_settings =\n  sasl.kerberos.service.name = kafka\n")
    assert run(pytester).ret == 0
