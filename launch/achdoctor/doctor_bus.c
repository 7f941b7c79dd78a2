/* doctor_bus.c: checks of the interface of a bus. */
#include "can/bus/bits.h"
#include "launch/achdoctor/doctor.h"

/* A program hands over two frames at a time unless in_flight of robot(5) says more; 64 frames take 8 ms at 1 Mbit/s,
 * more than a cycle of 5 ms. */
#define QUEUE_MAX 64
#define QUEUE_USUAL 10

/* ---- is it there, and which one is it? ---- */

static bool is_there(const struct doctor_bus *b, struct doctor_report *report)
{
	if (!b->err)
		return true;
	if (b->running) {
		doctor_add(report, DOCTOR_UNSEEN, "interface", "%s cannot be seen here; is it in another namespace?",
			   b->interface);
	} else if (b->err == -ENODEV) {
		doctor_add(report, DOCTOR_FAIL, "interface", "%s does not exist", b->interface);
		doctor_mend(report, "plug the adapter in; interfaces that exist: ip -br link show type can");
	} else if (b->err == -EAFNOSUPPORT) {
		doctor_add(report, DOCTOR_FAIL, "interface", "this kernel has no CAN");
		doctor_mend(report, "modprobe can_raw, or allow AF_CAN to this service or container");
	} else {
		doctor_add(report, DOCTOR_FAIL, "interface", "%.300s", b->why);
	}
	return false;
}

static bool is_kernel_name(const char *interface)
{
	return !strncmp(interface, "can", 3) && interface[3] &&
	       strspn(interface + 3, "0123456789") == strlen(interface + 3);
}

static void check_identity(const struct doctor_bus *b, struct doctor_report *report)
{
	if (!*b->device) {
		doctor_add(report, DOCTOR_UNSEEN, "identity", "its device cannot be seen in /sys");
		return;
	}
	if (b->named || !is_kernel_name(b->interface) || !b->others) {
		doctor_add(report, DOCTOR_OK, "identity", "device %s, channel %" PRId64 "%s", b->device, b->port,
			   b->named ? ", named by a rule" : "");
		return;
	}
	doctor_add(report, DOCTOR_WARN, "identity",
		   "device %s, channel %" PRId64 ": may swap names with another adapter", b->device, b->port);
	doctor_mend(report,
		    "/etc/udev/rules.d/70-can.rules: SUBSYSTEM==\"net\", KERNELS==\"%s\", ATTR{dev_port}==\"%" PRId64
		    "\", NAME=\"can-%.8s\"",
		    b->device, b->port, b->name);
}

/* ---- settings ---- */

/* The commands that bring it up as it should be. */
static void mend_link(const struct doctor_bus *b, struct doctor_report *report)
{
	char sample_point[32] = "", data[32] = "";

	if (b->want.sample_point_pm)
		snprintf(sample_point, sizeof(sample_point), " sample-point 0.%03" PRIu32, b->want.sample_point_pm);
	if (b->want.data_bitrate)
		snprintf(data, sizeof(data), " dbitrate %" PRIu32 " fd on", b->want.data_bitrate);
	if (!b->wanted)
		doctor_mend(report, "ip link set %s up type can bitrate ...", b->interface);
	else
		doctor_mend(report,
			    "ip link set %s down; ip link set %s up type can bitrate %" PRIu32
			    "%s%s restart-ms %" PRIu32,
			    b->interface, b->interface, b->want.bitrate, sample_point, data, b->want.restart_ms);
}

static void check_bitrate(const struct doctor_bus *b, struct doctor_report *report)
{
	const struct link_settings want = { .bitrate = b->want.bitrate,
					    .data_bitrate = b->want.data_bitrate,
					    .sample_point_pm = b->want.sample_point_pm,
					    .restart_ms = b->link.now.restart_ms };
	struct link_info info = b->link;
	char other[LINK_OTHER_MAX];

	info.modes = 0;
	if (!b->wanted)
		doctor_add(report, DOCTOR_SKIP, "bit rate", "%" PRIu32 "; no robot file to compare with",
			   info.now.bitrate);
	else if (!link_other(other, &info, &want))
		doctor_add(report, DOCTOR_OK, "bit rate", "%" PRIu32 ", sample point 0.%03" PRIu32, info.now.bitrate,
			   info.now.sample_point_pm);
	else
		doctor_add(report, DOCTOR_FAIL, "bit rate", "%s", other);
	mend_link(b, report);
}

static void check_restart(const struct doctor_bus *b, struct doctor_report *report)
{
	const uint32_t now = b->link.now.restart_ms, want = b->want.restart_ms;

	if (b->wanted && now != want && !now)
		doctor_add(report, b->links ? DOCTOR_WARN : DOCTOR_FAIL, "restart-ms",
			   "0, not %" PRIu32 ": it stays bus-off", want);
	else if (b->wanted && now != want && want)
		doctor_add(report, DOCTOR_WARN, "restart-ms", "%" PRIu32 ", not %" PRIu32, now, want);
	else if (b->wanted && now != want)
		doctor_add(report, DOCTOR_WARN, "restart-ms", "%" PRIu32 ", not 0: after bus-off it sends old frames",
			   now);
	else if (b->wanted && !now && !b->links)
		doctor_add(report, DOCTOR_WARN, "restart-ms", "0, and achstart does not reset it: it stays bus-off");
	else
		doctor_add(report, DOCTOR_OK, "restart-ms", "%" PRIu32 "%s", now,
			   now || !b->links ? "" : ", achstart resets it after bus-off");
	if (now == want)
		doctor_mend(report, "restart_ms: 100 of the bus in the robot file, or links: yes in the launch file");
	else
		mend_link(b, report);
}

static const struct {
	uint32_t mode;
	enum doctor_verdict verdict;
	const char *name, *does;
} modes[] = {
	{ LINK_LISTEN_ONLY, DOCTOR_FAIL, "listen-only", "it sends nothing" },
	{ LINK_LOOPBACK, DOCTOR_FAIL, "loopback", "it hears only itself" },
	{ LINK_ONE_SHOT, DOCTOR_WARN, "one-shot", "a frame that loses arbitration is lost" },
	{ LINK_PRESUME_ACK, DOCTOR_WARN, "presume-ack", "a frame counts as sent although no device is there" },
};

static void check_modes(const struct doctor_bus *b, struct doctor_report *report)
{
	if (!b->link.modes)
		doctor_add(report, DOCTOR_OK, "modes", "sends, acknowledges and repeats");
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (!(b->link.modes & modes[i].mode))
			continue;
		doctor_add(report, modes[i].verdict, "modes", "%s: %s", modes[i].name, modes[i].does);
		doctor_mend(report, "ip link set %s down; ip link set %s up type can %s off", b->interface,
			    b->interface, modes[i].name);
	}
}

/* achstart mends one that is down. */
static void check_virtual(const struct doctor_bus *b, struct doctor_report *report)
{
	const bool mended = b->links && !b->link.up;
	char other[LINK_OTHER_MAX];

	if (!b->wanted || mended || !link_other(other, &b->link, &b->want)) {
		doctor_add(report, DOCTOR_SKIP, "interface", "%s: virtual, without settings", b->link.kind);
		return;
	}
	doctor_add(report, DOCTOR_FAIL, "interface", "%s: %s", b->link.kind, other);
	doctor_mend(report, "ip link set %s down; ip link set %s mtu 72 up", b->interface, b->interface);
}

/* ---- its queue ---- */

/* Others are first in, first out. */
static const struct {
	const char *name, *does;
	enum doctor_verdict verdict;
} disciplines[] = {
	{ "fq_codel", "drops frames that have waited", DOCTOR_WARN },
	{ "codel", "drops frames that have waited", DOCTOR_WARN },
	{ "cake", "drops frames that have waited", DOCTOR_WARN },
	{ "fq_pie", "drops frames at random", DOCTOR_WARN },
	{ "pie", "drops frames at random", DOCTOR_WARN },
	{ "red", "drops frames at random", DOCTOR_WARN },
	{ "fq", "drops frames of a sender that has many", DOCTOR_WARN },
	{ "sfq", "drops frames of a sender that has many", DOCTOR_WARN },
	{ "hhf", "drops frames of a sender that has many", DOCTOR_WARN },
	{ "tbf", "holds frames back", DOCTOR_FAIL },
	{ "netem", "loses and delays frames; it is for tests", DOCTOR_FAIL },
};

static void check_queue(const struct doctor_bus *b, struct doctor_report *report)
{
	const char *name = b->link.queueing;
	const uint32_t frames = b->link.now.queue, rate = b->link.now.bitrate;

	for (size_t i = 0; i < sizeof(disciplines) / sizeof(*disciplines); i++)
		if (!strcmp(name, disciplines[i].name)) {
			doctor_add(report, disciplines[i].verdict, "queue", "%s %s", name, disciplines[i].does);
			doctor_mend(report, "tc qdisc replace dev %s root pfifo_fast", b->interface);
			return;
		}
	if (frames > QUEUE_MAX && rate)
		doctor_add(report, DOCTOR_WARN, "queue", "%" PRIu32 " frames: one may wait for %" PRIu64 " ms", frames,
			   (uint64_t)frames * bits_worst(false, false, 8) * 1000 / rate);
	else if (!frames)
		doctor_add(report, DOCTOR_WARN, "queue", "txqueuelen 0: the driver's own limit only");
	else
		doctor_add(report, DOCTOR_OK, "queue", "%s, %" PRIu32 " frames", *name ? name : "usual", frames);
	doctor_mend(report, "ip link set %s txqueuelen %d", b->interface, QUEUE_USUAL);
}

static void check_echo(const struct doctor_bus *b, struct doctor_report *report)
{
	doctor_add(report, b->link.echo ? DOCTOR_OK : DOCTOR_WARN, "echo",
		   b->link.echo ? "confirms that a frame was sent" : "does not confirm frames: a stall is not noticed");
	doctor_mend(report, "use an adapter whose driver echoes frames (IFF_ECHO)");
}

/* ---- now ---- */

static void check_state(const struct doctor_bus *b, struct doctor_report *report)
{
	const struct link_info *link = &b->link;
	const enum doctor_verdict verdict = link->state == BUS_ERROR_ACTIVE ? DOCTOR_OK
					    : link->state == BUS_WARNING    ? DOCTOR_WARN
									    : DOCTOR_FAIL;

	doctor_add(report, verdict, "state", "%s, errors %u sent, %u received; bus-off %" PRIu32 " times",
		   bus_state_name(link->state), link->tx_errors, link->rx_errors, link->bus_offs);
	if (link->state == BUS_OFF)
		doctor_mend(report, "check wiring and bit rate; ip link set %s type can restart", b->interface);
	else
		doctor_mend(report, "check termination, wiring, power of the devices and bit rate");
}

static void check_down(const struct doctor_bus *b, struct doctor_report *report)
{
	if (b->links) {
		doctor_add(report, DOCTOR_OK, "state", "down; achstart sets it and brings it up");
		return;
	}
	doctor_add(report, DOCTOR_FAIL, "state", "%s is down", b->interface);
	if (b->link.virtual)
		doctor_mend(report, "ip link set %s up", b->interface);
	else
		mend_link(b, report);
}

void doctor_bus(const struct doctor_bus *b, struct doctor_report *report)
{
	const bool soft = strchr(b->interface, ':');

	doctor_part(report, "bus %s, %s", b->name, b->interface);
	if (soft) {
		doctor_add(report, DOCTOR_SKIP, "interface", "%s: there is no interface to examine",
			   strncmp(b->interface, "wire:", 5) ? "a log" : "a soft wire");
		return;
	}
	if (!is_there(b, report))
		return;
	if (b->link.virtual) {
		check_virtual(b, report);
	} else {
		check_identity(b, report);
		check_modes(b, report);
	}
	if (!b->link.up) {
		check_down(b, report);
		return;
	}
	if (b->link.virtual)
		return;
	check_bitrate(b, report);
	check_restart(b, report);
	check_queue(b, report);
	check_echo(b, report);
	check_state(b, report);
}
