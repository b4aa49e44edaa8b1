import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;

/**
 * Runs topologies in Kafka's own TopologyTestDriver, as many as it is asked for.
 *
 * <p>A case is lines on standard input: "case NAME EMIT-INTERVAL-MS", then "record TOPIC TIMESTAMP KEY VALUE HEADERS" and "advance MS",
 * then "end". Keys and values are hexadecimal, "-" for null; headers are name=value, with commas between them. The
 * answer is a line "topology" with its description in base64, lines "produced ..." of the same form, topic by topic
 * changelogs among them, "dropped COUNT", and "done"; or "failed" and why, in base64.
 */
public final class StreamsPeer {
    static final Map<String, Consumer<StreamsBuilder>> TOPOLOGIES = new TreeMap<>();

    private static final HexFormat HEX = HexFormat.of();
    private static final PrintStream OUT = System.out;

    private StreamsPeer() {}

    public static void main(String[] arguments) throws Exception {
        StatelessTopologies.addAll();
        AggregateTopologies.addAll();
        TableTopologies.addAll();
        WindowTopologies.addAll();
        JoinTopologies.addAll();
        ProcessorTopologies.addAll();
        CombinedTopologies.addAll();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                String[] words = line.split(" ");
                switch (words[0]) {
                    case "start" -> start(words[1], words[2]);
                    case "stop" -> stop();
                    default -> run(words[1], Long.parseLong(words[2]), in);
                }
            } catch (Throwable error) {
                if (line.startsWith("case")) drain(in);
                StringBuilder told = new StringBuilder();
                for (Throwable each = error; each != null; each = each.getCause()) told.append(each).append("\n");
                OUT.println("failed " + base64(told.toString()));
            }
            OUT.flush();
        }
    }

    private static boolean drained;

    private static void drain(BufferedReader in) throws Exception {
        while (!drained) drained = in.readLine().equals("end");
    }

    private static final List<KafkaStreams> STARTED = new ArrayList<>();

    /** On a broker, exactly once, until it is told to stop. */
    private static void start(String name, String bootstrap) throws Exception {
        Properties config = config(Files.createTempDirectory("streams-peer"), 0);
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        KafkaStreams streams = new KafkaStreams(topology(name), config);
        STARTED.add(streams);
        streams.start();
        OUT.println("done");
    }

    private static void stop() throws Exception {
        for (KafkaStreams streams : STARTED) streams.close(Duration.ofSeconds(20));
        STARTED.clear();
        OUT.println("done");
    }

    private static Topology topology(String name) {
        StreamsBuilder builder = new StreamsBuilder();
        Consumer<StreamsBuilder> made = TOPOLOGIES.get(name);
        if (made == null) throw new IllegalArgumentException("no topology is called " + name);
        made.accept(builder);
        return builder.build();
    }

    private static void run(String name, long emitIntervalMs, BufferedReader in) throws Exception {
        drained = false;
        Topology topology = topology(name);
        String described = topology.describe().toString();
        Path state = Files.createTempDirectory("streams-peer");
        try (TopologyTestDriver driver = new TopologyTestDriver(topology, config(state, emitIntervalMs), Instant.ofEpochMilli(0))) {
            var inputs = new TreeMap<String, org.apache.kafka.streams.TestInputTopic<byte[], byte[]>>();
            for (String line = in.readLine(); !line.equals("end"); line = in.readLine()) {
                String[] words = line.split(" ");
                if (words[0].equals("advance")) {
                    driver.advanceWallClockTime(Duration.ofMillis(Long.parseLong(words[1])));
                    continue;
                }
                inputs.computeIfAbsent(
                        words[1],
                        topic -> driver.createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer()))
                    .pipeInput(new TestRecord<>(bytes(words[3]), bytes(words[4]), headers(words[5]), Long.parseLong(words[2])));
            }
            drained = true;
            OUT.println("topology " + base64(described));
            for (String topic : new TreeSet<>(driver.producedTopicNames())) print(driver, topic);
            double dropped = driver.metrics().entrySet().stream()
                .filter(entry -> entry.getKey().name().equals("dropped-records-total"))
                .mapToDouble(entry -> (double) entry.getValue().metricValue())
                .sum();
            OUT.println("dropped " + (long) dropped);
            OUT.println("done");
        } finally {
            org.apache.kafka.common.utils.Utils.delete(state.toFile());
        }
    }

    private static Properties config(Path state, long emitIntervalMs) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "test-app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:9092");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        config.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_OUTER_JOIN_SPURIOUS_RESULTS_FIX, emitIntervalMs);
        config.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_WINDOWED_AGGREGATION, emitIntervalMs);
        config.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        return config;
    }

    private static void print(TopologyTestDriver driver, String topic) {
        var output = driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        while (!output.isEmpty()) {
            TestRecord<byte[], byte[]> record = output.readRecord();
            OUT.println("produced " + topic + " " + (record.timestamp() == null ? -1 : record.timestamp()) + " " + hex(record.key()) + " "
                + hex(record.value()) + " " + told(record.headers()));
        }
    }

    private static byte[] bytes(String told) {
        return told.equals("-") ? null : HEX.parseHex(told.substring(1));
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "-" : "x" + HEX.formatHex(bytes);
    }

    private static RecordHeaders headers(String told) {
        RecordHeaders headers = new RecordHeaders();
        if (!told.equals("-")) {
            for (String each : told.split(",")) {
                String[] parts = each.split("=");
                headers.add(parts[0], bytes(parts[1]));
            }
        }
        return headers;
    }

    private static String told(Iterable<Header> headers) {
        StringBuilder told = new StringBuilder();
        for (Header header : headers) {
            told.append(told.length() == 0 ? "" : ",").append(header.key()).append("=").append(hex(header.value()));
        }
        return told.length() == 0 ? "-" : told.toString();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
