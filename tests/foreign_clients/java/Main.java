import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Runs the operations of the client conformance suite with Apache Kafka's Java client: one JSON request per input
 * line, one JSON answer per output line, {"ok": ...} or {"error": {"code", "name", "message"}}.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(Answer.JSON.writeValueAsString(answer(Answer.JSON.readTree(line))));
        }
    }

    private static ObjectNode answer(JsonNode request) {
        ObjectNode answer = Answer.object();
        try {
            answer.set("ok", run(request));
        } catch (Exception thrown) {
            answer.set("error", describe(cause(thrown)));
        }
        return answer;
    }

    private static JsonNode run(JsonNode request) throws Exception {
        String operation = request.get("operation").asText();
        if (operation.startsWith("member_")) return Member.run(operation, request);
        if (operation.startsWith("transaction_")) return Transactions.run(operation, request);
        if (operation.startsWith("share_")) return Sharing.run(operation, request);
        switch (operation) {
            case "produce":
                return Producing.produce(request);
            case "consume":
                return Consuming.consume(request);
            case "consume_partitions":
                return Consuming.consumePartitions(request);
            case "seek":
                return Consuming.seek(request);
            case "offsets":
                return Consuming.offsets(request);
            case "partitions_of":
                return Consuming.partitionsOf(request);
            default:
                return Administration.run(operation, request);
        }
    }

    private static Throwable cause(Throwable thrown) {
        boolean wrapper = thrown instanceof ExecutionException
                || thrown instanceof CompletionException
                || thrown.getClass() == KafkaException.class;
        return wrapper && thrown.getCause() != null ? cause(thrown.getCause()) : thrown;
    }

    private static ObjectNode describe(Throwable thrown) {
        boolean outOfRange = thrown instanceof InvalidOffsetException;
        Errors error = outOfRange ? Errors.OFFSET_OUT_OF_RANGE : Errors.forException(thrown);
        ObjectNode node = Answer.object();
        node.put("code", error.code());
        node.put("name", error.name());
        node.put("message", thrown.toString());
        return node;
    }
}
