import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TableJoined;

/** Joins of all kinds. */
final class JoinTopologies {
    private JoinTopologies() {}

    static final JoinWindows WINDOWS = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofMillis(300), Duration.ofMillis(500));
    static final JoinWindows ASYMMETRIC = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofMillis(100), Duration.ofMillis(200)).before(Duration.ofMillis(50)).after(Duration.ofMillis(800));
    static final JoinWindows ONLY_BEFORE = JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMillis(400)).after(Duration.ZERO);

    static String both(Object one, Object two) {
        return one + "/" + two;
    }

    static String three(Object key, Object one, Object two) {
        return key + ":" + one + "/" + two;
    }

    static String digit(String value) {
        return value.compareTo("8") > 0 ? null : value.compareTo("4") > 0 ? "a" : "b";
    }

    static KStream<String, String> by(KStream<String, String> stream) {
        return stream.selectKey((k, v) -> v == null ? null : digit(v));
    }

    static void addAll() {
        streams();
        tables();
    }

    private static void streams() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("stream_join", b -> b.<String, String>stream("in").join(b.<String, String>stream("other"), JoinTopologies::both, WINDOWS).to("out"));
        all.put("stream_left_join", b -> b.<String, String>stream("in").leftJoin(b.<String, String>stream("other"), JoinTopologies::both, WINDOWS).to("out"));
        all.put("stream_outer_join", b -> b.<String, String>stream("in").outerJoin(b.<String, String>stream("other"), JoinTopologies::both, WINDOWS).to("out"));
        all.put("stream_join_asymmetric", b -> b.<String, String>stream("in").join(b.<String, String>stream("other"), JoinTopologies::both, ASYMMETRIC).to("out"));
        all.put("stream_left_join_asymmetric", b -> b.<String, String>stream("in").leftJoin(b.<String, String>stream("other"), JoinTopologies::both, ASYMMETRIC).to("out"));
        all.put("stream_outer_join_asymmetric", b -> b.<String, String>stream("in").outerJoin(b.<String, String>stream("other"), JoinTopologies::three, ASYMMETRIC).to("out"));
        all.put("stream_outer_join_before", b -> b.<String, String>stream("in").outerJoin(b.<String, String>stream("other"), JoinTopologies::both, ONLY_BEFORE).to("out"));
        all.put("stream_join_repartitioned", b -> by(b.<String, String>stream("in")).join(by(b.<String, String>stream("other")), JoinTopologies::both, WINDOWS).to("out"));
        all.put("stream_left_join_repartitioned", b -> by(b.<String, String>stream("in")).leftJoin(b.<String, String>stream("other"), JoinTopologies::both, WINDOWS).to("out"));
        all.put("stream_join_named", b -> by(b.<String, String>stream("in")).outerJoin(by(b.<String, String>stream("other")), JoinTopologies::both, WINDOWS,
            StreamJoined.<String, String, String>as("kept").withName("meeting")).to("out"));
        all.put("stream_self_join", b -> {
            KStream<String, String> in = b.stream("in");
            in.join(in, JoinTopologies::both, WINDOWS).to("out");
        });
        all.put("stream_join_twice", b -> {
            KStream<String, String> in = by(b.<String, String>stream("in"));
            KStream<String, String> other = b.stream("other");
            in.join(other, JoinTopologies::both, WINDOWS).to("out");
            in.leftJoin(other, JoinTopologies::both, ASYMMETRIC).to("out2");
        });
        all.put("stream_join_counted", b -> b.<String, String>stream("in").join(b.<String, String>stream("other"), JoinTopologies::both, WINDOWS)
            .groupByKey().count().toStream().to("out"));
        all.put("stream_table_join", b -> b.<String, String>stream("in").join(b.<String, String>table("other"), JoinTopologies::both).to("out"));
        all.put("stream_table_left_join", b -> b.<String, String>stream("in").leftJoin(b.<String, String>table("other"), JoinTopologies::three).to("out"));
        all.put("stream_table_join_repartitioned", b -> by(b.<String, String>stream("in")).join(b.<String, String>table("other"), JoinTopologies::both, Joined.as("meeting")).to("out"));
        all.put("stream_table_left_join_repartitioned", b -> by(b.<String, String>stream("in")).leftJoin(b.<String, String>table("other"), JoinTopologies::both).to("out"));
        all.put("stream_filtered_table_join", b -> b.<String, String>stream("in")
            .join(b.<String, String>table("other").filter(StatelessTopologies::isLow).mapValues(v -> v + "!"), JoinTopologies::both).to("out"));
        all.put("stream_count_join", b -> b.<String, String>stream("in")
            .leftJoin(b.<String, String>stream("other").groupByKey().count(), JoinTopologies::both, Joined.with(Serdes.String(), Serdes.String(), null)).to("out"));
        all.put("stream_own_count_join", b -> {
            KStream<String, String> in = b.stream("in");
            KTable<String, Long> counts = in.groupByKey().count();
            in.join(counts, JoinTopologies::both, Joined.with(Serdes.String(), Serdes.String(), null)).to("out");
        });
        all.put("stream_global_join", b -> {
            GlobalKTable<String, String> table = b.globalTable("global");
            b.<String, String>stream("in").join(table, (k, v) -> v, JoinTopologies::both).to("out");
        });
        all.put("stream_global_left_join", b -> {
            GlobalKTable<String, String> table = b.globalTable("global", Materialized.as("everywhere"));
            b.<String, String>stream("in").leftJoin(table, (k, v) -> k == null ? null : v, JoinTopologies::three, Named.as("meeting")).to("out");
        });
    }

    private static void tables() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("table_join", b -> b.<String, String>table("in").join(b.<String, String>table("other"), JoinTopologies::both).toStream().to("out"));
        all.put("table_left_join", b -> b.<String, String>table("in").leftJoin(b.<String, String>table("other"), JoinTopologies::both).toStream().to("out"));
        all.put("table_outer_join", b -> b.<String, String>table("in").outerJoin(b.<String, String>table("other"), JoinTopologies::both).toStream().to("out"));
        all.put("table_join_stored", b -> b.<String, String>table("in").join(b.<String, String>table("other"), JoinTopologies::both, Materialized.as("joined")).toStream().to("out"));
        all.put("table_left_join_stored", b -> b.<String, String>table("in").leftJoin(b.<String, String>table("other"), JoinTopologies::both, Named.as("meeting"), Materialized.as("joined")).toStream().to("out"));
        all.put("table_outer_join_with_serdes", b -> b.<String, String>table("in").outerJoin(b.<String, String>table("other"), JoinTopologies::both, Materialized.with(Serdes.String(), Serdes.String())).toStream().to("out"));
        all.put("table_join_filtered", b -> b.<String, String>table("in").filter(StatelessTopologies::isLow)
            .leftJoin(b.<String, String>table("other").mapValues(v -> v + "!"), JoinTopologies::both).filter((k, v) -> v.contains("!")).toStream().to("out"));
        all.put("table_join_counted", b -> b.<String, String>table("in").outerJoin(b.<String, String>table("other"), JoinTopologies::both)
            .groupBy((k, v) -> KeyValue.pair(v.substring(0, 1), v)).aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
        all.put("table_inner_join_counted", b -> b.<String, String>table("in").join(b.<String, String>table("other"), JoinTopologies::both)
            .groupBy((k, v) -> KeyValue.pair(v.substring(0, 1), v)).aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
        all.put("table_left_join_counted", b -> b.<String, String>table("in").leftJoin(b.<String, String>table("other"), JoinTopologies::both)
            .groupBy((k, v) -> KeyValue.pair(v.substring(0, 1), v)).aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
        all.put("table_join_three", b -> {
            KTable<String, String> in = b.table("in");
            KTable<String, String> other = b.table("other");
            KTable<String, String> third = b.table("global");
            in.join(other, JoinTopologies::both).outerJoin(third, JoinTopologies::both).toStream().to("out");
        });
        all.put("table_join_three_left", b -> {
            KTable<String, String> in = b.table("in");
            KTable<String, String> other = b.table("other");
            KTable<String, String> third = b.table("global");
            third.leftJoin(in.outerJoin(other, JoinTopologies::both), JoinTopologies::both).toStream().to("out");
        });
        all.put("table_self_join", b -> {
            KTable<String, String> in = b.table("in");
            in.join(in.mapValues(v -> v + "!"), JoinTopologies::both).toStream().to("out");
        });
        all.put("table_count_join", b -> b.<String, String>stream("in").groupByKey().count()
            .join(b.<String, String>table("other"), JoinTopologies::both).toStream().to("out", org.apache.kafka.streams.kstream.Produced.valueSerde(Serdes.String())));
        all.put("foreign_key_join", b -> b.<String, String>table("in").join(b.<String, String>table("other"), JoinTopologies::digit, JoinTopologies::both).toStream().to("out"));
        all.put("foreign_key_left_join", b -> b.<String, String>table("in").leftJoin(b.<String, String>table("other"), JoinTopologies::digit, JoinTopologies::both).toStream().to("out"));
        all.put("foreign_key_join_stored", b -> b.<String, String>table("in").join(b.<String, String>table("other"), JoinTopologies::digit, JoinTopologies::both,
            TableJoined.as("by-digit"), Materialized.as("joined")).toStream().to("out"));
        all.put("foreign_key_join_counted", b -> b.<String, String>table("in").leftJoin(b.<String, String>table("other"), JoinTopologies::digit, JoinTopologies::both)
            .groupBy((k, v) -> KeyValue.pair(v.substring(v.length() - 1), v), org.apache.kafka.streams.kstream.Grouped.with(Serdes.String(), Serdes.String()))
            .aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
    }
}
