/* pciod.c: drives Schunk PowerCube, PRL and LWA3 modules; pciod(1), hw-docs/devices/powercube.md. */
#include "config/settings/robot.h"
#include "daemons/pcio/pciod.h"
#include "daemons/pcio/pciod_list.h"

#define CLOCK_FRAME "100#0F"
#define MOVE_LEN 6	/* steps, which are longer, are not sent */
#define WITH_STATE 0x10 /* of a velocity or current: its answer is waited for */

/* ---- settings ---- */

/* They begin the struct, where the loop fills them in. */
_Static_assert(offsetof(struct pciod, settings) == 0, "rows are of struct pciod_settings");

static int check_settings(const struct pciod_settings *s, const struct drv *drv, struct error_sink *errors)
{
	const int64_t tick_ns = drv_period_ns(drv);
	const unsigned int before = errors->count;
	char tick[TEXT_VALUE_MAX], other[TEXT_VALUE_MAX];

	text_from_duration(tick, tick_ns);
	if (tick_ns > s->watchdog_ns / 2) {
		text_from_duration(other, s->watchdog_ns / 2);
		error_add(errors, "tick: with %s modules are not fed often enough (module_watchdog); at most %s", tick,
			  other);
	}
	return errors->count == before ? 0 : -EINVAL;
}

/* ---- what is declared ---- */

static int add_send(struct pciod *p, struct drv *drv, unsigned int joint, enum pcio_send kind,
		    struct error_sink *errors)
{
	const struct pcio_send_row *row = &pcio_send_rows[kind];
	const struct pciod_joint *j = &p->joints[joint];
	const int64_t tick_ns = drv_period_ns(drv);
	/* Three questions are asked in each tick in which the module moves. */
	const int64_t periods[PCIO_SENDS] = { [PCIO_SEND_MOVE] = tick_ns,
					      [PCIO_SEND_WATCHDOG] = pciod_feed_period_ns(p),
					      [PCIO_SEND_GET] = tick_ns / 3 };
	const int64_t deadlines[PCIO_SENDS] = {
		[PCIO_SEND_HALT] = PCIOD_ACTUATOR_HALT_DEADLINE_NS, [PCIO_SEND_MOVE] = tick_ns,
		[PCIO_SEND_WATCHDOG] = pciod_feed_period_ns(p),	    [PCIO_SEND_COMMAND] = p->settings.reply_late_ns,
		[PCIO_SEND_HOME] = p->settings.reply_late_ns,	    [PCIO_SEND_GET] = p->settings.reply_late_ns
	};
	struct drv_send send = {
		.bus = j->bus,
		.row = { .id = row->id + (row->shared ? 0 : j->module.number),
			 .class = row->class,
			 .period_ns = periods[kind],
			 .deadline_ns = deadlines[kind],
			 .harmless = row->harmless },
		.len = kind == PCIO_SEND_MOVE ? MOVE_LEN : row->len,
		.moves = row->moves,
		.shared = row->shared,
		.answered = row->reply_bytes,
		.reply_id = PCIO_ID_ACK + j->module.number,
		.reply_bytes = row->reply_bytes,
		.reply_within_ns = p->settings.reply_lost_ns,
	};

	memcpy(send.row.key, row->key, sizeof(send.row.key));
	return drv_add_send(drv, &send, errors);
}

/* Only the second byte tells settings and moves of a kind apart; a reset, or home, has none. */
static int add_question(struct pciod *p, struct drv *drv, unsigned int joint, enum pcio_send kind,
			struct error_sink *errors)
{
	struct pciod_joint *j = &p->joints[joint];
	const bool second = kind == PCIO_SEND_GET || kind == PCIO_SEND_MOVE;
	const struct drv_question question = {
		.send = j->sends[kind],
		.receive = j->receive,
		.only = { .at = 1, .mask = kind == PCIO_SEND_MOVE ? WITH_STATE : 0, .value = WITH_STATE },
		.echo = { { 0, 0, 0xFF }, { 1, 1, second ? 0xFF : 0 } },
		.late_ns = p->settings.reply_late_ns,
		.lost_ns = p->settings.reply_lost_ns,
	};
	int number;

	if (kind == PCIO_SEND_HALT || kind == PCIO_SEND_WATCHDOG)
		return 0;
	number = drv_add_question(drv, &question, errors);
	j->questions[kind] = (unsigned int)number;
	return number;
}

static int add_joint(struct pciod *p, struct drv *drv, unsigned int joint, struct error_sink *errors)
{
	struct pciod_joint *j = &p->joints[joint];
	struct pciod_bus *b = &p->buses[j->bus];
	const struct drv_receive receive = { .bus = j->bus,
					     .id = PCIO_ID_ACK + j->module.number,
					     .len_min = 1,
					     .len_max = FRAME_DATA_MAX,
					     .period_ns = drv_period_ns(drv) };

	int number = drv_add_joint(drv, j->name, errors);

	if (number >= 0)
		number = drv_add_receive(drv, &receive, errors);
	if (number < 0)
		return -EINVAL;
	j->receive = (unsigned int)number;
	drv_joint_gain(drv, joint, p->settings.gain_s);
	for (enum pcio_send kind = 0; kind < PCIO_SENDS; kind++) {
		int send;

		if (pcio_send_rows[kind].shared && b->modules) {
			j->sends[kind] = b->watchdog;
			continue;
		}
		send = add_send(p, drv, joint, kind, errors);
		if (send < 0)
			return send;
		j->sends[kind] = (unsigned int)send;
		if (add_question(p, drv, joint, kind, errors) < 0)
			return -EINVAL;
	}
	b->watchdog = j->sends[PCIO_SEND_WATCHDOG];
	b->modules++;
	b->joint[j->module.number] = (uint8_t)(joint + 1);
	return 0;
}

static int add_bus(struct pciod *p, struct drv *drv, unsigned int bus, struct error_sink *errors)
{
	const struct drv_receive clock = {
		.bus = bus, .id = PCIO_ID_ALL, .len_min = 1, .len_max = FRAME_DATA_MAX, .shared = true
	};
	const struct robot_bus *robot = drv_robot_bus(drv, bus);

	if (!p->buses[bus].modules)
		return error_refuse(errors, -EINVAL,
				    "bus %s: none of the modules is on it; leave it out, or name one in modules",
				    drv_bus_name(drv, bus));
	if (drv_add_claim(drv, bus, "pcio", errors) < 0)
		return -EINVAL;
	if (!p->settings.sync_motion)
		return 0;
	if (!robot || strcmp(robot->clock, CLOCK_FRAME))
		return error_refuse(errors, -EINVAL,
				    "sync_motion: moves would wait for ever: bus %s has no clock frame " CLOCK_FRAME
				    "; write clock: " CLOCK_FRAME " for it in the robot file",
				    drv_bus_name(drv, bus));
	return drv_add_receive(drv, &clock, errors) < 0 ? -EINVAL : 0;
}

static int find_bus(const void *of, const char *name)
{
	return drv_bus(of, name);
}

static const char *name_bus(const void *of, unsigned int bus)
{
	return drv_bus_name(of, bus);
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct pciod *p = self;
	const struct pciod_list_buses buses = { "modules", drv_buses(drv), find_bus, name_bus, drv };
	struct pciod_list list;

	if (check_settings(&p->settings, drv, errors) || pciod_list_read(&list, p->settings.modules, &buses, errors))
		return -EINVAL;
	for (p->joints_n = 0; p->joints_n < list.n; p->joints_n++) {
		const struct pciod_list_item *item = &list.item[p->joints_n];
		struct pciod_joint *j = &p->joints[p->joints_n];

		j->bus = item->bus;
		j->module.number = item->number;
		snprintf(j->name, sizeof(j->name), "%s", item->joint);
		if (add_joint(p, drv, p->joints_n, errors))
			return -EINVAL;
	}
	for (unsigned int i = 0; i < drv_buses(drv); i++)
		if (add_bus(p, drv, i, errors))
			return -EINVAL;
	return 0;
}

/* ---- the driver ---- */

static const struct drv_verb verbs[] = {
	{ .verb = MSG_VERB_HOME, .moves = true, .exclusive = true },
	{ .verb = MSG_VERB_CLEAR, .exclusive = true },
	{ .verb = MSG_VERB_RESET, .exclusive = true },
	{ 0 },
};

static const struct drv_driver driver = {
	.program = "pciod",
	.about = "drives Schunk PowerCube, PRL and LWA3 modules",
	.size = sizeof(struct pciod),
	.settings = pciod_settings_rows,
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.declare = declare,
	.start = pciod_start,
	.tick = pciod_tick,
	.rx = pciod_rx,
	.answer = pciod_answer,
	.sent = pciod_sent,
	.lost = pciod_lost,
	.fill = pciod_fill,
	.verbs = verbs,
	.request = pciod_request,
	.cancel = pciod_cancel,
	.stop = pciod_stop,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
