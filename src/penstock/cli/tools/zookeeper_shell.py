"""`zookeeper-shell host:port[/path] [command ...]`: ZooKeeper's nodes, seen and changed from the command line."""

import sys

from penstock.cli.tool import run
from penstock.errors import ConfigError

TOOL = "zookeeper-shell"
USAGE = f"USAGE: {TOOL} zookeeper_host:port[/path] [-zk-tls-config-file file] [args...]"
DEFAULT_TIMEOUT_MS = 30_000


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, zookeeper_shell, arguments)


def zookeeper_shell(words: list[str]) -> int:
    if not words:
        print(USAGE)
        return 1
    hosts, *rest = words
    _check_hosts(hosts)
    options, command = _split_options(rest)
    timeout_ms = _timeout_ms(options.get("-timeout"))
    from penstock.cli.tools.zookeeper_cli.shell import Shell
    from penstock.cli.tools.zookeeper_cli.terminal import interact

    print(f"Connecting to {hosts}", flush=True)
    shell = Shell(hosts, timeout_ms, "-r" in options)
    try:
        if command:
            shell.run_words(command)
        else:
            interact(shell)
        return shell.exit_code
    finally:
        shell.close()


def _check_hosts(hosts: str) -> None:
    for address in hosts.partition("/")[0].split(","):
        host, colon, port = address.rpartition(":")
        if colon and (not host or not port.isdigit() or int(port) > 65535):
            raise ConfigError(
                f"{TOOL}: got {hosts!r}; takes host:port[/path], several hosts with commas between them"
            )


def _split_options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Options of the shell itself stand before the command."""
    options: dict[str, str] = {}
    left = list(reversed(words))
    while left and left[-1].startswith("-"):
        option = left.pop()
        if option == "-zk-tls-config-file":
            raise ConfigError(f"{TOOL}: {option}: connections with TLS are not available")
        if option == "-timeout":
            if not left:
                raise ConfigError(f"Error: no argument found for option {option}")
            options[option] = left.pop()
        elif option in ("-r", "-waitforconnection"):
            options[option] = ""
        else:
            raise ConfigError(
                f"{TOOL}: got {option}; takes -timeout MS, -r and -waitforconnection before a command"
            )
    return options, left[::-1]


def _timeout_ms(text: str | None) -> int:
    if text is None:
        return DEFAULT_TIMEOUT_MS
    if not text.isdigit() or int(text) == 0:
        raise ConfigError(f"{TOOL}: -timeout: got {text!r}; takes milliseconds, 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
