"""The four-letter words: plain questions about the server on the client port, such as `echo ruok | nc host 2181`."""

from collections.abc import Callable
from dataclasses import dataclass

from penstock import __version__
from penstock.zookeeper.config import ZooKeeperConfig
from penstock.zookeeper.protocol import OpCode
from penstock.zookeeper.state import Client, ServerState
from penstock.zookeeper.statistics import Statistics

ZOOKEEPER_VERSION = "3.9.3"
_OPERATION_NAMES = {opcode.value: opcode.name for opcode in OpCode}


@dataclass(frozen=True, slots=True)
class Situation:
    """What a word may speak of."""

    state: ServerState
    statistics: Statistics
    config: ZooKeeperConfig
    port: int
    now_ms: int
    environment: dict[str, str]


def _version() -> str:
    return f"{ZOOKEEPER_VERSION}-penstock-{__version__}"


def _client_line(client: Client, *, full: bool) -> str:
    counts = f"queued=0,recved={client.received},sent={client.sent}"
    session = ""
    if full and client.session_id:
        last = _OPERATION_NAMES.get(client.last_opcode, "NA")
        session = (
            f",sid={client.session_id:#x},lop={last},est={client.connected_at_ms}"
            f",lcxid={client.last_xid:#x},lzxid={client.last_zxid:#x}"
        )
    return f" /{client.host}:{client.port}[{int(bool(client.session_id))}]({counts}{session})"


def answer_ruok(_: Situation) -> str:
    return "imok"


def answer_srvr(situation: Situation) -> str:
    return f"Zookeeper version: {_version()}\n" + _server_lines(situation)


def answer_stat(situation: Situation) -> str:
    clients = "".join(f"{_client_line(client, full=False)}\n" for client in situation.state.clients)
    return f"Zookeeper version: {_version()}\nClients:\n{clients}\n" + _server_lines(situation)


def _server_lines(situation: Situation) -> str:
    statistics, state = situation.statistics, situation.state
    latencies = (
        f"{statistics.latency_min_ms or 0}/{statistics.latency_average_ms:.4g}/{statistics.latency_max_ms}"
    )
    return (
        f"Latency min/avg/max: {latencies}\n"
        f"Received: {statistics.packets_received}\n"
        f"Sent: {statistics.packets_sent}\n"
        f"Connections: {len(state.clients)}\n"
        f"Outstanding: {_outstanding(state)}\n"
        f"Zxid: {state.tree.last_zxid:#x}\n"
        "Mode: standalone\n"
        f"Node count: {len(state.tree.nodes)}\n"
    )


def _outstanding(state: ServerState) -> int:
    return sum(map(len, state.batch.frames.values()))


def answer_cons(situation: Situation) -> str:
    return "".join(f"{_client_line(client, full=True)}\n" for client in situation.state.clients) + "\n"


def answer_dump(situation: Situation) -> str:
    state = situation.state
    sessions = state.sessions.all()
    lines = ["SessionTracker dump:", f"Session Sets ({len(sessions)})/({len(sessions)}):"]
    lines += [
        f"{session.session_id:#x}\texpires in {session.deadline_ms - situation.now_ms} ms"
        for session in sessions
    ]
    lines.append("ephemeral nodes dump:")
    owned = state.tree.ephemerals_by_session()
    lines.append(f"Sessions with Ephemerals ({len(owned)}):")
    for session_id, paths in owned.items():
        lines += [f"{session_id:#x}:", *(f"\t{path}" for path in paths)]
    lines.append("Connections dump:")
    lines += [_client_line(client, full=False) for client in state.clients]
    return "\n".join(lines) + "\n"


def answer_mntr(situation: Situation) -> str:
    state, statistics = situation.state, situation.statistics
    values: dict[str, object] = {
        "version": _version(),
        "server_state": "standalone",
        "uptime": situation.now_ms - statistics.started_at_ms,
        "avg_latency": round(statistics.latency_average_ms, 4),
        "max_latency": statistics.latency_max_ms,
        "min_latency": statistics.latency_min_ms or 0,
        "packets_received": statistics.packets_received,
        "packets_sent": statistics.packets_sent,
        "num_alive_connections": len(state.clients),
        "outstanding_requests": _outstanding(state),
        "znode_count": len(state.tree.nodes),
        "watch_count": state.watches.data.count + state.watches.child.count,
        "ephemerals_count": sum(map(len, state.tree.ephemerals_by_session().values())),
        "global_sessions": len(state.sessions),
        "approximate_data_size": state.tree.data_bytes,
        "connection_rejected": statistics.connections_refused,
    }
    return "".join(f"zk_{name}\t{value}\n" for name, value in values.items())


def answer_conf(situation: Situation) -> str:
    config = situation.config
    values = {
        "clientPort": situation.port,
        "dataDir": config.data_dir or "",
        "dataLogDir": config.data_log_dir or config.data_dir or "",
        "tickTime": config.tick_time_ms,
        "maxClientCnxns": config.max_client_cnxns,
        "minSessionTimeout": config.smallest_timeout_ms,
        "maxSessionTimeout": config.largest_timeout_ms,
        "serverId": 0,
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def answer_envi(situation: Situation) -> str:
    environment = {"zookeeper.version": _version(), **situation.environment}
    return "Environment:\n" + "".join(f"{name}={value}\n" for name, value in environment.items())


def answer_isro(_: Situation) -> str:
    return "rw"


def answer_wchs(situation: Situation) -> str:
    watches = situation.state.watches
    watchers = watches.data.by_watcher.keys() | watches.child.by_watcher.keys()
    paths = watches.data.by_path.keys() | watches.child.by_path.keys()
    total = watches.data.count + watches.child.count
    return f"{len(watchers)} connections watching {len(paths)} paths\nTotal watches:{total}\n"


WORDS: dict[str, Callable[[Situation], str]] = {
    "ruok": answer_ruok,
    "srvr": answer_srvr,
    "stat": answer_stat,
    "cons": answer_cons,
    "dump": answer_dump,
    "mntr": answer_mntr,
    "conf": answer_conf,
    "envi": answer_envi,
    "isro": answer_isro,
    "wchs": answer_wchs,
}


def word_of(opening: bytes) -> str | None:
    """The word that a connection opens with, if it is one."""
    word = opening.decode("latin-1")
    return word if word in WORDS else None


def answer(word: str, situation: Situation) -> str:
    if not situation.config.allows(word):
        return f"{word} is not executed because it is not in the whitelist.\n"
    return WORDS[word](situation)
