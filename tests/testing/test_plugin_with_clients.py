"""What people test with the plugin: how their clients bear a broker in trouble; each project runs as written."""

import pytest

from tests.testing.test_pytest_plugin import run

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]


def test_confluent_kafka(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

        @pytest.fixture
        def producer(penstock_bootstrap_servers):
            return Producer({"bootstrap.servers": penstock_bootstrap_servers, "retry.backoff.ms": 10})

        @pytest.fixture
        def consumer(penstock_bootstrap_servers):
            consumer = Consumer(
                {
                    "bootstrap.servers": penstock_bootstrap_servers,
                    "group.id": "billing",
                    "auto.offset.reset": "earliest",
                    "enable.auto.commit": False,
                }
            )
            yield consumer
            consumer.close()

        def values(consumer, topic, count):
            consumer.assign([TopicPartition(topic, 0, 0)])
            return [message.value() for message in consumer.consume(count, timeout=30)]

        def test_it_tries_again_after_an_error(producer, consumer, penstock_topic, penstock_intercept):
            rule = penstock_intercept.answer("Produce", error="NOT_LEADER_OR_FOLLOWER", times=2)
            producer.produce(penstock_topic, b"bread")
            assert producer.flush(30) == 0
            rule.assert_matched(times=2)
            assert len(penstock_intercept.seen("Produce", topic=penstock_topic)) == 3
            assert values(consumer, penstock_topic, 1) == [b"bread"]

        def test_it_gives_up_when_there_is_no_hope(producer, penstock_topic, penstock_intercept):
            penstock_intercept.answer("Produce", error="TOPIC_AUTHORIZATION_FAILED")
            errors = []
            producer.produce(penstock_topic, b"bread", on_delivery=lambda error, _: errors.append(error))
            assert producer.flush(30) == 0
            assert errors[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED

        def test_a_lost_answer_makes_no_duplicate(penstock_broker, consumer, penstock_topic, penstock_intercept):
            rule = penstock_intercept.drop("Produce", handled=True, nth=1)
            servers = penstock_broker.bootstrap_servers
            producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "retry.backoff.ms": 10})
            for value in (b"one", b"two"):
                producer.produce(penstock_topic, value)
                assert producer.flush(30) == 0
            rule.assert_matched()
            assert len(penstock_intercept.seen("Produce")) >= 3
            assert values(consumer, penstock_topic, 2) == [b"one", b"two"]
            assert consumer.get_watermark_offsets(TopicPartition(penstock_topic, 0)) == (0, 2)

        def test_a_commit_that_fails_is_seen(consumer, penstock_topic, penstock_intercept):
            penstock_intercept.answer("OffsetCommit", error="GROUP_AUTHORIZATION_FAILED")
            with pytest.raises(KafkaException) as raised:
                consumer.commit(offsets=[TopicPartition(penstock_topic, 0, 1)], asynchronous=False)
            assert raised.value.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED
            assert penstock_intercept.seen("OffsetCommit")[0].message.group_id == "billing"

        def test_a_slow_broker_is_waited_for(producer, consumer, penstock_topic, penstock_intercept):
            with penstock_intercept.delay("Fetch", seconds=0.3, topic=penstock_topic, times=1) as rule:
                producer.produce(penstock_topic, b"bread")
                assert producer.flush(30) == 0
                assert values(consumer, penstock_topic, 1) == [b"bread"]
            rule.assert_matched()

        def test_rules_are_gone(penstock_broker):
            assert penstock_broker.interceptor.rules == ()
            assert penstock_broker.interceptor.seen() == []
        """
    )
    run(pytester).assert_outcomes(passed=6)


def test_kafka_python(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from kafka import KafkaConsumer, KafkaProducer
        from kafka.errors import KafkaTimeoutError, RecordListTooLargeError

        @pytest.fixture
        def producer(penstock_bootstrap_servers):
            producer = KafkaProducer(
                bootstrap_servers=penstock_bootstrap_servers, client_id="shop", retry_backoff_ms=10
            )
            yield producer
            producer.close()

        def first_value(servers, topic):
            consumer = KafkaConsumer(
                topic, bootstrap_servers=servers, auto_offset_reset="earliest", consumer_timeout_ms=30_000
            )
            value = next(consumer).value
            consumer.close()
            return value

        def test_it_tries_again(producer, penstock_topic, penstock_intercept, penstock_bootstrap_servers):
            rule = penstock_intercept.answer(
                "Produce", error="NOT_ENOUGH_REPLICAS", times=2, client_id="shop"
            )
            assert producer.send(penstock_topic, b"bread").get(timeout=30).offset == 0
            rule.assert_matched(2)
            assert first_value(penstock_bootstrap_servers, penstock_topic) == b"bread"

        def test_it_connects_again(producer, penstock_topic, penstock_intercept):
            rule = penstock_intercept.drop("Produce", nth=1)
            assert producer.send(penstock_topic, b"bread").get(timeout=30).offset == 0
            rule.assert_matched()

        def test_an_error_comes_back(producer, penstock_topic, penstock_intercept):
            penstock_intercept.answer("Produce", error="RECORD_LIST_TOO_LARGE", topic=penstock_topic)
            with pytest.raises(RecordListTooLargeError):
                producer.send(penstock_topic, b"bread").get(timeout=30)

        def test_silence_runs_into_the_timeout(penstock_broker, penstock_intercept):
            rule = penstock_intercept.drop("Metadata", silent=True, topic="nowhere")
            producer = KafkaProducer(bootstrap_servers=penstock_broker.bootstrap_servers, max_block_ms=500)
            with pytest.raises(KafkaTimeoutError):
                producer.send("nowhere", b"bread")
            rule.assert_matched()
            rule.remove()
            producer.close()
        """
    )
    pytester.makeini("[pytest]\naddopts = --strict-markers\n")
    run(pytester).assert_outcomes(passed=4)


def test_aiokafka(pytester: pytest.Pytester) -> None:
    """Without any plugin for asyncio; the broker has a loop of its own."""
    pytester.makepyfile(
        """
        import asyncio

        from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

        async def send(servers, topic):
            async with AIOKafkaProducer(bootstrap_servers=servers, retry_backoff_ms=10) as producer:
                return (await producer.send_and_wait(topic, b"bread")).offset

        async def receive(servers, topic):
            consumer = AIOKafkaConsumer(
                topic, bootstrap_servers=servers, group_id="g", auto_offset_reset="earliest", retry_backoff_ms=10
            )
            async with consumer:
                return (await asyncio.wait_for(consumer.getone(), 30)).value

        def test_errors_drops_and_delays(penstock_bootstrap_servers, penstock_topic, penstock_intercept):
            servers = penstock_bootstrap_servers
            penstock_intercept.answer("Produce", error="NOT_LEADER_OR_FOLLOWER", nth=1)
            penstock_intercept.delay("Produce", seconds=0.05, nth=2)
            assert asyncio.run(send(servers, penstock_topic)) == 0
            penstock_intercept.answer("FindCoordinator", error="COORDINATOR_NOT_AVAILABLE", times=2)
            penstock_intercept.answer("Fetch", error="LEADER_NOT_AVAILABLE", topic=penstock_topic, times=1)
            assert asyncio.run(receive(servers, penstock_topic)) == b"bread"
            penstock_intercept.assert_all_matched()
        """
    )
    run(pytester).assert_outcomes(passed=1)
