/* fuzz_cdr.c: what comes from a DDS domain or a file: CDR that becomes references, raises, messages and frames.
 *
 * The first byte chooses the type.  Whatever is accepted is sound: finite, within its counts, and never a lowering.
 * Longest: 2000 bytes.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ros/ros_can.h"
#include "channels/ros/ros_own.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t image[MSG_SIZE_MAX / sizeof(uint64_t)];

static void check_joints(const struct msg_joint_ref *ref)
{
	assert(ref->count <= MSG_JOINTS);
	for (uint32_t i = 0; i < ref->count; i++)
		assert(isfinite(ref->position[i]) && isfinite(ref->velocity[i]));
}

static void try_decode(unsigned int which, const uint8_t *cdr, size_t len)
{
	static const uint32_t into[] = { msg_joint_ref_number, msg_balance_ref_number, msg_gripper_ref_number,
					 msg_estop_number };
	static const char *const joints[] = { "15", "16", "neck" };
	const struct ros_context context = { .device = "waist", .joints = joints, .joints_n = 3 };
	const struct ros_type *type = &ros_types[which % ros_types_n];
	char error[120];

	for (size_t i = 0; i < sizeof(into) / sizeof(*into); i++) {
		const struct msg_type *to = msg_type_by_number(into[i]);

		if (ros_decode(type, cdr, len, &context, to, image, error, sizeof(error)))
			continue;
		assert(msg_check(image, to->body->size, to, NULL) == MSG_FINE);
		if (into[i] == msg_joint_ref_number)
			check_joints((const struct msg_joint_ref *)image);
		if (into[i] == msg_estop_number)
			assert(((const struct msg_estop *)image)->kind == MSG_ESTOP_RAISE &&
			       ((const struct msg_estop *)image)->level > MSG_LEVEL_RUN);
	}
}

static void try_own(unsigned int which, const uint8_t *cdr, size_t len)
{
	const struct msg_type *type = &msg_types[which % msg_types_n];

	if (!ros_own_decode(cdr, len, type, which & 1 ? ROS_UNUSED_ZERO : ROS_UNUSED_UNKNOWN, image))
		assert(msg_check(image, type->body->size, type, NULL) == MSG_FINE);
}

static void try_frame(unsigned int which, const uint8_t *cdr, size_t len)
{
	struct ros_can can;

	if (!ros_can_decode(which & 1 ? ROS_CAN_TYPE : "can_msgs/msg/Frame", cdr, len, &can))
		assert(can.frame.len <= CANFD_MAX_DLEN && memchr(can.bus, 0, sizeof(can.bus)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *cdr;

	if (!size)
		return 0;
	cdr = malloc(size - 1); /* ends where the message does */
	memcpy(cdr, data + 1, size - 1);
	switch (data[0] & 3) {
	case 0:
	case 1:
		try_decode(data[0] >> 1, cdr, size - 1);
		break;
	case 2:
		try_own(data[0] >> 2, cdr, size - 1);
		break;
	default:
		try_frame(data[0] >> 2, cdr, size - 1);
	}
	free(cdr);
	return 0;
}
