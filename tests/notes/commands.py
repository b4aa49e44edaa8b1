"""The commands of the notes from which people learn Kafka, without `.bat` and with forward slashes."""

INSTALLATION = """
zookeeper-server-start ../../config/zookeeper.properties
kafka-server-start ../../config/server.properties
kafka-topics --create --topic my-topic --bootstrap-server localhost:9092 --replication-factor 1 --partitions 3
kafka-console-producer --broker-list localhost:9092 --topic my-topic
kafka-console-consumer --bootstrap-server localhost:9092 --topic my-topic --from-beginning
"""

SENDING_MESSAGES = """
zookeeper-server-start ../../config/zookeeper.properties
kafka-server-start ../../config/server.properties
kafka-topics --create --topic foods --bootstrap-server localhost:9092 --replication-factor 1 --partitions 4
kafka-console-producer --broker-list localhost:9092 --topic foods --property "key.separator=-" --property "parse.key=true"
kafka-console-consumer --bootstrap-server localhost:9092 --topic foods --from-beginning -property "key.separator=-" --property "print.key=false"
"""  # noqa: E501

KAFKA_BROKER = """
kafka-server-start ../../config/server.properties
kafka-topics --create --topic my-topic --bootstrap-server localhost:9092 --replication-factor 1 --partitions 3
kafka-console-producer --broker-list localhost:9092 --topic my-topic
kafka-console-consumer --bootstrap-server localhost:9092 --topic my-topic --from-beginning
"""


def commands_of(section: str) -> list[str]:
    return section.strip().splitlines()
