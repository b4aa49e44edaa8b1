import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer that reads on in a thread of its own. The library allows no other thread, so that one also does what
 * the requests ask for.
 */
final class Member implements ConsumerRebalanceListener {
    private static final Map<Integer, Member> OPEN = new HashMap<>();
    private static int opened = 0;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final ConcurrentLinkedQueue<FutureTask<?>> tasks = new ConcurrentLinkedQueue<>();
    private final List<ObjectNode> records = new ArrayList<>();
    private final Thread thread = new Thread(this::run);
    private Set<TopicPartition> owned = new HashSet<>();
    private final List<TopicPartition> revoked = new ArrayList<>();
    private int rebalances = 0;
    private volatile boolean closing = false;
    private volatile Exception failure = null;

    private Member(JsonNode request) {
        consumer = new KafkaConsumer<>(settings(request), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        subscribe(request);
        thread.setDaemon(true);
        thread.start();
    }

    static Member numbered(int number) {
        return OPEN.get(number);
    }

    static JsonNode run(String operation, JsonNode request) throws Exception {
        if (operation.equals("member_open")) {
            OPEN.put(++opened, new Member(request));
            return Answer.object().put("number", opened);
        }
        Member member = OPEN.get(request.get("number").asInt());
        switch (operation) {
            case "member_state":
                return member.state(request.get("seen").asInt());
            case "member_commit":
                return member.inItsThread(() -> member.commit(Answer.offsets(request.get("offsets"))));
            case "member_committed":
                return member.inItsThread(() -> member.committed(request.get("places")));
            case "member_close":
                OPEN.remove(request.get("number").asInt());
                return member.close();
            default:
                throw new IllegalArgumentException("unknown operation " + operation);
        }
    }

    private static Map<String, Object> settings(JsonNode request) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", request.get("bootstrap").asText());
        settings.put("group.id", request.get("group").asText());
        settings.put("enable.auto.commit", false);
        settings.put("auto.offset.reset", "earliest");
        settings.put("metadata.max.age.ms", 1_000);
        settings.put("isolation.level", request.get("isolation").asText());
        if (!request.get("instance_id").isNull()) {
            settings.put("group.instance.id", request.get("instance_id").asText());
        }
        settings.putAll(protocol(request.get("protocol").asText()));
        return settings;
    }

    private static Map<String, Object> protocol(String name) {
        if (name.equals("consumer")) {
            return Map.of("group.protocol", "consumer");
        }
        String assignor = name.equals("cooperative") ? "CooperativeStickyAssignor" : "RangeAssignor";
        return Map.of(
                "group.protocol", "classic",
                "partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor,
                "session.timeout.ms", 30_000,
                "heartbeat.interval.ms", 300);
    }

    private void subscribe(JsonNode request) {
        if (!request.get("places").isEmpty()) {
            consumer.assign(Answer.partitions(request.get("places")));
        } else if (request.get("pattern").isNull()) {
            consumer.subscribe(Answer.names(request.get("topics")), this);
        } else if (request.get("protocol").asText().equals("consumer")) {
            consumer.subscribe(new SubscriptionPattern(request.get("pattern").asText()), this);
        } else {
            consumer.subscribe(Pattern.compile(request.get("pattern").asText()), this);
        }
    }

    private void run() {
        try {
            while (!closing) {
                doTasks();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    see(record);
                }
                own(consumer.assignment());
            }
        } catch (Exception thrown) {
            failure = thrown;
        } finally {
            doTasks();
            consumer.close();
        }
    }

    private void doTasks() {
        for (FutureTask<?> task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    private synchronized void see(ConsumerRecord<byte[], byte[]> record) {
        records.add(Consuming.node(record));
    }

    private synchronized void own(Set<TopicPartition> partitions) {
        owned = new HashSet<>(partitions);
    }

    @Override
    public synchronized void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        rebalances++;
    }

    @Override
    public synchronized void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        revoked.addAll(partitions);
    }

    <T> T inItsThread(Callable<T> work) throws Exception {
        raiseFailure();
        FutureTask<T> task = new FutureTask<>(work);
        tasks.add(task);
        return task.get(60, TimeUnit.SECONDS);
    }

    private void raiseFailure() throws Exception {
        if (failure != null) {
            throw failure;
        }
    }

    KafkaConsumer<byte[], byte[]> consumer() {
        return consumer;
    }

    private synchronized JsonNode state(int seen) throws Exception {
        raiseFailure();
        ObjectNode answer = Answer.object();
        answer.put("rebalances", rebalances);
        Answer.put(answer.putArray("assignment"), owned);
        Answer.put(answer.putArray("revoked"), revoked);
        ArrayNode unseen = answer.putArray("records");
        records.subList(seen, records.size()).forEach(unseen::add);
        return answer;
    }

    private JsonNode commit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        consumer.commitSync(offsets, Duration.ofSeconds(30));
        return Answer.object();
    }

    private JsonNode committed(JsonNode partitions) {
        Set<TopicPartition> asked = new HashSet<>(Answer.partitions(partitions));
        return Answer.offsets(consumer.committed(asked, Duration.ofSeconds(30)));
    }

    private JsonNode close() throws Exception {
        closing = true;
        thread.join(60_000);
        if (thread.isAlive()) {
            throw new IllegalStateException("the consumer does not close");
        }
        return Answer.object();
    }
}
