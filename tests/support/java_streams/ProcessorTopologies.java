import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** Processors with stores and punctuators. */
final class ProcessorTopologies {
    private ProcessorTopologies() {}

    /** Forwards the value before this one, and how many there were. */
    static final class Previous extends ContextualProcessor<String, String, String, String> {
        private KeyValueStore<String, String> store;

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            store = context.getStateStore("previous");
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() == null) return;
            String before = store.get(record.key());
            store.put(record.key(), record.value());
            context().forward(record.withValue(before + "<" + record.value()));
            if ("3".equals(record.value())) context().forward(record.withKey("three").withTimestamp(record.timestamp() + 7));
        }
    }

    /** Forwards all rows when time says so. */
    static final class Periodic extends ContextualProcessor<String, String, String, String> {
        private final PunctuationType type;
        private KeyValueStore<String, String> store;

        Periodic(PunctuationType type) {
            this.type = type;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            store = context.getStateStore("rows");
            context.schedule(Duration.ofMillis(700), type, now -> {
                try (var rows = store.all()) {
                    rows.forEachRemaining(row -> context().forward(new Record<>(row.key, now + "=" + row.value, now)));
                }
            });
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() != null) store.put(record.key(), record.value());
        }
    }

    /** Says where a record came from. */
    static final class Where extends ContextualFixedKeyProcessor<String, String, String> {
        @Override
        public void process(FixedKeyRecord<String, String> record) {
            var where = context().recordMetadata().get();
            context().forward(record.withValue(record.value() + "@" + where.topic() + where.partition() + "/" + where.offset() + "/" + context().currentStreamTimeMs()));
        }
    }

    /** Tells what came in the second before. */
    static final class Recent extends ContextualProcessor<String, String, String, String> {
        private WindowStore<String, String> store;

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            store = context.getStateStore("recent");
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() == null) return;
            StringBuilder told = new StringBuilder();
            try (var rows = store.fetch(record.key(), Math.max(0, record.timestamp() - 1000), record.timestamp())) {
                rows.forEachRemaining(row -> told.append(row.key).append("=").append(row.value).append(" "));
            }
            store.put(record.key(), record.value(), record.timestamp());
            context().forward(record.withValue(told.toString()));
        }
    }

    static void addAll() {
        var all = StreamsPeer.TOPOLOGIES;
        all.put("process", b -> {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("previous"), Serdes.String(), Serdes.String()));
            b.<String, String>stream("in").process(Previous::new, "previous").to("out");
        });
        all.put("process_then_count", b -> {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("previous"), Serdes.String(), Serdes.String()));
            b.<String, String>stream("in").process(Previous::new, org.apache.kafka.streams.kstream.Named.as("remembering"), "previous").groupByKey().count().toStream().to("out");
        });
        all.put("process_shared_store", b -> {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("previous"), Serdes.String(), Serdes.String()));
            KStream<String, String> one = b.<String, String>stream("in").process(Previous::new, "previous");
            KStream<String, String> two = b.<String, String>stream("other").process(Previous::new, "previous");
            one.merge(two).to("out");
        });
        all.put("process_values", b -> b.<String, String>stream("in").processValues(Where::new).to("out"));
        all.put("process_values_counted", b -> b.<String, String>stream("in").repartition().processValues(Where::new).groupByKey().reduce((one, two) -> two + one.length()).toStream().to("out"));
        all.put("punctuate_stream_time", b -> {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("rows"), Serdes.String(), Serdes.String()));
            b.<String, String>stream("in").process(() -> new Periodic(PunctuationType.STREAM_TIME), "rows").to("out");
        });
        all.put("punctuate_wall_clock", b -> {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore("rows"), Serdes.String(), Serdes.String()));
            b.<String, String>stream("in").process(() -> new Periodic(PunctuationType.WALL_CLOCK_TIME), "rows").to("out");
        });
        all.put("process_window_store", b -> {
            b.addStateStore(Stores.windowStoreBuilder(Stores.persistentWindowStore("recent", Duration.ofMillis(100_000), Duration.ofMillis(1000), false), Serdes.String(), Serdes.String()));
            b.<String, String>stream("in").process(Recent::new, "recent").to("out");
        });
    }
}
