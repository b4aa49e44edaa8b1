"""The predicates that come with Kafka, by the names that configurations have for them."""

from __future__ import annotations

from typing import Final

_PACKAGE: Final = "org.apache.kafka.connect.transforms.predicates"

JAVA_NAMES: Final[dict[str, str]] = {
    f"{_PACKAGE}.HasHeaderKey": f"{__name__}.has_header_key:HasHeaderKey",
    f"{_PACKAGE}.RecordIsTombstone": f"{__name__}.record_is_tombstone:RecordIsTombstone",
    f"{_PACKAGE}.TopicNameMatches": f"{__name__}.topic_name_matches:TopicNameMatches",
}
