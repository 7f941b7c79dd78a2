/* simulator.h: a simulated device with joints, as a process of a robot: set commands, step, get state.
 *
 *	static const struct simulator mine = { "mysim", 1, &world, set, step, get };
 *
 *	int main(int argc, char **argv)
 *	{
 *		...
 *		return simulator_run(&mine, "arm", 250000);
 *	}
 *
 * It takes joint-ref on the channel NAME-ref and publishes joint-state on NAME-state, as a driver does, so that
 * controllers and tools work with it.  Time is that of channels/clock/clock.h: on achstart --virtual the robot's time
 * waits for the simulator, however long a step takes; otherwise a step that takes too long makes the simulation late.
 */
#pragma once

#include "channels/msg/msg.h"
#include "config/base/base.h"

struct simulator {
	const char *program;
	uint32_t joints; /* 1 to MSG_JOINTS */
	void *world;
	/* The commands of the next steps.  NULL: there is none that is valid; the joints are without current. */
	void (*set)(void *world, const struct msg_joint_ref *ref);
	void (*step)(void *world, double dt_s);
	/* What is measured now: of each joint name, position, velocity, current. */
	void (*get)(const void *world, struct msg_joint_state *state);
};

/* Steps every step_ns until SIGTERM or SIGINT.  Returns the exit status. */
int simulator_run(const struct simulator *simulator, const char *name, int64_t step_ns);
