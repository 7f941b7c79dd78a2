/* test_bridge_file.c: files of achdds: what is taken, and the line for each thing that is wrong. */
#include "test/lib/testcase.h"

#include "launch/achdds/bridge_file.h"

static char lines[4096];

static void keep(void *to, const char *line)
{
	(void)to;
	snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s\n", line);
}

static int open_plan(struct bridge_file *plan, const char *text)
{
	struct error_sink errors = { keep, NULL, 0 };

	*lines = 0;
	return bridge_file_open_text(plan, "f", text, strlen(text), &errors);
}

#define SECURITY                                                                                                  \
	"security: {identity_ca: /a, certificate: /b, key: /c, permissions_ca: /d, governance: /e, permissions: " \
	"/f}\n"

TEST(a_whole_file)
{
	struct bridge_file plan;

	TEST_ASSERT_EQUAL_MESSAGE(
		0,
		open_plan(&plan,
			  "domain: 7\nnode: krang\ninterface: eth0\npeers: [10.0.0.2, 10.0.0.3]\n" SECURITY "publish:\n"
			  "  /joint_states: {channel: waist-state, rate: 100, qos: sensor}\n"
			  "  /base/imu: {channel: imu-state, frame: imu_link}\n"
			  "  /rosout: {channel: \"*-event\"}\n"
			  "  /diagnostics: {channel: \"*-state\", rate: 1}\n"
			  "  /waist/raw: {channel: waist-state, type: endplate_msgs/JointState}\n"
			  "subscribe:\n"
			  "  /waist/command: {device: waist, source: ros, type: sensor_msgs/JointState, "
			  "who: secured, valid: 30ms}\n"
			  "  /cmd_vel: {device: balance, type: geometry_msgs/msg/Twist, who: anyone}\n"
			  "  /stop: {estop: yes, type: std_msgs/String, who: anyone}\n"
			  "relay: {name: krang, send: [waist-state], receive: [larm-ref], who: secured}\n"),
		lines);
	TEST_ASSERT_EQUAL(7, plan.domain);
	TEST_ASSERT_EQUAL(2, plan.peers_n);
	TEST_ASSERT_EQUAL_STRING("10.0.0.3", plan.peers[1]);
	TEST_ASSERT_EQUAL_HEX32(0x0a000003, ntohl(plan.addresses[1].s_addr));
	TEST_ASSERT_FALSE(plan.multicast);
	TEST_ASSERT_TRUE(plan.secured);
	TEST_ASSERT_EQUAL_STRING("/c", plan.security.key);
	TEST_ASSERT_EQUAL(5, plan.topics_n);
	TEST_ASSERT_EQUAL_STRING("sensor_msgs/msg/JointState", plan.topics[0].type->name);
	TEST_ASSERT_EQUAL(DDS_NODE_SENSOR, plan.topics[0].qos);
	TEST_ASSERT_EQUAL_DOUBLE(100, plan.topics[0].rate);
	TEST_ASSERT_EQUAL_STRING("sensor_msgs/msg/Imu", plan.topics[1].type->name);
	TEST_ASSERT_EQUAL_STRING("imu_link", plan.topics[1].frame);
	TEST_ASSERT_EQUAL_STRING("rcl_interfaces/msg/Log", plan.topics[2].type->name);
	TEST_ASSERT_EQUAL(DDS_NODE_LOG, plan.topics[2].qos);
	TEST_ASSERT_EQUAL_STRING("diagnostic_msgs/msg/DiagnosticArray", plan.topics[3].type->name);
	TEST_ASSERT_EQUAL_STRING("endplate_msgs/msg/JointState", plan.topics[4].type->name);
	TEST_ASSERT_EQUAL(3, plan.inputs_n);
	TEST_ASSERT_EQUAL(msg_joint_ref_number, plan.inputs[0].into->number);
	TEST_ASSERT_EQUAL_STRING("ros", plan.inputs[0].source);
	TEST_ASSERT_EQUAL(BRIDGE_FILE_SECURED, plan.inputs[0].who);
	TEST_ASSERT_EQUAL_INT64(30000000, plan.inputs[0].valid_ns);
	TEST_ASSERT_EQUAL(msg_balance_ref_number, plan.inputs[1].into->number);
	TEST_ASSERT_EQUAL_INT64(0, plan.inputs[1].valid_ns);
	TEST_ASSERT_EQUAL(msg_estop_number, plan.inputs[2].into->number);
	TEST_ASSERT_EQUAL(1, plan.relay.send_n);
	TEST_ASSERT_EQUAL_STRING("larm-ref", plan.relay.receive[0]);
	bridge_file_close(&plan);
}

TEST(without_a_word_nothing_leaves_the_machine_and_nothing_comes_in)
{
	struct bridge_file plan;

	unsetenv("ROS_DOMAIN_ID");
	TEST_ASSERT_EQUAL_MESSAGE(0, open_plan(&plan, "publish: {/imu: {channel: imu-state}}\n"), lines);
	TEST_ASSERT_EQUAL_STRING("lo", plan.interface);
	TEST_ASSERT_EQUAL(1, plan.peers_n);
	TEST_ASSERT_EQUAL_STRING("127.0.0.1", plan.peers[0]);
	TEST_ASSERT_FALSE(plan.multicast);
	TEST_ASSERT_EQUAL(0, plan.inputs_n);
	TEST_ASSERT_NULL(plan.relay.node);
	TEST_ASSERT_EQUAL(0, plan.domain);
	bridge_file_close(&plan);
}

TEST(the_domain_is_that_of_ros_unless_the_file_says_another)
{
	struct bridge_file plan;

	setenv("ROS_DOMAIN_ID", "42", 1);
	TEST_ASSERT_EQUAL_MESSAGE(0, open_plan(&plan, "node: a\n"), lines);
	TEST_ASSERT_EQUAL(42, plan.domain);
	bridge_file_close(&plan);
	TEST_ASSERT_EQUAL_MESSAGE(0, open_plan(&plan, "domain: 3\n"), lines);
	TEST_ASSERT_EQUAL(3, plan.domain);
	bridge_file_close(&plan);
	setenv("ROS_DOMAIN_ID", "many", 1);
	TEST_ASSERT_EQUAL(-EINVAL, open_plan(&plan, "node: a\n"));
	TEST_ASSERT_EQUAL_STRING("ROS_DOMAIN_ID: many is not a number from 0 to 232\n", lines);
	unsetenv("ROS_DOMAIN_ID");
}

TEST(everything_that_is_wrong_has_a_line)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ "domian: 1\n", "f:1: domian: unknown key; did you mean domain?\n" },
		{ "domain: 300\n", "f:1: domain: 300 is above the maximum 232\n" },
		{ "node: 7up\n",
		  "f:1: node: \"7up\" is not the name of a ROS node: letters, digits and _, a letter first\n" },
		{ "interface: a b\n", "f:1: interface: \"a b\" is not a network interface such as lo or eth0\n" },
		{ "peers: [10.0.0.1]\n",
		  "f: peers and multicast need interface: NAME; without it nothing leaves this machine\n" },
		{ "multicast: yes\n",
		  "f: peers and multicast need interface: NAME; without it nothing leaves this machine\n" },
		{ "interface: eth0\npeers: [\"<x>\"]\n",
		  "f:2: peers: \"<x>\" is not a list of addresses: [10.0.0.2, 10.0.0.3]\n" },
		{ "interface: eth0\npeers: [10.0.0.2, arm.local, \"fd00::1\"]\n",
		  "f:2: peers: arm.local is not an IPv4 address such as 10.0.0.2; packets are filtered by address, so "
		  "a name cannot be a peer\n"
		  "f:2: peers: fd00::1 is not an IPv4 address such as 10.0.0.2; packets are filtered by address, so a "
		  "name cannot be a peer\n" },
		{ "publish: [a]\n", "f:1: publish: a list where a mapping (/topic: ...) is expected\n" },
		{ "publish:\n  imu: {channel: a}\n", "f:2: imu: not a topic such as /waist/joint_states: a slash, then "
						     "letters, digits and _, a letter first\n" },
		{ "publish:\n  /a//b: {channel: a, type: sensor_msgs/Imu}\n",
		  "f:2: /a//b: not a topic such as /waist/joint_states: a slash, then letters, digits and _, a letter "
		  "first\n" },
		{ "publish:\n  /imu: {}\n", "f:2: /imu: channel is missing: waist-state, or several: \"*-event\"\n" },
		{ "publish:\n  /imu: {channel: a/b}\n",
		  "f:2: channel: \"a/b\" is not a channel such as waist-state or \"*-event\"\n" },
		{ "publish:\n  /foo: {channel: a}\n",
		  "f:2: /foo: type is missing: no type is usual for this topic; write type: sensor_msgs/Imu\n" },
		{ "publish:\n  /foo: {channel: a, type: sensor_msgs/msg/Imo}\n",
		  "f:2: /foo: type: sensor_msgs/msg/Imo is not a type that is mapped; did you mean "
		  "sensor_msgs/msg/Imu?\n" },
		{ "publish:\n  /foo: {channel: a, type: std_msgs/String}\n",
		  "f:2: /foo: type: no message becomes std_msgs/msg/String\n" },
		{ "publish:\n  /imu: {channel: a, qos: best}\n",
		  "f:2: qos: \"best\" is not one of default, sensor, latched, log, newest\n" },
		{ "publish:\n  /imu: {channel: a, rate: -1}\n", "f:2: rate: -1 is below the minimum 0 Hz\n" },
		{ "subscribe:\n  /a: {device: waist, type: sensor_msgs/JointState}\n",
		  "f:2: /a: who is missing: participants that may send it\n" },
		{ "subscribe:\n  /a: {type: sensor_msgs/JointState, who: local}\n",
		  "f:2: /a: write device: NAME for references, or estop: yes to raise the e-stop\n" },
		{ "subscribe:\n  /a: {estop: yes, device: waist, type: std_msgs/String, who: local}\n",
		  "f:2: /a: write device: NAME for references, or estop: yes to raise the e-stop\n" },
		{ "subscribe:\n  /a: {estop: yes, type: sensor_msgs/JointState, who: local}\n",
		  "f:2: /a: type: sensor_msgs/msg/JointState does not become a raise of the e-stop; std_msgs/String "
		  "does\n" },
		{ "subscribe:\n  /a: {estop: yes, type: std_msgs/String, who: local, valid: 10ms}\n",
		  "f:2: /a: source and valid are of references, not of the e-stop\n" },
		{ "subscribe:\n  /a: {device: waist, type: sensor_msgs/Imu, who: anyone}\n",
		  "f:2: /a: type: sensor_msgs/msg/Imu does not become a reference\n" },
		{ "subscribe:\n  /a: {device: waist, type: sensor_msgs/JointState, who: secured}\n",
		  "f:2: /a: who: secured needs security:, which says where keys and permissions are\n" },
		{ "subscribe:\n  /a: {device: waist, type: sensor_msgs/JointState, who: local}\n",
		  "f:2: /a: who: local would let any user of this machine move waist; write references into its "
		  "channel, as a member of the group moving:, or write who: secured, with keys of that group ("
		  "scripts/dds-keys --group)\n" },
		{ "interface: eth0\nsubscribe:\n  /a: {estop: yes, type: std_msgs/String, who: local}\n",
		  "f:3: /a: who: local needs interface: lo; on eth0 write who: secured, with security:, or who: "
		  "anyone\n" },
		{ "subscribe:\n  /a: {device: waist, type: sensor_msgs/JointState, who: anyone, valid: 1s}\n",
		  "f:2: valid: 1s is above the maximum 200ms\n" },
		{ "subscribe:\n  /a: {device: w, type: sensor_msgs/JointState, who: anyone}\n"
		  "  /b: {device: w, type: sensor_msgs/JointState, who: anyone}\n",
		  "f:3: /b: device: w has references from /a already; make them two sources of a refmuxd\n" },
		{ "security: {key: /a}\n", "f:1: security: identity_ca is missing: certificate of the authority of "
					   "identities\n"
					   "f:1: security: certificate is missing: of this participant\n"
					   "f:1: security: permissions_ca is missing: certificate of the authority of "
					   "permissions\n"
					   "f:1: security: governance is missing: signed governance of the domain\n"
					   "f:1: security: permissions is missing: signed permissions of this "
					   "participant\n" },
		{ "relay: {send: [a-state]}\n", "f:1: relay: name is missing: the same on both machines\n" },
		{ "relay: {name: k, send: [estop]}\n",
		  "f:1: send: estop stays on its machine; subscribe: raises the e-stop from outside\n" },
		{ "relay: {name: k, receive: [\"*-state\"]}\n",
		  "f:1: receive: *-state is not a channel such as waist-state\n" },
		{ "relay: {name: k, send: [a-state], receive: [a-state]}\n",
		  "f:1: relay: a-state cannot go both ways\n" },
		{ "relay: {name: k, receive: [a-ref]}\n",
		  "f:1: relay: who is missing: a-ref moves the robot; write who: secured or anyone\n" },
		{ "relay: {name: k, receive: [a-state, a-ref], who: local}\n",
		  "f:1: relay: who: local would let any user of this machine move the robot; write references into its "
		  "channel, as a member of the group moving:, or write who: secured, with keys of that group "
		  "(scripts/dds-keys --group)\n" },
		{ "relay: {name: k, receive: [a-ref], who: secured}\n",
		  "f:1: relay: who: secured needs security:, which says where keys and permissions are\n" },
	};
	struct bridge_file plan;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, open_plan(&plan, rows[i].text), rows[i].text);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(rows[i].expected, lines, rows[i].text);
	}
}

TEST(with_who_local_any_program_looks_and_stops)
{
	struct bridge_file plan;

	TEST_ASSERT_EQUAL_MESSAGE(0,
				  open_plan(&plan,
					    "publish: {/imu: {channel: imu-state}}\n"
					    "subscribe: {/stop: {estop: yes, type: std_msgs/String, who: local}}\n"),
				  lines);
	bridge_file_close(&plan);
}

TEST(a_peer_more_than_the_filter_has_room_for_is_refused)
{
	char text[2000] = "interface: eth0\npeers: [";
	struct bridge_file plan;

	for (int i = 0; i < FILTER_PEERS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "10.0.0.%d, ", i);
	strcat(text, "10.0.1.1]\n");
	TEST_ASSERT_EQUAL(-EINVAL, open_plan(&plan, text));
	TEST_ASSERT_EQUAL_STRING("f:2: peers: at most 32\n", lines);
}
