import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;

/** Tables: filters, maps, regrouping, what is held back. */
final class TableTopologies {
    private TableTopologies() {}

    static String added(String key, String value, String aggregate) {
        return (aggregate + "+" + value).substring(Math.max(0, aggregate.length() - 10));
    }

    static String taken(String key, String value, String aggregate) {
        return (aggregate + "-" + value).substring(Math.max(0, aggregate.length() - 10));
    }

    static KeyValue<String, String> parity(String key, String value) {
        return value.compareTo("5") < 0 ? KeyValue.pair("low", key + value) : value.equals("9") ? KeyValue.pair(null, value) : KeyValue.pair("high", key + value);
    }

    static void addAll() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("table", b -> b.<String, String>table("in").toStream().to("out"));
        all.put("table_stored", b -> b.<String, String>table("in", Materialized.as("rows")).toStream().to("out"));
        all.put("table_named", b -> b.table("in", Consumed.<String, String>as("the-table")).toStream(Named.as("the-stream")).to("out"));
        all.put("table_filter", b -> b.<String, String>table("in").filter(StatelessTopologies::isLow).toStream().to("out"));
        all.put("table_filter_not", b -> b.<String, String>table("in", Materialized.as("rows")).filterNot(StatelessTopologies::isLow).toStream().to("out"));
        all.put("table_filter_stored", b -> b.<String, String>table("in").filter(StatelessTopologies::isLow, Materialized.as("low")).toStream().to("out"));
        all.put("table_filter_with_serdes", b -> b.<String, String>table("in").filter(StatelessTopologies::isLow, Materialized.with(Serdes.String(), Serdes.String())).toStream().to("out"));
        all.put("table_map_values", b -> b.<String, String>table("in").mapValues(v -> v + "!").toStream().to("out"));
        all.put("table_map_values_stored", b -> b.<String, String>table("in").mapValues((k, v) -> k + v, Named.as("mapping"), Materialized.as("mapped")).toStream().to("out"));
        all.put("table_chain", b -> b.<String, String>table("in").filter(StatelessTopologies::isLow).mapValues(v -> v + v)
            .filterNot((k, v) -> v.equals("33")).toStream((k, v) -> v).to("out"));
        all.put("table_count", b -> b.<String, String>table("in").groupBy(TableTopologies::parity).count().toStream().to("out"));
        all.put("table_reduce", b -> b.<String, String>table("in").groupBy(TableTopologies::parity)
            .reduce((one, two) -> added("", two, one), (one, two) -> taken("", two, one)).toStream().to("out"));
        all.put("table_aggregate", b -> b.<String, String>table("in").groupBy(TableTopologies::parity)
            .aggregate(() -> "=", TableTopologies::added, TableTopologies::taken).toStream().to("out"));
        all.put("table_aggregate_named", b -> b.<String, String>table("in").groupBy(TableTopologies::parity, Grouped.as("by-parity"))
            .aggregate(() -> "=", TableTopologies::added, TableTopologies::taken, Named.as("adding"), Materialized.as("sums")).toStream().to("out"));
        all.put("table_filtered_count", b -> b.<String, String>table("in").filter((k, v) -> !v.equals("3")).mapValues(v -> v.equals("4") ? "7" : v)
            .groupBy(TableTopologies::parity).count(Materialized.as("counts")).toStream().to("out"));
        all.put("table_count_of_stored_map", b -> b.<String, String>table("in").mapValues(v -> v.equals("4") ? "7" : v, Materialized.as("mapped"))
            .groupBy(TableTopologies::parity).count().filter((k, n) -> n > 1).toStream().to("out"));
        all.put("to_table", b -> b.<String, String>stream("in").toTable().toStream().to("out"));
        all.put("to_table_stored", b -> b.<String, String>stream("in").mapValues(v -> StatelessTopologies.marked(v)).toTable(Materialized.as("rows")).filter((k, v) -> v.length() > 1).toStream().to("out"));
        all.put("to_table_repartitioned", b -> b.<String, String>stream("in").selectKey((k, v) -> v).toTable(Named.as("tabled")).toStream().to("out"));
        all.put("suppress_time_limit", b -> b.<String, String>table("in").suppress(Suppressed.untilTimeLimit(Duration.ofMillis(1000), BufferConfig.unbounded())).toStream().to("out"));
        all.put("suppress_max_records", b -> b.<String, String>table("in")
            .suppress(Suppressed.untilTimeLimit(Duration.ofMillis(5000), BufferConfig.maxRecords(2)).withName("held")).toStream().to("out"));
        all.put("suppress_max_bytes", b -> b.<String, String>stream("in").groupByKey().count()
            .suppress(Suppressed.untilTimeLimit(Duration.ofMillis(5000), BufferConfig.maxBytes(120))).toStream().to("out"));
        all.put("suppress_then_count", b -> b.<String, String>table("in").suppress(Suppressed.untilTimeLimit(Duration.ofMillis(500), BufferConfig.unbounded()))
            .groupBy(TableTopologies::parity).count().toStream().to("out"));
        all.put("suppress_then_filter", b -> b.<String, String>table("in").suppress(Suppressed.untilTimeLimit(Duration.ofMillis(500), BufferConfig.unbounded()))
            .filter(StatelessTopologies::isLow).toStream().to("out"));
    }
}
