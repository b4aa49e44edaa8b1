"""Apache Kafka itself, from Maven: its command-line tools, and a broker to compare with.

The jars are fetched once into `.toolchains/apache-kafka-<version>/` of the repository.
"""

from __future__ import annotations

import base64
import functools
import os
import re
import shutil
import socket
import struct
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import pytest

from tests.support.maven import Jars
from tests.support.processes import Process, free_port

VERSION = "4.3.1"
LOWEST_JAVA = 17
ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".toolchains" / f"apache-kafka-{VERSION}"

DEPENDENCIES = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
    ("org.apache.logging.log4j", "log4j-core", "2.25.4"),
    ("org.apache.avro", "avro", "1.12.0"),
)
# Avro without what it brings: the judge of our own Avro makes do with the versions that Kafka has.
JARS = Jars(HOME, "apache-kafka", DEPENDENCIES, alone=frozenset({"avro"}))

TOOL_JVM_FLAGS = ("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx256m")
# A tool that loads what most of them load, and ends soon since nobody listens there.
ARCHIVED_RUN = ("kafka-consumer-groups", "--list", "--timeout", "200", "--bootstrap-server", "127.0.0.1:9")

# For a server that lives for minutes: half the work of one that compiles for a long life.
SHORT_LIVED_JVM_FLAGS = ("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx512m")

TOOLS = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-client-metrics": "org.apache.kafka.tools.ClientMetricsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-share-consumer": "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "kafka-e2e-latency": "org.apache.kafka.tools.EndToEndLatency",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-replica-verification": "org.apache.kafka.tools.ReplicaVerificationTool",
    "kafka-share-consumer-perf-test": "org.apache.kafka.tools.ShareConsumerPerformance",
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-streams-application-reset": "org.apache.kafka.tools.StreamsResetter",
    "kafka-streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-verifiable-consumer": "org.apache.kafka.tools.VerifiableConsumer",
    "kafka-verifiable-producer": "org.apache.kafka.tools.VerifiableProducer",
}


# --- Java


@functools.cache
def java_available() -> str | None:
    """None if Kafka can be fetched and run here, else the reason why not."""
    if shutil.which("java") is None:
        return f"no java on PATH (Java {LOWEST_JAVA} or newer is needed)"
    version = _java_version()
    if version < LOWEST_JAVA:
        return f"java on PATH is version {version}, Kafka {VERSION} needs {LOWEST_JAVA} or newer"
    if shutil.which("mvn") is None and not JARS.fetched:
        return "no mvn on PATH to fetch Apache Kafka with"
    return None


@functools.cache
def _java_release() -> str:
    said = subprocess.run(
        ["java", "-version"], capture_output=True, text=True, timeout=60, check=False
    ).stderr
    found = re.search(r'version "([^"]+)"', said)
    return found[1] if found else ""


def _java_version() -> int:
    found = re.match(r"\d+", _java_release())
    return int(found[0]) if found else 0


def require_java() -> None:
    """Skips the test where Java is missing; in CI, where it must not be, fails it."""
    if (reason := java_available()) is None:
        return
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


# --- the jars


@functools.cache
def classpath() -> str:
    """The class path of Kafka's server and tools; the first call on a machine fetches the jars."""
    return JARS.classpath()


@functools.cache
def tool_jvm_flags() -> tuple[str, ...]:
    """With an archive of the classes that the tools load, made once: a start then costs half."""
    archive = HOME / f"tools-{_java_release()}.jsa"
    jars = classpath()
    with JARS.locked():
        if not archive.exists():
            _make_archive(archive, jars)
    return (*TOOL_JVM_FLAGS, f"-XX:SharedArchiveFile={archive}") if archive.exists() else TOOL_JVM_FLAGS


def _make_archive(archive: Path, jars: str) -> None:
    partial = archive.with_suffix(".partial")
    name, *arguments = ARCHIVED_RUN
    command = ["java", *TOOL_JVM_FLAGS, f"-XX:ArchiveClassesAtExit={partial}", "-cp", jars, TOOLS[name]]
    subprocess.run([*command, *arguments], capture_output=True, timeout=120, check=False)
    if partial.exists():
        partial.rename(archive)


def java_command(main_class: str, *args: str, jvm_flags: tuple[str, ...] | None = None) -> list[str]:
    jvm_flags = tool_jvm_flags() if jvm_flags is None else jvm_flags
    return ["java", *jvm_flags, JARS.log4j_flag, "-cp", classpath(), main_class, *args]


# --- the tools


def run_tool(
    main_class_or_name: str,
    *args: str,
    input: str | None = None,
    timeout: float = 60,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs one of Kafka's tools, by the name of its script or by its class; the caller checks the code."""
    main_class = TOOLS.get(main_class_or_name, main_class_or_name)
    return subprocess.run(
        java_command(main_class, *args),
        input=input,
        stdin=subprocess.DEVNULL if input is None else None,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
        check=False,
    )


# --- the broker


def answers_metadata(port: int, host: str = "127.0.0.1", timeout: float = 5.0) -> bool:
    """Whether a Metadata request (v1, no topics) to this port is answered with at least one broker."""
    body = struct.pack(">hhih4si", 3, 1, 7, 4, b"test", 0)
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(struct.pack(">i", len(body)) + body)
            answer = connection.makefile("rb").read(12)
    except OSError:
        return False
    return len(answer) == 12 and struct.unpack(">iii", answer)[2] > 0


class ApacheKafka:
    """One KRaft node, broker and controller in one process, on free loopback ports.

    `directory` holds its settings, log and data; starting again in the same directory finds the same data.
    """

    def __init__(
        self,
        directory: Path,
        overrides: Mapping[str, str] | None = None,
        jvm_flags: tuple[str, ...] = SHORT_LIVED_JVM_FLAGS,
    ) -> None:
        self.directory = directory
        self._jvm_flags = jvm_flags
        self.port = free_port()
        self.controller_port = free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.log_dir = directory / "kafka-logs"
        self.log = directory / "kafka.log"
        self.settings = {**self._default_settings(), **(overrides or {})}
        self._process: Process | None = None

    def _default_settings(self) -> dict[str, str]:
        listener = f"PLAINTEXT://{self.bootstrap}"
        controller = f"127.0.0.1:{self.controller_port}"
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"{listener},CONTROLLER://{controller}",
            "advertised.listeners": listener,
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(self.log_dir),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
        }

    @property
    def process(self) -> Process:
        assert self._process is not None, "not started"
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def _properties(self) -> Path:
        return self.directory / "server.properties"

    def format(self) -> None:
        """Writes the settings, and makes the data directory what Kafka's `kafka-storage format` makes it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in self.settings.items()))
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # With "=", since an id may begin with a hyphen.
        arguments = (
            "format",
            "--ignore-formatted",
            f"--cluster-id={cluster_id}",
            "-c",
            str(self._properties),
        )
        done = run_tool("kafka-storage", *arguments)
        if done.returncode:
            raise RuntimeError(f"kafka-storage format failed:\n{done.stdout}{done.stderr}")

    def launch(self) -> Process:
        """Starts the server and returns without waiting for it to answer."""
        command = java_command("kafka.Kafka", str(self._properties), jvm_flags=self._jvm_flags)
        self._process = Process(command, self.log)
        return self._process

    def start(self, timeout: float = 60.0) -> ApacheKafka:
        if not (self.log_dir / "meta.properties").exists():
            self.format()
        self.launch().wait_until(lambda: answers_metadata(self.port), timeout, "Apache Kafka to answer")
        return self

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def __enter__(self) -> ApacheKafka:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
