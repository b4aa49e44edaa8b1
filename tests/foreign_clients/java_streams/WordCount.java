import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** Counts words; told its settings as name=value. Says each of its states, and where its processes are. */
public final class WordCount {
    private static volatile boolean stopping = false;

    private WordCount() {}

    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            settings.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        settings.put("group.protocol", "streams");
        settings.put("processing.guarantee", "exactly_once_v2");
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        String input = (String) settings.remove("input");
        String output = (String) settings.remove("output");
        KafkaStreams streams = new KafkaStreams(topology(input, output), settings);
        streams.setStateListener((next, last) -> say("state " + next));
        streams.setUncaughtExceptionHandler(failure -> {
            say("failed " + failure);
            return StreamThreadExceptionResponse.SHUTDOWN_APPLICATION;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(streams)));
        streams.start();
        tellEndpoints(streams);
    }

    private static void stop(KafkaStreams streams) {
        stopping = true;
        boolean closed = streams.close(Duration.ofSeconds(20));
        say(closed ? "closed" : "not closed");
        Runtime.getRuntime().halt(closed ? 0 : 1);
    }

    private static Topology topology(String input, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> lines = builder.stream(input);
        lines.peek((key, line) -> {
                    if (line.equals("poison")) throw new IllegalStateException("poison");
                })
                .flatMapValues(line -> Arrays.asList(line.split(" ")))
                .groupBy((key, word) -> word)
                .count(Materialized.as("counts"))
                .toStream()
                .mapValues(count -> Long.toString(count))
                .to(output, Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }

    private static void tellEndpoints(KafkaStreams streams) throws InterruptedException {
        String last = "";
        while (!stopping) {
            String now = streams.state().isRunningOrRebalancing() ? endpoints(streams) : last;
            if (!now.equals(last)) say("endpoints " + now);
            last = now;
            Thread.sleep(100);
        }
    }

    private static String endpoints(KafkaStreams streams) {
        return streams.metadataForAllStreamsClients().stream()
                .map(client -> client.host() + ":" + client.port())
                .sorted()
                .collect(Collectors.joining(" "));
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
