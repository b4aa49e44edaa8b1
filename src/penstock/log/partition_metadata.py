"""`partition.metadata`: the id of the topic that a partition's directory belongs to."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import UUID

from penstock.errors import StorageError
from penstock.log import names
from penstock.log.fs import FileSystem

VERSION = 0
TEXT_OF_AN_ID = 22


def encode_topic_id(topic_id: UUID) -> str:
    """Kafka's text form of an id: url-safe base64 of its 16 bytes, no padding."""
    return urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode()


def decode_topic_id(text: str) -> UUID:
    return UUID(bytes=urlsafe_b64decode(text + "=="))


def _is_cut_off(text: str) -> bool:
    before_id = f"version: {VERSION}\ntopic_id: "
    return len(text) < len(before_id) + TEXT_OF_AN_ID and before_id.startswith(text[: len(before_id)])


def write_partition_metadata(fs: FileSystem, directory: str, topic_id: UUID) -> None:
    text = f"version: {VERSION}\ntopic_id: {encode_topic_id(topic_id)}"
    fs.write_file(f"{directory}/{names.PARTITION_METADATA}", text.encode(), sync=False)


def read_partition_metadata(fs: FileSystem, directory: str) -> UUID | None:
    """The topic's id; None if the file is missing, empty, or ends early (lost in a crash: it is not synced)."""
    path = f"{directory}/{names.PARTITION_METADATA}"
    text = fs.read_file(path).decode(errors="replace") if fs.exists(path) else ""
    if _is_cut_off(text.rstrip("\0 \n")):
        return None
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    try:
        if int(fields["version"]) != VERSION:
            raise StorageError(f"{path}: unknown version {fields['version']}")
        return decode_topic_id(fields["topic_id"].strip())
    except (KeyError, ValueError):
        raise StorageError(f"{path}: malformed: {text[:80]!r}") from None
