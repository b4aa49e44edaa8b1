import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Share consumers that stay open between requests. */
final class Sharing {
    private static final Map<Integer, KafkaShareConsumer<byte[], byte[]>> OPEN = new HashMap<>();
    private static int opened = 0;

    private Sharing() {}

    static JsonNode run(String operation, JsonNode request) {
        if (operation.equals("share_open")) {
            return open(request);
        }
        int number = request.get("number").asInt();
        KafkaShareConsumer<byte[], byte[]> consumer = OPEN.get(number);
        switch (operation) {
            case "share_poll":
                return poll(consumer);
            case "share_acknowledge":
                consumer.acknowledge(
                        request.get("topic").asText(),
                        request.get("partition").asInt(),
                        request.get("offset").asLong(),
                        AcknowledgeType.valueOf(request.get("how").asText().toUpperCase()));
                break;
            case "share_commit":
                commit(consumer);
                break;
            case "share_close":
                OPEN.remove(number).close();
                break;
            default:
                throw new IllegalArgumentException("unknown operation " + operation);
        }
        return Answer.object();
    }

    private static JsonNode open(JsonNode request) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", request.get("bootstrap").asText());
        settings.put("group.id", request.get("group").asText());
        settings.put("share.acknowledgement.mode", request.get("explicit").asBoolean() ? "explicit" : "implicit");
        settings.put("share.acquire.mode", "record_limit");
        settings.put("max.poll.records", request.get("max_records").asInt());
        KafkaShareConsumer<byte[], byte[]> consumer =
                new KafkaShareConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(request.get("topic").asText()));
        OPEN.put(++opened, consumer);
        return Answer.object().put("number", opened);
    }

    private static JsonNode poll(KafkaShareConsumer<byte[], byte[]> consumer) {
        ArrayNode records = Answer.JSON.createArrayNode();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
            records.addObject()
                    .put("topic", record.topic())
                    .put("partition", record.partition())
                    .put("offset", record.offset())
                    .put("value", Answer.text(record.value()))
                    .put("delivery_count", (int) record.deliveryCount().orElse((short) -1));
        }
        return Answer.list("records", records);
    }

    private static void commit(KafkaShareConsumer<byte[], byte[]> consumer) {
        for (Optional<KafkaException> failure : consumer.commitSync(Duration.ofSeconds(30)).values()) {
            if (failure.isPresent()) {
                throw failure.get();
            }
        }
    }
}
