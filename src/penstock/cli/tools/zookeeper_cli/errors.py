"""What goes wrong in the shell, in the words of ZooKeeper's own."""

from penstock.errors import PenstockError

COMMAND_NOT_FOUND = 127


class ShellError(PenstockError):
    """A command failed; the shell goes on."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
