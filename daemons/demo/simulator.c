/* simulator.c: a simulated device with joints, as a process of a robot. */
#include "daemons/demo/simulator.h"

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "channels/port/notify.h"
#include "channels/port/port.h"
#include "daemons/drv/drv_ref.h"

#define AHEAD_MAX_NS 200000000 /* longest validity of a reference, as for drivers */
#define LOOK_NS 1000000000     /* at the files of the channels */

struct run {
	const struct simulator *simulator;
	int64_t step_ns, tick_ns;
	struct port ref_port, state_port;
	struct ref_layout layout;
	struct msg_joint_ref ref; /* valid_until_ns 0: there is none */
	struct msg_joint_state state;
	struct notify notify;
};

/* ---- set commands ---- */

static void take_ref(struct run *r, int64_t now_ns)
{
	const struct ref_rules rules = { .layout = &r->layout,
					 .count = r->simulator->joints,
					 .incarnation = r->state.header.incarnation,
					 .max_ahead_ns = AHEAD_MAX_NS,
					 .machine_ns = vt_clock_machine_ns() };
	struct msg_joint_ref ref;
	enum ref_verdict verdict;
	enum port_got got;
	size_t len;

	port_reopen(&r->ref_port, now_ns, LOOK_NS);
	got = port_newest(&r->ref_port, &ref, sizeof(ref), &len);
	if (got == PORT_NONE || got == PORT_BROKEN)
		return;
	verdict = ref_take(&ref, len, &rules, now_ns);
	ref_count(&r->state.common, verdict);
	if (verdict == REF_TAKEN)
		r->ref = ref;
}

/* ---- get state ---- */

static void publish(struct run *r, int64_t now_ns)
{
	r->state.header.t_sample_ns = r->tick_ns;
	r->state.header.t_publish_ns = now_ns;
	r->state.common.ticks++;
	r->simulator->get(r->simulator->world, &r->state);
	port_reopen(&r->state_port, now_ns, LOOK_NS);
	port_put(&r->state_port, &r->state);
}

/* Whoever put references for the process before this one has to look again. */
static uint32_t next_incarnation(struct run *r)
{
	struct msg_joint_state last;
	size_t len;

	port_newest(&r->state_port, &last, sizeof(last), &len);
	return msg_check(&last, len, r->state_port.type, NULL) == MSG_FINE ? last.header.incarnation + 1 : 1;
}

static void begin(struct run *r)
{
	msg_init(&r->state, r->state_port.type);
	r->state.header.incarnation = next_incarnation(r);
	r->state.header.flags = MSG_FLAG_SIMULATED;
	r->state.common.lifecycle = MSG_LIFE_ACTIVE;
	r->state.common.level = MSG_LEVEL_RUN;
	r->state.common.period_ns = r->step_ns;
	r->state.count = r->simulator->joints;
	for (uint32_t i = 0; i < r->state.count; i++) {
		r->state.lifecycle[i] = MSG_LIFE_ACTIVE;
		r->state.status[i] = MSG_JOINT_HOMED | MSG_JOINT_ENABLED;
	}
}

/* ---- the loop ---- */

/* The step that ends now.  A command drives it if it was valid when the step began. */
static void tick(struct run *r)
{
	const struct simulator *s = r->simulator;

	take_ref(r, clock_now_ns());
	s->set(s->world, r->ref.header.valid_until_ns > r->tick_ns - r->step_ns ? &r->ref : NULL);
	s->step(s->world, (double)r->step_ns / 1e9);
	publish(r, clock_now_ns());
	notify_watchdog(&r->notify, clock_now_ns());
	r->tick_ns += r->step_ns;
}

static int play(struct run *r)
{
	struct clock_fd stop = { .fd = clock_stop_fd(), .events = POLLIN };
	int status = 0;

	notify_open(&r->notify);
	notify_ready(&r->notify);
	r->tick_ns = (clock_now_ns() / r->step_ns + 1) * r->step_ns;
	while (status >= 0 && !stop.ready) {
		status = clock_wait(&stop, 1, r->tick_ns);
		if (clock_now_ns() >= r->tick_ns)
			tick(r);
	}
	notify_stopping(&r->notify);
	notify_close(&r->notify);
	return status < 0 ? EXIT_RETRY : 0;
}

int simulator_run(const struct simulator *simulator, const char *name, int64_t step_ns)
{
	struct error_sink errors = ERROR_TO_STDERR(simulator->program, NULL, ERROR_FATAL);
	static struct run r;
	int status;

	r.simulator = simulator;
	r.step_ns = step_ns;
	status = port_open_of(&r.state_port, name, "state", msg_joint_state_number, 0640, &errors);
	if (!status)
		status = port_open_of(&r.ref_port, name, "ref", msg_joint_ref_number, 0660, &errors);
	if (status)
		return status == -EINVAL ? EXIT_WRONG : EXIT_RETRY;
	ref_layout(&r.layout, r.ref_port.type);
	begin(&r);
	status = play(&r);
	port_close(&r.ref_port);
	port_close(&r.state_port);
	return status;
}
