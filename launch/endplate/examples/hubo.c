/* hubo.c: has Hubo wave, or walk in place, homed before if asked for: hubo DEVICE [home] wave|walk SECONDS
 *
 * Both motions begin from wherever the joints are, with READY_S to the first pose.  It walks with its legs
 * alone and waves with its right arm alone, so that two of them can run, as two sources of a refmuxd.
 */
#include <err.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <endplate.h>

#define READY_S 2.0 /* to the first pose */
#define HOME_NS 120000000000
#define STEP_W (2 * M_PI / 1.5)
#define WAVE_W (2 * M_PI / 1.0)

static double from_rad[MSG_JOINTS]; /* where the motion began */
static double share;		    /* of the way to the first pose that is done */

static void set(struct msg_joint_ref *ref, const struct msg_joint_state *state, const char *joint, double rad)
{
	for (unsigned int i = 0; i < state->count; i++)
		if (!strncmp(state->joint[i], joint, MSG_NAME_SIZE)) {
			ref->mode[i] = MSG_MODE_POSITION;
			ref->position[i] = from_rad[i] + share * (rad - from_rad[i]);
		}
}

/* Bends the knees by turns and shifts its weight over the other foot. */
static void walk(struct msg_joint_ref *ref, const struct msg_joint_state *state, double t_s)
{
	const double s = t_s > 0 ? sin(STEP_W * t_s) : 0;
	const double roll = 0.14 * s;
	const double left = 0.76 + 0.26 * (s > 0 ? s * s : 0), right = 0.76 + 0.26 * (s < 0 ? s * s : 0);

	set(ref, state, "LHR", roll);
	set(ref, state, "RHR", roll);
	set(ref, state, "LAR", -roll);
	set(ref, state, "RAR", -roll);
	set(ref, state, "LKN", left);
	set(ref, state, "LHP", -left / 2);
	set(ref, state, "LAP", -left / 2);
	set(ref, state, "RKN", right);
	set(ref, state, "RHP", -right / 2);
	set(ref, state, "RAP", -right / 2);
}

static void wave(struct msg_joint_ref *ref, const struct msg_joint_state *state, double t_s)
{
	set(ref, state, "RSP", -0.3);
	set(ref, state, "RSR", -1.2);
	set(ref, state, "RSY", 0);
	set(ref, state, "REB", -1.4 + 0.4 * (t_s > 0 ? sin(WAVE_W * t_s) : 0));
}

static void home(struct endplate *robot, struct endplate_device *device, const char *name)
{
	struct msg_joint_state state;
	struct endplate_view view = { .follows = false };
	struct msg_reply reply;
	int status;

	while (!view.follows && !endplate_wait(robot, 100000000, NULL))
		endplate_state(device, &state, sizeof(state), &view);
	status = endplate_ask(robot, name, MSG_VERB_HOME, "", "", HOME_NS, &reply);
	if (status)
		errx(111, "%s: not homed: %s", name, *reply.error ? reply.error : endplate_strerror(status));
	warnx("%s: homed", name);
}

int main(int argc, char **argv)
{
	const bool homes = argc == 5 && !strcmp(argv[2], "home");
	const char *motion = argc == 4 + homes ? argv[2 + homes] : "", *seconds = argv[argc - 1];
	const bool walks = !strcmp(motion, "walk");
	struct endplate *robot;
	struct endplate_device *device;
	struct endplate_view view;
	struct msg_joint_state state;
	double t_s = -READY_S;

	if (!walks && strcmp(motion, "wave") != 0)
		errx(100, "usage: hubo DEVICE [home] wave|walk SECONDS");
	if (endplate_open(&robot, NULL) || endplate_device_open(robot, argv[1], msg_joint_state_number, &device))
		errx(111, "%s: unable to open the robot: %s", argv[1], endplate_errstr());
	if (homes)
		home(robot, device, argv[1]);
	while (t_s < atof(seconds) && !endplate_wait(robot, 5000000, NULL)) {
		struct msg_joint_ref ref = { .count = 0 };
		int status = endplate_state(device, &state, sizeof(state), &view);

		/* One finger that did not reply is no reason to stop walking. */
		if (status || view.doubts & ~(uint32_t)ENDPLATE_PARTIAL || !view.follows) {
			t_s = -READY_S;
			continue;
		}
		if (t_s == -READY_S)
			memcpy(from_rad, state.position, sizeof(from_rad));
		t_s += 0.005;
		share = t_s < 0 ? (1 - cos(M_PI * (t_s + READY_S) / READY_S)) / 2 : 1;
		ref.count = state.count;
		(walks ? walk : wave)(&ref, &state, t_s);
		status = endplate_put(device, &ref, sizeof(ref), 20000000);
		if (status)
			warnx("%s: reference refused: %s", argv[1], endplate_strerror(status));
	}
	endplate_close(robot);
	return 0;
}
