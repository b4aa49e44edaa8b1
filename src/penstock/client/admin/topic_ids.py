"""Topic ids: sixteen bytes on the wire, and in Kafka's words their base64 that is safe in names, without padding."""

from binascii import a2b_base64, b2a_base64

NO_TOPIC_ID = "A" * 22


def topic_id_text(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).decode().rstrip("=").replace("+", "-").replace("/", "_")


def topic_id_bytes(text: str) -> bytes:
    return a2b_base64(text.replace("-", "+").replace("_", "/") + "==")
