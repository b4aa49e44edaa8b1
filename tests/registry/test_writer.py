"""The leader's writer, against a broker that can be made to misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from penstock.registry.decisions import Decision
from penstock.registry.decisions_register import decide_register
from penstock.registry.errors import LeaderChanged, RegistryError, subject_not_found
from penstock.registry.node import rules_of
from penstock.registry.settings import RegistrySettings
from penstock.registry.state import RegistryState
from penstock.registry.store import SchemaStore
from penstock.registry.writer import Fenced, Writer
from penstock.testing.in_process import InProcessBroker
from tests.registry.api.schemas import enum
from tests.support.registry import own_group

PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as broker:
        yield broker


@pytest.fixture
def settings(broker: InProcessBroker) -> Iterator[RegistrySettings]:
    configs = {
        **own_group(),
        "kafkastore.bootstrap.servers": broker.bootstrap_servers,
        "kafkastore.topic.replication.factor": "1",
        "kafkastore.timeout.ms": "4000",
    }
    yield RegistrySettings.from_configs(configs)
    broker.interceptor.clear()


@asynccontextmanager
async def following(settings: RegistrySettings) -> AsyncIterator[SchemaStore]:
    store = SchemaStore(settings)
    task = asyncio.create_task(store.run())
    try:
        await store.read_to_the_end()
        yield store
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def leading(settings: RegistrySettings, store: SchemaStore) -> AsyncIterator[Writer]:
    writer = Writer(settings, store)
    task = asyncio.create_task(writer.run())
    try:
        yield writer
    finally:
        writer.stop()
        await task


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, PATIENCE_SECONDS))


def registering(settings: RegistrySettings, subject: str, word: str) -> Callable[[RegistryState], Decision]:
    rules = rules_of(settings)
    return lambda state: decide_register(state, rules, subject, {"schema": enum(word)})


def test_requests_that_come_together_are_written_together(settings: RegistrySettings) -> None:
    async def write() -> None:
        async with following(settings) as store, leading(settings, store) as writer:
            first = await writer.write(registering(settings, "first", "FIRST"))
            before = store.position
            answers = await asyncio.gather(
                *(writer.write(registering(settings, f"s{n}", f"S{n}")) for n in range(100))
            )
            markers = store.position - before - 100
            assert first["id"] == 1
            assert sorted(answer["id"] for answer in answers) == list(range(2, 102))
            assert markers < 10, "each transaction has one marker"
            assert len(store.state.schemas) == 101

    run(write())


def test_one_that_comes_later_sees_what_an_earlier_one_will_write(settings: RegistrySettings) -> None:
    async def write() -> None:
        async with following(settings) as store, leading(settings, store) as writer:
            twins = await asyncio.gather(
                *(writer.write(registering(settings, "same", "SAME")) for _ in range(20))
            )
            assert {(answer["id"], answer.get("version", 1)) for answer in twins} == {(1, 1)}
            assert list(store.state.schemas["same"]) == [1]

    run(write())


def test_a_refused_request_leaves_the_others_alone(settings: RegistrySettings) -> None:
    def refuse(state: RegistryState) -> Decision:
        raise subject_not_found("nobody")

    async def write() -> None:
        async with following(settings) as store, leading(settings, store) as writer:
            one, refused, two = await asyncio.gather(
                writer.write(registering(settings, "one", "ONE")),
                writer.write(refuse),
                writer.write(registering(settings, "two", "TWO")),
                return_exceptions=True,
            )
            assert (one["id"], two["id"]) == (1, 2)
            assert isinstance(refused, RegistryError)
            assert refused.error_code == 40401

    run(write())


def test_a_decision_that_breaks_leaves_the_writer_whole(settings: RegistrySettings) -> None:
    def breaks(state: RegistryState) -> Decision:
        raise RecursionError("too deep")

    async def write() -> None:
        async with following(settings) as store, leading(settings, store) as writer:
            with pytest.raises(RecursionError):
                await writer.write(breaks)
            assert (await writer.write(registering(settings, "one", "ONE")))["id"] == 1

    run(write())


def test_a_record_that_is_too_large_leaves_the_others_alone(settings: RegistrySettings) -> None:
    def too_large(state: RegistryState) -> Decision:
        return Decision(((b'{"keytype":"NOOP","magic":0}', b" " * 2_000_000),), None)

    async def write() -> None:
        async with following(settings) as store, leading(settings, store) as writer:
            one, refused, two = await asyncio.gather(
                writer.write(registering(settings, "one", "ONE")),
                writer.write(too_large),
                writer.write(registering(settings, "two", "TWO")),
                return_exceptions=True,
            )
            assert {one["id"], two["id"]} == {3, 4}  # 1 and 2 stand in the transaction that was aborted
            assert isinstance(refused, RegistryError)
            assert refused.error_code == 42209

    run(write())


@pytest.mark.parametrize("handled", [True, False])
def test_an_outcome_that_is_not_known_is_told_so(
    broker: InProcessBroker, settings: RegistrySettings, handled: bool
) -> None:
    """The end of the transaction reaches the broker or not; no answer comes back either way."""
    hurried = replace(settings, kafkastore_timeout_ms=2_500)

    async def write() -> None:
        async with following(settings) as store, leading(hurried, store) as writer:
            await writer.write(registering(settings, "known", "KNOWN"))
            rule = broker.interceptor.drop("EndTxn", handled=handled, silent=True)
            with pytest.raises(RegistryError) as unknown:
                await writer.write(registering(settings, "doubtful", "DOUBTFUL"))
            assert unknown.value.error_code == 50002
            rule.remove()
            after = await _until_written(writer, registering(settings, "after", "AFTER"))
            assert store.state.schemas["after"][1].id == after["id"]
            assert ("doubtful" in store.state.schemas) == handled, "the log says what became of it"
            again = await writer.write(registering(settings, "doubtful", "DOUBTFUL"))
            ids = [store.state.schemas[name][1].id for name in ("known", "doubtful", "after")]
            assert len(set(ids)) == 3
            assert again["id"] == store.state.schemas["doubtful"][1].id

    run(write())


async def _until_written(writer: Writer, decide: Callable[[RegistryState], Decision]) -> Any:
    while True:
        try:
            return await writer.write(decide)
        except RegistryError as error:
            if error.error_code != 50002:
                raise


def test_a_write_waits_for_the_first_transaction_longer_than_for_its_own(
    broker: InProcessBroker, settings: RegistrySettings
) -> None:
    """As when Kafka has to make the topic of transactions, which takes it longer than a write may."""
    hurried = replace(settings, kafkastore_timeout_ms=1_000)

    async def write() -> None:
        rule = broker.interceptor.answer("InitProducerId", "COORDINATOR_LOAD_IN_PROGRESS")
        async with following(hurried) as store, leading(hurried, store) as writer:
            waiting = asyncio.create_task(writer.write(registering(hurried, "early", "EARLY")))
            _, unfinished = await asyncio.wait([waiting], timeout=2.5)
            assert unfinished, waiting
            rule.remove()
            assert (await waiting)["id"] == 1

    run(write())


def test_a_write_that_waits_too_long_for_the_first_transaction_is_told_so(
    broker: InProcessBroker, settings: RegistrySettings
) -> None:
    hurried = replace(settings, kafkastore_timeout_ms=500, kafkastore_init_timeout_ms=1_000)

    async def write() -> None:
        broker.interceptor.answer("InitProducerId", "COORDINATOR_LOAD_IN_PROGRESS")
        async with following(hurried) as store, leading(hurried, store) as writer:
            with pytest.raises(RegistryError, match=r"kafkastore\.init\.timeout\.ms, which is 1000") as late:
                await writer.write(registering(hurried, "early", "EARLY"))
            assert late.value.error_code == 50002

    run(write())


def test_a_leader_that_was_replaced_can_write_nothing(settings: RegistrySettings) -> None:
    async def write() -> None:
        async with following(settings) as old_store, following(settings) as new_store:
            old = Writer(settings, old_store)
            term = asyncio.create_task(old.run())
            assert (await old.write(registering(settings, "first", "FIRST")))["id"] == 1
            async with leading(settings, new_store) as new:
                assert (await new.write(registering(settings, "second", "SECOND")))["id"] == 2
                with pytest.raises(RegistryError) as refused:
                    await old.write(registering(settings, "zombie", "ZOMBIE"))
                assert isinstance(refused.value, LeaderChanged), (
                    "what is certainly not written can be asked of another"
                )
                with pytest.raises(Fenced):
                    await term
                assert (await new.write(registering(settings, "third", "THIRD")))["id"] == 3
                assert set(new_store.state.schemas) == {"first", "second", "third"}

    run(write())
