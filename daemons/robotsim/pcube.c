/* pcube.c: the commands of a module, and its answers. */
#include "daemons/robotsim/pcube.h"

#include <math.h>

#include "channels/clock/clock.h"
#include "daemons/robotsim/sim_random.h"

#define ID_ANSWER 0x0A0u
#define ID_ASK 0x0C0u
#define ID_TELL 0x0E0u
#define ID_ALL 0x100u

#define COMMAND_RESET 0x00
#define COMMAND_HOME 0x01
#define COMMAND_HALT 0x02
#define COMMAND_WATCHDOG 0x07
#define COMMAND_SET 0x08
#define COMMAND_GET 0x0A
#define COMMAND_MOVE 0x0B
#define COMMAND_START 0x0F

#define REORDER_BY_NS 2000000 /* so late comes an answer that others overtake */

/* ---- answers ---- */

static void answer(struct pcube *m, const uint8_t *data, unsigned int n)
{
	const struct pcube_settings *s = &m->settings;
	struct frame reply = { .id = ID_ANSWER + m->values.address, .len = (uint8_t)n };
	int64_t due_ns =
		m->heard_ns + s->reply_delay_ns + (int64_t)(sim_random_share(&m->random) * (double)s->reply_jitter_ns);

	/* Drawn in any case, so that the draws that follow do not depend on the settings. */
	const bool lost = sim_random_share(&m->random) < s->lose, late = sim_random_share(&m->random) < s->reorder;

	if (m->silent || lost || m->replies.n == PCUBE_REPLIES_MAX) {
		m->counts.lost++;
		return;
	}
	if (late) {
		due_ns += REORDER_BY_NS;
	} else {
		due_ns = due_ns > m->reply_last_ns ? due_ns : m->reply_last_ns;
		m->reply_last_ns = due_ns;
	}
	memcpy(reply.data, data, n);
	sim_queue_put(&m->replies, &reply, due_ns);
}

/* The answer to a frame that is not a question. */
static void acknowledge(struct pcube *m, const uint8_t *data, unsigned int n)
{
	if (!(m->values.config & PCUBE_CONFIG_NO_ACKNOWLEDGE))
		answer(m, data, n);
}

int64_t pcube_next_ns(const void *state)
{
	return sim_queue_next_ns(&((const struct pcube *)state)->replies);
}

bool pcube_reply(void *state, int64_t now_ns, struct frame *reply)
{
	struct pcube *m = state;
	const bool due = sim_queue_take(&m->replies, now_ns, reply);

	m->counts.out += due;
	return due;
}

/* ---- moves ---- */

static uint8_t short_state(const struct pcube *m)
{
	const uint32_t s = pcube_state(m);

	return (uint8_t)((s & (PCUBE_ERROR | PCUBE_HALTED) || !(s & PCUBE_HOMED) ? 0x01 : 0) |
			 (s & PCUBE_HOME_SWITCH ? 0x02 : 0) | (s & PCUBE_LIMIT_SWITCH_1 ? 0x04 : 0) |
			 (s & PCUBE_LIMIT_SWITCH_2 ? 0x08 : 0) | (s & PCUBE_MOVING ? 0x10 : 0) |
			 (s & PCUBE_RAMP_END ? 0x20 : 0) | (s & PCUBE_STEPPING ? 0x40 : 0) |
			 (s & PCUBE_STEPS_FULL ? 0x80 : 0));
}

/* The ten motions: 4 to 8 in units, 9 to 13 in ticks, and ten more with an answer that holds the state. */
static bool read_move(const struct pcube *m, const struct frame *f, struct pcube_move *move, bool *with_state)
{
	static const enum pcube_mode modes[] = {
		[4] = PCUBE_RAMP, [6] = PCUBE_STEP, [7] = PCUBE_VELOCITY, [8] = PCUBE_CURRENT
	};
	uint8_t motion = f->len >= 2 ? f->data[1] : 0;
	bool ticks;

	*with_state = motion >= 14;
	motion = *with_state ? motion - 10 : motion;
	ticks = motion >= 9;
	motion = ticks ? motion - 5 : motion;
	if (motion < 4 || motion == 5 || motion > 8)
		return false;
	move->mode = modes[motion];
	if (f->len != (move->mode == PCUBE_STEP ? 8 : 6))
		return false;
	move->time_s = f->len == 8 ? frame_le16(f->data + 6) * 1e-3 : 0;
	if (!ticks)
		move->value = (double)pcube_value_f32(f->data + 2);
	else if (move->mode == PCUBE_CURRENT)
		move->value = (int16_t)frame_le16(f->data + 2) / 500.0 * m->type->current_peak_a;
	else
		move->value = (int32_t)frame_le32(f->data + 2) / (double)m->values.ticks_per_unit;
	return true;
}

static void move(struct pcube *m, const struct frame *f)
{
	uint8_t reply[8] = { COMMAND_MOVE, f->data[1], (uint8_t)m->settings.done };
	struct pcube_move move;
	bool with_state;
	uint32_t bits;
	float position;

	if (!read_move(m, f, &move, &with_state)) {
		m->counts.ignored++;
		return;
	}
	m->counts.moves++;
	if (!isfinite(move.value) || m->error || m->halted || (!m->homed && m->values.config & PCUBE_CONFIG_M3)) {
		m->counts.refused++;
		reply[2] = (uint8_t)m->settings.refused;
	} else {
		if (move.mode == PCUBE_RAMP || move.mode == PCUBE_STEP)
			move.value -= m->zero;
		if (m->values.config & PCUBE_CONFIG_SYNC_MOTION) {
			m->motion.waiting = move;
			m->motion.has_waiting = true;
		} else {
			pcube_motion_begin(m, &move);
		}
	}
	if (!with_state) {
		acknowledge(m, reply, 3);
		return;
	}
	position = pcube_value_position(m);
	memcpy(&bits, &position, sizeof(bits));
	frame_put_le(reply + 2, bits, 4);
	reply[6] = short_state(m);
	reply[7] = (uint8_t)m->values.digital_io;
	acknowledge(m, reply, 8);
}

/* ---- commands ---- */

static void get(struct pcube *m, const struct frame *f)
{
	uint8_t reply[6] = { COMMAND_GET, f->data[1] };
	unsigned int n = f->len == 2 && f->data[0] == COMMAND_GET ? pcube_value_get(m, f->data[1], reply + 2) : 0;

	if (!n) {
		m->counts.ignored++;
		return;
	}
	m->counts.gets++;
	answer(m, reply, 2 + n);
}

static void set(struct pcube *m, const struct frame *f)
{
	uint8_t reply[3] = { COMMAND_SET, f->data[1] };
	int status = f->len > 2 ? pcube_value_set(m, f->data[1], f->data + 2, f->len - 2u) : -1;

	if (status < 0) {
		m->counts.ignored++;
		return;
	}
	m->counts.sets++;
	reply[2] = (uint8_t)status;
	acknowledge(m, reply, 3);
}

/* Handles a command of one byte, to one module or to all.  Is it one? */
static bool simple(struct pcube *m, const struct frame *f)
{
	if (f->len != 1)
		return false;
	switch (f->data[0]) {
	case COMMAND_RESET:
		m->counts.resets++;
		pcube_reset(m);
		return true;
	case COMMAND_HOME:
		m->counts.homings++;
		if (m->error || m->halted)
			m->counts.refused++;
		else
			pcube_motion_home(m);
		return true;
	case COMMAND_HALT:
		m->counts.halts++;
		pcube_halt(m);
		return true;
	default:
		return false;
	}
}

static void take_command(struct pcube *m, const struct frame *f)
{
	if (f->len >= 1 && f->data[0] == COMMAND_MOVE)
		move(m, f);
	else if (f->len >= 1 && f->data[0] == COMMAND_SET)
		set(m, f);
	else if (simple(m, f))
		acknowledge(m, f->data, 1);
	else
		m->counts.ignored++;
}

static void all(struct pcube *m, const struct frame *f)
{
	if (f->len == 1 && f->data[0] == COMMAND_WATCHDOG) {
		m->counts.watchdogs++;
		m->armed = m->values.config & PCUBE_CONFIG_WATCHDOG;
		m->watchdog_ns = m->heard_ns + m->settings.watchdog_ns;
	} else if (f->len == 1 && f->data[0] == COMMAND_START) {
		m->counts.starts++;
		if (m->motion.has_waiting && !m->halted)
			pcube_motion_begin(m, &m->motion.waiting);
		m->motion.has_waiting = false;
	} else if (!simple(m, f)) {
		m->counts.ignored++;
	}
}

void pcube_frame(void *state, const struct frame *frame, int64_t t_ns)
{
	struct pcube *m = state;
	const uint32_t own = m->values.address;

	pcube_advance(m, t_ns);
	m->heard_ns = t_ns > m->t_ns ? t_ns : m->t_ns;
	if (!pcube_hears(m) || frame->flags || frame->id & (FRAME_EXT | FRAME_RTR | FRAME_ERR))
		return;
	if (frame->id != ID_ASK + own && frame->id != ID_TELL + own && frame->id != ID_ALL)
		return;
	m->counts.in++;
	if (frame->id == ID_ALL)
		all(m, frame);
	else if (frame->id == ID_ASK + own)
		get(m, frame);
	else
		take_command(m, frame);
}
