"""XXH3, the 64-bit hash, without a seed: what Kafka stores to notice that the topics of a group have changed.

Short inputs are mixed in one go, in a way of their own for each range of lengths. From 241 bytes on the input goes in
stripes of 64 bytes into eight lanes, which are scrambled after every 1024 bytes and merged at the end.
"""

from struct import Struct, unpack_from

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
MASK = (1 << 64) - 1
PRIME_32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME_64 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
PRIME_MX_1, PRIME_MX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
STRIPE = 64
STRIPES_PER_BLOCK = (len(SECRET) - STRIPE) // 8

_LANES = Struct("<8Q")


def hash_xxh3(data: bytes) -> int:
    """A number of 64 bits, without sign."""
    length = len(data)
    if length <= 16:
        return _hash_tiny(data, length)
    if length <= 128:
        return _hash_small(data, length)
    if length <= 240:
        return _hash_middle(data, length)
    return _hash_long(data, length)


def _hash_tiny(data: bytes, length: int) -> int:
    if length > 8:
        low = _long(data, 0) ^ _long(SECRET, 24) ^ _long(SECRET, 32)
        high = _long(data, length - 8) ^ _long(SECRET, 40) ^ _long(SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(length + swapped + high + _fold(low, high))
    if length >= 4:
        mixed = _int(data, length - 4) + (_int(data, 0) << 32)
        return _mix_with_length(mixed ^ _long(SECRET, 8) ^ _long(SECRET, 16), length)
    if length:
        mixed = data[0] << 16 | data[length >> 1] << 24 | data[-1] | length << 8
        return _avalanche_64(mixed ^ _int(SECRET, 0) ^ _int(SECRET, 4))
    return _avalanche_64(_long(SECRET, 56) ^ _long(SECRET, 64))


def _hash_small(data: bytes, length: int) -> int:
    mixed = length * PRIME_64[0]
    for step in range((length - 1) // 32 + 1):
        mixed += _mix(data, 16 * step, 32 * step)
        mixed += _mix(data, length - 16 * (step + 1), 32 * step + 16)
    return _avalanche(mixed)


def _hash_middle(data: bytes, length: int) -> int:
    mixed = length * PRIME_64[0] + sum(_mix(data, 16 * step, 16 * step) for step in range(8))
    mixed = _avalanche(mixed)
    mixed += sum(_mix(data, 16 * step, 16 * (step - 8) + 3) for step in range(8, length // 16))
    return _avalanche(mixed + _mix(data, length - 16, 136 - 17))


def _hash_long(data: bytes, length: int) -> int:
    lanes = [PRIME_32[2], *PRIME_64[:4], PRIME_32[1], PRIME_64[4], PRIME_32[0]]
    for number in range((length - 1) // STRIPE):
        in_block = number % STRIPES_PER_BLOCK
        _accumulate(lanes, data, number * STRIPE, in_block * 8)
        if in_block == STRIPES_PER_BLOCK - 1:
            _scramble(lanes)
    _accumulate(lanes, data, length - STRIPE, len(SECRET) - STRIPE - 7)
    merged = length * PRIME_64[0]
    for index in range(0, 8, 2):
        merged += _fold(
            lanes[index] ^ _long(SECRET, 11 + 8 * index), lanes[index + 1] ^ _long(SECRET, 19 + 8 * index)
        )
    return _avalanche(merged)


def _accumulate(lanes: list[int], data: bytes, position: int, secret_position: int) -> None:
    values = _LANES.unpack_from(data, position)
    keys = _LANES.unpack_from(SECRET, secret_position)
    for index, value in enumerate(values):
        keyed = value ^ keys[index]
        lanes[index ^ 1] = (lanes[index ^ 1] + value) & MASK
        lanes[index] = (lanes[index] + (keyed & 0xFFFFFFFF) * (keyed >> 32)) & MASK


def _scramble(lanes: list[int]) -> None:
    for index, key in enumerate(_LANES.unpack_from(SECRET, len(SECRET) - STRIPE)):
        lane = lanes[index]
        lanes[index] = ((lane ^ lane >> 47 ^ key) * PRIME_32[0]) & MASK


def _mix(data: bytes, position: int, secret_position: int) -> int:
    return _fold(
        _long(data, position) ^ _long(SECRET, secret_position),
        _long(data, position + 8) ^ _long(SECRET, secret_position + 8),
    )


def _fold(left: int, right: int) -> int:
    """The halves of the product, on top of each other."""
    product = left * right
    return (product & MASK) ^ (product >> 64)


def _avalanche(value: int) -> int:
    value &= MASK
    value = ((value ^ value >> 37) * PRIME_MX_1) & MASK
    return value ^ value >> 32


def _avalanche_64(value: int) -> int:
    value = ((value ^ value >> 33) * PRIME_64[1]) & MASK
    value = ((value ^ value >> 29) * PRIME_64[2]) & MASK
    return value ^ value >> 32


def _mix_with_length(value: int, length: int) -> int:
    value ^= _rotate(value, 49) ^ _rotate(value, 24)
    value = (value * PRIME_MX_2) & MASK
    value ^= (value >> 35) + length
    value = (value * PRIME_MX_2) & MASK
    return value ^ value >> 28


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & MASK


def _long(data: bytes, position: int) -> int:
    return int(unpack_from("<Q", data, position)[0])


def _int(data: bytes, position: int) -> int:
    return int(unpack_from("<I", data, position)[0])
