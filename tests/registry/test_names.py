import pytest

from penstock.registry import names


@pytest.mark.parametrize(
    ("name", "context", "subject"),
    [
        ("orders", ".", "orders"),
        (":.staging:orders", ".staging", "orders"),
        (":.staging:", ".staging", ""),
        (":.staging", ".staging", ""),
        (":.:orders", ".", "orders"),
        (":.staging:a:b", ".staging", "a:b"),
        (":*:orders", "*", "orders"),
        ("a:b", ".", "a:b"),
        (":orders", ".", ":orders"),
        ("", ".", ""),
    ],
)
def test_a_name_is_taken_apart(name: str, context: str, subject: str) -> None:
    assert names.qualify(name) == names.QualifiedSubject(context, subject)


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("orders", "orders"),
        (":.:orders", "orders"),
        (":.staging", ":.staging:"),
        (":.s:o", ":.s:o"),
        (":o", ":o"),
    ],
)
def test_a_subject_has_one_spelling(name: str, normal: str) -> None:
    assert names.normalize_subject(name) == normal
    assert names.normalize_subject(normal) == normal


@pytest.mark.parametrize("context", ["staging", ".staging", ":.staging:", ":.staging", ":staging:"])
def test_a_context_has_one_spelling(context: str) -> None:
    assert names.normalize_context(context) == ":.staging:"


def test_the_default_context_is_not_written() -> None:
    assert names.normalize_context(".") == names.normalize_context(":.:") == ""
    assert names.in_context(".", "orders") == "orders"
    assert names.in_context("staging", "orders") == ":.staging:orders"
    assert names.in_context("staging", ":.other:orders") == ":.other:orders"


def test_a_context_has_no_colon_in_it() -> None:
    with pytest.raises(ValueError, match="Context name 'a:b' cannot contain a colon"):
        names.normalize_context("a:b")


@pytest.mark.parametrize(
    ("parent", "subject", "meant"),
    [
        ("a", "b", "b"),
        (":.c:a", "b", ":.c:b"),
        (":.c:a", ":.d:b", ":.d:b"),
        ("a", ":.d:b", ":.d:b"),
    ],
)
def test_a_schema_names_others_in_its_own_context(parent: str, subject: str, meant: str) -> None:
    assert names.qualify_with_parent(parent, subject) == meant


@pytest.mark.parametrize(
    ("name", "as_subject", "as_scope", "when_empty_is_refused"),
    [
        ("orders", True, True, True),
        ("", True, True, False),
        ("*", True, True, False),
        (":.c:", True, True, False),
        (":.__GLOBAL:", False, True, False),
        (":.__GLOBAL:a", False, True, False),
        ("__GLOBAL", False, False, False),
        (":.c:__EMPTY", False, False, False),
        ("a\x00", False, False, False),
        ("a\x85", False, False, False),
        ("grüße ☃", True, True, True),
    ],
)
def test_valid_names(name: str, as_subject: bool, as_scope: bool, when_empty_is_refused: bool) -> None:
    assert names.is_valid_subject(name) is as_subject
    assert names.is_valid_subject(name, is_config_or_mode=True) is as_scope
    assert names.is_valid_subject(name, allows_empty=False) is when_empty_is_refused


@pytest.mark.parametrize(
    ("scope", "subject", "is_covered"),
    [
        (None, ":.c:a", True),
        ("a", "a", True),
        ("a", "ab", False),
        (":.c:", ":.c:a", True),
        (":.c:", "a", False),
        (":.c:", ":.cc:a", False),
        ("", "a", True),
        ("", ":.c:a", False),
        (":.__GLOBAL:", ":.c:a", True),
        (":.__GLOBAL:", "a", True),
    ],
)
def test_what_a_scope_covers(scope: str | None, subject: str, is_covered: bool) -> None:
    assert names.is_covered_by(scope, subject) is is_covered
