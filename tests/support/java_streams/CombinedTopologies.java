import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;

/** Several steps with state after one another. */
final class CombinedTopologies {
    private CombinedTopologies() {}

    static final Grouped<String, String> STRINGS = Grouped.with(Serdes.String(), Serdes.String());

    static Suppressed<Object> held(long ms) {
        return Suppressed.untilTimeLimit(Duration.ofMillis(ms), BufferConfig.unbounded());
    }

    static KeyValue<String, String> lastLetter(String key, String value) {
        return KeyValue.pair(value.substring(value.length() - 1), key + value);
    }

    static KTable<String, String> summed(KTable<String, String> table) {
        return table.groupBy(CombinedTopologies::lastLetter, STRINGS).aggregate(() -> "=", TableTopologies::added, TableTopologies::taken);
    }

    static void addAll() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("suppressed_join", b -> b.<String, String>table("in").suppress(held(400))
            .leftJoin(b.<String, String>table("other"), JoinTopologies::both).toStream().to("out"));
        all.put("suppressed_lookup", b -> b.<String, String>stream("other").join(b.<String, String>table("in").suppress(held(2000)), JoinTopologies::both).to("out"));
        all.put("join_of_suppressed", b -> b.<String, String>table("in").outerJoin(b.<String, String>table("other").suppress(held(300)), JoinTopologies::both).toStream().to("out"));
        all.put("session_suppressed_regrouped", b -> WindowTopologies.grouped(b).windowedBy(WindowTopologies.SESSIONS).count()
            .suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded()))
            .groupBy((w, n) -> KeyValue.pair(w.key(), "" + n), STRINGS).aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
        all.put("filter_stored_summed", b -> summed(b.<String, String>table("in").filter(StatelessTopologies::isLow, Materialized.as("low"))).toStream().to("out"));
        all.put("filter_of_filter_summed", b -> summed(b.<String, String>table("in").filter(StatelessTopologies::isLow).filter((k, v) -> !v.equals("2"), Materialized.as("low"))
            .filterNot((k, v) -> v.equals("3"))).toStream().to("out"));
        all.put("join_stored_summed", b -> summed(b.<String, String>table("in").join(b.<String, String>table("other"), JoinTopologies::both, Materialized.as("joined"))).toStream().to("out"));
        all.put("left_join_stored_summed", b -> summed(b.<String, String>table("in").leftJoin(b.<String, String>table("other"), JoinTopologies::both, Materialized.as("joined"))
            .filter((k, v) -> !v.startsWith("1"))).toStream().to("out"));
        all.put("join_chain_summed", b -> summed(b.<String, String>table("in").leftJoin(b.<String, String>table("other"), JoinTopologies::both)
            .outerJoin(b.<String, String>table("global"), JoinTopologies::both).mapValues(v -> v + "9")).toStream().to("out"));
        all.put("join_of_joins", b -> {
            KTable<String, String> in = b.table("in");
            KTable<String, String> other = b.table("other");
            in.join(other, JoinTopologies::both).leftJoin(other.outerJoin(in, JoinTopologies::both), JoinTopologies::both).toStream().to("out");
        });
        all.put("foreign_key_of_counts", b -> b.<String, String>stream("in").groupByKey().count().mapValues(n -> n % 2 == 0 ? "a" : "b", Materialized.with(Serdes.String(), Serdes.String()))
            .join(b.<String, String>table("other"), v -> v, JoinTopologies::both).toStream().to("out"));
        all.put("foreign_key_self_join", b -> {
            KTable<String, String> in = b.table("in");
            in.leftJoin(in, JoinTopologies::digit, JoinTopologies::both).toStream().to("out");
        });
        all.put("foreign_key_twice", b -> b.<String, String>table("in").join(b.<String, String>table("other"), JoinTopologies::digit, JoinTopologies::both, Materialized.with(Serdes.String(), Serdes.String()))
            .leftJoin(b.<String, String>table("global"), v -> JoinTopologies.digit(v.substring(v.length() - 1)), JoinTopologies::both).toStream().to("out"));
        all.put("stream_join_then_table_join", b -> b.<String, String>stream("in").join(b.<String, String>stream("other"), JoinTopologies::both, JoinTopologies.WINDOWS)
            .leftJoin(b.<String, String>table("global"), JoinTopologies::both).to("out"));
        all.put("stream_join_of_joined", b -> {
            KStream<String, String> in = b.stream("in");
            in.leftJoin(b.<String, String>stream("other"), JoinTopologies::both, JoinTopologies.WINDOWS).join(in, JoinTopologies::both, JoinTopologies.ASYMMETRIC).to("out");
        });
        all.put("merged_repartitioned_count", b -> JoinTopologies.by(b.<String, String>stream("in")).merge(b.<String, String>stream("other")).groupByKey().count().toStream().to("out"));
        all.put("two_table_joins_of_repartitioned", b -> {
            KStream<String, String> one = JoinTopologies.by(b.<String, String>stream("in"));
            one.join(b.<String, String>table("other"), JoinTopologies::both).to("out");
            one.leftJoin(b.<String, String>table("global"), JoinTopologies::both).to("out2");
        });
        all.put("repartitioned_stream_join", b -> JoinTopologies.by(b.<String, String>stream("in")).repartition(Repartitioned.as("by-digit"))
            .outerJoin(b.<String, String>stream("other"), JoinTopologies::both, JoinTopologies.WINDOWS, StreamJoined.<String, String, String>as("stored")).to("out"));
        all.put("tables_of_streams_joined", b -> b.<String, String>stream("in").toTable().join(b.<String, String>stream("other").filter(StatelessTopologies::isLow).toTable(), JoinTopologies::both).toStream().to("out"));
        all.put("table_of_counts", b -> summed(b.<String, String>stream("in").groupByKey().count().toStream().mapValues(n -> "" + n)
            .toTable(Named.as("tabled"), Materialized.with(Serdes.String(), Serdes.String()))).toStream().to("out"));
        all.put("branched_merged_counted", b -> {
            Map<String, KStream<String, String>> branches = b.<String, String>stream("in").split(Named.as("s-"))
                .branch(StatelessTopologies::isLow, Branched.withFunction(s -> s.mapValues(v -> v + "low"), "low"))
                .defaultBranch(Branched.as("high"));
            branches.get("s-low").merge(branches.get("s-high")).groupBy((k, v) -> v, STRINGS).count().toStream().to("out");
        });
        all.put("windowed_counts_joined", b -> WindowTopologies.grouped(b).windowedBy(WindowTopologies.HOPPING).count().toStream((w, n) -> w.key())
            .mapValues(n -> "" + n).join(b.<String, String>table("other"), JoinTopologies::both).to("out"));
        all.put("counts_joined", b -> b.<String, String>stream("in").groupByKey().count().outerJoin(b.<String, String>stream("other").groupByKey().count(), JoinTopologies::both)
            .toStream().to("out", Produced.valueSerde(Serdes.String())));
        all.put("counts_joined_summed", b -> summed(b.<String, String>stream("in").groupByKey().count()
            .leftJoin(b.<String, String>stream("other").groupByKey().count(), JoinTopologies::both)).toStream().to("out"));
        all.put("cogroup_summed", b -> summed(b.<String, String>stream("in").groupByKey().<String>cogroup(AggregateTopologies::joined)
            .cogroup(b.<String, String>stream("other").groupByKey(), AggregateTopologies::joined)
            .aggregate(() -> "=", Materialized.with(Serdes.String(), Serdes.String())).filter((k, v) -> v.length() > 2)).toStream().to("out"));
        all.put("regrouped_twice", b -> summed(summed(b.<String, String>table("in"))).toStream().to("out"));
        all.put("reduce_joined_with_stream", b -> {
            KStream<String, String> in = b.stream("in");
            KTable<String, String> reduced = in.groupByKey().reduce((one, two) -> two, Materialized.as("latest")).filterNot(StatelessTopologies::isLow);
            b.<String, String>stream("other").leftJoin(reduced, JoinTopologies::both, Joined.as("looking-up")).to("out");
            in.join(reduced, JoinTopologies::both).to("out2");
        });
        all.put("global_and_table_join", b -> b.<String, String>stream("in").leftJoin(b.<String, String>globalTable("global"), (k, v) -> v, JoinTopologies::both)
            .join(b.<String, String>table("other"), JoinTopologies::both).to("out"));
        all.put("global_join_of_repartitioned", b -> JoinTopologies.by(b.<String, String>stream("in")).join(b.<String, String>globalTable("global"), (k, v) -> k, JoinTopologies::both)
            .groupByKey().reduce((one, two) -> two).toStream().to("out"));
    }
}
