import java.io.FileReader;
import java.io.Reader;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.utils.Time;

/** Several brokers of Apache Kafka in one JVM, one for each file of settings; they end with the process. */
public final class Brokers {
    private Brokers() {}

    public static void main(String[] files) throws Exception {
        for (String file : files) {
            Properties settings = new Properties();
            try (Reader reader = new FileReader(file)) {
                settings.load(reader);
            }
            KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(settings), Time.SYSTEM);
            Thread starter = new Thread(server::startup, "start of " + file);
            starter.setUncaughtExceptionHandler(
                    (thread, error) -> {
                        error.printStackTrace();
                        Runtime.getRuntime().halt(1);
                    });
            starter.start();
        }
    }
}
