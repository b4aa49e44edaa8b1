"""Members of share groups, each on a connection of its own, with the session that they have at the broker."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.errors import ErrorCode
from penstock.records.batch import split_batches
from penstock.records.reader import iterate_records
from penstock.wire.messages import alter_share_group_offsets as alter
from penstock.wire.messages import share_acknowledge, share_fetch
from penstock.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
INITIAL, FINAL = 0, -1
RECORD_LIMIT = 1
GROUP_RESOURCE, SET = 32, 0


class Part(NamedTuple):
    topic_id: bytes
    partition: int = 0


Said = tuple[int, int, Sequence[int]]
"""First offset, last offset, one type for all or one for each."""


def by_topic(parts: Iterable[Part]) -> dict[bytes, list[Part]]:
    topics: dict[bytes, list[Part]] = {}
    for part in dict.fromkeys(parts):
        topics.setdefault(part.topic_id, []).append(part)
    return topics


def code_of(answer: Any) -> str:
    return ErrorCode(answer.error_code).name


class ShareMember:
    def __init__(self, bootstrap: str, group_id: str, *parts: Part) -> None:
        self.client = WireClient(bootstrap)
        self.group_id = group_id
        self.member_id = str(uuid.uuid4())[:22]
        self.parts = parts
        self.seen: list[bytes | None] = []
        self.epoch = INITIAL

    def __enter__(self) -> ShareMember:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()

    # the group

    def heartbeat(self, epoch: int, topics: Sequence[str] | None = None) -> Any:
        return self.client.send(
            ShareGroupHeartbeatRequest(
                group_id=self.group_id,
                member_id=self.member_id,
                member_epoch=epoch,
                subscribed_topic_names=topics,
            )
        )

    # fetching

    def fetch_request(
        self,
        said: Mapping[Part, Sequence[Said]] | None = None,
        forgotten: Sequence[Part] = (),
        **fields: Any,
    ) -> share_fetch.ShareFetchRequest:
        """All partitions with the first fetch, only what has something to say later."""
        batches = {
            part: [share_fetch.AcknowledgementBatch(*one) for one in of] for part, of in (said or {}).items()
        }
        epoch = fields.pop("epoch", self.epoch)
        parts = self.parts if epoch == INITIAL else ()
        values: dict[str, Any] = {
            "max_wait_ms": 5000,
            "min_bytes": 1,
            "max_bytes": 1 << 20,
            "max_records": 500,
            "batch_size": 500,
            **fields,
        }
        return share_fetch.ShareFetchRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            share_session_epoch=epoch,
            topics=[
                share_fetch.FetchTopic(
                    topic,
                    [share_fetch.FetchPartition(part.partition, batches.get(part, [])) for part in of_topic],
                )
                for topic, of_topic in by_topic([*parts, *batches]).items()
            ],
            forgotten_topics_data=[
                share_fetch.ForgottenTopic(part.topic_id, [part.partition]) for part in forgotten
            ],
            **values,
        )

    def post_fetch(self, **options: Any) -> share_fetch.ShareFetchRequest:
        """Sends a fetch and does not wait for the answer."""
        request = self.fetch_request(**options)
        self.client.post(request)
        self.epoch += 1
        return request

    def fetch(self, version: int | None = None, **options: Any) -> Any:
        """The whole answer."""
        request = self.fetch_request(**options)
        answer = self.client.send(request, version)
        if answer.error_code == 0 and "epoch" not in options:
            self.epoch += 1
        return answer

    def fetch_one(self, **options: Any) -> Any:
        """What the answer says of the only partition that it has something of."""
        answer = self.fetch(**options)
        assert code_of(answer) == "NONE", answer
        (topic,) = answer.responses
        (data,) = topic.partitions
        return data

    def fetch_nothing(self) -> None:
        """Makes sure that there is nothing for it now."""
        answer = self.fetch(max_wait_ms=300)
        assert not any(data.acquired_records for topic in answer.responses for data in topic.partitions)

    # acknowledging

    def acknowledge_request(
        self, said: Mapping[Part, Sequence[Said]], epoch: int | None = None, *, is_renewal: bool = False
    ) -> share_acknowledge.ShareAcknowledgeRequest:
        return share_acknowledge.ShareAcknowledgeRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            share_session_epoch=self.epoch if epoch is None else epoch,
            is_renew_ack=is_renewal,
            topics=[
                share_acknowledge.AcknowledgeTopic(
                    part.topic_id,
                    [
                        share_acknowledge.AcknowledgePartition(
                            part.partition, [share_acknowledge.AcknowledgementBatch(*one) for one in batches]
                        )
                    ],
                )
                for part, batches in said.items()
            ],
        )

    def acknowledge(self, *said: Said, part: Part | None = None, **options: Any) -> str:
        """The error of the one partition that is spoken of."""
        request = self.acknowledge_request({part or self.parts[0]: said}, **options)
        answer = self.client.send(request, 2 if options.get("is_renewal") else 1)
        assert code_of(answer) == "NONE", answer
        if request.share_session_epoch != FINAL:
            self.epoch += 1
        ((data,),) = [topic.partitions for topic in answer.responses]
        return code_of(data)

    def close_session(self) -> None:
        self.client.send(self.acknowledge_request({}, FINAL))
        self.epoch = INITIAL


def acquired(data: Any) -> list[tuple[int, int, int]]:
    return [(one.first_offset, one.last_offset, one.delivery_count) for one in data.acquired_records]


def values(data: Any) -> list[bytes | None]:
    """Of the records that were acquired."""
    offsets = {offset for first, last, _ in acquired(data) for offset in range(first, last + 1)}
    return [
        record.value
        for batch in split_batches(memoryview(data.records))
        if not batch.is_control
        for record in iterate_records(batch)
        if record.offset in offsets
    ]


# groups


def begin_at(client: WireClient, group_id: str, topic: str, *offsets: int) -> None:
    """Makes the states of a group's share partitions, without a member."""

    def is_done() -> bool:
        asked = alter.AlterShareGroupOffsetsRequestTopic(
            topic,
            [
                alter.AlterShareGroupOffsetsRequestPartition(index, offset)
                for index, offset in enumerate(offsets)
            ],
        )
        answer = client.send(alter.AlterShareGroupOffsetsRequest(group_id, [asked]))
        return answer.error_code == 0 and not any(
            p.error_code for t in answer.responses for p in t.partitions
        )

    wait_for(is_done, what=f"the states of {group_id}")


def set_group_config(client: WireClient, group_id: str, **configs: str) -> None:
    """Configs with underscores for dots."""
    resource = AlterConfigsResource(
        GROUP_RESOURCE,
        group_id,
        [AlterableConfig(name.replace("_", "."), SET, value) for name, value in configs.items()],
    )
    (answer,) = client.send(IncrementalAlterConfigsRequest(resources=[resource])).responses
    assert answer.error_code == 0, answer


def offsets_of(client: WireClient, group_id: str) -> dict[tuple[str, int], tuple[int, int]]:
    """Start offset and lag by topic and partition."""
    asked = DescribeShareGroupOffsetsRequestGroup(group_id, topics=None)
    (group,) = client.send(DescribeShareGroupOffsetsRequest([asked])).groups
    assert code_of(group) == "NONE", group
    return {
        (topic.topic_name, one.partition_index): (one.start_offset, one.lag)
        for topic in group.topics
        for one in topic.partitions
    }
