import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** JSON in, JSON out: bytes travel as base64, absent bytes as null. */
final class Answer {
    static final ObjectMapper JSON = new ObjectMapper();

    private Answer() {}

    static ObjectNode object() {
        return JSON.createObjectNode();
    }

    static ObjectNode list(String name, ArrayNode items) {
        ObjectNode answer = object();
        answer.set(name, items);
        return answer;
    }

    static byte[] bytes(JsonNode node) {
        return node == null || node.isNull() ? null : Base64.getDecoder().decode(node.asText());
    }

    static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }

    static Map<String, String> strings(JsonNode node) {
        Map<String, String> result = new HashMap<>();
        if (node != null) {
            node.fields().forEachRemaining(field -> result.put(field.getKey(), field.getValue().asText()));
        }
        return result;
    }

    static List<String> names(JsonNode node) {
        List<String> result = new ArrayList<>();
        if (node != null) {
            node.forEach(item -> result.add(item.asText()));
        }
        return result;
    }

    /** Lists of topic and partition. */
    static List<TopicPartition> partitions(JsonNode node) {
        List<TopicPartition> result = new ArrayList<>();
        node.forEach(item -> result.add(new TopicPartition(item.get(0).asText(), item.get(1).asInt())));
        return result;
    }

    static void put(ArrayNode array, Collection<TopicPartition> partitions) {
        partitions.forEach(each -> array.addArray().add(each.topic()).add(each.partition()));
    }

    /** Lists of topic, partition, offset and metadata. */
    static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode node) {
        Map<TopicPartition, OffsetAndMetadata> result = new HashMap<>();
        node.forEach(item -> result.put(
                new TopicPartition(item.get(0).asText(), item.get(1).asInt()),
                new OffsetAndMetadata(item.get(2).asLong(), item.get(3).asText())));
        return result;
    }

    static ObjectNode offsets(Map<TopicPartition, OffsetAndMetadata> offsets) {
        ArrayNode items = JSON.createArrayNode();
        offsets.forEach((partition, at) -> {
            if (at != null) {
                items.addArray().add(partition.topic()).add(partition.partition()).add(at.offset()).add(at.metadata());
            }
        });
        return list("offsets", items);
    }

    static TopicPartition partition(JsonNode request) {
        return new TopicPartition(request.get("topic").asText(), request.path("partition").asInt(0));
    }
}
