/* pendulumctl.c: swings a pendulum up and balances it, and records every cycle.
 *
 * With --lockstep there is no process but this one: the simulation calls the controller, as simulators usually do. */
#include <math.h>

#include "channels/clock/clock.h"
#include "channels/port/port.h"
#include "config/settings/options.h"
#include "daemons/demo/pendulum.h"
#include "daemons/demo/work.h"

#define FELL 1
#define SIM_STEP_NS 250000 /* of the simulation, in lockstep; as pendulumsim by default */
#define READ_TIMES 5	   /* with two, cycles at the rate of life seemed to cost 0.3 % more */
#define UPRIGHT_RAD 0.1	   /* from the top, in the last fifth of the cycles */

struct pendulumctl_options {
	const char *name, *output;
	int64_t cycles, period_ns, valid_ns, work_ns, seed;
	bool lockstep;
	int64_t sim_work_ns, sim_seed;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("name", struct pendulumctl_options, name, "pendulum", "name of the device", .value = "N"),
	SETTINGS_INT("cycles", struct pendulumctl_options, cycles, "", "10000", "1", "1000000", "after which it ends",
		     .value = "N"),
	SETTINGS_DURATION("period", struct pendulumctl_options, period_ns, "1ms", "100us", "1s", "period of a cycle"),
	SETTINGS_DURATION("valid", struct pendulumctl_options, valid_ns, "1500us", "100us", "200ms",
			  "validity of a torque after the state that it was computed from"),
	SETTINGS_DURATION("work", struct pendulumctl_options, work_ns, "0", "0", "1s",
			  "processor time that a cycle costs"),
	SETTINGS_INT("vary", struct pendulumctl_options, seed, "", "0", "0", NULL,
		     "the cost varies from 0 to twice that, by a pattern from this seed; 0: it does not",
		     .value = "SEED"),
	SETTINGS_STRING("output", struct pendulumctl_options, output, NULL, "write a line of CSV for each cycle",
			.value = "FILE"),
	SETTINGS_BOOL("lockstep", struct pendulumctl_options, lockstep, "no",
		      "simulate in this process, which calls the controller"),
	SETTINGS_DURATION("sim-work", struct pendulumctl_options, sim_work_ns, "0", "0", "1s",
			  "time that a step costs, with --lockstep"),
	SETTINGS_INT("sim-vary", struct pendulumctl_options, sim_seed, "", "0", "0", NULL, "as --vary, with --lockstep",
		     .value = "SEED"),
	SETTINGS_END,
};

/* A line of the CSV. */
struct cycle {
	int64_t number; /* of the period; some are left out if the controller is too slow */
	int64_t clock_ns, stamp_ns, begun_ns, done_ns;
	int64_t spent_ns; /* processor time from begun to done */
	struct pendulum seen;
	double torque_nm;
};

struct controller {
	const struct pendulumctl_options *options;
	struct work work;
	struct port state_port, ref_port;
	struct msg_joint_state state;
	struct cycle *cycles;
	int64_t n;
	int64_t by_clock_ns, spent_ns; /* computing of all cycles, by both clocks, without the reading of clocks */
};

/* ---- a cycle ---- */

/* Both clocks are read several times: the last time their code is in the caches, and costs the same in every cycle. */
static void begin(struct cycle *now)
{
	now->clock_ns = clock_now_ns();
	for (int i = 1; i < READ_TIMES; i++) {
		now->begun_ns = clock_now_ns();
		now->spent_ns = -work_spent_ns();
	}
}

static void end(struct cycle *now)
{
	const int64_t begun_ns = now->spent_ns;

	for (int i = 0; i < READ_TIMES; i++) {
		now->spent_ns = begun_ns + work_spent_ns();
		now->done_ns = clock_now_ns();
	}
}

/* The cost of reading both clocks is subtracted: that of an empty cycle, which follows at once in the same caches. */
static void account(struct controller *c, const struct cycle *now)
{
	struct cycle empty;

	begin(&empty);
	end(&empty);
	c->by_clock_ns += (now->done_ns - now->begun_ns) - (empty.done_ns - empty.begun_ns);
	c->spent_ns += now->spent_ns - empty.spent_ns;
}

static void control(struct controller *c, struct cycle *now)
{
	c->cycles[c->n++] = *now;
	now = &c->cycles[c->n - 1];
	begin(now);
	now->torque_nm = pendulum_control(&pendulum_small, &now->seen);
	work_do(work_cost_ns(&c->work, (uint64_t)now->number));
	end(now);
	account(c, now);
}

static bool get_state(struct controller *c)
{
	struct msg_joint_state state;
	size_t len;

	port_newest(&c->state_port, &state, sizeof(state), &len);
	if (msg_check(&state, len, c->state_port.type, NULL) == MSG_FINE && state.count == 1)
		c->state = state;
	return c->state.count == 1;
}

static void put_torque(struct controller *c, double torque_nm)
{
	struct msg_joint_ref ref;

	msg_init(&ref, c->ref_port.type);
	ref.header.for_incarnation = c->state.header.incarnation;
	ref.header.t_sample_ns = c->state.header.t_sample_ns;
	ref.header.t_publish_ns = clock_now_ns();
	ref.header.valid_until_ns = c->state.header.t_sample_ns + c->options->valid_ns;
	ref.count = 1;
	ref.mode[0] = MSG_MODE_CURRENT;
	ref.current[0] = torque_nm / PENDULUM_NM_PER_A;
	port_put(&c->ref_port, &ref);
}

/* ---- beside a simulator ---- */

/* Until the first state there is nothing to control, and no cycle. */
static void run(struct controller *c)
{
	const int64_t period_ns = c->options->period_ns;
	int64_t number = 0, tick_ns = (clock_now_ns() / period_ns + 1) * period_ns;

	while (number < c->options->cycles) {
		struct cycle now = { .number = number };
		int64_t past;

		clock_wait(NULL, 0, tick_ns);
		if (get_state(c)) {
			now.stamp_ns = c->state.header.t_sample_ns;
			now.seen = (struct pendulum){ c->state.position[0], c->state.velocity[0] };
			control(c, &now);
			put_torque(c, c->cycles[c->n - 1].torque_nm);
		}
		past = (clock_now_ns() - tick_ns) / period_ns;
		number += c->n ? 1 + past : 0;
		tick_ns += (1 + past) * period_ns;
	}
}

static int open_ports(struct controller *c, struct error_sink *errors)
{
	const int status =
		port_open_of(&c->state_port, c->options->name, "state", msg_joint_state_number, 0640, errors);

	return status ? status
		      : port_open_of(&c->ref_port, c->options->name, "ref", msg_joint_ref_number, 0660, errors);
}

/* ---- in lockstep ---- */

static void run_lockstep(struct controller *c)
{
	const struct pendulumctl_options *options = c->options;
	struct work work = { .mean_ns = options->sim_work_ns, .seed = options->sim_seed };
	struct pendulum pendulum = { 0 };
	uint64_t steps = 0;

	for (int64_t number = 0; number < options->cycles; number++) {
		struct cycle now = { .number = number, .stamp_ns = number * options->period_ns, .seen = pendulum };

		control(c, &now);
		for (int64_t t_ns = 0; t_ns < options->period_ns; t_ns += SIM_STEP_NS) {
			work_do(work_cost_ns(&work, steps++));
			pendulum_step(&pendulum_small, &pendulum, c->cycles[number].torque_nm,
				      (double)SIM_STEP_NS / 1e9);
		}
	}
}

/* ---- what it was like ---- */

static bool is_upright(const struct controller *c)
{
	const int64_t cycles = c->options->cycles;

	for (int64_t i = 0; i < c->n; i++)
		if (c->cycles[i].number >= cycles - cycles / 5 &&
		    fabs(pendulum_error(&c->cycles[i].seen)) > UPRIGHT_RAD)
			return false;
	return true;
}

static int write_csv(const struct controller *c, FILE *to)
{
	fprintf(to, "cycle,clock_ns,stamp_ns,angle_rad,rate_rad_s,torque_nm,done_ns,spent_ns\n");
	for (int64_t i = 0; i < c->n; i++) {
		const struct cycle *now = &c->cycles[i];

		fprintf(to, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%.17g,%.17g,%.17g,%" PRId64 ",%" PRId64 "\n",
			now->number, now->clock_ns, now->stamp_ns, now->seen.angle_rad, now->seen.rate_rad_s,
			now->torque_nm, now->done_ns, now->spent_ns);
	}
	return fclose(to) ? -errno : 0;
}

static int report(const struct controller *c, struct error_sink *errors)
{
	const char *output = c->options->output;
	FILE *to = output ? fopen(output, "we") : NULL;
	const bool upright = is_upright(c);

	if (output && (!to || write_csv(c, to)))
		return error_refuse(errors, EXIT_RETRY, "%s: %s", output, strerror(errno));
	printf("%s: %" PRId64 " cycles, %" PRId64
	       " missed; computing took %.6f s by the clock, %.6f s of a processor\n",
	       upright ? "upright" : "fell", c->n, c->options->cycles - c->n, (double)c->by_clock_ns / 1e9,
	       (double)c->spent_ns / 1e9);
	return upright ? 0 : FELL;
}

int main(int argc, char **argv)
{
	struct error_sink errors = ERROR_TO_STDERR("pendulumctl", NULL, ERROR_FATAL);
	static struct controller c;
	struct pendulumctl_options options = { 0 };
	struct options command = { .program = "pendulumctl",
				   .about = "swings a pendulum up and balances it",
				   .rows = rows,
				   .values = &options,
				   .version = OPTIONS_VERSION };
	int status = options_main(&command, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	c.options = &options;
	c.work = (struct work){ .mean_ns = options.work_ns, .seed = options.seed };
	c.cycles = calloc((size_t)options.cycles, sizeof(*c.cycles));
	if (!c.cycles || (!options.lockstep && open_ports(&c, &errors)))
		return EXIT_RETRY;
	if (options.lockstep)
		run_lockstep(&c);
	else
		run(&c);
	status = report(&c, &errors);
	free(c.cycles);
	return status;
}
