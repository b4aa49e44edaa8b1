"""Members, transactional producers and share consumers that live in a program of another language."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tests.foreign_clients.drivers.model import (
    Client,
    Consumed,
    GroupInfo,
    GroupListing,
    MemberInfo,
    Record,
    TransactionInfo,
)
from tests.foreign_clients.drivers.sessions import (
    Committed,
    Member,
    Membership,
    Offsets,
    Shared,
    ShareMember,
    TopicAndPartition,
    TransactionalProducer,
    offsets_from_json,
    offsets_to_json,
)


class Ask(Protocol):
    def __call__(self, operation: str, **arguments: Any) -> dict[str, Any]: ...


class ForeignMember(Member):
    def __init__(self, ask: Ask, membership: Membership) -> None:
        self._ask = ask
        self.number: int = ask("member_open", **membership.to_json())["number"]
        self._seen: list[Consumed] = []
        self._open = True

    def _state(self) -> dict[str, Any]:
        state = self._ask("member_state", number=self.number, seen=len(self._seen))
        self._seen += [Consumed.from_json(node) for node in state["records"]]
        return state

    def assignment(self) -> set[TopicAndPartition]:
        return {(topic, partition) for topic, partition in self._state()["assignment"]}

    def records(self) -> list[Consumed]:
        self._state()
        return list(self._seen)

    def rebalances(self) -> int:
        return int(self._state()["rebalances"])

    def revoked(self) -> list[TopicAndPartition]:
        return [(topic, partition) for topic, partition in self._state()["revoked"]]

    def commit(self, offsets: Offsets) -> None:
        self._ask("member_commit", number=self.number, offsets=offsets_to_json(offsets))

    def committed(self, partitions: Sequence[TopicAndPartition]) -> dict[TopicAndPartition, Committed]:
        wanted = [list(each) for each in partitions]
        answer = self._ask("member_committed", number=self.number, places=wanted)
        return offsets_from_json(answer["offsets"])

    def close(self) -> None:
        if self._open:
            self._open = False
            self._ask("member_close", number=self.number)


class ForeignTransactionalProducer(TransactionalProducer):
    def __init__(self, ask: Ask, transactional_id: str, timeout_ms: int) -> None:
        self._ask = ask
        opened = ask("transaction_open", transactional_id=transactional_id, timeout_ms=timeout_ms)
        self._number: int = opened["number"]
        self._open = True

    def begin(self) -> None:
        self._ask("transaction_begin", number=self._number)

    def send(self, topic: str, records: Sequence[Record]) -> None:
        nodes = [record.to_json() for record in records]
        self._ask("transaction_send", number=self._number, topic=topic, records=nodes)

    def send_offsets(self, offsets: Offsets, member: Member) -> None:
        assert isinstance(member, ForeignMember)
        self._ask(
            "transaction_send_offsets",
            number=self._number,
            offsets=offsets_to_json(offsets),
            member=member.number,
        )

    def commit(self) -> None:
        self._ask("transaction_commit", number=self._number)

    def abort(self) -> None:
        self._ask("transaction_abort", number=self._number)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._ask("transaction_close", number=self._number)


class ForeignShareMember(ShareMember):
    def __init__(self, ask: Ask, group: str, topic: str, explicit: bool, max_records: int) -> None:
        self._ask = ask
        opened = ask("share_open", group=group, topic=topic, explicit=explicit, max_records=max_records)
        self._number: int = opened["number"]
        self._open = True

    def poll(self) -> list[Shared]:
        return [
            Shared(
                node["topic"],
                node["partition"],
                node["offset"],
                None if node["value"] is None else base64.b64decode(node["value"]),
                node["delivery_count"],
            )
            for node in self._ask("share_poll", number=self._number)["records"]
        ]

    def acknowledge(self, record: Shared, how: str) -> None:
        place = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
        self._ask("share_acknowledge", number=self._number, how=how, **place)

    def commit(self) -> None:
        self._ask("share_commit", number=self._number)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._ask("share_close", number=self._number)


class ForeignGroups(Client):
    """The operations about groups, transactions and share groups."""

    def _ask(self, operation: str, **arguments: Any) -> dict[str, Any]:
        raise NotImplementedError

    def open_member(self, membership: Membership) -> Member:
        return ForeignMember(self._ask, membership)

    def list_groups(
        self, *, states: Sequence[str] = (), kinds: Sequence[str] = ()
    ) -> dict[str, GroupListing]:
        answer = self._ask("list_groups", states=list(states), kinds=list(kinds))
        return {
            node["group"]: GroupListing(node["protocol_type"], node["state"], node["kind"])
            for node in answer["groups"]
        }

    def describe_group(self, group: str) -> GroupInfo:
        return self._group_info(self._ask("describe_group", group=group))

    def describe_share_group(self, group: str) -> GroupInfo:
        return self._group_info(self._ask("describe_share_group", group=group))

    def delete_share_group(self, group: str) -> None:
        self._ask("delete_share_group", group=group)

    @staticmethod
    def _group_info(answer: Mapping[str, Any]) -> GroupInfo:
        members = tuple(
            MemberInfo(
                node["member_id"],
                node["instance_id"],
                node["client_id"],
                node["host"],
                frozenset((topic, partition) for topic, partition in node["assignment"]),
            )
            for node in answer["members"]
        )
        return GroupInfo(answer["state"], answer["kind"], answer["assignor"], members)

    def delete_group(self, group: str) -> None:
        self._ask("delete_group", group=group)

    def group_offsets(self, group: str) -> dict[TopicAndPartition, Committed]:
        return offsets_from_json(self._ask("group_offsets", group=group)["offsets"])

    def alter_group_offsets(self, group: str, offsets: Offsets) -> None:
        self._ask("alter_group_offsets", group=group, offsets=offsets_to_json(offsets))

    def delete_group_offsets(self, group: str, partitions: Sequence[TopicAndPartition]) -> None:
        self._ask("delete_group_offsets", group=group, places=[list(each) for each in partitions])

    def remove_static_member(self, group: str, instance_id: str) -> None:
        self._ask("remove_static_member", group=group, instance_id=instance_id)

    def open_transactional_producer(
        self, transactional_id: str, *, timeout_ms: int = 60_000
    ) -> TransactionalProducer:
        return ForeignTransactionalProducer(self._ask, transactional_id, timeout_ms)

    def transform(
        self, source: str, target: str, group: str, transactional_id: str, count: int, *, commit: bool
    ) -> None:
        self._ask(
            "transform",
            topic=source,
            target=target,
            group=group,
            transactional_id=transactional_id,
            count=count,
            commit=commit,
        )

    def describe_transaction(self, transactional_id: str) -> TransactionInfo:
        answer = self._ask("describe_transaction", transactional_id=transactional_id)
        return TransactionInfo(
            answer["state"],
            answer["producer_id"],
            answer["producer_epoch"],
            answer["timeout_ms"],
            frozenset((topic, partition) for topic, partition in answer["partitions"]),
        )

    def list_transactions(self) -> dict[str, str]:
        listed: dict[str, str] = self._ask("list_transactions")["transactions"]
        return listed

    def open_share_member(self, group: str, topic: str, *, explicit: bool, max_records: int) -> ShareMember:
        return ForeignShareMember(self._ask, group, topic, explicit, max_records)
