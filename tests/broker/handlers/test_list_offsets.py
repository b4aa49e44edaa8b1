import pytest

from penstock.errors import ErrorCode
from tests.broker.asking import batch_of, list_offset, produced, unique_topic
from tests.support.wire_client import WireClient

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = range(-1, -7, -1)
NONE_FOUND = (-1, -1)


@pytest.fixture
def filled(client: WireClient, topic: str) -> str:
    """Offset 0 at time 1000, offsets 1 and 2 at 3000, offset 3 at 2000."""
    produced(client, topic, batch_of(b"bread", timestamp=1000))
    produced(client, topic, batch_of(b"wine", b"salt", timestamp=3000))
    produced(client, topic, batch_of(b"oil", timestamp=2000))
    return topic


@pytest.mark.parametrize(
    ("timestamp", "offset_and_timestamp"),
    [
        (LATEST, (4, -1)),
        (EARLIEST, (0, -1)),
        (MAX_TIMESTAMP, (1, 3000)),
        (EARLIEST_LOCAL, (0, -1)),
        (LATEST_TIERED, NONE_FOUND),
        (EARLIEST_PENDING_UPLOAD, NONE_FOUND),
        (0, (0, 1000)),
        (1000, (0, 1000)),
        (1001, (1, 3000)),
        (2500, (1, 3000)),
        (3000, (1, 3000)),
        (3001, NONE_FOUND),
        (2**63 - 1, NONE_FOUND),
    ],
)
def test_finds(
    client: WireClient, filled: str, timestamp: int, offset_and_timestamp: tuple[int, int]
) -> None:
    found = list_offset(client, filled, timestamp)
    assert found.error_code == 0
    assert (found.offset, found.timestamp) == offset_and_timestamp
    assert found.leader_epoch == (-1 if offset_and_timestamp == NONE_FOUND else 0)


@pytest.mark.parametrize(
    ("timestamp", "offset"),
    [(LATEST, 0), (EARLIEST, 0), (MAX_TIMESTAMP, -1), (EARLIEST_LOCAL, 0), (LATEST_TIERED, -1), (0, -1)],
)
def test_an_empty_log(client: WireClient, topic: str, timestamp: int, offset: int) -> None:
    found = list_offset(client, topic, timestamp)
    assert (found.error_code, found.offset, found.timestamp) == (0, offset, -1)


@pytest.mark.parametrize("isolation_level", [0, 1])
def test_isolation_levels_without_transactions(client: WireClient, filled: str, isolation_level: int) -> None:
    assert list_offset(client, filled, LATEST, isolation_level=isolation_level).offset == 4


@pytest.mark.parametrize(
    ("timestamp", "version"),
    [
        (MAX_TIMESTAMP, 6),
        (EARLIEST_LOCAL, 7),
        (LATEST_TIERED, 8),
        (EARLIEST_PENDING_UPLOAD, 10),
        (-7, 11),
        (-(2**63), 11),
    ],
)
def test_specials_that_the_version_does_not_have(
    client: WireClient, filled: str, timestamp: int, version: int
) -> None:
    found = list_offset(client, filled, timestamp, version=version)
    assert (ErrorCode(found.error_code), found.offset) == (ErrorCode.UNSUPPORTED_VERSION, -1)


@pytest.mark.parametrize("version", range(1, 12))
def test_every_version(client: WireClient, filled: str, version: int) -> None:
    assert list_offset(client, filled, LATEST, version=version).offset == 4
    assert list_offset(client, filled, 1001, version=version).offset == 1


def test_what_is_not_there(client: WireClient, filled: str) -> None:
    for found in (list_offset(client, "no-such", LATEST), list_offset(client, filled, LATEST, partition=5)):
        assert found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert (found.offset, found.timestamp) == NONE_FOUND


def test_the_newest_record_by_append_time(client: WireClient) -> None:
    topic = unique_topic(client, message_timestamp_type="LogAppendTime")
    produced(client, topic, batch_of(b"bread", b"wine", timestamp=5))
    assert list_offset(client, topic, MAX_TIMESTAMP).offset == 0
