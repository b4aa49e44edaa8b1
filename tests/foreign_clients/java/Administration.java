import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/** What an administrator asks of a cluster. */
final class Administration {
    private Administration() {}

    static JsonNode run(String operation, JsonNode request) throws Exception {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", request.get("bootstrap").asText(),
                "default.api.timeout.ms", 30_000,
                "request.timeout.ms", 15_000);
        try (Admin admin = Admin.create(settings)) {
            switch (operation) {
                case "create_topic":
                    return createTopic(admin, request);
                case "delete_topic":
                    admin.deleteTopics(List.of(request.get("topic").asText())).all().get();
                    return Answer.object();
                case "create_partitions":
                    NewPartitions total = NewPartitions.increaseTo(request.get("total").asInt());
                    admin.createPartitions(Map.of(request.get("topic").asText(), total)).all().get();
                    return Answer.object();
                case "list_topics":
                    ArrayNode names = Answer.JSON.createArrayNode();
                    admin.listTopics().names().get().forEach(names::add);
                    return Answer.list("topics", names);
                case "describe_topic":
                    return describeTopic(admin, request);
                case "describe_configs":
                    return describeConfigs(admin, request);
                case "incremental_alter_configs":
                    return incrementalAlterConfigs(admin, request);
                case "describe_cluster":
                    return describeCluster(admin);
                case "delete_records":
                    return deleteRecords(admin, request);
                case "list_offsets":
                    return listOffsets(admin, request);
                case "describe_log_dirs":
                    return describeLogDirs(admin, request);
                case "describe_producers":
                    return describeProducers(admin, request);
                default:
                    return GroupAdministration.run(admin, operation, request);
            }
        }
    }

    private static JsonNode createTopic(Admin admin, JsonNode request) throws Exception {
        NewTopic topic = new NewTopic(
                request.get("topic").asText(),
                request.get("partitions").asInt(),
                (short) request.get("replication_factor").asInt());
        topic.configs(Answer.strings(request.get("configs")));
        CreateTopicsOptions options =
                new CreateTopicsOptions().validateOnly(request.path("validate_only").asBoolean(false));
        admin.createTopics(List.of(topic), options).all().get();
        return Answer.object();
    }

    private static JsonNode describeTopic(Admin admin, JsonNode request) throws Exception {
        String name = request.get("topic").asText();
        TopicDescription topic = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
        ObjectNode answer = Answer.object();
        answer.put("topic_id", topic.topicId().toString());
        ArrayNode partitions = answer.putArray("partitions");
        for (TopicPartitionInfo info : topic.partitions()) {
            ObjectNode node = partitions.addObject();
            node.put("partition", info.partition()).put("leader", info.leader().id());
            ArrayNode replicas = node.putArray("replicas");
            info.replicas().forEach(replica -> replicas.add(replica.id()));
            ArrayNode inSync = node.putArray("isr");
            info.isr().forEach(replica -> inSync.add(replica.id()));
        }
        return answer;
    }

    private static ConfigResource resource(JsonNode request) {
        ConfigResource.Type type =
                ConfigResource.Type.valueOf(request.get("resource_type").asText());
        return new ConfigResource(type, request.get("name").asText());
    }

    private static JsonNode describeConfigs(Admin admin, JsonNode request) throws Exception {
        ConfigResource resource = resource(request);
        ObjectNode configs = Answer.object();
        for (ConfigEntry entry : admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()) {
            configs.putObject(entry.name())
                    .put("value", entry.value())
                    .put("source", entry.source().name())
                    .put("read_only", entry.isReadOnly())
                    .put("sensitive", entry.isSensitive());
        }
        ObjectNode answer = Answer.object();
        answer.set("configs", configs);
        return answer;
    }

    private static JsonNode incrementalAlterConfigs(Admin admin, JsonNode request) throws Exception {
        Collection<AlterConfigOp> changes = new ArrayList<>();
        for (JsonNode change : request.get("changes")) {
            String value = change.get(2).isNull() ? null : change.get(2).asText();
            ConfigEntry entry = new ConfigEntry(change.get(1).asText(), value);
            changes.add(new AlterConfigOp(entry, AlterConfigOp.OpType.valueOf(change.get(0).asText())));
        }
        admin.incrementalAlterConfigs(Map.of(resource(request), changes)).all().get();
        return Answer.object();
    }

    private static JsonNode describeCluster(Admin admin) throws Exception {
        DescribeClusterResult cluster = admin.describeCluster();
        ObjectNode answer = Answer.object();
        answer.put("cluster_id", cluster.clusterId().get());
        answer.put("controller", cluster.controller().get().id());
        ObjectNode brokers = answer.putObject("brokers");
        for (Node node : cluster.nodes().get()) {
            brokers.put(node.idString(), node.host() + ":" + node.port());
        }
        return answer;
    }

    private static JsonNode deleteRecords(Admin admin, JsonNode request) throws Exception {
        TopicPartition partition = Answer.partition(request);
        RecordsToDelete records = RecordsToDelete.beforeOffset(request.get("before").asLong());
        ObjectNode answer = Answer.object();
        answer.put("low_watermark", admin.deleteRecords(Map.of(partition, records))
                .lowWatermarks().get(partition).get().lowWatermark());
        return answer;
    }

    private static OffsetSpec spec(long timestamp) {
        if (timestamp == -1) return OffsetSpec.latest();
        if (timestamp == -2) return OffsetSpec.earliest();
        if (timestamp == -3) return OffsetSpec.maxTimestamp();
        if (timestamp == -4) return OffsetSpec.earliestLocal();
        if (timestamp == -5) return OffsetSpec.latestTiered();
        return OffsetSpec.forTimestamp(timestamp);
    }

    private static JsonNode listOffsets(Admin admin, JsonNode request) throws Exception {
        TopicPartition partition = Answer.partition(request);
        ArrayNode offsets = Answer.JSON.createArrayNode();
        for (JsonNode timestamp : request.get("timestamps")) {
            ListOffsetsResultInfo found = admin.listOffsets(Map.of(partition, spec(timestamp.asLong())))
                    .partitionResult(partition).get();
            offsets.addObject().put("offset", found.offset()).put("timestamp", found.timestamp());
        }
        return Answer.list("offsets", offsets);
    }

    private static JsonNode describeLogDirs(Admin admin, JsonNode request) throws Exception {
        ArrayNode directories = Answer.JSON.createArrayNode();
        int broker = request.get("broker").asInt();
        Map<String, LogDirDescription> described =
                admin.describeLogDirs(List.of(broker)).allDescriptions().get().get(broker);
        described.forEach((path, description) -> {
            ObjectNode directory = directories.addObject();
            directory.put("path", path).put("total_bytes", description.totalBytes().orElse(-1));
            ArrayNode replicas = directory.putArray("replicas");
            description.replicaInfos().forEach((partition, replica) -> replicas.addObject()
                    .put("topic", partition.topic())
                    .put("partition", partition.partition())
                    .put("size", replica.size())
                    .put("offset_lag", replica.offsetLag())
                    .put("is_future", replica.isFuture()));
        });
        return Answer.list("dirs", directories);
    }

    private static JsonNode describeProducers(Admin admin, JsonNode request) throws Exception {
        TopicPartition partition = Answer.partition(request);
        ArrayNode producers = Answer.JSON.createArrayNode();
        for (ProducerState state :
                admin.describeProducers(List.of(partition)).partitionResult(partition).get().activeProducers()) {
            producers.addObject()
                    .put("producer_id", state.producerId())
                    .put("epoch", state.producerEpoch())
                    .put("last_sequence", state.lastSequence())
                    .put("last_timestamp", state.lastTimestamp())
                    .put("coordinator_epoch", state.coordinatorEpoch().orElse(-1))
                    .put("transaction_start", state.currentTransactionStartOffset().orElse(-1));
        }
        return Answer.list("producers", producers);
    }
}
