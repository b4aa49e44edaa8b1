"""Which media type a request comes in, and which its answer goes out in."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

REMEMBERED_HEADERS = 256
ANYTHING = ("", "*/*", "*")
UNTYPED = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class MediaTypes:
    """`produces` in the order of preference. A body without a type is taken as the first of `consumes`."""

    produces: tuple[str, ...]
    consumes: tuple[str, ...]

    def answer_type(self, accept: str) -> str | None:
        """The media type to answer in; None if the client takes none that there is."""
        return self.produces[0] if accept in ANYTHING else _best(accept, self.produces)

    def takes(self, content_type: str) -> bool:
        given = content_type.partition(";")[0].strip().lower()
        return given in ("", UNTYPED) or given in self.consumes


@lru_cache(maxsize=REMEMBERED_HEADERS)
def _best(accept: str, produces: tuple[str, ...]) -> str | None:
    best, best_weight = None, 0.0
    for wanted, weight in _wanted(accept):
        match = next((each for each in produces if _fits(each, wanted)), None)
        if match is not None and weight > best_weight:
            best, best_weight = match, weight
    return best


def _wanted(accept: str) -> Iterator[tuple[str, float]]:
    for part in accept.split(","):
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        if name:
            yield name, _weight(parameters)


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def _fits(media_type: str, wanted: str) -> bool:
    """`*` alone is what old clients of Java's send; `*/json` is odd, but says what it means."""
    if wanted in ANYTHING:
        return True
    if wanted.endswith("/*"):
        return media_type.startswith(wanted[:-1])
    if wanted.startswith("*/"):
        return media_type.endswith(wanted[1:])
    return media_type == wanted
