/* ros_can.c: frames of CAN buses as ROS messages.  Checked: covered. */
#include "channels/ros/ros_can.h"

#define OTHER_TYPE "can_msgs/msg/Frame" /* ros2_socketcan, ros_canopen: classic frames only */

static const char directions[] = { 0, 'R', 'T' }; /* DIRECTION_UNKNOWN, RECEIVED, SENT */

static uint8_t direction_number(char direction)
{
	return direction == 'R' ? 1 : direction == 'T' ? 2 : 0;
}

static uint32_t identifier(const struct canfd_frame *f)
{
	return f->can_id & (f->can_id & (CAN_EFF_FLAG | CAN_ERR_FLAG) ? CAN_EFF_MASK : CAN_SFF_MASK);
}

size_t ros_can_encode(const struct ros_can *can, uint8_t cdr[ROS_CAN_CDR_MAX])
{
	struct cdr_out o = cdr_out(cdr, ROS_CAN_CDR_MAX);
	const struct canfd_frame *f = &can->frame;
	const uint32_t n = f->can_id & CAN_RTR_FLAG ? 0 : f->len <= CANFD_MAX_DLEN ? f->len : CANFD_MAX_DLEN;
	const int64_t below = can->t_ns % NS_PER_S < 0;

	cdr_put_i32(&o, (int32_t)(can->t_ns / NS_PER_S - below));
	cdr_put_u32(&o, (uint32_t)(can->t_ns % NS_PER_S + below * NS_PER_S));
	cdr_put_string(&o, can->bus, sizeof(can->bus));
	cdr_put_u32(&o, identifier(f));
	cdr_put_u8(&o, f->can_id & CAN_EFF_FLAG ? 1 : 0);
	cdr_put_u8(&o, f->can_id & CAN_RTR_FLAG ? 1 : 0);
	cdr_put_u8(&o, f->can_id & CAN_ERR_FLAG ? 1 : 0);
	cdr_put_u8(&o, f->flags & CANFD_FDF ? 1 : 0);
	cdr_put_u8(&o, f->flags & CANFD_BRS ? 1 : 0);
	cdr_put_u8(&o, f->flags & CANFD_ESI ? 1 : 0);
	cdr_put_u8(&o, direction_number(can->direction));
	cdr_put_u8(&o, f->__res1);
	cdr_put_u8(&o, f->len);
	cdr_put_u32(&o, n);
	cdr_put(&o, f->data, 1, n);
	return o.len;
}

bool ros_can_known(const char *type_name)
{
	return !strcmp(type_name, ROS_CAN_TYPE) || !strcmp(type_name, OTHER_TYPE);
}

static void get_header(struct cdr_in *in, struct ros_can *can)
{
	const int32_t s = cdr_get_i32(in);
	const uint32_t ns = cdr_get_u32(in);
	size_t len;
	const char *bus = cdr_get_string(in, &len);

	can->t_ns = (int64_t)s * NS_PER_S + ns;
	memcpy(can->bus, bus, len < sizeof(can->bus) ? len : sizeof(can->bus) - 1);
}

static uint32_t flag(struct cdr_in *in, uint32_t bit)
{
	return cdr_get_u8(in) ? bit : 0;
}

static void get_own(struct cdr_in *in, struct ros_can *can)
{
	struct canfd_frame *f = &can->frame;
	uint8_t direction;
	uint32_t n;

	f->can_id = cdr_get_u32(in) & CAN_EFF_MASK;
	f->can_id |= flag(in, CAN_EFF_FLAG);
	f->can_id |= flag(in, CAN_RTR_FLAG);
	f->can_id |= flag(in, CAN_ERR_FLAG);
	f->flags |= (uint8_t)flag(in, CANFD_FDF);
	f->flags |= (uint8_t)flag(in, CANFD_BRS);
	f->flags |= (uint8_t)flag(in, CANFD_ESI);
	direction = cdr_get_u8(in);
	can->direction = direction < sizeof(directions) ? directions[direction] : 0;
	f->__res1 = cdr_get_u8(in);
	f->len = cdr_get_u8(in);
	n = cdr_get_length(in, 1);
	in->bad |= n != (f->can_id & CAN_RTR_FLAG ? 0 : f->len) || f->len > sizeof(f->data);
	cdr_get(in, f->data, 1, in->bad ? 0 : n);
}

static void get_other(struct cdr_in *in, struct ros_can *can)
{
	struct canfd_frame *f = &can->frame;

	f->can_id = cdr_get_u32(in) & CAN_EFF_MASK;
	f->can_id |= flag(in, CAN_RTR_FLAG);
	f->can_id |= flag(in, CAN_EFF_FLAG);
	f->can_id |= flag(in, CAN_ERR_FLAG);
	f->len = cdr_get_u8(in);
	if (f->len > CAN_MAX_DLEN) { /* a length code */
		f->__res1 = f->len < 16 ? f->len : 0;
		f->len = CAN_MAX_DLEN;
	}
	cdr_get(in, f->data, 1, CAN_MAX_DLEN);
	if (f->can_id & CAN_RTR_FLAG)
		memset(f->data, 0, CAN_MAX_DLEN);
	else
		memset(f->data + f->len, 0, (size_t)(CAN_MAX_DLEN - f->len));
}

int ros_can_decode(const char *type_name, const void *cdr, size_t len, struct ros_can *can)
{
	struct cdr_in in = cdr_in(cdr, len);

	memset(can, 0, sizeof(*can));
	get_header(&in, can);
	if (!strcmp(type_name, ROS_CAN_TYPE))
		get_own(&in, can);
	else
		get_other(&in, can);
	return in.bad ? -1 : 0;
}
