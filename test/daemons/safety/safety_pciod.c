/* safety_pciod.c: pciod and a simulated PowerCube module, for the safety cases; from hw-docs/devices/powercube.md. */
#include <stdint.h>
#include <string.h>

#include "test/daemons/safety/safety_lib.h"
#include "unity.h"

#define DEGREE (3.14159265358979323846 / 180)
#define ID_ASK 0x0CF
#define ID_TELL 0x0EF
#define ID_ANSWER 0x0AF
#define ID_ALL 0x100
#define GET 0x0A
#define POSITION 0x3C
#define VELOCITY 0x41
#define CONFIG 0x01000118

/* ---- frames ---- */

static enum safety_kind kind(const struct frame *frame)
{
	static const enum safety_kind kinds[256] = {
		[0x00] = SAFETY_RESET, [0x01] = SAFETY_HOME, [0x02] = SAFETY_HALT,
		[0x08] = SAFETY_SET,   [0x0B] = SAFETY_MOVE,
	};

	if (!frame->len || frame->id & FRAME_ERR)
		return SAFETY_OTHER;
	if (frame->id == ID_TELL)
		return frame->data[0] == 0 && frame->len > 1 ? SAFETY_OTHER : kinds[frame->data[0]];
	if (frame->id != ID_ALL)
		return SAFETY_OTHER;
	return frame->data[0] == 0x07 ? SAFETY_FEED : frame->data[0] == 0x02 ? SAFETY_HALT : SAFETY_OTHER;
}

static double real(const uint8_t *data)
{
	const uint32_t bits = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
	float number;

	memcpy(&number, &bits, sizeof(number));
	return (double)number;
}

static double value(const struct frame *move)
{
	TEST_ASSERT_MESSAGE(move->len == 6 && (move->data[1] == 0x07 || move->data[1] == 0x11), "no velocity");
	return real(move->data + 2);
}

/* ---- what the module says without its driver: it is asked by the test ---- */

/* The answer to the question that was on the wire at *asked_ns. */
static double ask(struct bus *probe, uint8_t parameter, int64_t *asked_ns)
{
	const struct frame question = { .id = ID_ASK, .len = 2, .data = { GET, parameter } };
	struct bus_frame got[32];
	bool asked = false;

	TEST_ASSERT_EQUAL(0, bus_send(probe, &question));
	for (safety_wait_begin();; safety_wait("an answer", __LINE__)) {
		const int n = bus_receive(probe, got, 32);

		for (int i = 0; i < n; i++) {
			const struct frame *f = &got[i].frame;

			if (got[i].flags & BUS_OWN) {
				*asked_ns = got[i].t_ns;
				asked = true;
			} else if (asked && f->len == 6 && f->data[0] == GET && f->data[1] == parameter) {
				return real(f->data + 2);
			}
		}
	}
}

static void observe(struct bus *probe, struct safety_reading *seen)
{
	int64_t later_ns;

	seen->velocity_rad_s = ask(probe, VELOCITY, &seen->t_ns);
	seen->position_rad = ask(probe, POSITION, &later_ns);
}

static void check_set_up(void)
{
	TEST_ASSERT_EQUAL_HEX32(CONFIG, (uint32_t)safety_sim_number("config"));
}

/* ---- the table ---- */

const struct safety_actuator safety_pciod = {
	.program = "pciod",
	.has = SAFETY_VELOCITIES | SAFETY_POSITIONS | SAFETY_HALTS | SAFETY_TRIPS | SAFETY_HOMES | SAFETY_LOSES_POWER |
	       SAFETY_HALTED_BY_OTHERS | SAFETY_FAULTS | SAFETY_ON_ESTOP,

	.settings = "modules: torso:15",
	.watchdog = "module_watchdog: %dms",
	.silent = "silent_after: %dms",
	.sim = "type: PRL120",
	.sim_watchdog = "watchdog: %dms",
	.sim_absent = "power: no",
	.limits = "current: 10",
	.min_rad = -2.88,
	.max_rad = 0,
	.velocity_rad_s = 0.43,
	.acceleration_rad_s2 = 1.74,
	.start_rad = -1.44,
	.margin_rad = 0.02 * 2.88,
	.second = { "--name other --bus wire:torso --set modules=14-16",
		    "--name other --bus wire:torso --set modules=14" },

	.unit = SAFETY_DEVICE ".15",
	.fault_silent = "silent",
	.fault_waits = "tow-error",
	.fault_watchdog = "comm-error",
	.fault_needs_power = "short-circuit",
	.fault_halted = "halted",
	.word_halted = "halted",
	.word_brake = "brake",
	.word_tripped = "comm-error",
	.forgets = { "tow-error clear", "error clear", "homed", "halted clear" },
	.sim_homes_elsewhere = "home: -1.4, home_offset: -1.4, home_velocity: 0.6",
	.sim_boots_fast = "boot: 5ms",
	.sim_not_homed = "boot: 5ms, homed: no",
	.event_silent = { "silent-15", "module 15 does not answer" },
	.event_waits = { "tow-error-15", "the request clear resets it" },
	.event_watchdog = { "comm-error-15", "comm-error" },
	.event_power = { "not-homed-15", "lost its power" },
	.event_absent = { "latched-15", "module 15 is not homed" },
	.event_found_moving = { "taken-over-15", "found moving" },
	.event_reset = { "comm-cleared-15", "it was reset once" },
	.check_set_up = check_set_up,

	.filters = { { 0x0E0, 0x7E0 }, { ID_ALL, 0x7FF } },
	.filters_n = 2,
	.kind = kind,
	.value = value,
	.resolution_rad_s = 1e-6, /* singles */

	.answers = { ID_ANSWER, 0x7FF },
	.observe = observe,
	.watchdog_ms = 50,
	.rests_ns = 300 * SAFETY_MS,
	.rests_rad = 5 * DEGREE,
	.brakes_rad_s2 = 100 * DEGREE,
};
