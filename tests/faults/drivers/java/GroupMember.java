import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;

/** A member of a group, of either protocol. */
public final class GroupMember {
    private static volatile boolean stopping = false;

    private GroupMember() {}

    public static void main(String[] arguments) throws Exception {
        Settings settings = new Settings(arguments[0]);
        Runtime.getRuntime().addShutdownHook(new Thread(GroupMember::stop));
        Journal journal = new Journal(settings);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings.consumer())) {
            consumer.subscribe(List.of(settings.text("topic")), journal.listener(consumer));
            while (!stopping) process(consumer, journal);
        } catch (KafkaException failure) {
            journal.note("error", failure);
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        journal.note("closed");
        Runtime.getRuntime().halt(0);
    }

    /** Keeps the signal from ending the process before the consumer is closed. */
    private static void stop() {
        stopping = true;
        try {
            new CountDownLatch(1).await(60, TimeUnit.SECONDS);
        } catch (InterruptedException ignored) {
            Thread.currentThread().interrupt();
        }
    }

    private static void process(KafkaConsumer<byte[], byte[]> consumer, Journal journal) {
        ConsumerRecords<byte[], byte[]> batch = consumer.poll(Duration.ofMillis(200));
        if (batch.isEmpty()) return;
        journal.noteRecords(batch);
        try {
            consumer.commitSync(batch.nextOffsets());
        } catch (KafkaException failure) {
            journal.note("commit-failed", failure);
        }
    }
}
