import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.ShareMemberDescription;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;

/** What an administrator asks about groups and transactions. */
final class GroupAdministration {
    private GroupAdministration() {}

    static JsonNode run(Admin admin, String operation, JsonNode request) throws Exception {
        String group = request.path("group").asText();
        switch (operation) {
            case "list_groups":
                return listGroups(admin, request);
            case "describe_group":
                return describeGroup(admin, group);
            case "describe_share_group":
                return describeShareGroup(admin, group);
            case "delete_group":
                admin.deleteConsumerGroups(List.of(group)).all().get();
                return Answer.object();
            case "delete_share_group":
                admin.deleteShareGroups(List.of(group)).all().get();
                return Answer.object();
            case "group_offsets":
                return Answer.offsets(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get());
            case "alter_group_offsets":
                admin.alterConsumerGroupOffsets(group, Answer.offsets(request.get("offsets"))).all().get();
                return Answer.object();
            case "delete_group_offsets":
                Set<TopicPartition> partitions = new HashSet<>(Answer.partitions(request.get("places")));
                admin.deleteConsumerGroupOffsets(group, partitions).all().get();
                return Answer.object();
            case "remove_static_member":
                MemberToRemove member = new MemberToRemove(request.get("instance_id").asText());
                admin.removeMembersFromConsumerGroup(
                        group, new RemoveMembersFromConsumerGroupOptions(List.of(member))).all().get();
                return Answer.object();
            case "describe_transaction":
                return describeTransaction(admin, request.get("transactional_id").asText());
            case "list_transactions":
                return listTransactions(admin);
            default:
                throw new IllegalArgumentException("unknown operation " + operation);
        }
    }

    private static JsonNode listGroups(Admin admin, JsonNode request) throws Exception {
        Set<GroupState> states =
                Answer.names(request.get("states")).stream().map(GroupState::parse).collect(Collectors.toSet());
        Set<GroupType> types =
                Answer.names(request.get("kinds")).stream().map(GroupType::parse).collect(Collectors.toSet());
        ArrayNode groups = Answer.JSON.createArrayNode();
        for (GroupListing group :
                admin.listGroups(new ListGroupsOptions().inGroupStates(states).withTypes(types)).all().get()) {
            groups.addObject()
                    .put("group", group.groupId())
                    .put("protocol_type", group.protocol())
                    .put("state", group.groupState().map(GroupState::toString).orElse(null))
                    .put("kind", group.type().map(type -> type.toString().toLowerCase()).orElse(null));
        }
        return Answer.list("groups", groups);
    }

    private static JsonNode describeGroup(Admin admin, String group) throws Exception {
        ConsumerGroupDescription found =
                admin.describeConsumerGroups(List.of(group)).describedGroups().get(group).get();
        ObjectNode answer = Answer.object();
        answer.put("state", found.groupState().toString());
        answer.put("kind", found.type().toString().toLowerCase());
        answer.put("assignor", found.partitionAssignor());
        ArrayNode members = answer.putArray("members");
        for (MemberDescription member : found.members()) {
            describeMember(members, member.consumerId(), member.clientId(), member.host(),
                    member.groupInstanceId().orElse(null), member.assignment().topicPartitions());
        }
        return answer;
    }

    private static JsonNode describeShareGroup(Admin admin, String group) throws Exception {
        ShareGroupDescription found = admin.describeShareGroups(List.of(group)).describedGroups().get(group).get();
        ObjectNode answer = Answer.object();
        answer.put("state", found.groupState().toString()).put("kind", "share").put("assignor", "");
        ArrayNode members = answer.putArray("members");
        for (ShareMemberDescription member : found.members()) {
            describeMember(members, member.consumerId(), member.clientId(), member.host(),
                    null, member.assignment().topicPartitions());
        }
        return answer;
    }

    private static void describeMember(ArrayNode members, String memberId, String clientId, String host,
            String instanceId, Collection<TopicPartition> partitions) {
        ObjectNode node = members.addObject();
        node.put("member_id", memberId).put("client_id", clientId).put("host", host).put("instance_id", instanceId);
        Answer.put(node.putArray("assignment"), partitions);
    }

    private static JsonNode describeTransaction(Admin admin, String transactionalId) throws Exception {
        TransactionDescription found =
                admin.describeTransactions(List.of(transactionalId)).description(transactionalId).get();
        ObjectNode answer = Answer.object();
        answer.put("state", found.state().toString());
        answer.put("producer_id", found.producerId());
        answer.put("producer_epoch", found.producerEpoch());
        answer.put("timeout_ms", found.transactionTimeoutMs());
        Answer.put(answer.putArray("partitions"), found.topicPartitions());
        return answer;
    }

    private static JsonNode listTransactions(Admin admin) throws Exception {
        ObjectNode states = Answer.object();
        for (TransactionListing transaction : admin.listTransactions().all().get()) {
            states.put(transaction.transactionalId(), transaction.state().toString());
        }
        ObjectNode answer = Answer.object();
        answer.set("transactions", states);
        return answer;
    }
}
