import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;

/** A program by its name, with its output topic and settings as name=value; says each of its states. */
public final class StreamsBench {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final CloseOptions LEAVING = // else the next one waits until the session of this one is over
            CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
                    .withTimeout(Duration.ofSeconds(20));
    private static final Serde<String> TEXT = Serdes.String();
    private static final Serde<JsonNode> JSON =
            Serdes.serdeFrom((topic, node) -> written(node), (topic, data) -> read(data));

    private StreamsBench() {}

    public static void main(String[] arguments) {
        Properties settings = new Properties();
        for (int number = 2; number < arguments.length; number++) {
            int equals = arguments[number].indexOf('=');
            settings.put(arguments[number].substring(0, equals), arguments[number].substring(equals + 1));
        }
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, JsonNode> events = builder.stream("events", Consumed.with(TEXT, JSON));
        switch (arguments[0]) {
            case "windowed_count" -> countInWindows(events, arguments[1]);
            case "stream_table_join" -> join(builder, events, arguments[1]);
            case "keyed_count" -> count(events, arguments[1]);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setStateListener((next, last) -> {
            System.out.println("state " + next);
            System.out.flush();
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(LEAVING)));
        streams.start();
    }

    private static void countInWindows(KStream<String, JsonNode> events, String output) {
        events.filter((key, event) -> event.get("amount").doubleValue() >= 0)
                .groupByKey(Grouped.with(TEXT, JSON))
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofSeconds(60)))
                .count()
                .toStream()
                .map((windowed, count) -> {
                    ObjectNode told = MAPPER.createObjectNode();
                    told.put("start", windowed.window().start());
                    told.put("count", count);
                    return KeyValue.pair(windowed.key(), (JsonNode) told);
                })
                .to(output, Produced.with(TEXT, JSON));
    }

    private static void join(StreamsBuilder builder, KStream<String, JsonNode> events, String output) {
        events.join(
                        builder.table("customers", Consumed.with(TEXT, JSON)),
                        (order, customer) -> {
                            ObjectNode joined = order.deepCopy();
                            joined.set("name", customer.get("name"));
                            return (JsonNode) joined;
                        },
                        Joined.with(TEXT, JSON, JSON))
                .to(output, Produced.with(TEXT, JSON));
    }

    private static void count(KStream<String, JsonNode> events, String output) {
        events.groupByKey(Grouped.with(TEXT, JSON)).count().toStream().to(output, Produced.with(TEXT, Serdes.Long()));
    }

    private static byte[] written(JsonNode node) {
        try {
            return node == null ? null : MAPPER.writeValueAsBytes(node);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static JsonNode read(byte[] data) {
        try {
            return data == null ? null : MAPPER.readTree(data);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
