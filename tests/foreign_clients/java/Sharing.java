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

/** A share consumer that stays open between requests, with the records of its last poll. */
final class Sharing {
    private static final Map<Integer, Sharing> OPEN = new HashMap<>();
    private static int opened = 0;

    private final KafkaShareConsumer<byte[], byte[]> consumer;
    private final Map<Long, ConsumerRecord<byte[], byte[]>> held = new HashMap<>();

    private Sharing(JsonNode request) {
        consumer = new KafkaShareConsumer<>(
                settings(request), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(request.get("topic").asText()));
    }

    static JsonNode run(String operation, JsonNode request) {
        if (operation.equals("share_open")) {
            OPEN.put(++opened, new Sharing(request));
            return Answer.object().put("number", opened);
        }
        int number = request.get("number").asInt();
        Sharing sharing = OPEN.get(number);
        switch (operation) {
            case "share_poll":
                return sharing.poll();
            case "share_acknowledge":
                sharing.consumer.acknowledge(
                        sharing.held.get(request.get("offset").asLong()),
                        AcknowledgeType.valueOf(request.get("how").asText().toUpperCase()));
                break;
            case "share_commit":
                sharing.commit();
                break;
            case "share_close":
                OPEN.remove(number).consumer.close();
                break;
            default:
                throw new IllegalArgumentException("unknown operation " + operation);
        }
        return Answer.object();
    }

    private static Map<String, Object> settings(JsonNode request) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", request.get("bootstrap").asText());
        settings.put("group.id", request.get("group").asText());
        settings.put("share.acknowledgement.mode", request.get("explicit").asBoolean() ? "explicit" : "implicit");
        settings.put("share.acquire.mode", "record_limit");
        settings.put("max.poll.records", request.get("max_records").asInt());
        return settings;
    }

    private JsonNode poll() {
        ArrayNode records = Answer.JSON.createArrayNode();
        held.clear();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
            held.put(record.offset(), record); // of the one partition that tests use
            records.addObject()
                    .put("topic", record.topic())
                    .put("partition", record.partition())
                    .put("offset", record.offset())
                    .put("value", Answer.text(record.value()))
                    .put("delivery_count", (int) record.deliveryCount().orElse((short) -1));
        }
        return Answer.list("records", records);
    }

    private void commit() {
        for (Optional<KafkaException> failure : consumer.commitSync(Duration.ofSeconds(30)).values()) {
            if (failure.isPresent()) {
                throw failure.get();
            }
        }
    }
}
