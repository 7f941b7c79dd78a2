/* hubod_ask.c: the requests of a cycle: encoders, sensors, and what is wanted of boards that have answered. */
#include "daemons/hubo/hubod.h"

static void ask_board(struct drv *drv, const struct hubod_board *b, unsigned int row, enum jmc_command command,
		      int32_t value)
{
	struct frame frame;

	jmc_encode(&frame, (unsigned int)b->table->number, command, 0, &value);
	drv_send(drv, row, &frame);
}

/* A board gets its next request when it has answered the last one: nothing is known of boards that are asked twice. */
void hubod_ask_next(struct hubod *h, struct drv *drv, unsigned int board)
{
	struct hubod_board *b = &h->boards[board];
	struct frame frame;

	if (b->due & 1) /* a reply to the cycle before came late */
		return;
	if (b->due) {
		ask_board(drv, b, b->encoder[HUBOD_HALVES - 1], JMC_GET_ENCODER, HUBOD_HALVES - 1);
	} else if (b->wants & HUBOD_WANTS_STATUS) {
		b->wants &= (uint8_t)~HUBOD_WANTS_STATUS;
		ask_board(drv, b, b->status, JMC_GET_STATUS, 0);
	} else if (b->wants & HUBOD_WANTS_CURRENT) {
		b->wants &= (uint8_t)~HUBOD_WANTS_CURRENT;
		jmc_encode(&frame, (unsigned int)b->table->number, JMC_GET_CURRENT, 0, NULL);
		drv_ask(drv, b->values, &frame, board); /* refused while a parameter is under way */
	} else if (b->wants & HUBOD_WANTS_PARAMETER) {
		b->wants &= (uint8_t)~HUBOD_WANTS_PARAMETER;
		hubod_read_ask(h, drv, board);
	}
}

static void ask_encoders(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		if (!b->active)
			continue;
		b->due = (uint8_t)((1u << b->halves) - 1);
		b->asked_ns = now_ns;
		for (unsigned int i = 0; i < b->halves; i++)
			hubod_missed_ask(h, b->encoder[i]);
		ask_board(drv, b, b->encoder[0], JMC_GET_ENCODER, 0);
	}
}

static void ask_sensor(struct drv *drv, const struct hubod_sensor *s, int row, enum jmc_measured what)
{
	struct frame frame;

	jmc_encode_sensor(&frame, (unsigned int)s->table->number, what);
	drv_send(drv, (unsigned int)row, &frame);
}

void hubod_ask_tilt(struct hubod *h, struct drv *drv, unsigned int sensor)
{
	const struct hubod_sensor *s = &h->sensors[sensor];

	if (s->tilt_due)
		ask_sensor(drv, s, s->ask_tilt, sensor >= HUBO_IMU0 ? JMC_IS_IMU : JMC_IS_TILT);
}

static void ask_sensors(struct hubod *h, struct drv *drv)
{
	struct frame frame;

	for (unsigned int i = 0; i < HUBO_SENSORS; i++) {
		struct hubod_sensor *s = &h->sensors[i];

		if (!s->table->line || !s->table->active)
			continue;
		s->force_due = s->ask_force >= 0;
		s->tilt_due = s->ask_tilt >= 0;
		hubod_missed_ask(h, (unsigned int)s->ask_force);
		hubod_missed_ask(h, (unsigned int)s->ask_tilt);
		if (s->force_due)
			ask_sensor(drv, s, s->ask_force, JMC_IS_FORCE);
		else
			hubod_ask_tilt(h, drv, i);
	}
	h->power_due = false;
	if (h->ask_power < 0 || h->cycle.now % (uint64_t)h->settings.slow_every)
		return;
	hubod_missed_ask(h, (unsigned int)h->ask_power);
	jmc_encode(&frame, JMC_POWER_BOARD, JMC_GET_POWER, 0, NULL);
	h->power_due = !drv_send(drv, (unsigned int)h->ask_power, &frame);
}

/* The board after this one on the bus, around. */
static unsigned int next_board(const struct hubod *h, unsigned int bus, unsigned int board)
{
	for (unsigned int i = 0; i < h->boards_n; i++) {
		board = (board + 1) % h->boards_n;
		if (h->boards[board].active && h->boards[board].bus == bus)
			break;
	}
	return board;
}

/* One status and one current on each bus.  In the windows without references, when joints are homed, there is room for
 * the status of every second board. */
static void want_slow(struct hubod *h, bool quiet, bool room)
{
	for (unsigned int i = 0; i < h->boards_n; i++)
		h->boards[i].wants = quiet && (i + h->cycle.now) % 2 == 0 ? HUBOD_WANTS_STATUS : 0;
	if (h->read.on && !h->read.asked && (room || !h->read.unasked))
		h->boards[h->joints[h->read.joint].board].wants |= HUBOD_WANTS_PARAMETER;
	if (h->cycle.now % (uint64_t)h->settings.slow_every)
		return;
	for (unsigned int bus = 0; bus < HUBO_BUSES; bus++) {
		h->next_status[bus] = next_board(h, bus, h->next_status[bus]);
		h->next_values[bus] = next_board(h, bus, h->next_values[bus]);
		h->boards[h->next_status[bus]].wants |= HUBOD_WANTS_STATUS;
		h->boards[h->next_values[bus]].wants |= HUBOD_WANTS_CURRENT;
	}
}

void hubod_ask(struct hubod *h, struct drv *drv, int64_t now_ns, bool quiet, bool room)
{
	want_slow(h, quiet, room);
	ask_encoders(h, drv, now_ns);
	ask_sensors(h, drv);
	drv_hand_over(drv);
}
