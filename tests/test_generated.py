"""What is generated is up to date."""

from pathlib import Path

from tools import generate_client_keywords
from tools.generate import REFERENCE, reference_pages
from tools.generate_messages import MESSAGES, render_all
from tools.generate_stored import STORED
from tools.generate_stored import render_all as render_stored


def test_the_messages_are_those_of_the_schema() -> None:
    rendered = render_all()
    assert {path.name for path in MESSAGES.glob("*.py")} == set(rendered)
    for name, text in rendered.items():
        assert Path(MESSAGES, name).read_text() == text, f"{name}: run `make generate`"


def test_the_stored_records_are_those_of_the_tables() -> None:
    for name, text in render_stored().items():
        assert Path(STORED, name).read_text() == text, f"{name}: run `make generate`"


def test_the_keywords_of_the_clients_are_those_of_their_tables() -> None:
    for name, text in generate_client_keywords.render_all().items():
        assert (generate_client_keywords.KEYWORDS / name).read_text() == text, f"{name}: run `make generate`"


def test_the_reference_pages_are_those_of_the_tables() -> None:
    for name, text in reference_pages().items():
        assert (REFERENCE / name).read_text() == text, f"{name}: run `make generate`"
