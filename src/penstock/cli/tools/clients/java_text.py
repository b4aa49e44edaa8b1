"""Numbers and bytes as Java writes them."""

import struct
from math import isinf, isnan

SHORTEST_DECIMAL, LONGEST_DECIMAL = 1e-3, 1e7
FLOAT_DIGITS = 9


def double_text(number: float) -> str:
    """`Double.toString`: 1.0, 1.5E10."""
    return _java_notation(number, repr(number))


def float_text(number: float) -> str:
    """`Float.toString` of a number that came from four bytes."""
    if isnan(number) or isinf(number):
        return _java_notation(number, "")
    return _java_notation(number, next(filter(lambda text: _as_float(text) == number, _shorter(number))))


def _shorter(number: float) -> list[str]:
    return [f"{number:.{digits}g}" for digits in range(1, FLOAT_DIGITS + 1)]


def _as_float(text: str) -> float:
    return float(struct.unpack(">f", struct.pack(">f", float(text)))[0])


def _java_notation(number: float, shortest: str) -> str:
    if isnan(number):
        return "NaN"
    if isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "-0.0" if str(number).startswith("-") else "0.0"
    sign = "-" if number < 0 else ""
    digits, exponent = _digits_and_exponent(shortest.lstrip("-"))
    if SHORTEST_DECIMAL <= abs(number) < LONGEST_DECIMAL:
        return sign + _decimal(digits, exponent)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _digits_and_exponent(text: str) -> tuple[str, int]:
    """Significant digits, and the power of ten of the first of them."""
    mantissa, _, power = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", len(whole) - leading_zeros - 1 + int(power or 0)


def _decimal(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole}.{fraction or '0'}"


def fixed(number: float, digits: int) -> str:
    """`%.2f` of Java's printf."""
    if isnan(number):
        return "NaN"
    if isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return f"{number:.{digits}f}"


def ratio(amount: float, of: float) -> float:
    """A quotient of doubles: by zero it is infinite or no number, not an error."""
    if of:
        return amount / of
    return float("nan") if amount == 0 else float("inf")


def bytes_text(data: bytes) -> str:
    """`Bytes.toString`: what is not printable ASCII as \\xNN."""
    return "".join(chr(byte) if 0x20 <= byte <= 0x7E and byte != 0x5C else f"\\x{byte:02X}" for byte in data)
