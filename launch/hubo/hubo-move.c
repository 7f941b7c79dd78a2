/* hubo-move.c: has Hubo wave, or walk in place, as an example of a controller on libendplate.
 *
 * Both motions begin from wherever the joints are, with READY_S to the first pose, again after each stop.  It moves
 * joints by name, so the device may be all of Hubo or a limb: one waves with hubo-rarm while another walks.
 */
#include <math.h>

#include "channels/client/endplate.h"
#include "config/base/base.h"
#include "config/settings/options.h"

#define READY_S 2.0 /* to the first pose */
#define TICK_S 0.005
#define LOOK_NS 50000000
#define HOME_NS 300000000000
#define HOME_TRIES 5
#define HOME_AGAIN_NS 1000000000 /* between two of them */
#define VALID_NS 20000000
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

typedef void motion(struct msg_joint_ref *ref, const struct msg_joint_state *state, double t_s);

/* One tick; t_s is the time since the first pose. */
static double step(struct endplate_device *device, motion *moves, double t_s)
{
	struct msg_joint_ref ref = { .count = 0 };
	struct msg_joint_state state;
	struct endplate_view view;

	/* Walk on even if a finger did not reply. */
	if (endplate_state(device, &state, sizeof(state), &view) || view.doubts & ~(uint32_t)ENDPLATE_PARTIAL ||
	    !view.follows)
		return -READY_S;
	if (t_s == -READY_S)
		memcpy(from_rad, state.position, sizeof(from_rad));
	t_s += TICK_S;
	share = t_s < 0 ? (1 - cos(M_PI * (t_s + READY_S) / READY_S)) / 2 : 1;
	ref.count = state.count;
	moves(&ref, &state, t_s);
	return endplate_put(device, &ref, sizeof(ref), VALID_NS) ? -READY_S : t_s;
}

static int wait_armed(struct endplate *robot, struct endplate_device *device)
{
	struct endplate_view view = { .follows = 0 };
	struct msg_joint_state state;
	int status = 0;

	while (!status && (!view.follows || endplate_level(robot) != MSG_LEVEL_RUN)) {
		status = endplate_wait(robot, LOOK_NS, NULL);
		endplate_state(device, &state, sizeof(state), &view);
	}
	return status;
}

static bool stays_armed(struct endplate *robot, int64_t ns)
{
	bool armed = endplate_level(robot) == MSG_LEVEL_RUN;

	for (; armed && ns > 0; ns -= LOOK_NS)
		armed = !endplate_wait(robot, LOOK_NS, NULL) && endplate_level(robot) == MSG_LEVEL_RUN;
	return armed;
}

static const char *why(int status, const struct msg_reply *reply)
{
	return *reply->error ? reply->error : *endplate_errstr() ? endplate_errstr() : endplate_strerror(status);
}

/* Not what another try does not change: a driver that was restarted, or whose supervisor starts it again, a board that
 * fell silent or was reset, and a reply that did not come are other matters. */
static bool is_final(int status)
{
	return status == -EINVAL || status == -ENOENT || status == -EACCES || status == -ECANCELED;
}

/* Once it is armed.  A homing that failed is tried again, but not after a stop: that is for a person to decide. */
static int home(struct endplate *robot, struct endplate_device *device, const char *driver)
{
	struct msg_reply reply = { 0 };
	int status = wait_armed(robot, device);

	if (!status)
		status = endplate_ask(robot, driver, MSG_VERB_HOME, "", "", HOME_NS, &reply);
	for (int try = 2; try <= HOME_TRIES && status && !is_final(status) && stays_armed(robot, HOME_AGAIN_NS);
	     try++) {
		fprintf(stderr, "hubo-move: %s: not homed: %s; try %d of %d\n", driver, why(status, &reply), try,
			HOME_TRIES);
		status = endplate_ask(robot, driver, MSG_VERB_HOME, "", "", HOME_NS, &reply);
	}
	if (status)
		fprintf(stderr, "hubo-move: %s: not homed: %s\n", driver, why(status, &reply));
	else
		printf("%s: %s\n", driver, reply.value);
	fflush(stdout);
	return status;
}

struct hubo_move_options {
	int64_t for_ns;
	const char *home;
};

static int run(const struct hubo_move_options *options, const char *name, motion *moves)
{
	const double for_s = (double)options->for_ns / 1e9;
	struct endplate *robot = NULL;
	struct endplate_device *device = NULL;
	double t_s = -READY_S;
	int status = endplate_open(&robot, NULL);

	if (!status)
		status = endplate_device_open(robot, name, msg_joint_state_number, &device);
	if (status)
		fprintf(stderr, "hubo-move: %s: unable to open the robot: %s\n", name, endplate_errstr());
	else if (options->home)
		status = home(robot, device, options->home);
	while (!status && (for_s <= 0 || t_s < for_s)) {
		status = endplate_wait(robot, (int64_t)(TICK_S * 1e9), NULL);
		t_s = step(device, moves, t_s);
	}
	endplate_close(robot);
	return status ? EXIT_RETRY : 0;
}

static const struct settings_row rows[] = {
	SETTINGS_DURATION("for", struct hubo_move_options, for_ns, "0", "0", NULL, "end after that time; 0: never"),
	SETTINGS_STRING("home", struct hubo_move_options, home, NULL, "ask this driver to home all limbs first",
			.value = "DRIVER"),
	SETTINGS_END,
};

int main(int argc, char **argv)
{
	struct hubo_move_options options = { 0 };
	struct options command = { .program = "hubo-move",
				   .about = "has Hubo wave, or walk in place",
				   .rows = rows,
				   .values = &options,
				   .arguments = "wave|walk [DEVICE]",
				   .arguments_min = 1,
				   .arguments_max = 2,
				   .version = OPTIONS_VERSION };
	int status = options_main(&command, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	if (strcmp(argv[0], "wave") != 0 && strcmp(argv[0], "walk") != 0) {
		fprintf(stderr, "hubo-move: \"%s\" is not a motion; write wave or walk\n", argv[0]);
		return EXIT_WRONG;
	}
	return run(&options, argc > 1 ? argv[1] : "hubo", !strcmp(argv[0], "walk") ? walk : wave);
}
