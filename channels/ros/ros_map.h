/* ros_map.h: Endplate messages as ROS 2 messages: one table for DDS, MCAP and the live server.
 *
 * A message has one or several mappings (struct ros_map):
 *
 *	ROS_STANDARD	a type that ROS users expect: joint-state is sensor_msgs/msg/JointState
 *	ROS_PICTURE	shapes for a 3D panel, for live views: a recording does not have them
 *	ROS_DIAGNOSTICS	diagnostic_msgs/msg/DiagnosticArray, of every state, of bus-stats and estop
 *	ROS_OWN		endplate_msgs/msg/..., which every message has: all its fields, under their own names and in
 *			their own units, lists by their counts, names as strings (ros_own.h); .msg and .idl are in
 *			endplate_msgs/
 *
 * Encoding:
 *
 *	for (const struct ros_map *map = ros_map_of(type->number, NULL); map; map = ros_map_of(type->number, map)) {
 *		uint8_t cdr[ROS_CDR_MAX];
 *		size_t len = ros_encode(map, msg, len_of_msg, &context, cdr, sizeof(cdr));
 *
 * All of this is pure: no I/O, no heap, no clock; ros_encode may be called from a loop.
 *
 * Conversions.  Every stamp is t_sample_ns (t_publish_ns if that is 0) plus wall_ns, the offset from CLOCK_MONOTONIC to
 * CLOCK_REALTIME that the caller measured.  Lists have the length that the message counts.
 *
 *	joint-state	JointState: name, position rad, velocity rad/s, NaN where not measured; a list of which no
 *			element was measured is empty; effort is always empty, since a current is not a torque
 *	imu		Imu: orientation w x y z becomes x y z w; if one of them is NaN it is 0 0 0 1 with
 *			orientation_covariance[0] = -1; other covariances 0: unknown.  Temperature: K becomes
 *			degrees C, variance 0
 *	force-torque	WrenchStamped: N, N m, the bias is subtracted already
 *	battery		BatteryState: voltage, current (negative discharges), percentage 0 to 1; K becomes degrees C;
 *			charge, capacity, design_capacity NaN; cell_voltage; status by the sign of current; health by
 *			the alarms (over-temperature 2, over-voltage 4, under-temperature 6, others 5, none 1)
 *	event		Log: severity 20 30 40 50, source is name, code is function
 *	balance-state	MarkerArray: wheels, base, torso, and the arms of the context, in one frame on the floor
 *			below the axle; stamps are 0, since they are to be shown as they come
 *	any state	DiagnosticArray: one status of the device, one more of each joint: 0 OK, 1 WARN, 2 ERROR,
 *			3 STALE
 *
 * and back, ros_decode, what may come from outside:
 *
 *	JointState		joint-ref: joints by name, position, or velocity if position is empty; joints that it
 *				does not name have mode none; effort alone, other names, or a number that is not
 *				finite: refused
 *	Float64MultiArray	joint-ref: positions of all joints, in the order of the context
 *	Twist			balance-ref: linear.x and angular.z; others than 0 are refused
 *	JointTrajectory		ros_trajectory.h: waypoints, for a motion
 *	String			estop: raises to level estop; the text is why
 *	EstopRaise		estop: raises to hold or estop
 *	ROS_OWN of the references gripper-ref, balance-ref, joint-ref
 *
 * A decoded reference has no validity, incarnation, sequence or stamp, and a decoded e-stop neither who nor what its
 * writer had seen: the caller sets them.  None of it can lower the e-stop.
 *
 * Offered to other folders:
 *	cdr.h ros_can.h ros_own.h ros_trajectory.h
 */
#pragma once

#include "channels/msg/msg.h"
#include "channels/ros/cdr.h"

#define ROS_CDR_MAX 65536    /* bytes of any encoded message, encapsulation included */
#define ROS_SCHEMA_MAX 16384 /* bytes of any schema text, its terminating zero included */
#define ROS_NAME_MAX 64	     /* bytes of the name of a type, its terminating zero included */
#define ROS_SCHEMA_ENCODING "ros2msg"
#define ROS_MESSAGE_ENCODING "cdr"

/* ---- types ---- */

struct ros_type {
	const char *name;     /* "sensor_msgs/msg/JointState" */
	const char *dds_name; /* "sensor_msgs::msg::dds_::JointState_" */
	const char *hash;     /* "RIHS01_" and 64 digits */
	const char *own;      /* endplate_msgs: the struct of channels/msg/types.h that it is printed from; else NULL */
};

extern const struct ros_type ros_types[];
extern const size_t ros_types_n;

const struct ros_type *ros_type_by_name(const char *name); /* also without /msg; NULL: not in the table */

/* The definition and those that it refers to, as ros2msg has them.  Returns the length. */
size_t ros_schema(const struct ros_type *type, char text[ROS_SCHEMA_MAX]);
/* One definition: "std_msgs/Header".  Returns the length, as snprintf does; 0: it is not known.  For tests. */
size_t ros_definition(const char *name, char *text, size_t size);

/* ---- from Endplate ---- */

enum ros_use { ROS_STANDARD, ROS_PICTURE, ROS_DIAGNOSTICS, ROS_OWN };

/* What a message does not say itself; all zero is fine. */
struct ros_context {
	const char *device;	   /* "waist": in diagnostics, and frame_id where that is NULL */
	const char *frame_id;	   /* of imu, force-torque, ... */
	const char *const *joints; /* names, in the order of the device: for messages that name none, and ros_decode */
	size_t joints_n;
	int64_t wall_ns;		       /* CLOCK_REALTIME less CLOCK_MONOTONIC */
	const struct msg_joint_state *arms[2]; /* left and right, for a picture; NULL: none is drawn */
};

struct ros_map {
	uint32_t msg; /* number of the Endplate type */
	enum ros_use use;
	const char *type_name;
	const char *topic; /* as ROS users expect it, without a slash: "joint_states"; NULL: that of the channel */
	void (*encode)(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
};

/* The first mapping of a type of message, then the next one after it: standard types, picture, diagnostics, its own;
 * NULL: there are no more. */
const struct ros_map *ros_map_of(uint32_t msg_type, const struct ros_map *after);
/* The one with that use (the first of several); NULL: none. */
const struct ros_map *ros_map_for(uint32_t msg_type, enum ros_use use);
const struct ros_type *ros_map_type(const struct ros_map *map);

/* Returns the length in bytes; 0: msg, len bytes, is not a sound message of the mapping's type, or room (ROS_CDR_MAX is
 * always enough) is too small. */
size_t ros_encode(const struct ros_map *map, const void *msg, size_t len, const struct ros_context *c, void *cdr,
		  size_t room);
/* The same of a message that is sound (msg_check), of the type of the mapping, and aligned as its struct. */
size_t ros_encode_sound(const struct ros_map *map, const struct msg_type *type, const void *msg,
			const struct ros_context *c, void *cdr, size_t room);

/* ---- to Endplate ---- */

/* May messages of that type become messages of type into? */
bool ros_decodes(const struct ros_type *type, const struct msg_type *into);

/* Fills msg, of type into: type, version, size and fields.  0, or -1 and one line in error. */
int ros_decode(const struct ros_type *type, const void *cdr, size_t len, const struct ros_context *c,
	       const struct msg_type *into, void *msg, char *error, size_t error_size);
