/* ros_schema.c: the definitions of messages, as ros2msg has them.  Checked: covered. */
#include "channels/ros/ros_own.h"

/* clang-format off */
static const struct {
	const char *name, *text;
} definitions[] = {
	{ "builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n" },
	{ "builtin_interfaces/Duration", "int32 sec\nuint32 nanosec\n" },
	{ "std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n" },
	{ "std_msgs/String", "string data\n" },
	{ "std_msgs/MultiArrayDimension", "string label\nuint32 size\nuint32 stride\n" },
	{ "std_msgs/MultiArrayLayout", "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset\n" },
	{ "std_msgs/Float64MultiArray", "std_msgs/MultiArrayLayout layout\nfloat64[] data\n" },
	{ "std_msgs/ColorRGBA", "float32 r\nfloat32 g\nfloat32 b\nfloat32 a\n" },
	{ "geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n" },
	{ "geometry_msgs/Pose", "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n" },
	{ "geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n" },
	{ "geometry_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n" },
	{ "geometry_msgs/Twist", "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n" },
	{ "geometry_msgs/Wrench", "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque\n" },
	{ "geometry_msgs/WrenchStamped", "std_msgs/Header header\ngeometry_msgs/Wrench wrench\n" },
	{ "sensor_msgs/JointState", "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
				    "float64[] effort\n" },
	{ "sensor_msgs/Imu", "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\n"
			     "float64[9] orientation_covariance\ngeometry_msgs/Vector3 angular_velocity\n"
			     "float64[9] angular_velocity_covariance\ngeometry_msgs/Vector3 linear_acceleration\n"
			     "float64[9] linear_acceleration_covariance\n" },
	{ "sensor_msgs/Temperature", "std_msgs/Header header\nfloat64 temperature\nfloat64 variance\n" },
	{ "sensor_msgs/BatteryState",
	  "uint8 POWER_SUPPLY_STATUS_UNKNOWN=0\nuint8 POWER_SUPPLY_STATUS_CHARGING=1\n"
	  "uint8 POWER_SUPPLY_STATUS_DISCHARGING=2\nuint8 POWER_SUPPLY_STATUS_NOT_CHARGING=3\n"
	  "uint8 POWER_SUPPLY_STATUS_FULL=4\n"
	  "uint8 POWER_SUPPLY_HEALTH_UNKNOWN=0\nuint8 POWER_SUPPLY_HEALTH_GOOD=1\n"
	  "uint8 POWER_SUPPLY_HEALTH_OVERHEAT=2\nuint8 POWER_SUPPLY_HEALTH_DEAD=3\n"
	  "uint8 POWER_SUPPLY_HEALTH_OVERVOLTAGE=4\nuint8 POWER_SUPPLY_HEALTH_UNSPEC_FAILURE=5\n"
	  "uint8 POWER_SUPPLY_HEALTH_COLD=6\n"
	  "std_msgs/Header header\nfloat32 voltage\nfloat32 temperature\nfloat32 current\nfloat32 charge\n"
	  "float32 capacity\nfloat32 design_capacity\nfloat32 percentage\nuint8 power_supply_status\n"
	  "uint8 power_supply_health\nuint8 power_supply_technology\nbool present\nfloat32[] cell_voltage\n"
	  "float32[] cell_temperature\nstring location\nstring serial_number\n" },
	{ "sensor_msgs/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data\n" },
	{ "trajectory_msgs/JointTrajectoryPoint",
	  "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
	  "builtin_interfaces/Duration time_from_start\n" },
	{ "trajectory_msgs/JointTrajectory", "std_msgs/Header header\nstring[] joint_names\n"
					     "trajectory_msgs/JointTrajectoryPoint[] points\n" },
	{ "visualization_msgs/UVCoordinate", "float32 u\nfloat32 v\n" },
	{ "visualization_msgs/MeshFile", "string filename\nuint8[] data\n" },
	{ "visualization_msgs/Marker",
	  "int32 ARROW=0\nint32 CUBE=1\nint32 SPHERE=2\nint32 CYLINDER=3\nint32 TEXT_VIEW_FACING=9\n"
	  "int32 ADD=0\nint32 DELETE=2\nint32 DELETEALL=3\n"
	  "std_msgs/Header header\nstring ns\nint32 id\nint32 type\nint32 action\ngeometry_msgs/Pose pose\n"
	  "geometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA color\nbuiltin_interfaces/Duration lifetime\n"
	  "bool frame_locked\ngeometry_msgs/Point[] points\nstd_msgs/ColorRGBA[] colors\n"
	  "string texture_resource\nsensor_msgs/CompressedImage texture\n"
	  "visualization_msgs/UVCoordinate[] uv_coordinates\nstring text\nstring mesh_resource\n"
	  "visualization_msgs/MeshFile mesh_file\nbool mesh_use_embedded_materials\n" },
	{ "visualization_msgs/MarkerArray", "visualization_msgs/Marker[] markers\n" },
	{ "diagnostic_msgs/KeyValue", "string key\nstring value\n" },
	{ "diagnostic_msgs/DiagnosticStatus",
	  "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring message\n"
	  "string hardware_id\ndiagnostic_msgs/KeyValue[] values\n" },
	{ "diagnostic_msgs/DiagnosticArray",
	  "std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status\n" },
	{ "rcl_interfaces/Log", "byte DEBUG=10\nbyte INFO=20\nbyte WARN=30\nbyte ERROR=40\nbyte FATAL=50\n"
				"builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\n"
				"string function\nuint32 line\n" },
	/* Not messages of channels/msg/types.h. */
	{ ROS_OWN_PACKAGE "/EstopRaise", "uint32 LEVEL_HOLD=1\nuint32 LEVEL_ESTOP=2\nuint32 level\nstring<=119 why\n" },
	{ ROS_OWN_PACKAGE "/CanFrame",
	  "std_msgs/Header header # stamp: when it was received or sent; frame_id: the bus\n"
	  "uint32 id\nbool is_extended # 29 bits\nbool is_rtr\nbool is_error # an error frame, id has its class\n"
	  "bool is_fd\nbool is_brs\nbool is_esi\n"
	  "uint8 DIRECTION_UNKNOWN=0\nuint8 DIRECTION_RECEIVED=1\nuint8 DIRECTION_SENT=2\nuint8 direction\n"
	  "uint8 length_code # above 8 in a classic frame, else 0\n"
	  "uint8 length # also of a remote frame, which has no data\n"
	  "uint8[<=64] data\n" },
};
/* clang-format on */

size_t ros_definition(const char *name, char *text, size_t size)
{
	char own[sizeof(ROS_OWN_PACKAGE) + ROS_OWN_NAME_MAX];

	for (size_t i = 0; i < sizeof(definitions) / sizeof(*definitions); i++)
		if (!strcmp(definitions[i].name, name))
			return (size_t)snprintf(text, size, "%s", definitions[i].text);
	for (size_t i = 0; i < msg_structs_n; i++) {
		char last[ROS_OWN_NAME_MAX];

		snprintf(own, sizeof(own), ROS_OWN_PACKAGE "/%s", ros_own_name(last, msg_structs[i].group));
		if (!strcmp(own, name))
			return ros_own_msg(text, size, msg_structs[i].group);
	}
	return 0;
}

/* "sensor_msgs/msg/JointState" without msg.  Returns name. */
static const char *plain_name(char name[ROS_NAME_MAX], const char *full)
{
	const char *slash = strchr(full, '/');

	snprintf(name, ROS_NAME_MAX, "%.*s%s", (int)(slash - full), full, strrchr(full, '/'));
	return name;
}

/* Is the definition in the text already, or in its main one? */
static bool has(const char *text, const char *main_name, const char *name)
{
	char line[ROS_NAME_MAX + 8];

	snprintf(line, sizeof(line), "\nMSG: %s\n", name);
	return !strcmp(main_name, name) || strstr(text, line);
}

size_t ros_schema(const struct ros_type *type, char text[ROS_SCHEMA_MAX])
{
	static const char line[] = "================================================================================\n";
	char main_name[ROS_NAME_MAX], name[ROS_NAME_MAX];
	size_t len = ros_definition(plain_name(main_name, type->name), text, ROS_SCHEMA_MAX);

	/* The definitions that follow are read in their turn. */
	for (const char *at = text; *at && len < ROS_SCHEMA_MAX; at += strcspn(at, "\n") + 1) {
		const size_t n = strcspn(at, " [\n");

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		if (!strchr(name, '/') || has(text, main_name, name))
			continue;
		len += (size_t)snprintf(text + len, ROS_SCHEMA_MAX - len, "%sMSG: %s\n", line, name);
		if (len < ROS_SCHEMA_MAX)
			len += ros_definition(name, text + len, ROS_SCHEMA_MAX - len);
	}
	return len;
}
