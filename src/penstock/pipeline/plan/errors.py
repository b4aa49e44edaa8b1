"""What is wrong with a topology."""

from penstock.errors import ConfigError


class TopologyError(ConfigError):
    """A program is refused: what is wrong, and where in the user's file."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
