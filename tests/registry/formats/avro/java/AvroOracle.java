import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.Incompatibility;

/** Answers lines of JSON: {"texts": [references..., schema], "writer": text or null}. */
public class AvroOracle {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        String line;
        while ((line = in.readLine()) != null) {
            out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
    }

    static ObjectNode answer(JsonNode asked) {
        ObjectNode said = JSON.createObjectNode();
        try {
            Schema.Parser parser = new Schema.Parser();
            List<Schema> references = new ArrayList<>();
            Schema schema = null;
            for (JsonNode text : asked.get("texts")) {
                if (schema != null) {
                    references.add(schema);
                }
                schema = parser.parse(text.asText());
            }
            said.put("canonical", schema.toString(references, false));
            if (asked.hasNonNull("writer")) {
                compare(schema, new Schema.Parser().parse(asked.get("writer").asText()), said.putArray("reasons"));
            }
        } catch (Exception error) {
            said.put("error", String.valueOf(error.getMessage()));
        }
        return said;
    }

    static void compare(Schema reader, Schema writer, ArrayNode reasons) {
        var result = SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult();
        for (Incompatibility each : result.getIncompatibilities()) {
            reasons.addArray().add(each.getType().name()).add(each.getLocation()).add(each.getMessage());
        }
    }
}
