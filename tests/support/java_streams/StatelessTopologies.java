import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;

/** Topologies without state. */
final class StatelessTopologies {
    private StatelessTopologies() {}

    static boolean isLow(String key, String value) {
        return value != null && value.compareTo("5") < 0;
    }

    static String marked(String value) {
        return value == null ? null : value + "!";
    }

    static void addAll() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("filter", b -> b.<String, String>stream("in").filter(StatelessTopologies::isLow).to("out"));
        all.put("filter_not", b -> b.<String, String>stream("in").filterNot(StatelessTopologies::isLow).to("out"));
        all.put("map", b -> b.<String, String>stream("in").map((k, v) -> KeyValue.pair(v, k)).to("out"));
        all.put("map_values", b -> b.<String, String>stream("in").mapValues(v -> marked(v)).to("out"));
        all.put("map_values_with_key", b -> b.<String, String>stream("in").mapValues((k, v) -> k == null ? v : k + ":" + v).to("out"));
        all.put("flat_map", b -> b.<String, String>stream("in")
            .flatMap((k, v) -> v == null ? List.<KeyValue<String, String>>of() : List.of(KeyValue.pair(v, "1"), KeyValue.pair("all", v)))
            .to("out"));
        all.put("flat_map_values", b -> b.<String, String>stream("in")
            .flatMapValues(v -> v == null ? List.of("none") : List.of(v, v + v)).to("out"));
        all.put("select_key", b -> b.<String, String>stream("in").selectKey((k, v) -> v).to("out"));
        all.put("named_steps", b -> b.stream("in", Consumed.<String, String>as("the-source"))
            .filter(StatelessTopologies::isLow, Named.as("the-filter"))
            .mapValues(v -> marked(v), Named.as("the-mapper"))
            .peek((k, v) -> {}, Named.as("the-peek"))
            .to("out", Produced.as("the-sink")));
        all.put("several_topics", b -> b.<String, String>stream(List.of("in", "other")).mapValues(v -> marked(v)).to("out"));
        all.put("same_topic_twice", b -> {
            b.<String, String>stream("in").filter(StatelessTopologies::isLow).to("out");
            b.<String, String>stream("in").mapValues(v -> marked(v)).to("out2");
        });
        all.put("branches", b -> {
            Map<String, KStream<String, String>> branches = b.<String, String>stream("in").split(Named.as("split-"))
                .branch(StatelessTopologies::isLow, Branched.as("low"))
                .branch((k, v) -> "7".equals(v), Branched.as("seven"))
                .defaultBranch(Branched.as("rest"));
            branches.get("split-low").to("low");
            branches.get("split-seven").to("seven");
            branches.get("split-rest").to("rest");
        });
        all.put("branches_without_default", b -> {
            Map<String, KStream<String, String>> branches = b.<String, String>stream("in").split()
                .branch(StatelessTopologies::isLow)
                .branch((k, v) -> "7".equals(v), Branched.withConsumer(s -> s.mapValues(v -> v + v).to("seven")))
                .noDefaultBranch();
            branches.values().forEach(each -> each.to("low"));
        });
        all.put("merge", b -> b.<String, String>stream("in").mapValues(v -> marked(v)).merge(b.stream("other")).to("out"));
        all.put("diamond", b -> {
            KStream<String, String> in = b.stream("in");
            in.flatMapValues(v -> v == null ? List.of() : List.of(v + "a", v + "b")).merge(in.mapValues(v -> marked(v))).to("out");
        });
        all.put("wide_diamond", b -> {
            KStream<String, String> in = b.stream("in");
            KStream<String, String> one = in.mapValues(v -> marked(v)).filter(StatelessTopologies::isLow);
            KStream<String, String> two = in.filter(StatelessTopologies::isLow).mapValues(v -> v + "2").filterNot((k, v) -> v == null);
            KStream<String, String> three = in.peek((k, v) -> {});
            one.merge(two).merge(three).to("out");
            two.to("out2");
            in.to("out3");
        });
        all.put("fan", b -> {
            KStream<String, String> in = b.stream("in");
            for (int i = 0; i < 9; i++) {
                KStream<String, String> branch = in;
                for (int j = 0; j < i * 5 % 7; j++) branch = branch.mapValues(v -> marked(v));
                branch.to("out" + i);
            }
        });
        all.put("fan_in", b -> {
            KStream<String, String> in = b.stream("in");
            KStream<String, String> merged = b.stream("other");
            for (int i = 0; i < 8; i++) {
                KStream<String, String> branch = in;
                for (int j = 0; j < i * 3 % 5; j++) branch = branch.mapValues(v -> marked(v));
                merged = i % 2 == 0 ? merged.merge(branch) : branch.merge(merged);
                if (i % 3 == 0) merged.filter(StatelessTopologies::isLow).to("low" + i);
            }
            merged.to("out");
        });
        all.put("fan_of_tables", b -> {
            KTable<String, String> in = b.table("in");
            KTable<String, String> other = b.table("other");
            for (int i = 0; i < 4; i++) {
                KTable<String, String> joined = in.leftJoin(other, (one, two) -> one + "/" + two);
                for (int j = 0; j < i; j++) joined = joined.mapValues(v -> marked(v));
                joined.toStream().to("out" + i);
                b.<String, String>stream("global").join(i % 2 == 0 ? in : other, (one, two) -> one + two).to("looked" + i);
            }
        });
        all.put("repartition", b -> b.<String, String>stream("in").repartition().mapValues(v -> marked(v)).to("out"));
        all.put("repartition_named", b -> b.<String, String>stream("in").selectKey((k, v) -> v)
            .repartition(Repartitioned.<String, String>as("by-value").withNumberOfPartitions(1)).to("out"));
        all.put("through_own_topic", b -> {
            b.<String, String>stream("in").mapValues(v -> marked(v)).to("between");
            b.<String, String>stream("between").mapValues(v -> marked(v)).to("out");
        });
        all.put("timestamps_of_values", b -> b.stream("in", Consumed.<String, String>with(null, null)
            .withTimestampExtractor((record, latest) -> record.value() == null ? -1 : Long.parseLong((String) record.value()) * 100)).to("out"));
        all.put("foreach", b -> {
            KStream<String, String> in = b.stream("in");
            in.foreach((k, v) -> {});
            in.to("out");
        });
    }
}
