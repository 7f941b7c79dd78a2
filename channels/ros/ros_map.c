/* ros_map.c: which ROS 2 types a message becomes.  Checked: covered. */
#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_own.h"

/* clang-format off */

#define TYPE(package, type, hash) { #package "/msg/" #type, #package "::msg::dds_::" #type "_", hash, NULL },
#define OWN_ROW(type, hash, from) \
	{ ROS_OWN_PACKAGE "/msg/" #type, ROS_OWN_PACKAGE "::msg::dds_::" #type "_", hash, from },
#define OWN(type, hash) OWN_ROW(type, hash, NULL)
#define OWN_TYPE(type, from, hash) OWN_ROW(type, hash, #from)
#define OWN_MAP(type, from, hash) \
	{ from##_number, ROS_OWN, ROS_OWN_PACKAGE "/msg/" #type, NULL, ros_own_encode },

/* The messages of channels/msg/types.h. */
#define OWN_MESSAGES(ROW) \
	ROW(JointState, msg_joint_state, "RIHS01_fd00c6338f971a299285b9c0afe574776a567ab8389cda9a9997e97cb4f481f7") \
	ROW(JointRef, msg_joint_ref, "RIHS01_7ad45c3aeada4878f79dcdfb390c6b5b27531bd666fd20fca12fc3a7304a7742") \
	ROW(Imu, msg_imu, "RIHS01_5699f2772b05bbefa1a3052c5b51f60fb9def15dddf52409eac73e0dc0759702") \
	ROW(ForceTorque, msg_ft, "RIHS01_92938d08971202cbcbdce21d91b79de4290d9c10680224ea885281dc35311624") \
	ROW(GripperState, msg_gripper_state, \
	    "RIHS01_7131484d276a8e3ac682ef0664050cdf5348e28b4af63a6ef9b018a4a03fd146") \
	ROW(GripperRef, msg_gripper_ref, "RIHS01_3a4dfe5a3bd5e79460c4f385632d33a7389db93dbf3b16d12907abc555bd9c05") \
	ROW(Battery, msg_battery, "RIHS01_4bf8a12e8fd84d2778e560ec7942e3fe23d4adaa574d7b4cdcc1411446f67624") \
	ROW(BusStats, msg_bus_stats, "RIHS01_58aa4600c3870ec532009e762bb482c09f549e5b6af5519de7ea96da8347804e") \
	ROW(Clock, msg_clock, "RIHS01_8a1fd79d4e7cb740090be54e739c03d06fa10070bb2ef971f803b9de0a85c5a2") \
	ROW(Event, msg_event, "RIHS01_fd0845cef7b7ba52d6e71e28af330251d0dcf2d24708f5a9c093a2c1821b0cd3") \
	ROW(Estop, msg_estop, "RIHS01_ad858c0ebd620661e58b8b09e835332daf26fa20791339cc0c54a387eca32f41") \
	ROW(Request, msg_request, "RIHS01_ecca1fd0e585d10900e0350bdc805a684e49e86ee115fa39bcc38e6c57757cd5") \
	ROW(Reply, msg_reply, "RIHS01_3d2c8df6d3a7f354d6dd3982ebd3ba74ebc693a4f7c1ee51ec21c7010b330da1") \
	ROW(BalanceState, msg_balance_state, \
	    "RIHS01_80d0c156c3caa516148d6bcf053f2861965ba1a671116fddc024b60332cea16a") \
	ROW(BalanceRef, msg_balance_ref, "RIHS01_11e81d8f6414309f23af94edb766b98405d2652857f56f1766d0ee7133140297") \
	ROW(MuxState, msg_mux_state, "RIHS01_4a9eed1604ee719932ada70e89b65c9677c2d3bd403c6a9f8e0e92a86f869e70") \
	ROW(Body, msg_body, "RIHS01_f90524f983c8a37a7f25999ee282a8ea7a0d377c7b43cf292c77b3105345434a") \
	ROW(BoardParam, msg_board_param, "RIHS01_d25022a1c9265b6488590039a02ab6cbca81e440604728fce054304afe4c53af") \
	ROW(DeviceInfo, msg_device_info, "RIHS01_4fe901db2072726322c03c612fd901fb87cfe597b2abe3048149592ee5809371")

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
	TYPE(trajectory_msgs, JointTrajectory,
	     "RIHS01_179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e")
	TYPE(visualization_msgs, MarkerArray, "RIHS01_86cb8800b6fb05b5eff1abd7a56f62a5641d3ae9a1c29e78e67e704f1d067dcf")
	OWN(EstopRaise, "RIHS01_36d1a8653841a3ea696199386a8996d422ba524b432f11bfbf12e1e158ad59a7")
	OWN(CanFrame, "RIHS01_ebd573b4cf8ed4187ec27d90589149244c97f5608a0bb7076398cd23194e6f64")
	OWN_MESSAGES(OWN_TYPE)
};
const size_t ros_types_n = sizeof(ros_types) / sizeof(*ros_types);

#define DIAGNOSTICS(msg) \
	{ msg##_number, ROS_DIAGNOSTICS, "diagnostic_msgs/msg/DiagnosticArray", "diagnostics", ros_put_diagnostics },

static const struct ros_map maps[] = {
	{ msg_joint_state_number, ROS_STANDARD, "sensor_msgs/msg/JointState", "joint_states", ros_put_joint_state },
	{ msg_imu_number, ROS_STANDARD, "sensor_msgs/msg/Imu", "imu", ros_put_imu },
	{ msg_imu_number, ROS_STANDARD, "sensor_msgs/msg/Temperature", "temperature", ros_put_temperature },
	{ msg_ft_number, ROS_STANDARD, "geometry_msgs/msg/WrenchStamped", "wrench", ros_put_wrench },
	{ msg_battery_number, ROS_STANDARD, "sensor_msgs/msg/BatteryState", "battery_state", ros_put_battery },
	{ msg_event_number, ROS_STANDARD, "rcl_interfaces/msg/Log", "rosout", ros_put_log },
	{ msg_balance_state_number, ROS_PICTURE, "visualization_msgs/msg/MarkerArray", "markers", ros_put_markers },
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
	OWN_MESSAGES(OWN_MAP)
};

/* clang-format on */

/* Is name the full one without its /msg? */
static bool is_short(const char *name, const char *full)
{
	static const char folder[] = "/msg";
	const size_t package = strcspn(name, "/"), len = strlen(folder);

	return !strncmp(full, name, package) && !strncmp(full + package, folder, len) &&
	       !strcmp(full + package + len, name + package);
}

const struct ros_type *ros_type_by_name(const char *name)
{
	for (size_t i = 0; i < ros_types_n; i++)
		if (!strcmp(ros_types[i].name, name) || is_short(name, ros_types[i].name))
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

size_t ros_encode_sound(const struct ros_map *map, const struct msg_type *type, const void *msg,
			const struct ros_context *c, void *cdr, size_t room)
{
	struct cdr_out o = cdr_out(cdr, room);

	map->encode(&o, type, msg, c);
	return o.len <= room ? o.len : 0;
}

size_t ros_encode(const struct ros_map *map, const void *msg, size_t len, const struct ros_context *c, void *cdr,
		  size_t room)
{
	const struct msg_type *type = msg_type_by_number(map->msg);
	uint64_t aligned[MSG_SIZE_MAX / sizeof(uint64_t)];

	if (msg_check(msg, len, type, NULL) != MSG_FINE)
		return 0;
	if ((uintptr_t)msg % sizeof(*aligned)) { /* from a file, say */
		memcpy(aligned, msg, len);
		msg = aligned;
	}
	return ros_encode_sound(map, type, msg, c, cdr, room);
}
