/* rig_wire.c: of rig.h: the waist, its controller, and an ear on the wire. */
#include <math.h>
#include <string.h>

#include "unity.h"

#include "can/bus/bus.h"
#include "channels/clock/clock.h"
#include "channels/port/port.h"
#include "test/launch/achstart/rig.h"

/* hw-docs/devices/powercube.md: 0EF commands module 15, 100 all of them. */
#define ID_TELL 0x0EF
#define ID_ALL 0x100
#define RESET 0x00
#define HOME 0x01
#define HALT 0x02
#define FEED 0x07
#define GAP_NS 25000000 /* half of module_watchdog */

#define LOW (-2.4)
#define HIGH (-0.5)
#define EVERY_NS 4000000
#define VALID_NS 20000000

struct rig_heard rig_heard;
static struct bus *ear;
static ach_channel_t state_chan, ref_chan;
static bool state_open, ref_open;
static double drive_rad_s;
static int64_t ref_ns, feed_ns;
static bool reset_due;
void rig_wire_forget(void);
void rig_wire_turn(void);

/* ---- the waist ---- */

static bool open_channel(ach_channel_t *chan, bool *open, const char *channel)
{
	char name[PORT_NAME_MAX];
	int unlinked = 0;

	if (*open && (ach_unlinked(chan, &unlinked) != ACH_OK || unlinked)) {
		ach_close(chan);
		*open = false;
	}
	if (!*open && !port_name(name, channel))
		*open = ach_open(chan, name, NULL) == ACH_OK;
	return *open;
}

struct msg_joint_state rig_waist(void)
{
	static struct msg_joint_state state;
	size_t len;

	if (!open_channel(&state_chan, &state_open, "waist-state"))
		memset(&state, 0, sizeof(state));
	else
		ach_get(&state_chan, &state, sizeof(state), &len, NULL, ACH_O_LAST);
	return state;
}

void rig_drive(double rad_s)
{
	drive_rad_s = rad_s;
}

static void refer(int64_t now_ns)
{
	const struct msg_joint_state state = rig_waist();
	struct msg_joint_ref ref;

	if (now_ns < ref_ns + EVERY_NS || !state.count || !open_channel(&ref_chan, &ref_open, "waist-ref"))
		return;
	ref_ns = now_ns;
	if (state.position[0] < LOW)
		drive_rad_s = fabs(drive_rad_s);
	else if (state.position[0] > HIGH)
		drive_rad_s = -fabs(drive_rad_s);
	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.count = 1;
	ref.mode[0] = MSG_MODE_VELOCITY;
	ref.velocity[0] = drive_rad_s;
	ref.header.for_incarnation = state.header.incarnation;
	ref.header.t_publish_ns = now_ns;
	ref.header.valid_until_ns = now_ns + VALID_NS;
	ach_put(&ref_chan, &ref, sizeof(ref));
}

/* ---- the wire ---- */

void rig_listen(void)
{
	static const struct bus_filter filters[] = { { 0x0E0, 0x7E0 }, { ID_ALL, 0x7FF } };
	const struct bus_options options = { .filters = filters, .filters_n = 2, .later = true };
	struct error_sink errors = { error_to_stderr, NULL, 0 };

	memset(&rig_heard, 0, sizeof(rig_heard));
	feed_ns = 0;
	reset_due = true; /* it comes up at estop, halted */
	TEST_ASSERT_EQUAL(0, bus_open(&ear, "wire:torso@ear", &options, &errors));
}

void rig_excuse(void)
{
	reset_due = true;
}

static void hear(const struct bus_frame *got)
{
	const struct frame *frame = &got->frame;

	if (frame->id & FRAME_ERR || !frame->len)
		return;
	if (frame->id == ID_ALL && frame->data[0] == FEED) {
		reset_due |= feed_ns && got->t_ns - feed_ns > GAP_NS;
		feed_ns = got->t_ns;
	} else if (frame->data[0] == HALT) {
		reset_due = true;
	} else if (frame->id == ID_TELL && frame->data[0] == HOME) {
		rig_heard.homes++;
	} else if (frame->id == ID_TELL && frame->data[0] == RESET && frame->len == 1) {
		/* The frames that fed it lie before this one, so a gap up to here counts as well. */
		reset_due |= feed_ns && got->t_ns - feed_ns > GAP_NS;
		rig_heard.resets++;
		rig_heard.undue += !reset_due;
		reset_due = false;
	}
}

void rig_wire_turn(void)
{
	struct bus_frame got[32];
	int n;

	while (ear && (n = bus_receive(ear, got, 32)) > 0)
		for (int i = 0; i < n; i++)
			hear(&got[i]);
	if (drive_rad_s != 0)
		refer(clock_now_ns());
}

void rig_wire_forget(void)
{
	bus_close(ear);
	ear = NULL;
	drive_rad_s = 0;
	if (state_open)
		ach_close(&state_chan);
	if (ref_open)
		ach_close(&ref_chan);
	state_open = ref_open = false;
}
