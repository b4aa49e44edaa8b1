import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;

/** Windows of all kinds. */
final class WindowTopologies {
    private WindowTopologies() {}

    static final TimeWindows TUMBLING = TimeWindows.ofSizeAndGrace(Duration.ofMillis(1000), Duration.ofMillis(500));
    static final TimeWindows HOPPING = TimeWindows.ofSizeAndGrace(Duration.ofMillis(1000), Duration.ofMillis(700)).advanceBy(Duration.ofMillis(300));
    static final SlidingWindows SLIDING = SlidingWindows.ofTimeDifferenceAndGrace(Duration.ofMillis(400), Duration.ofMillis(600));
    static final SessionWindows SESSIONS = SessionWindows.ofInactivityGapAndGrace(Duration.ofMillis(300), Duration.ofMillis(400));

    static KStream<String, String> texts(StreamsBuilder b, String topic) {
        return b.stream(topic, Consumed.with(Serdes.String(), Serdes.String()));
    }

    static KGroupedStream<String, String> grouped(StreamsBuilder b) {
        return texts(b, "in").groupByKey();
    }

    static String joined(String key, String value, String aggregate) {
        return (aggregate + value).substring(Math.max(0, aggregate.length() - 10));
    }

    static String reduced(String one, String two) {
        return joined("", two, one);
    }

    static void addAll() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("tumbling_count", b -> grouped(b).windowedBy(TUMBLING).count().toStream().to("out"));
        all.put("tumbling_no_grace", b -> grouped(b).windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(500))).count(Materialized.as("counts")).toStream().to("out"));
        all.put("tumbling_reduce", b -> grouped(b).windowedBy(TUMBLING).reduce(WindowTopologies::reduced).toStream().to("out"));
        all.put("tumbling_aggregate", b -> grouped(b).windowedBy(TUMBLING).aggregate(() -> "=", WindowTopologies::joined, Named.as("joining")).toStream().to("out"));
        all.put("tumbling_by_value", b -> texts(b, "in").groupBy((k, v) -> v, Grouped.with("by-value", Serdes.String(), Serdes.String())).windowedBy(TUMBLING).count(Materialized.with(Serdes.String(), Serdes.Long())).toStream().to("out"));
        all.put("tumbling_retention", b -> grouped(b).windowedBy(TUMBLING)
            .count(Materialized.<String, Long, org.apache.kafka.streams.state.WindowStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("kept").withRetention(Duration.ofMillis(200_000))).toStream().to("out"));
        all.put("hopping_count", b -> grouped(b).windowedBy(HOPPING).count().toStream().to("out"));
        all.put("hopping_reduce", b -> grouped(b).windowedBy(HOPPING).reduce(WindowTopologies::reduced, Materialized.as("reduced")).toStream().to("out"));
        all.put("sliding_count", b -> grouped(b).windowedBy(SLIDING).count().toStream().to("out"));
        all.put("sliding_aggregate", b -> grouped(b).windowedBy(SLIDING).aggregate(() -> "=", WindowTopologies::joined).toStream().to("out"));
        all.put("sliding_reduce", b -> grouped(b).windowedBy(SLIDING).reduce(WindowTopologies::reduced).toStream().to("out"));
        all.put("sliding_no_grace", b -> grouped(b).windowedBy(SlidingWindows.ofTimeDifferenceWithNoGrace(Duration.ofMillis(250))).count(Materialized.as("slid")).toStream().to("out"));
        all.put("session_count", b -> grouped(b).windowedBy(SESSIONS).count().toStream().to("out"));
        all.put("session_reduce", b -> grouped(b).windowedBy(SESSIONS).reduce(WindowTopologies::reduced).toStream().to("out"));
        all.put("session_aggregate", b -> grouped(b).windowedBy(SESSIONS)
            .aggregate(() -> "", WindowTopologies::joined, (k, one, two) -> joined(k, two, one), Materialized.as("sessions")).toStream().to("out"));
        all.put("session_no_grace", b -> grouped(b).windowedBy(SessionWindows.ofInactivityGapWithNoGrace(Duration.ofMillis(600))).count().toStream().to("out"));
        all.put("tumbling_on_close", b -> grouped(b).windowedBy(TUMBLING).emitStrategy(EmitStrategy.onWindowClose()).count().toStream().to("out"));
        all.put("hopping_on_close", b -> grouped(b).windowedBy(HOPPING).emitStrategy(EmitStrategy.onWindowClose()).reduce(WindowTopologies::reduced).toStream().to("out"));
        all.put("sliding_on_close", b -> grouped(b).windowedBy(SLIDING).emitStrategy(EmitStrategy.onWindowClose()).count().toStream().to("out"));
        all.put("session_on_close", b -> grouped(b).windowedBy(SESSIONS).emitStrategy(EmitStrategy.onWindowClose()).count().toStream().to("out"));
        all.put("tumbling_suppressed", b -> grouped(b).windowedBy(TUMBLING).count().suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded())).toStream().to("out"));
        all.put("hopping_suppressed", b -> grouped(b).windowedBy(HOPPING).count().mapValues(n -> n * 2, Materialized.with(null, Serdes.Long()))
            .suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded()).withName("final")).toStream().to("out"));
        all.put("sliding_suppressed", b -> grouped(b).windowedBy(SLIDING).reduce(WindowTopologies::reduced).suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded())).toStream().to("out"));
        all.put("session_suppressed", b -> grouped(b).windowedBy(SESSIONS).count().suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded())).toStream().to("out"));
        all.put("tumbling_filtered", b -> grouped(b).windowedBy(TUMBLING).count().filter((k, n) -> n % 2 == 1).toStream().to("out"));
        all.put("tumbling_of_tumbling", b -> {
            KTable<Windowed<String>, Long> counts = grouped(b).windowedBy(TUMBLING).count();
            counts.toStream().map((w, n) -> org.apache.kafka.streams.KeyValue.pair(w.key(), "" + n)).groupByKey(Grouped.with(Serdes.String(), Serdes.String())).windowedBy(HOPPING).reduce(WindowTopologies::reduced).toStream().to("out");
        });
        all.put("windowed_regrouped", b -> grouped(b).windowedBy(TUMBLING).count()
            .groupBy((w, n) -> org.apache.kafka.streams.KeyValue.pair(w.key(), "" + n), Grouped.with(Serdes.String(), Serdes.String()))
            .aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
        all.put("session_regrouped", b -> grouped(b).windowedBy(SESSIONS).count()
            .groupBy((w, n) -> org.apache.kafka.streams.KeyValue.pair(w.key(), "" + n), Grouped.with(Serdes.String(), Serdes.String()))
            .aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
        all.put("windowed_join", b -> {
            KTable<Windowed<String>, Long> one = grouped(b).windowedBy(TUMBLING).count();
            KTable<Windowed<String>, String> two = texts(b, "other").groupByKey().windowedBy(TUMBLING).reduce(WindowTopologies::reduced);
            one.outerJoin(two, (n, text) -> n + "/" + text).toStream().to("out", org.apache.kafka.streams.kstream.Produced.valueSerde(Serdes.String()));
        });
        all.put("session_join", b -> {
            KTable<Windowed<String>, Long> one = grouped(b).windowedBy(SESSIONS).count();
            KTable<Windowed<String>, String> two = texts(b, "other").groupByKey().windowedBy(SESSIONS).reduce(WindowTopologies::reduced);
            one.leftJoin(two, (n, text) -> n + "/" + text).toStream().to("out", org.apache.kafka.streams.kstream.Produced.valueSerde(Serdes.String()));
        });
        all.put("cogroup_tumbling", b -> grouped(b).<String>cogroup(WindowTopologies::joined)
            .cogroup(texts(b, "other").groupByKey(), (k, v, agg) -> joined(k, "(" + v + ")", agg))
            .windowedBy(TUMBLING).aggregate(() -> "=", Materialized.<String, String, org.apache.kafka.streams.state.WindowStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("cogrouped").withKeySerde(Serdes.String())).toStream().to("out"));
        all.put("cogroup_sliding", b -> grouped(b).<String>cogroup(WindowTopologies::joined)
            .cogroup(texts(b, "other").groupByKey(), (k, v, agg) -> joined(k, "(" + v + ")", agg))
            .windowedBy(SLIDING).aggregate(() -> "=", Materialized.with(Serdes.String(), Serdes.String())).toStream().to("out"));
        all.put("cogroup_sessions", b -> grouped(b).<String>cogroup(WindowTopologies::joined)
            .cogroup(texts(b, "other").groupByKey(), (k, v, agg) -> joined(k, "(" + v + ")", agg))
            .windowedBy(SESSIONS).aggregate(() -> "=", (k, one, two) -> joined(k, two, one), Named.as("both"), Materialized.with(Serdes.String(), Serdes.String())).toStream().to("out"));
    }
}
