import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads assigned partitions, moves within them and asks for their offsets. */
final class Consuming {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private Consuming() {}

    static JsonNode consume(JsonNode request) {
        TopicPartition partition = Answer.partition(request);
        try (KafkaConsumer<byte[], byte[]> consumer = assigned(request, partition)) {
            consumer.seek(partition, request.get("offset").asLong());
            ArrayNode records = Answer.JSON.createArrayNode();
            read(consumer, request.get("count").asInt()).forEach(record -> records.add(node(record)));
            return Answer.list("records", records);
        }
    }

    static JsonNode consumePartitions(JsonNode request) {
        List<TopicPartition> partitions = new ArrayList<>();
        request.get("assigned").forEach(
                number -> partitions.add(new TopicPartition(request.get("topic").asText(), number.asInt())));
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(settings(request))) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            ArrayNode records = Answer.JSON.createArrayNode();
            read(consumer, request.get("count").asInt()).forEach(record -> records.add(node(record)));
            return Answer.list("records", records);
        }
    }

    static JsonNode seek(JsonNode request) {
        TopicPartition partition = Answer.partition(request);
        ArrayNode visits = Answer.JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = assigned(request, partition)) {
            for (JsonNode position : request.get("positions")) {
                ArrayNode offsets = visits.addArray();
                move(consumer, partition, position);
                if (position.get("kind").asText().equals("end")) {
                    offsets.add(consumer.position(partition, DEADLINE));
                    continue;
                }
                read(consumer, request.get("count").asInt()).forEach(record -> offsets.add(record.offset()));
            }
        }
        return Answer.list("visits", visits);
    }

    private static void move(KafkaConsumer<?, ?> consumer, TopicPartition partition, JsonNode position) {
        switch (position.get("kind").asText()) {
            case "beginning":
                consumer.seekToBeginning(List.of(partition));
                break;
            case "end":
                consumer.seekToEnd(List.of(partition));
                break;
            case "timestamp":
                long at = position.get("at").asLong();
                consumer.seek(partition, consumer.offsetsForTimes(Map.of(partition, at)).get(partition).offset());
                break;
            default:
                consumer.seek(partition, position.get("at").asLong());
        }
    }

    static JsonNode offsets(JsonNode request) {
        TopicPartition partition = Answer.partition(request);
        ObjectNode answer = Answer.object();
        try (KafkaConsumer<byte[], byte[]> consumer = assigned(request, partition)) {
            answer.put("beginning", consumer.beginningOffsets(List.of(partition)).get(partition));
            answer.put("end", consumer.endOffsets(List.of(partition)).get(partition));
            ArrayNode found = answer.putArray("for_times");
            for (JsonNode at : request.get("timestamps")) {
                OffsetAndTimestamp hit =
                        consumer.offsetsForTimes(Map.of(partition, at.asLong())).get(partition);
                found.addObject()
                        .put("offset", hit == null ? -1 : hit.offset())
                        .put("timestamp", hit == null ? -1 : hit.timestamp());
            }
        }
        return answer;
    }

    static JsonNode partitionsOf(JsonNode request) {
        ArrayNode partitions = Answer.JSON.createArrayNode();
        Map<String, Object> settings = settings(request);
        settings.put("allow.auto.create.topics", request.get("auto_create").asBoolean());
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(settings)) {
            for (PartitionInfo info : consumer.partitionsFor(request.get("topic").asText(), DEADLINE)) {
                partitions.add(info.partition());
            }
        }
        return Answer.list("partitions", partitions);
    }

    private static Map<String, Object> settings(JsonNode request) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", request.get("bootstrap").asText());
        settings.put("enable.auto.commit", false);
        settings.put("auto.offset.reset", "none");
        return settings;
    }

    private static KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> settings) {
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static KafkaConsumer<byte[], byte[]> assigned(JsonNode request, TopicPartition partition) {
        KafkaConsumer<byte[], byte[]> consumer = consumer(settings(request));
        consumer.assign(List.of(partition));
        return consumer;
    }

    private static List<ConsumerRecord<byte[], byte[]>> read(KafkaConsumer<byte[], byte[]> consumer, int count) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (records.size() < count && System.nanoTime() < deadline) {
            consumer.poll(Duration.ofMillis(200)).forEach(records::add);
        }
        return records.subList(0, Math.min(count, records.size()));
    }

    static ObjectNode node(ConsumerRecord<byte[], byte[]> record) {
        ObjectNode node = Answer.object();
        node.put("key", Answer.text(record.key()));
        node.put("value", Answer.text(record.value()));
        node.put("timestamp", record.timestamp());
        node.put("timestamp_type", record.timestampType().toString());
        node.put("partition", record.partition());
        node.put("offset", record.offset());
        ArrayNode headers = node.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(Answer.text(header.value()));
        }
        return node;
    }
}
