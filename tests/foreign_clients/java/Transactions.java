import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Transactional producers that stay open between requests. */
final class Transactions {
    private static final Map<Integer, KafkaProducer<byte[], byte[]>> OPEN = new HashMap<>();
    private static int opened = 0;

    private Transactions() {}

    static JsonNode run(String operation, JsonNode request) throws Exception {
        if (operation.equals("transaction_open")) {
            return open(request);
        }
        int number = request.get("number").asInt();
        KafkaProducer<byte[], byte[]> producer = OPEN.get(number);
        switch (operation) {
            case "transaction_begin":
                producer.beginTransaction();
                break;
            case "transaction_send":
                send(producer, request);
                break;
            case "transaction_send_offsets":
                sendOffsets(producer, request);
                break;
            case "transaction_commit":
                producer.commitTransaction();
                break;
            case "transaction_abort":
                producer.abortTransaction();
                break;
            case "transaction_close":
                OPEN.remove(number).close(Duration.ZERO);
                break;
            default:
                throw new IllegalArgumentException("unknown operation " + operation);
        }
        return Answer.object();
    }

    private static JsonNode open(JsonNode request) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", request.get("bootstrap").asText());
        settings.put("transactional.id", request.get("transactional_id").asText());
        settings.put("transaction.timeout.ms", request.get("timeout_ms").asInt());
        settings.put("max.block.ms", 30_000);
        settings.put("request.timeout.ms", 15_000);
        settings.put("delivery.timeout.ms", 25_000);
        KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            producer.initTransactions();
        } catch (RuntimeException thrown) {
            producer.close(Duration.ZERO);
            throw thrown;
        }
        OPEN.put(++opened, producer);
        return Answer.object().put("number", opened);
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, JsonNode request) throws Exception {
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (JsonNode record : request.get("records")) {
            futures.add(producer.send(Producing.record(request.get("topic").asText(), record)));
        }
        for (Future<RecordMetadata> future : futures) {
            future.get();
        }
    }

    private static void sendOffsets(KafkaProducer<byte[], byte[]> producer, JsonNode request) throws Exception {
        Member member = Member.numbered(request.get("member").asInt());
        ConsumerGroupMetadata group = member.inItsThread(() -> member.consumer().groupMetadata());
        producer.sendOffsetsToTransaction(Answer.offsets(request.get("offsets")), group);
    }
}
