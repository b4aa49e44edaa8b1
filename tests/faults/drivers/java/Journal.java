import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/** Lines that are with the kernel before the next step is taken. */
final class Journal {
    private final FileOutputStream records;
    private final FileOutputStream events;

    Journal(Settings settings) throws IOException {
        records = new FileOutputStream(settings.text("records"), true);
        events = new FileOutputStream(settings.text("events"), true);
    }

    void note(String kind, Object... details) {
        StringBuilder line = new StringBuilder(kind);
        for (Object detail : details) line.append(' ').append(String.valueOf(detail).replace('\n', ' '));
        write(events, line.append('\n'));
    }

    void noteRecords(ConsumerRecords<byte[], byte[]> batch) {
        StringBuilder lines = new StringBuilder();
        for (ConsumerRecord<byte[], byte[]> record : batch) {
            lines.append(record.partition()).append(' ').append(record.offset()).append(' ');
            lines.append(number(record.value())).append('\n');
        }
        write(records, lines);
    }

    private static String number(byte[] value) {
        return new String(value, StandardCharsets.US_ASCII).split(" ", 2)[0];
    }

    private static void write(FileOutputStream file, StringBuilder text) {
        try {
            file.write(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Notes what is owned after each change; the client tells of changes only. */
    ConsumerRebalanceListener listener(Consumer<byte[], byte[]> consumer) {
        TreeSet<Integer> owned = new TreeSet<>();
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                partitions.forEach(each -> owned.add(each.partition()));
                noteOwned();
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                partitions.forEach(each -> owned.remove(each.partition()));
                noteOwned();
            }

            private void noteOwned() {
                Object[] details = new Object[owned.size() + 1];
                details[0] = consumer.groupMetadata().generationId();
                int next = 1;
                for (Integer partition : owned) details[next++] = partition;
                note("owns", details);
                StringBuilder line = new StringBuilder("owns");
                owned.forEach(partition -> line.append(' ').append(partition));
                write(records, line.append('\n'));
            }
        };
    }
}
