"""Warnings of the client, through `logging` under the name `penstock.client`, which is only imported to warn."""


def warn(message: str) -> None:
    import logging

    logging.getLogger("penstock.client").warning(message)
