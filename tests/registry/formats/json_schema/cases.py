"""How the tables of cases are read.

Each case has an old and a new schema and says what differs, for the new one as the reader of what the old one wrote,
and the other way round. A difference is a kind and a path; one that breaks the reader is marked with `!`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.registry.formats.json_schema import JsonSchema, parse
from penstock.registry.formats.json_schema.kinds import COMPATIBLE
from tests.support.rows import Test, each_row

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019_09 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"
ALL_DRAFTS = (DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019_09, DRAFT_2020_12)
SINCE_6 = ALL_DRAFTS[1:]
BEFORE_2019 = ALL_DRAFTS[:3]
BEFORE_2020 = ALL_DRAFTS[:4]
MODERN = ALL_DRAFTS[3:]

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}


def obj(*required: str, _more: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    """An object of these properties, of which some are required."""
    schema: dict[str, Any] = {"type": "object", "properties": properties, **(_more or {})}
    return {**schema, "required": list(required)} if required else schema


@dataclass(frozen=True)
class Case:
    why: str
    old: Any
    new: Any
    forward: list[str]
    """What the new schema meets that reads what was written with the old one."""
    back: list[str]
    drafts: tuple[str, ...] = ALL_DRAFTS
    references: Mapping[str, Any] = field(default_factory=dict)


def each_way(*tables: list[Case]) -> Callable[[Test], Test]:
    """The test is of a case, in a draft, in a way."""
    for cases in tables:
        assert len({case.why for case in cases}) == len(cases), "two cases have one name"
    rows = [
        (case, draft, way)
        for cases in tables
        for case in cases
        for draft in case.drafts
        for way in ("forward", "back")
    ]
    return each_row(("case", "draft", "way"), rows, _name_of)


def _name_of(case: Case, draft: str, way: str) -> str:
    return f"{case.why}, {draft.rstrip('#').split('/')[-2]}, {way}"


def schema(value: Any, draft: str | None = None, references: Mapping[str, Any] | None = None) -> JsonSchema:
    if draft is not None and isinstance(value, dict):
        value = {"$schema": draft, **value}
    texts = {name: json.dumps(one) for name, one in (references or {}).items()}
    return parse(json.dumps(value), texts)


def check(case: Case, draft: str, way: str) -> None:
    old, new = (schema(value, draft, case.references) for value in (case.old, case.new))
    reader, writer, expected = (new, old, case.forward) if way == "forward" else (old, new, case.back)
    found = [
        f"{'' if difference.kind in COMPATIBLE else '!'}{difference.kind} {difference.path}"
        for difference in reader.compared_with(writer).differences()
    ]
    assert sorted(found) == sorted(expected), f"found {found}"
    told = reader.incompatibilities_with(writer)
    assert sorted(f"!{one.kind} {one.path}" for one in told) == sorted(
        one for one in expected if one[0] == "!"
    )
    assert all(one.path in one.message and one.message.count("%s") == 2 for one in told)
