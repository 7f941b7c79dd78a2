/* pendulumsim.c: simulates a pendulum with a motor; an example of a simulator (simulator.h). */
#include <math.h>

#include "config/settings/options.h"
#include "daemons/demo/pendulum.h"
#include "daemons/demo/simulator.h"
#include "daemons/demo/work.h"

struct world {
	struct pendulum pendulum;
	double torque_nm;
	struct work work;
	uint64_t steps;
};

static void set(void *self, const struct msg_joint_ref *ref)
{
	struct world *w = self;

	w->torque_nm = ref && ref->mode[0] == MSG_MODE_CURRENT ? ref->current[0] * PENDULUM_NM_PER_A : 0;
}

static void step(void *self, double dt_s)
{
	struct world *w = self;

	work_do(work_cost_ns(&w->work, w->steps++));
	pendulum_step(&pendulum_small, &w->pendulum, w->torque_nm, dt_s);
}

static void get(const void *self, struct msg_joint_state *state)
{
	const struct world *w = self;

	snprintf(state->joint[0], sizeof(state->joint[0]), "pendulum");
	state->position[0] = w->pendulum.angle_rad;
	state->velocity[0] = w->pendulum.rate_rad_s;
	state->current[0] = w->torque_nm / PENDULUM_NM_PER_A;
	state->temperature[0] = NAN;
}

/* ---- the options ---- */

struct pendulumsim_options {
	const char *name;
	int64_t step_ns, work_ns, seed;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("name", struct pendulumsim_options, name, "pendulum",
			"name of the device: channels NAME-ref and NAME-state", .value = "N"),
	SETTINGS_DURATION("step", struct pendulumsim_options, step_ns, "250us", "10us", "100ms",
			  "step of the simulation"),
	SETTINGS_DURATION("work", struct pendulumsim_options, work_ns, "0", "0", "1s",
			  "processor time that a step costs"),
	SETTINGS_INT("vary", struct pendulumsim_options, seed, "", "0", "0", NULL,
		     "the cost varies from 0 to twice that, by a pattern from this seed; 0: it does not",
		     .value = "SEED"),
	SETTINGS_END,
};

int main(int argc, char **argv)
{
	static struct world world;
	const struct simulator simulator = { "pendulumsim", 1, &world, set, step, get };
	struct pendulumsim_options options = { 0 };
	struct options command = { .program = "pendulumsim",
				   .about = "simulates a pendulum with a motor",
				   .rows = rows,
				   .values = &options,
				   .version = OPTIONS_VERSION };
	int status = options_main(&command, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	world.work = (struct work){ .mean_ns = options.work_ns, .seed = options.seed };
	return simulator_run(&simulator, options.name, options.step_ns);
}
