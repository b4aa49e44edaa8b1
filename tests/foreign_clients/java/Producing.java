import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends records and reports where each of them landed. */
final class Producing {
    private Producing() {}

    static JsonNode produce(JsonNode request) throws Exception {
        ArrayNode sent = Answer.JSON.createArrayNode();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings(request), new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            for (JsonNode record : request.get("records")) {
                futures.add(producer.send(record(request.get("topic").asText(), record)));
            }
            for (Future<RecordMetadata> future : futures) {
                RecordMetadata metadata = future.get();
                sent.addObject()
                        .put("partition", metadata.partition())
                        .put("offset", metadata.hasOffset() ? metadata.offset() : -1L)
                        .put("timestamp", metadata.timestamp());
            }
        }
        return Answer.list("sent", sent);
    }

    private static Map<String, Object> settings(JsonNode request) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", request.get("bootstrap").asText());
        settings.put("compression.type", request.get("codec").asText());
        settings.put("acks", request.get("acks").asText());
        settings.put("enable.idempotence", request.get("idempotent").asBoolean());
        settings.put("max.request.size", 32 << 20);
        settings.put("buffer.memory", 128L << 20);
        settings.put("linger.ms", 20);
        settings.put("max.block.ms", 20_000);
        settings.put("request.timeout.ms", 15_000);
        settings.put("delivery.timeout.ms", 25_000);
        return settings;
    }

    static ProducerRecord<byte[], byte[]> record(String topic, JsonNode node) {
        Integer partition = node.path("partition").isNumber() ? node.get("partition").asInt() : null;
        Long timestamp = node.path("timestamp").isNumber() ? node.get("timestamp").asLong() : null;
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, partition, timestamp, Answer.bytes(node.get("key")), Answer.bytes(node.get("value")));
        for (JsonNode header : node.path("headers")) {
            record.headers().add(header.get(0).asText(), Answer.bytes(header.get(1)));
        }
        return record;
    }
}
