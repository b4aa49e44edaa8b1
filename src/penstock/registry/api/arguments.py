"""Parameters that several endpoints take alike."""

from typing import TypedDict

from penstock.registry.lookups import aliased
from penstock.registry.node import RegistryNode
from penstock.web.request import Request


class Page(TypedDict):
    offset: int
    limit: int


def page_of(request: Request) -> Page:
    """Which part of a list; -1 for no limit but the server's own."""
    return Page(offset=request.number("offset", 0), limit=request.number("limit", -1))


def subject_in_path(node: RegistryNode, request: Request) -> str:
    return aliased(node.state, request.path["subject"])


def subject_in_query(node: RegistryNode, request: Request) -> str | None:
    given = request.text("subject")
    return aliased(node.state, given) if given else None


def tags_in_query(request: Request) -> list[str]:
    """`findTags`: several times, or several with commas, as Confluent's client for Java sends them."""
    return [tag for text in request.texts("findTags") for tag in text.split(",") if tag]
