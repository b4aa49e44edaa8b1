import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What a program is told, as JSON on its command line. */
final class Settings {
    private static final Map<String, String> ASSIGNORS = Map.of(
            "range", "org.apache.kafka.clients.consumer.RangeAssignor",
            "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");

    private final JsonNode told;

    Settings(String json) throws Exception {
        told = new ObjectMapper().readTree(json);
    }

    String text(String name) {
        return told.get(name).asText();
    }

    Properties consumer() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", text("bootstrap"));
        properties.put("group.id", text("group"));
        properties.put("group.protocol", text("protocol"));
        properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        properties.put("max.poll.records", "100");
        properties.put("max.poll.interval.ms", text("max_poll_interval_ms"));
        properties.put("fetch.max.wait.ms", "100");
        properties.put("reconnect.backoff.max.ms", "500");
        if (!told.get("instance_id").isNull()) properties.put("group.instance.id", text("instance_id"));
        if (text("protocol").equals("consumer")) {
            properties.put("group.remote.assignor", text("assignor"));
        } else {
            properties.put("partition.assignment.strategy", ASSIGNORS.get(text("assignor")));
            properties.put("session.timeout.ms", text("session_timeout_ms"));
            properties.put("heartbeat.interval.ms", text("heartbeat_interval_ms"));
        }
        return properties;
    }

    Properties producer() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", text("bootstrap"));
        properties.put("transactional.id", text("transactional_id"));
        properties.put("transaction.timeout.ms", text("transaction_timeout_ms"));
        properties.put("key.serializer", ByteArraySerializer.class.getName());
        properties.put("value.serializer", ByteArraySerializer.class.getName());
        properties.put("linger.ms", "1");
        properties.put("reconnect.backoff.max.ms", "500");
        return properties;
    }
}
