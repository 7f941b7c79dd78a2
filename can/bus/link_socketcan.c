/* link_socketcan.c: the links of SocketCAN, read and changed through netlink. */
#include <linux/can.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "can/bus/bus_interface.h"
#include "can/bus/link.h"

/* ---- reading ---- */

/* The interface's index, or -errno with a line. */
static int find(const char *name, struct error_sink *errors)
{
	const char *wrong = bus_interface_name_wrong(name);
	char quoted[TEXT_QUOTED_MAX];
	int s, index;

	if (wrong)
		return error_refuse(errors, -EINVAL, "%s is not a link: %s", text_quote(quoted, name), wrong);
	s = socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);
	index = s < 0 ? -errno : bus_interface_index(s, name);
	if (s >= 0)
		close(s);
	if (index == -EPROTONOSUPPORT)
		index = -EAFNOSUPPORT;
	if (index < 0)
		bus_interface_explain(name, index, errors);
	return index;
}

static int query(const char *name, struct link_info *info, struct error_sink *errors)
{
	struct bus_interface link;
	int index = find(name, errors), err;

	if (index < 0)
		return index;
	err = bus_interface_query(&link, index);
	if (err)
		return error_refuse(errors, err, "%s: unable to ask the kernel about it: %s", name, strerror(-err));
	*info = (struct link_info){
		.up = link.flags & IFF_UP,
		.state = link.flags & IFF_UP ? link.state : BUS_STOPPED,
		.virtual = !bus_interface_has_controller(&link),
		.classic = link.mtu == CAN_MTU,
		.now = { .bitrate = link.timing.bitrate,
			 .data_bitrate = link.mode.flags & CAN_CTRLMODE_FD ? link.data_timing.bitrate : 0,
			 .sample_point_pm = link.timing.sample_point,
			 .restart_ms = link.restart_ms,
			 .queue = link.queue },
		.modes = link.mode.flags & LINK_MODES,
		.clock_hz = link.clock.freq,
		.tx_errors = link.counters.txerr,
		.rx_errors = link.counters.rxerr,
		.bus_offs = link.stats.bus_off,
		.restarts = link.stats.restarts,
	};
	if (link.timing.bitrate)
		info->quanta = 1 + link.timing.prop_seg + link.timing.phase_seg1 + link.timing.phase_seg2;
	info->echo = bus_interface_confirms(&link);
	memcpy(info->kind, link.kind, sizeof(info->kind));
	memcpy(info->queueing, link.queueing, sizeof(info->queueing));
	return 0;
}

/* ---- changing ---- */

static int refuse(const char *name, const char *what, int err, struct error_sink *errors)
{
	if (err == -EPERM || err == -EACCES)
		return error_refuse(
			errors, -EPERM,
			"%s: not allowed to %s: it takes the capability CAP_NET_ADMIN; run it as root, or by a service "
			"with AmbientCapabilities=CAP_NET_ADMIN",
			name, what);
	return error_refuse(errors, err, "%s: unable to %s: %s", name, what, strerror(-err));
}

static int turn(const char *name, bool up, struct error_sink *errors)
{
	const int err = bus_interface_set_up(name, up);

	if (!err)
		return 0;
	if (up && err == -EINVAL)
		return error_refuse(errors, err,
				    "%s: it has no bit rate yet: ip link set %s up type can bitrate 1000000", name,
				    name);
	return refuse(name, up ? "bring it up" : "take it down", err, errors);
}

static int set_bitrate(const char *name, const struct link_info *info, const struct link_settings *want,
		       struct error_sink *errors)
{
	const struct can_bittiming nominal = { .bitrate = want->bitrate, .sample_point = want->sample_point_pm };
	const struct can_bittiming fast = { .bitrate = want->data_bitrate };
	const struct can_ctrlmode fd = { .mask = CAN_CTRLMODE_FD, .flags = CAN_CTRLMODE_FD };
	const struct bus_interface_attribute attributes[] = { { IFLA_CAN_BITTIMING, &nominal, sizeof(nominal) },
							      { IFLA_CAN_DATA_BITTIMING, &fast, sizeof(fast) },
							      { IFLA_CAN_CTRLMODE, &fd, sizeof(fd) } };
	const int err = bus_interface_set(name, attributes, want->data_bitrate ? 3 : 1);
	char sample_point[48] = "", data[48] = "";

	if (err == -EOPNOTSUPP && want->data_bitrate)
		return error_refuse(errors, -ERANGE,
				    "%s: its controller has no CAN FD: take data_bitrate out of the robot file", name);
	if (err != -EINVAL && err != -EDOM && err != -ERANGE)
		return err ? refuse(name, "set its bit rate", err, errors) : 0;
	if (want->sample_point_pm)
		snprintf(sample_point, sizeof(sample_point), " with a sample point of 0.%03" PRIu32,
			 want->sample_point_pm);
	if (want->data_bitrate)
		snprintf(data, sizeof(data), " and data at %" PRIu32 " bit/s", want->data_bitrate);
	return error_refuse(errors, -ERANGE,
			    "%s: its controller, with a clock of %" PRIu32 " Hz, cannot do %" PRIu32
			    " bit/s%s%s; ip -details link show %s shows what it can",
			    name, info->clock_hz, want->bitrate, sample_point, data, name);
}

/* While it is down. */
static int set_controller(const char *name, const struct link_info *info, const struct link_settings *want,
			  struct error_sink *errors)
{
	const struct can_ctrlmode usual = { .mask = LINK_MODES };
	const struct bus_interface_attribute mode = { IFLA_CAN_CTRLMODE, &usual, sizeof(usual) };
	const struct bus_interface_attribute restart = { IFLA_CAN_RESTART_MS, &want->restart_ms,
							 sizeof(want->restart_ms) };
	int err = set_bitrate(name, info, want, errors);

	if (err)
		return err;
	err = info->modes ? bus_interface_set(name, &mode, 1) : 0;
	if (err)
		return refuse(name, "make its controller send as usual", err, errors);
	err = info->now.restart_ms != want->restart_ms ? bus_interface_set(name, &restart, 1) : 0;
	if (err)
		return refuse(name, "set its restart-ms", err, errors);
	err = want->queue && want->queue != info->now.queue ? bus_interface_set_queue(name, want->queue) : 0;
	return err ? refuse(name, "set the length of its queue", err, errors) : 0;
}

static int check(const char *name, const struct link_settings *want, struct error_sink *errors)
{
	if (!want->bitrate)
		error_add(errors, "%s: which bit rate? 1000000, say", name);
	else if (want->sample_point_pm >= 1000)
		error_add(errors, "%s: a sample point is a part of the bit, 0.875 say, and below 1", name);
	else
		return 0;
	return -EINVAL;
}

/* Another user brought it up with other values and may be using it. */
static int busy(const char *name, const char *others, bool queue_only, const struct link_settings *want,
		struct error_sink *errors)
{
	if (queue_only)
		error_add(errors, "%s is up with %s; set it: ip link set %s txqueuelen %" PRIu32, name, others, name,
			  want->queue);
	else
		error_add(errors, "%s is up with %s; take it down first: ip link set %s down", name, others, name);
	return -EBUSY;
}

static int up_controller(const char *name, const struct link_info *info, const struct link_settings *want,
			 struct error_sink *errors)
{
	struct link_settings but_queue = *want;
	char others[LINK_OTHER_MAX], rest[LINK_OTHER_MAX];
	struct link_info after;
	int err = check(name, want, errors);

	if (err)
		return err;
	but_queue.queue = 0;
	if (info->up)
		return link_other(others, info, want)
			       ? busy(name, others, !link_other(rest, info, &but_queue), want, errors)
			       : 0;
	err = set_controller(name, info, want, errors);
	if (!err)
		err = turn(name, true, errors);
	if (!err)
		err = query(name, &after, errors);
	if (err || !link_other(others, &after, want))
		return err;
	turn(name, false, errors);
	return error_refuse(errors, -ERANGE, "%s: its controller cannot do what is asked: it came up with %s", name,
			    others);
}

static int up_virtual(const char *name, const struct link_info *info, const struct link_settings *want,
		      struct error_sink *errors)
{
	char others[LINK_OTHER_MAX];
	const bool other = link_other(others, info, want);
	int err = 0;

	if (info->up && other)
		return error_refuse(errors, -EBUSY,
				    "%s is up with %s; set it: ip link set %s down; ip link set %s mtu 72 up", name,
				    others, name, name);
	if (info->up)
		return 0;
	if (other)
		err = bus_interface_set_mtu(name, CANFD_MTU);
	return err ? refuse(name, "set its mtu", err, errors) : turn(name, true, errors);
}

static int up(const char *name, const struct link_settings *want, struct error_sink *errors)
{
	struct link_info info;
	int err = query(name, &info, errors);

	if (err)
		return err;
	return (info.virtual ? up_virtual : up_controller)(name, &info, want, errors);
}

static int reset(const char *name, struct error_sink *errors)
{
	struct link_info info;
	int err = query(name, &info, errors);

	if (!err && info.up)
		err = turn(name, false, errors);
	return err ? err : turn(name, true, errors);
}

const struct link_ops link_socketcan_ops = { .query = query, .up = up, .reset = reset };
