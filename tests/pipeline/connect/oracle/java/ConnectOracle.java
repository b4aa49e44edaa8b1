import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.SchemaProjector;
import org.apache.kafka.connect.data.Values;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Answers lines of JSON with lines of JSON: {"op": ..., ...} with what Kafka Connect's own classes make of it. */
public class ConnectOracle {
    static final ObjectMapper JSON = new ObjectMapper()
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .setNodeFactory(new JsonNodeFactory(true));
    static final JsonConverter ENVELOPES = new JsonConverter();

    public static void main(String[] arguments) throws Exception {
        ENVELOPES.configure(Map.of("decimal.format", "NUMERIC", "replace.null.with.default", "false"), false);
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
            switch (asked.get("op").asText()) {
                case "transform" -> transform(asked, said);
                case "predicate" -> predicate(asked, said);
                case "to_connect" -> toConnect(asked, said);
                case "from_connect" -> fromConnect(asked, said);
                case "parse" -> said.set("parsed", envelope(Values.parseString(asked.get("text").asText())));
                case "text" -> text(asked, said);
                case "project" -> project(asked, said);
                case "format" -> said.put("text", format(asked).format(new Date(asked.get("millis").asLong())));
                case "read" -> said.put("millis", format(asked).parse(asked.get("text").asText()).getTime());
                case "settings" -> settings(asked, said);
                default -> throw new IllegalStateException(asked.toString());
            }
        } catch (Throwable error) {
            said.put("error", String.valueOf(error.getMessage()));
            said.put("kind", error.getClass().getSimpleName());
        }
        return said;
    }

    static SimpleDateFormat format(JsonNode asked) {
        return new SimpleDateFormat(asked.get("pattern").asText());
    }

    static Map<String, String> configs(JsonNode asked) {
        Map<String, String> configs = new HashMap<>();
        asked.get("configs").fields().forEachRemaining(entry -> configs.put(entry.getKey(), entry.getValue().textValue()));
        return configs;
    }

    static Object made(JsonNode asked) throws Exception {
        return Class.forName(asked.get("class").asText()).getDeclaredConstructor().newInstance();
    }

    static Converter converter(JsonNode asked) throws Exception {
        Converter converter = (Converter) made(asked);
        converter.configure(configs(asked), false);
        return converter;
    }

    // --- values

    static SchemaAndValue value(JsonNode envelope) throws Exception {
        if (envelope == null || envelope.isNull()) {
            return SchemaAndValue.NULL;
        }
        return ENVELOPES.toConnectData("", JSON.writeValueAsBytes(envelope));
    }

    static JsonNode envelope(SchemaAndValue value) throws Exception {
        return value == null ? null : envelope(value.schema(), value.value());
    }

    static JsonNode envelope(Schema schema, Object value) throws Exception {
        byte[] data = ENVELOPES.fromConnectData("", schema, schema == null ? plain(value) : value);
        return data == null ? null : JSON.readTree(data);
    }

    /** Without a schema, dates have no form in JSON: they are told by their milliseconds. */
    static Object plain(Object value) {
        if (value instanceof Date date) {
            return "date " + date.getTime();
        }
        if (value instanceof java.math.BigDecimal decimal) {
            return "decimal " + decimal;
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> copy = new LinkedHashMap<>();
            map.forEach((key, inner) -> copy.put(key, plain(inner)));
            return copy;
        }
        if (value instanceof List<?> list) {
            List<Object> copy = new ArrayList<>();
            list.forEach(inner -> copy.add(plain(inner)));
            return copy;
        }
        return value;
    }

    // --- records

    static ConnectRecord<?> record(JsonNode given) throws Exception {
        SchemaAndValue key = value(given.get("key"));
        SchemaAndValue value = value(given.get("value"));
        Long timestamp = given.get("timestamp").isNull() ? null : given.get("timestamp").asLong();
        ConnectHeaders headers = new ConnectHeaders();
        for (JsonNode header : given.get("headers")) {
            headers.add(header.get(0).asText(), value(header.get(1)));
        }
        String topic = given.get("topic").asText();
        if (given.get("offset").isNull()) {
            Integer partition = given.get("partition").isNull() ? null : given.get("partition").asInt();
            return new SourceRecord(Map.of(), Map.of(), topic, partition, key.schema(), key.value(), value.schema(),
                value.value(), timestamp, headers);
        }
        return new SinkRecord(topic, given.get("partition").asInt(), key.schema(), key.value(), value.schema(),
            value.value(), given.get("offset").asLong(), timestamp, TimestampType.CREATE_TIME, headers);
    }

    static JsonNode told(ConnectRecord<?> record) throws Exception {
        if (record == null) {
            return null;
        }
        ObjectNode said = JSON.createObjectNode();
        said.put("topic", record.topic());
        said.put("partition", record.kafkaPartition());
        said.put("timestamp", record.timestamp());
        said.set("key", envelope(record.keySchema(), record.key()));
        said.set("value", envelope(record.valueSchema(), record.value()));
        ArrayNode headers = said.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(envelope(header.schema(), header.value()));
        }
        return said;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static void transform(JsonNode asked, ObjectNode said) throws Exception {
        Transformation transformation = (Transformation) made(asked);
        said.put("stage", "configure");
        ((Configurable) transformation).configure(configs(asked));
        said.put("stage", "apply");
        ConnectRecord<?> changed = transformation.apply(record(asked.get("record")));
        said.put("stage", "tell");
        said.set("record", told(changed));
        said.put("stage", "done");
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static void predicate(JsonNode asked, ObjectNode said) throws Exception {
        Predicate predicate = (Predicate) made(asked);
        said.put("stage", "configure");
        predicate.configure(configs(asked));
        said.put("stage", "apply");
        said.put("is", predicate.test(record(asked.get("record"))));
        said.put("stage", "done");
    }

    // --- converters and values

    static void toConnect(JsonNode asked, ObjectNode said) throws Exception {
        JsonNode data = asked.get("data");
        byte[] bytes = data.isNull() ? null : Base64.getDecoder().decode(data.asText());
        said.set("value", envelope(converter(asked).toConnectData("topic", bytes)));
    }

    static void fromConnect(JsonNode asked, ObjectNode said) throws Exception {
        SchemaAndValue value = value(asked.get("value"));
        byte[] bytes = converter(asked).fromConnectData("topic", value.schema(), value.value());
        said.put("data", bytes == null ? null : Base64.getEncoder().encodeToString(bytes));
    }

    static void text(JsonNode asked, ObjectNode said) throws Exception {
        SchemaAndValue value = value(asked.get("value"));
        said.put("text", Values.convertToString(value.schema(), value.value()));
        said.put("to_string", String.valueOf(value.value()));
    }

    static void project(JsonNode asked, ObjectNode said) throws Exception {
        SchemaAndValue source = value(asked.get("source"));
        Schema target = ENVELOPES.asConnectSchema(asked.get("target"));
        said.set("value", envelope(target, SchemaProjector.project(source.schema(), source.value(), target)));
    }

    static void settings(JsonNode asked, ObjectNode said) throws Exception {
        Object plugin = made(asked);
        ConfigDef definition = (ConfigDef) plugin.getClass().getMethod("config").invoke(plugin);
        ArrayNode keys = said.putArray("keys");
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            ObjectNode one = keys.addObject();
            one.put("name", key.name);
            one.put("type", key.type.name());
            one.put("importance", key.importance.name());
            one.put("required", !key.hasDefault());
            one.put("default", key.hasDefault() ? String.valueOf(key.defaultValue) : null);
        }
    }
}
