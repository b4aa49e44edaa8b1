"""A topic id in the words of a command line, as Java reads it: base64 that is safe in names."""

from penstock.cli.tools.common.failures import CommandFailure
from penstock.client.admin.topic_ids import topic_id_bytes, topic_id_text

_LONGEST = 24
_BYTES = 16
_SAFE_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def parsed_topic_id(text: str) -> str:
    """The id as the cluster writes it."""
    if len(text) > _LONGEST:
        raise CommandFailure(
            f"Input string with prefix `{text[:_LONGEST]}` is too long to be decoded as a base64 UUID"
        )
    raw = _decoded(text.rstrip("="))
    if len(raw) != _BYTES:
        raise CommandFailure(
            f"Input string `{text}` decoded as {len(raw)} bytes, which is not equal to the expected {_BYTES} bytes of "
            "a base64-encoded UUID"
        )
    return topic_id_text(raw)


def _decoded(text: str) -> bytes:
    for letter in text:
        if letter not in _SAFE_LETTERS:
            raise CommandFailure(f"Illegal base64 character {ord(letter):x}")
    if len(text) == 1:
        raise CommandFailure("Input byte[] should at least have 2 bytes for base64 bytes")
    if len(text) % 4 == 1:
        raise CommandFailure("Last unit does not have enough valid bits")
    return topic_id_bytes(text)
