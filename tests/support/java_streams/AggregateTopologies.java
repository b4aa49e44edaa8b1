import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;

/** Aggregates of streams, without windows. */
final class AggregateTopologies {
    private AggregateTopologies() {}

    static String joined(String key, String value, String aggregate) {
        String all = aggregate + value;
        return all.length() > 12 ? null : all;
    }

    static void addAll() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("count", b -> b.<String, String>stream("in").groupByKey().count().toStream().to("out", Produced.valueSerde(Serdes.Long())));
        all.put("count_stored", b -> b.<String, String>stream("in").groupByKey()
            .count(Named.as("counting"), Materialized.as("counts")).toStream().to("out"));
        all.put("count_with_serdes", b -> b.<String, String>stream("in").groupByKey()
            .count(Materialized.with(Serdes.String(), Serdes.Long())).toStream().to("out"));
        all.put("count_by_value", b -> b.<String, String>stream("in").groupBy((k, v) -> v).count().toStream().to("out"));
        all.put("count_by_named", b -> b.<String, String>stream("in").groupBy((k, v) -> v, Grouped.as("by-value")).count().toStream().to("out"));
        all.put("reduce", b -> b.<String, String>stream("in").groupByKey().reduce((one, two) -> one.length() > 8 ? two : one + two).toStream().to("out"));
        all.put("aggregate", b -> b.<String, String>stream("in").groupByKey().aggregate(() -> "=", AggregateTopologies::joined).toStream().to("out"));
        all.put("aggregate_stored", b -> b.<String, String>stream("in").map((k, v) -> KeyValue.pair(v, k)).groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
            .aggregate(() -> "=", AggregateTopologies::joined, Materialized.as("all")).toStream().to("out"));
        all.put("two_of_a_named_group", b -> {
            KGroupedStream<String, String> grouped = b.<String, String>stream("in").selectKey((k, v) -> v).groupByKey(Grouped.as("grouped"));
            grouped.count().toStream().to("out", Produced.valueSerde(Serdes.Long()));
            grouped.reduce((one, two) -> one.length() > 8 ? two : one + two).toStream().to("out2");
        });
        all.put("two_of_a_group", b -> {
            KGroupedStream<String, String> grouped = b.<String, String>stream("in").selectKey((k, v) -> v).groupByKey();
            grouped.count().toStream().to("out", Produced.valueSerde(Serdes.Long()));
            grouped.reduce((one, two) -> one.length() > 8 ? two : one + two).toStream().to("out2");
        });
        all.put("count_of_counts", b -> b.<String, String>stream("in").groupByKey().count()
            .groupBy((k, n) -> KeyValue.pair(n % 3 == 0 ? "third" : "other", k), Grouped.with(Serdes.String(), Serdes.String()))
            .count().toStream().to("out"));
        all.put("count_filtered", b -> {
            KTable<String, Long> counts = b.<String, String>stream("in").groupByKey().count();
            counts.filter((k, n) -> n % 2 == 0).toStream().to("out");
            counts.mapValues(n -> "n" + n).toStream().to("out2", Produced.valueSerde(Serdes.String()));
        });
        all.put("cogroup", b -> {
            KGroupedStream<String, String> in = b.<String, String>stream("in").groupByKey();
            KGroupedStream<String, String> other = b.<String, String>stream("other").groupByKey();
            in.<String>cogroup((k, v, agg) -> joined(k, v, agg)).cogroup(other, (k, v, agg) -> joined(k, "(" + v + ")", agg))
                .aggregate(() -> "=", Materialized.with(Serdes.String(), Serdes.String())).toStream().to("out");
        });
        all.put("cogroup_repartitioned", b -> {
            KGroupedStream<String, String> in = b.<String, String>stream("in").groupBy((k, v) -> v);
            KGroupedStream<String, String> other = b.<String, String>stream("other").groupBy((k, v) -> v, Grouped.as("others"));
            in.<String>cogroup((k, v, agg) -> joined(k, v, agg)).cogroup(other, (k, v, agg) -> joined(k, "(" + v + ")", agg))
                .aggregate(() -> "=", Named.as("both"), Materialized.as("cogrouped")).toStream().to("out");
        });
        all.put("flat_count", b -> {
            KStream<String, String> words = b.<String, String>stream("in").flatMapValues(v -> v == null ? java.util.List.of() : java.util.List.of(v, v, "x"));
            words.groupBy((k, v) -> v).count().toStream().to("out");
        });
    }
}
