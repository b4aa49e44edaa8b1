"""Which paths ZooKeeper takes, and what it says of others."""

from penstock.cli.tools.zookeeper_cli.errors import ShellError

REFUSED = (("\x01", "\x1f"), ("\x7f", "\x9f"), ("\ud800", "\uf8ff"), ("\ufff0", "\uffff"))


def check_path(path: str, *, sequential: bool = False) -> str:
    checked = path + "1" if sequential else path
    if not checked:
        raise ShellError("Path length must be > 0")
    if checked[0] != "/":
        raise ShellError("Path must start with / character")
    if len(checked) > 1:
        if checked[-1] == "/":
            raise ShellError("Path must not end with / character")
        if (reason := _fault(checked)) is not None:
            raise ShellError(f'Invalid path string "{checked}" caused by {reason}')
    return path


def _fault(path: str) -> str | None:
    position = 1
    for name in path[1:].split("/"):
        if not name:
            return f"empty node name specified @{position}"
        for number, letter in enumerate(name):
            if letter == "\0":
                return f"null character not allowed @{position + number}"
            if any(low <= letter <= high for low, high in REFUSED):
                return f"invalid character @{position + number}"
        if name in (".", ".."):
            return f"relative paths not allowed @{position + len(name) - 1}"
        position += len(name) + 1
    return None


def child_of(path: str, name: str) -> str:
    return f"/{name}" if path == "/" else f"{path}/{name}"
