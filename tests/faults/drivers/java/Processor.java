import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApplicationRecoverableException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Copies each record of the input to the same partition of the output, a batch in a transaction. */
public final class Processor {
    private final Settings settings;
    private final Journal journal;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;

    private Processor(Settings settings) throws Exception {
        this.settings = settings;
        journal = new Journal(settings);
        Properties reading = settings.consumer();
        reading.put("isolation.level", "read_committed");
        consumer = new KafkaConsumer<>(reading);
        producer = new KafkaProducer<>(settings.producer());
    }

    public static void main(String[] arguments) throws Exception {
        Processor processor = new Processor(new Settings(arguments[0]));
        try {
            processor.run();
        } catch (RuntimeException failure) {
            processor.journal.note("error", failure);
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void run() {
        producer.initTransactions();
        consumer.subscribe(List.of(settings.text("topic")), journal.listener(consumer));
        while (true) {
            ConsumerRecords<byte[], byte[]> batch = consumer.poll(Duration.ofMillis(200));
            if (!batch.isEmpty()) transact(batch);
        }
    }

    /** What cannot be recovered from here is thrown; the next process recovers from it. */
    private void transact(ConsumerRecords<byte[], byte[]> batch) {
        try {
            producer.beginTransaction();
            for (ConsumerRecord<byte[], byte[]> record : batch) {
                producer.send(new ProducerRecord<>(settings.text("output"), record.partition(), null, record.value()));
            }
            producer.sendOffsetsToTransaction(batch.nextOffsets(), consumer.groupMetadata());
            producer.commitTransaction();
            journal.noteRecords(batch);
        } catch (ApplicationRecoverableException fenced) {
            throw fenced;
        } catch (KafkaException failure) {
            journal.note("commit-failed", failure);
            producer.abortTransaction();
            rewind();
        }
    }

    /** Back to what is committed. */
    private void rewind() {
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(consumer.assignment());
        committed.forEach((partition, offset) -> {
            if (offset == null) consumer.seekToBeginning(List.of(partition));
            else consumer.seek(partition, offset.offset());
        });
    }
}
