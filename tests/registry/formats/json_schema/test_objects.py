"""What schemas say of objects besides properties: what is required, sizes, dependencies, unevaluated properties."""

from __future__ import annotations

from typing import Any

from tests.registry.formats.json_schema.cases import (
    BEFORE_2019,
    INTEGER,
    MODERN,
    SINCE_6,
    STRING,
    Case,
    check,
    each_way,
    obj,
)

REQUIRED = [
    Case(
        "a property becomes required",
        obj(a=STRING),
        obj("a", a=STRING),
        ["!REQUIRED_ATTRIBUTE_ADDED #/required/a"],
        ["REQUIRED_ATTRIBUTE_REMOVED #/required/a"],
    ),
    Case(
        "a property with a default becomes required",
        obj(a={**STRING, "default": "x"}),
        obj("a", a={**STRING, "default": "x"}),
        ["REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED #/required/a"],
        ["REQUIRED_ATTRIBUTE_REMOVED #/required/a"],
    ),
    Case(
        "a property becomes required and gets its default",
        obj(a=STRING),
        obj("a", a={**STRING, "default": "x"}),
        ["REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED #/required/a", "DEFAULT_CHANGED #/properties/a"],
        ["REQUIRED_ATTRIBUTE_REMOVED #/required/a", "DEFAULT_CHANGED #/properties/a"],
    ),
    Case(
        "one of several becomes required, another optional",
        obj("a", "b", a=STRING, b=STRING, c=STRING),
        obj("b", "c", a=STRING, b=STRING, c=STRING),
        ["REQUIRED_ATTRIBUTE_REMOVED #/required/a", "!REQUIRED_ATTRIBUTE_ADDED #/required/c"],
        ["!REQUIRED_ATTRIBUTE_ADDED #/required/a", "REQUIRED_ATTRIBUTE_REMOVED #/required/c"],
    ),
    Case(
        "what is required without being a property is not looked at",
        obj(a=STRING),
        obj("ghost", a=STRING),
        [],
        [],
    ),
    Case(
        "the order of the required does not matter",
        obj("a", "b", a={}, b={}),
        obj("b", "a", b={}, a={}),
        [],
        [],
    ),
]


def _dependencies(value: Any) -> dict[str, Any]:
    return {"type": "object", "dependencies": value}


SIZES_AND_DEPENDENCIES = [
    Case(
        "more properties are allowed",
        {"type": "object", "maxProperties": 3},
        {"type": "object", "maxProperties": 4},
        ["MAX_PROPERTIES_INCREASED #/maxProperties"],
        ["!MAX_PROPERTIES_DECREASED #/maxProperties"],
    ),
    Case(
        "a largest number of properties is set",
        {"type": "object"},
        {"type": "object", "maxProperties": 4},
        ["!MAX_PROPERTIES_ADDED #/maxProperties"],
        ["MAX_PROPERTIES_REMOVED #/maxProperties"],
    ),
    Case(
        "more properties are asked for",
        {"type": "object", "minProperties": 1},
        {"type": "object", "minProperties": 2},
        ["!MIN_PROPERTIES_INCREASED #/minProperties"],
        ["MIN_PROPERTIES_DECREASED #/minProperties"],
    ),
    Case(
        "a smallest number of properties is set",
        {"type": "object"},
        {"type": "object", "minProperties": 2},
        ["!MIN_PROPERTIES_ADDED #/minProperties"],
        ["MIN_PROPERTIES_REMOVED #/minProperties"],
    ),
    Case(
        "a property needs another",
        {"type": "object"},
        _dependencies({"a": ["b"]}),
        ["!DEPENDENCY_ARRAY_ADDED #/dependencies/a"],
        ["DEPENDENCY_ARRAY_REMOVED #/dependencies/a"],
        BEFORE_2019,
    ),
    Case(
        "a property needs one more",
        _dependencies({"a": ["b"]}),
        _dependencies({"a": ["c", "b"]}),
        ["!DEPENDENCY_ARRAY_EXTENDED #/dependencies/a"],
        ["DEPENDENCY_ARRAY_NARROWED #/dependencies/a"],
        BEFORE_2019,
    ),
    Case(
        "a property needs others than before",
        _dependencies({"a": ["b"]}),
        _dependencies({"a": ["c"]}),
        ["!DEPENDENCY_ARRAY_CHANGED #/dependencies/a"],
        ["!DEPENDENCY_ARRAY_CHANGED #/dependencies/a"],
        BEFORE_2019,
    ),
    Case(
        "a property needs what fits a schema",
        {"type": "object"},
        _dependencies({"a": obj(b=STRING)}),
        ["!DEPENDENCY_SCHEMA_ADDED #/dependencies/a"],
        ["DEPENDENCY_SCHEMA_REMOVED #/dependencies/a"],
        BEFORE_2019,
    ),
    Case(
        "the schema that a property needs is widened",
        _dependencies({"a": obj(b={**STRING, "minLength": 2})}),
        _dependencies({"a": obj(b={**STRING, "minLength": 1})}),
        ["MIN_LENGTH_DECREASED #/dependencies/a/properties/b/minLength"],
        ["!MIN_LENGTH_INCREASED #/dependencies/a/properties/b/minLength"],
        BEFORE_2019,
    ),
    Case(
        "names become a schema",
        _dependencies({"a": ["b"]}),
        _dependencies({"a": obj("b", b={})}),
        ["DEPENDENCY_ARRAY_REMOVED #/dependencies/a", "!DEPENDENCY_SCHEMA_ADDED #/dependencies/a"],
        ["!DEPENDENCY_ARRAY_ADDED #/dependencies/a", "DEPENDENCY_SCHEMA_REMOVED #/dependencies/a"],
        BEFORE_2019,
    ),
    Case(
        "dependentRequired is set",
        {"type": "object"},
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        ["!DEPENDENCY_ARRAY_ADDED #/dependencies/a"],
        ["DEPENDENCY_ARRAY_REMOVED #/dependencies/a"],
        MODERN,
    ),
    Case(
        "dependentRequired asks for one more",
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        {"type": "object", "dependentRequired": {"a": ["b", "c"]}},
        ["!DEPENDENCY_ARRAY_EXTENDED #/dependencies/a"],
        ["DEPENDENCY_ARRAY_NARROWED #/dependencies/a"],
        MODERN,
    ),
    Case(
        "dependentSchemas is set",
        {"type": "object"},
        {"type": "object", "dependentSchemas": {"a": obj(b=STRING)}},
        ["!DEPENDENCY_SCHEMA_ADDED #/dependencies/a"],
        ["DEPENDENCY_SCHEMA_REMOVED #/dependencies/a"],
        MODERN,
    ),
    Case(
        "dependentSchemas is narrowed",
        {"type": "object", "dependentSchemas": {"a": obj(b=STRING)}},
        {"type": "object", "dependentSchemas": {"a": obj(b={**STRING, "maxLength": 9})}},
        ["!MAX_LENGTH_ADDED #/dependencies/a/properties/b/maxLength"],
        ["MAX_LENGTH_REMOVED #/dependencies/a/properties/b/maxLength"],
        MODERN,
    ),
    Case(
        "a need of nothing is none",
        {"type": "object"},
        {"type": "object", "dependentRequired": {"a": []}},
        [],
        [],
        MODERN,
    ),
    Case(
        "dependencies are no keyword any more",
        {"type": "object"},
        _dependencies({"a": ["b"]}),
        [],
        [],
        MODERN,
    ),
    Case(
        "dependentRequired is no keyword yet",
        {"type": "object"},
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        [],
        [],
        BEFORE_2019,
    ),
    Case(
        "the names of properties are not compared",
        {"type": "object", "propertyNames": {"maxLength": 3}},
        {"type": "object", "propertyNames": {"maxLength": 2}},
        [],
        [],
        SINCE_6,
    ),
]


def _unevaluated(value: Any, **properties: Any) -> dict[str, Any]:
    return obj(**properties, _more={"unevaluatedProperties": value})


UNEVALUATED = [
    Case(
        "unevaluated properties are refused",
        obj(a=STRING),
        _unevaluated(False, a=STRING),
        ["!UNEVALUATED_PROPERTIES_REMOVED #/unevaluatedProperties"],
        ["UNEVALUATED_PROPERTIES_ADDED #/unevaluatedProperties"],
        MODERN,
    ),
    Case(
        "unevaluated properties get a schema",
        obj(a=STRING),
        _unevaluated(STRING, a=STRING),
        ["!UNEVALUATED_PROPERTIES_NARROWED #/unevaluatedProperties"],
        ["UNEVALUATED_PROPERTIES_EXTENDED #/unevaluatedProperties"],
        MODERN,
    ),
    Case(
        "unevaluated properties may be anything, and then fit a schema",
        _unevaluated(True, a=STRING),
        _unevaluated(STRING, a=STRING),
        ["!UNEVALUATED_PROPERTIES_NARROWED #/unevaluatedProperties"],
        ["UNEVALUATED_PROPERTIES_EXTENDED #/unevaluatedProperties"],
        MODERN,
    ),
    Case(
        "unevaluated properties of a schema are refused",
        _unevaluated(STRING, a=STRING),
        _unevaluated(False, a=STRING),
        ["!UNEVALUATED_PROPERTIES_REMOVED #/unevaluatedProperties"],
        ["UNEVALUATED_PROPERTIES_ADDED #/unevaluatedProperties"],
        MODERN,
    ),
    Case(
        "the schema of unevaluated properties is widened",
        _unevaluated({**STRING, "maxLength": 1}),
        _unevaluated({**STRING, "maxLength": 2}),
        ["MAX_LENGTH_INCREASED #/unevaluatedProperties/maxLength"],
        ["!MAX_LENGTH_DECREASED #/unevaluatedProperties/maxLength"],
        MODERN,
    ),
    Case(
        "a property is added where the unevaluated are refused",
        _unevaluated(False, a=STRING),
        _unevaluated(False, a=STRING, b=STRING),
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
        MODERN,
    ),
    Case(
        "a property is added where the unevaluated have a schema",
        _unevaluated(STRING, a=STRING),
        _unevaluated(STRING, a=STRING, b=INTEGER),
        [
            "!TYPE_CHANGED #/properties/b",
            "!PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
        ],
        [
            "!TYPE_CHANGED #/properties/b",
            "!PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
        ],
        MODERN,
    ),
    Case(
        "a property is added where the unevaluated may be anything",
        _unevaluated(True, a=STRING),
        _unevaluated(True, a=STRING, b=STRING),
        ["!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
        MODERN,
    ),
    Case(
        "a property is added where none can be left unevaluated",
        obj(a=STRING, _more={"additionalProperties": False, "unevaluatedProperties": STRING}),
        obj(a=STRING, b=INTEGER, _more={"additionalProperties": False, "unevaluatedProperties": STRING}),
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
        MODERN,
    ),
    Case(
        "unevaluated properties are no keyword yet",
        obj(a=STRING),
        _unevaluated(False, a=STRING),
        [],
        [],
        BEFORE_2019,
    ),
]

CASES = [*REQUIRED, *SIZES_AND_DEPENDENCIES, *UNEVALUATED]


@each_way(CASES)
def test_objects(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)
