"""JSON texts, read and written as Jackson does: the order of keys and the digits of numbers stay as they came.

`1.50` is stored as `1.50` and `1e2` as `1E+2`, so numbers with a fraction or an exponent are kept as decimals.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from penstock.registry.formats.schema_format import InvalidSchema

MAX_NESTING = 200


def parse_json(text: str) -> Any:
    try:
        parsed = json.loads(text, parse_float=_decimal, parse_constant=_refuse_constant)
        if text.count("{") + text.count("[") > MAX_NESTING:
            _refuse_deep(parsed)
        if "\\u" in text:
            json_text(parsed).encode()
        return parsed
    except json.JSONDecodeError as error:
        raise InvalidSchema(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except UnicodeEncodeError as error:
        raise InvalidSchema(f"half of a surrogate pair in a string: {error.reason}") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:  # an integer with more digits than Python turns into a number
        raise InvalidSchema(str(error)) from error


def _refuse_deep(value: Any) -> None:
    level = [value]
    for _ in range(MAX_NESTING + 1):
        lists = (
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))
        )
        level = [inner for values in lists for inner in values]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> InvalidSchema:
    return InvalidSchema(f"the schema is nested too deeply (at most {MAX_NESTING} levels)")


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise InvalidSchema(f"the exponent of {text} is too large") from error
    return abs(number) if number.is_zero() else number


def _refuse_constant(name: str) -> Any:
    raise InvalidSchema(f"{name} is no JSON number")


def json_text(value: Any) -> str:
    """Compact. A schema is written with the keys in their own order."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return f"{{{','.join(f'{json_text(key)}:{json_text(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def with_sorted_keys(value: Any) -> Any:
    """As Java sorts strings: by their UTF-16 code units."""
    if isinstance(value, dict):
        return {key: with_sorted_keys(value[key]) for key in sorted(value, key=_utf16)}
    return [with_sorted_keys(one) for one in value] if isinstance(value, list) else value


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def fingerprint(value: Any) -> str:
    """Equal for equal JSON values, whatever the order of their keys and the digits of their numbers."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{json_text(key)}:{fingerprint(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(fingerprint, value))}]"
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    return _digits(Decimal(value)) if is_number else json_text(value)


def _digits(number: Decimal) -> str:
    sign, digits, exponent = number.as_tuple()
    shown = "".join(map(str, digits)).lstrip("0")
    significant = shown.rstrip("0")
    assert isinstance(exponent, int)
    return f"{'-' * sign}{significant}e{exponent + len(shown) - len(significant)}" if significant else "0"


def shown(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
