/* ros_map.c: which ROS 2 types a message becomes. */
#include <stdio.h>
#include <string.h>

#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_own.h"

/* clang-format off */

#define TYPE(package, type, hash) { #package "/msg/" #type, #package "::msg::dds_::" #type "_", hash, NULL },
#define OWN(type, from, hash) \
	{ ROS_OWN_PACKAGE "/msg/" #type, ROS_OWN_PACKAGE "::msg::dds_::" #type "_", hash, from },

const struct ros_type ros_types[] = {
	TYPE(sensor_msgs, JointState, "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e")
	TYPE(sensor_msgs, Imu, "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b")
	TYPE(sensor_msgs, Temperature, "RIHS01_72514a14126ab9f8a9abec974c78e5610a367b59db5da355ff1fb982d5bad4b8")
	TYPE(sensor_msgs, BatteryState, "RIHS01_4bee5dfce981c98faa6828b868307a0a73f992ed0789f374ee96c8f840e69741")
	TYPE(geometry_msgs, WrenchStamped, "RIHS01_8dc3deaf06b2ab281f9f9a742a8961c328ca7cec16e3fd6586d3a5c83fa78f77")
	TYPE(diagnostic_msgs, DiagnosticArray,
	     "RIHS01_5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e")
	TYPE(rcl_interfaces, Log, "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac")
	TYPE(std_msgs, String, "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18")
	TYPE(std_msgs, Float64MultiArray, "RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f")
	TYPE(geometry_msgs, Twist, "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a")
	OWN(EstopRaise, NULL, "RIHS01_36d1a8653841a3ea696199386a8996d422ba524b432f11bfbf12e1e158ad59a7")
	OWN(CanFrame, NULL, "RIHS01_ebd573b4cf8ed4187ec27d90589149244c97f5608a0bb7076398cd23194e6f64")
	OWN(JointState, "msg_joint_state", "RIHS01_42c172a65525122809da4ce67352d33ecbe61f8404de6d4dbbd1c9148fc2611b")
	OWN(JointRef, "msg_joint_ref", "RIHS01_ec75acf2c1d3cfc0567dc3d336594574be6848e3f4d80ea186b05f464e98d823")
	OWN(Imu, "msg_imu", "RIHS01_b546fca815f8d454dc8aa40b7ddd073401e48b21798cdb60b00cf9b16292124a")
	OWN(ForceTorque, "msg_ft", "RIHS01_d1ed0cf3276ba5d879ad3981864995332d3147d74db3c5e39d509f4b0676faf7")
	OWN(GripperState, "msg_gripper_state",
	    "RIHS01_2612d11691bbeca3d7b6a2490912618dbe9704f0e9582911a75a0d68469a6d0d")
	OWN(GripperRef, "msg_gripper_ref", "RIHS01_52f548de2044e10dc2f4d88f79f657404a2efe2b00c0c7feaba8d0c58f3f6965")
	OWN(Battery, "msg_battery", "RIHS01_e398eb061b8fd0bf66b0466b44a2a6cfa9ed30eb0437465dd0b30048da50094c")
	OWN(BusStats, "msg_bus_stats", "RIHS01_925b861b1544618fda8028bf5d91777ded14611e70ae8f4cb703e7236ba5c54f")
	OWN(Clock, "msg_clock", "RIHS01_c54a6ece0b1efab1b8628249e8f37e3f4cfcd68fc70123521b909be6f5367f2e")
	OWN(Event, "msg_event", "RIHS01_70d402ae712a87672dbc71ad1ae349cfc72956f961054cc9a87e312430ad1abb")
	OWN(Estop, "msg_estop", "RIHS01_0af8d58ba3af286d182d74db03f32e453b4fcba42a3a6a412b3841301680556a")
	OWN(Request, "msg_request", "RIHS01_e3e73590224077c5d9589c53cf24baa56d74a4d94fd2678ff933782a6323505a")
	OWN(Reply, "msg_reply", "RIHS01_2294b44bc8d44dd76c7cd870879ef338627b8c781d50f8b944a88178b753fb03")
	OWN(BalanceState, "msg_balance_state",
	    "RIHS01_026e0af55604bd7f7b7e61143b8191fc3a6d20e58fe1b3743cc1d5170c0a8e4d")
	OWN(BalanceRef, "msg_balance_ref", "RIHS01_6fec131aad24a56f87a04579346d745bcd06545f890308dedb3af47fe1518118")
	OWN(MuxState, "msg_mux_state", "RIHS01_0f8cae9b3f795182786eb316307560565468f1951a5f71c38b4deb0f96d681b8")
	OWN(Body, "msg_body", "RIHS01_993750d41fa223dcc901fadf31ea15cb506033460e348fdf81b3923209da631d")
};
const size_t ros_types_n = sizeof(ros_types) / sizeof(*ros_types);

#define DIAGNOSTICS(msg) \
	{ msg##_number, ROS_DIAGNOSTICS, "diagnostic_msgs/msg/DiagnosticArray", "diagnostics", ros_put_diagnostics },
#define MAP(msg, type) { msg##_number, ROS_OWN, ROS_OWN_PACKAGE "/msg/" #type, NULL, ros_own_encode },

static const struct ros_map maps[] = {
	{ msg_joint_state_number, ROS_STANDARD, "sensor_msgs/msg/JointState", "joint_states", ros_put_joint_state },
	{ msg_imu_number, ROS_STANDARD, "sensor_msgs/msg/Imu", "imu", ros_put_imu },
	{ msg_imu_number, ROS_STANDARD, "sensor_msgs/msg/Temperature", "temperature", ros_put_temperature },
	{ msg_ft_number, ROS_STANDARD, "geometry_msgs/msg/WrenchStamped", "wrench", ros_put_wrench },
	{ msg_battery_number, ROS_STANDARD, "sensor_msgs/msg/BatteryState", "battery_state", ros_put_battery },
	{ msg_event_number, ROS_STANDARD, "rcl_interfaces/msg/Log", "rosout", ros_put_log },
	DIAGNOSTICS(msg_joint_state)
	DIAGNOSTICS(msg_imu)
	DIAGNOSTICS(msg_ft)
	DIAGNOSTICS(msg_gripper_state)
	DIAGNOSTICS(msg_battery)
	DIAGNOSTICS(msg_bus_stats)
	DIAGNOSTICS(msg_clock)
	DIAGNOSTICS(msg_estop)
	DIAGNOSTICS(msg_balance_state)
	DIAGNOSTICS(msg_mux_state)
	MAP(msg_joint_state, JointState)
	MAP(msg_joint_ref, JointRef)
	MAP(msg_imu, Imu)
	MAP(msg_ft, ForceTorque)
	MAP(msg_gripper_state, GripperState)
	MAP(msg_gripper_ref, GripperRef)
	MAP(msg_battery, Battery)
	MAP(msg_bus_stats, BusStats)
	MAP(msg_clock, Clock)
	MAP(msg_event, Event)
	MAP(msg_estop, Estop)
	MAP(msg_request, Request)
	MAP(msg_reply, Reply)
	MAP(msg_balance_state, BalanceState)
	MAP(msg_balance_ref, BalanceRef)
	MAP(msg_mux_state, MuxState)
	MAP(msg_body, Body)
};

/* clang-format on */

const struct ros_type *ros_type_by_name(const char *name)
{
	const char *slash = strchr(name, '/');
	char full[ROS_NAME_MAX];

	if (!slash || strlen(name) + sizeof("/msg") > sizeof(full))
		return NULL;
	snprintf(full, sizeof(full), "%.*s/msg%s", (int)(slash - name), name, slash);
	for (size_t i = 0; i < ros_types_n; i++)
		if (!strcmp(ros_types[i].name, name) || !strcmp(ros_types[i].name, full))
			return &ros_types[i];
	return NULL;
}

const struct ros_map *ros_map_of(uint32_t msg_type, const struct ros_map *after)
{
	for (const struct ros_map *map = after ? after + 1 : maps; map < maps + sizeof(maps) / sizeof(*maps); map++)
		if (map->msg == msg_type)
			return map;
	return NULL;
}

const struct ros_map *ros_map_for(uint32_t msg_type, enum ros_use use)
{
	const struct ros_map *map = ros_map_of(msg_type, NULL);

	while (map && map->use != use)
		map = ros_map_of(msg_type, map);
	return map;
}

const struct ros_type *ros_map_type(const struct ros_map *map)
{
	return ros_type_by_name(map->type_name);
}

size_t ros_encode(const struct ros_map *map, const void *msg, size_t len, const struct ros_context *c, void *cdr,
		  size_t room)
{
	const struct msg_type *type = msg_type_by_number(map->msg);
	struct cdr_out o = cdr_out(cdr, room);
	uint64_t aligned[MSG_SIZE_MAX / sizeof(uint64_t)];

	if (msg_check(msg, len, type, NULL) != MSG_FINE)
		return 0;
	if ((uintptr_t)msg % sizeof(*aligned)) { /* from a file, say */
		memcpy(aligned, msg, len);
		msg = aligned;
	}
	map->encode(&o, type, msg, c);
	return o.len <= room ? o.len : 0;
}
