"""Rewrites everything that is generated: the wire's messages and the reference pages."""

from pathlib import Path

from penstock.broker.reference_page import protocol_page
from penstock.client.config.reference_page import client_settings_page
from penstock.pipeline.connect.reference_page import connect_settings_page
from penstock.pipeline.connect.transforms.reference_page import connect_transforms_page
from penstock.pipeline.tasks.reference_page import streams_settings_page
from penstock.registry.reference_page import registry_settings_page
from penstock.settings.reference_page import PAGES
from tools import generate_client_keywords, generate_messages, generate_stored

REFERENCE = Path(__file__).parent.parent / "docs/reference"


def reference_pages() -> dict[str, str]:
    pages = {name: render() for name, render in PAGES.items()}
    return {
        **pages,
        "protocol.md": protocol_page(),
        "client_settings.md": client_settings_page(),
        "registry_settings.md": registry_settings_page(),
        "connect_settings.md": connect_settings_page(),
        "streams_settings.md": streams_settings_page(),
        "connect_transforms.md": connect_transforms_page(),
    }


def main() -> None:
    generate_messages.main()
    generate_stored.main()
    generate_client_keywords.main()
    for name, text in reference_pages().items():
        (REFERENCE / name).write_text(text)


if __name__ == "__main__":
    main()
