/* link.c: from a name to its back end; comparison with the settings wanted. */
#include <linux/can.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "can/bus/bus_interface.h"
#include "can/bus/link.h"

/* ---- which back end ---- */

/* NULL with a line in errors: there is none. */
static const struct link_ops *ops_of(const char *name, struct error_sink *errors)
{
	if (!strncmp(name, "log:", 4)) {
		error_add(errors, "%s: a log has no link; say an interface such as can0", name);
		return NULL;
	}
	return strncmp(name, "wire:", 5) ? &link_socketcan_ops : &link_wire_ops;
}

static bool is_interface(const char *name)
{
	return ops_of(name, &(struct error_sink){ 0 }) == &link_socketcan_ops;
}

int link_query(const char *name, struct link_info *info, struct error_sink *errors)
{
	const struct link_ops *ops = ops_of(name, errors);

	memset(info, 0, sizeof(*info));
	return ops ? ops->query(name, info, errors) : -EINVAL;
}

bool link_kind_is_virtual(const char *kind)
{
	return !strcmp(kind, "vcan") || !strcmp(kind, "vxcan") || !strcmp(kind, "wire");
}

bool link_may_reset(const char *name)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (!is_interface(name))
		return true;
	return !syscall(SYS_capget, &header, caps) && caps[0].effective >> CAP_NET_ADMIN & 1;
}

bool link_is_virtual(const char *name)
{
	struct bus_interface link;
	unsigned int index;

	if (!is_interface(name))
		return !strncmp(name, "wire:", 5);
	index = if_nametoindex(name);
	return index && !bus_interface_query(&link, (int)index) && link_kind_is_virtual(link.kind);
}

bool link_is_classic(const char *name, struct error_sink *errors)
{
	const unsigned int index = is_interface(name) ? if_nametoindex(name) : 0;
	struct bus_interface link;

	if (!index || bus_interface_query(&link, (int)index) || !(link.flags & IFF_UP) || link.mtu != CAN_MTU)
		return false;
	error_add(errors, "%s carries no CAN FD frame, its mtu is %u: ip link set %s down; ip link set %s %s", name,
		  (unsigned int)CAN_MTU, name, name,
		  bus_interface_has_controller(&link) ? "up type can bitrate 1000000 dbitrate 5000000 fd on"
						      : "mtu 72 up");
	return true;
}

int link_up(const char *name, const struct link_settings *want, struct error_sink *errors)
{
	const struct link_ops *ops = ops_of(name, errors);

	return ops ? ops->up(name, want, errors) : -EINVAL;
}

int link_reset(const char *name, struct error_sink *errors)
{
	const struct link_ops *ops = ops_of(name, errors);

	return ops ? ops->reset(name, errors) : -EINVAL;
}

/* ---- is it right? ---- */

static const struct {
	uint32_t mode;
	const char *name;
} modes[] = {
	{ LINK_LISTEN_ONLY, "listen-only" },
	{ LINK_LOOPBACK, "loopback" },
	{ LINK_ONE_SHOT, "one-shot" },
	{ LINK_PRESUME_ACK, "presume-ack" },
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static bool sample_point_right(const struct link_info *info, uint32_t want_pm)
{
	uint32_t quantum_pm = info->quanta ? (1000 + info->quanta - 1) / info->quanta : 0;

	return !want_pm || distance(info->now.sample_point_pm, want_pm) <= quantum_pm;
}

static const char *between(const struct text_out *o)
{
	return o->len ? "; " : "";
}

bool link_other(char text[LINK_OTHER_MAX], const struct link_info *info, const struct link_settings *want)
{
	const struct link_settings *now = &info->now;
	struct text_out o = text_out(text, LINK_OTHER_MAX);

	if (info->virtual) {
		if (want->data_bitrate && info->classic)
			text_add(&o, "%smtu 16, not 72: it carries no CAN FD frame", between(&o));
		return o.len;
	}
	if ((uint64_t)distance(now->bitrate, want->bitrate) * 200 > want->bitrate)
		text_add(&o, "%sbit rate %" PRIu32 ", not %" PRIu32, between(&o), now->bitrate, want->bitrate);
	if (want->data_bitrate && !now->data_bitrate)
		text_add(&o, "%sclassic CAN, not a data bit rate of %" PRIu32, between(&o), want->data_bitrate);
	else if (want->data_bitrate &&
		 (uint64_t)distance(now->data_bitrate, want->data_bitrate) * 200 > want->data_bitrate)
		text_add(&o, "%sdata bit rate %" PRIu32 ", not %" PRIu32, between(&o), now->data_bitrate,
			 want->data_bitrate);
	if (!sample_point_right(info, want->sample_point_pm))
		text_add(&o, "%ssample point 0.%03" PRIu32 ", not 0.%03" PRIu32, between(&o), now->sample_point_pm,
			 want->sample_point_pm);
	if (now->restart_ms != want->restart_ms)
		text_add(&o, "%srestart-ms %" PRIu32 ", not %" PRIu32, between(&o), now->restart_ms, want->restart_ms);
	for (size_t i = 0; i < MODES; i++)
		if (info->modes & modes[i].mode)
			text_add(&o, "%s%s", between(&o), modes[i].name);
	if (want->queue && now->queue != want->queue)
		text_add(&o, "%stxqueuelen %" PRIu32 ", not %" PRIu32, between(&o), now->queue, want->queue);
	return o.len;
}
