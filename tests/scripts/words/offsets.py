"""The words of scripts about committed offsets; those of classic groups besides.

A partition is written `orders/0`, with an offset `orders/0@5`, with a note `orders/0@5:note`. Who is not a member
(`admin`) commits without member id and generation.

    member alice [topics=orders session=]         joins, and is assigned something; topics: she subscribes to them
    commit alice orders/0@5 [version= generation= member= retention= epoch= group=]
    txn-commit 7/0 orders/0@5 [as=alice version= generation= group=]   7/0: producer id and epoch
    end 7/0 commit                                or abort: the transaction's marker arrives
    fetch [orders/0 orders/1] [stable=yes version= group= member= epoch=]   without partitions: all
    delete-offsets orders/0 [group=]
"""

from itertools import groupby
from typing import NamedTuple

from penstock.errors import ErrorCode
from penstock.group.shard import GroupShard
from penstock.machine import Caller, Outcome, Producer, Ticket
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.scripts.words import classic
from tests.scripts.words.classic import HOST

NO_TOPIC_ID = bytes(16)
COMMIT_BY_ID = FETCH_BY_ID = 10


class Place(NamedTuple):
    topic: str
    partition: int
    offset: int = -1
    note: str = ""


def place(text: str) -> Place:
    where, _, what = text.partition("@")
    topic, _, partition = where.partition("/")
    offset, _, note = what.partition(":")
    return Place(topic, int(partition), int(offset or -1), note)


def by_topic(texts: tuple[str, ...]) -> list[tuple[str, list[Place]]]:
    return [(topic, list(places)) for topic, places in groupby(map(place, texts), lambda one: one.topic)]


def subscription(topics: str) -> str:
    """What a consumer says when it joins, in the consumer's own protocol; all of its bytes are ASCII."""
    names = topics.split(",")
    body = b"".join(len(name).to_bytes(2) + name.encode() for name in names)
    return (bytes(2) + len(names).to_bytes(4) + body + bytes(4)).decode()


class Words(classic.Words):
    def __init__(self) -> None:
        super().__init__()
        self.do_set(**{"group.initial.rebalance.delay.ms": "0"})

    def do_member(self, name: str, topics: str | None = None, session: str = "10000") -> None:
        protocols = None if topics is None else f"range:{subscription(topics)}"
        self.do_join(name, protocols=protocols, session=session)
        self.do_join(name, protocols=protocols, session=session)
        self.do_advance("0")
        self.do_sync(name, f"{name}:all")
        self.said = [f"{name} is in generation {self.generations[name]}"]

    def do_commit(  # type: ignore[override]
        self,
        name: str,
        *places: str,
        version: str = "9",
        generation: str | None = None,
        member: str | None = None,
        retention: str = "-1",
        epoch: str = "-1",
        group: str = "g",
    ) -> None:
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=self._generation(name, generation),
            member_id=self._member_id(name, member),
            retention_time_ms=int(retention),
            topics=[
                OffsetCommitRequestTopic(
                    topic,
                    self._topic_id(topic, int(version)),
                    [
                        OffsetCommitRequestPartition(one.partition, one.offset, int(epoch), one.note)
                        for one in some
                    ],
                )
                for topic, some in by_topic(places)
            ],
        )
        caller = Caller(int(version), name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.offsets.handle_offset_commit(request, caller, ticket, now_ms),
        )

    def _topic_id(self, topic: str, version: int) -> bytes:
        known = self.world.image.topics.get(topic)
        return known.topic_id if known is not None and version >= COMMIT_BY_ID else NO_TOPIC_ID

    # transactions

    def do_txn_commit(
        self,
        producer: str,
        *places: str,
        generation: str | None = None,
        version: str = "5",
        group: str = "g",
        **who: str,
    ) -> None:
        name = who.get("as", "admin")
        producer_id, epoch = map(int, producer.split("/"))
        request = TxnOffsetCommitRequest(
            transactional_id="t",
            group_id=group,
            producer_id=producer_id,
            producer_epoch=epoch,
            generation_id=self._generation(name, generation),
            member_id=self._member_id(name),
            topics=[
                TxnOffsetCommitRequestTopic(
                    topic,
                    [
                        TxnOffsetCommitRequestPartition(one.partition, one.offset, -1, one.note)
                        for one in some
                    ],
                )
                for topic, some in by_topic(places)
            ],
        )
        caller = Caller(int(version), name, HOST)
        self.world.ask(
            producer,
            lambda shard, ticket, now_ms: shard.offsets.handle_txn_offset_commit(
                request, caller, ticket, now_ms
            ),
        )

    def do_end(self, producer: str, decision: str) -> None:
        producer_id, epoch = map(int, producer.split("/"))
        self.world.end_transaction(Producer(producer_id, epoch), is_commit=decision == "commit")

    # looking

    def do_fetch(
        self,
        *places: str,
        stable: str = "no",
        version: str = "9",
        member: str | None = None,
        epoch: str = "-1",
        group: str = "g",
    ) -> None:
        topics = [
            OffsetFetchRequestTopics(
                topic, self._topic_id(topic, int(version)), [one.partition for one in some]
            )
            for topic, some in by_topic(places)
        ]
        wanted = OffsetFetchRequestGroup(group, member, int(epoch), topics if places else None)

        def handle(shard: GroupShard, ticket: Ticket, now_ms: int) -> Outcome:
            found = shard.offsets.fetch(wanted, int(version), require_stable=stable == "yes")
            shown = [
                f"{self.show(topic.SCHEMA[1], topic.topic_id) if topic.topic_id != NO_TOPIC_ID else topic.name}"
                f"/{one.partition_index}@"
                + (ErrorCode(one.error_code).name if one.error_code else str(one.committed_offset))
                + (f":{one.metadata}" if one.metadata else "")
                for topic in found.topics
                for one in topic.partitions
            ]
            return Outcome(replies=[(ticket, " ".join(shown) or "nothing")])

        self.world.ask("offsets", handle)

    def do_delete_offsets(self, *places: str, group: str = "g") -> None:
        request = OffsetDeleteRequest(
            group,
            [
                OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(one.partition) for one in some])
                for topic, some in by_topic(places)
            ],
        )
        self.world.ask(
            "admin",
            lambda shard, ticket, now_ms: shard.offsets.handle_offset_delete(request, ticket, now_ms),
        )
