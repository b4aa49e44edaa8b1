"""Java's `String.hashCode`, which Kafka places keys by, and which the order of its tools' output comes from."""


def java_hash(text: str) -> int:
    """A signed number of 32 bits."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        value = (value * 31 + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
