/* coordinate.c: moves two joints of a device so that both arrive at the same time.
 *
 *	coordinate DEVICE JOINT TARGET_RAD JOINT TARGET_RAD SECONDS
 *
 * Both follow one path, from where they stand to the targets.  If the driver is restarted, or stops following, the path
 * begins again where the joints then stand.
 */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <endplate.h>

#define PERIOD_NS 5000000
#define WAIT_NS 5000000000 /* for the device */
#define JOINTS 2

struct path {
	int joint[JOINTS];
	double from_rad[JOINTS], to_rad[JOINTS];
	double seconds, t_s;
};

/* Share of the path: velocity and acceleration are 0 at both ends. */
static double share(const struct path *p)
{
	const double s = p->t_s < p->seconds ? p->t_s / p->seconds : 1;

	return s * s * s * (10 + s * (6 * s - 15));
}

static int read_arguments(struct path *p, int argc, char **argv)
{
	if (argc != 2 + 2 * JOINTS + 1)
		return -1;
	for (int i = 0; i < JOINTS; i++) {
		p->to_rad[i] = atof(argv[3 + 2 * i]);
		if (!isfinite(p->to_rad[i]))
			return -1;
	}
	p->seconds = atof(argv[2 + 2 * JOINTS]);
	return p->seconds > 0 && strcmp(argv[2], argv[4]) != 0 ? 0 : -1;
}

/* By name or number, once the device can be moved. */
static void find_joints(struct path *p, struct endplate_device *device, char **argv)
{
	if (endplate_ready(&device, 1, WAIT_NS))
		errx(111, "%s", endplate_errstr());
	for (int i = 0; i < JOINTS; i++) {
		p->joint[i] = endplate_joint(device, argv[2 + 2 * i]);
		if (p->joint[i] < 0)
			errx(100, "%s", endplate_errstr());
	}
}

static void begin(struct path *p, const struct msg_joint_state *state)
{
	p->t_s = 0;
	for (int i = 0; i < JOINTS; i++)
		p->from_rad[i] = state->position[p->joint[i]];
}

static void fill(struct msg_joint_ref *ref, const struct path *p, uint32_t count)
{
	ref->count = count;
	for (int i = 0; i < JOINTS; i++) {
		ref->mode[p->joint[i]] = MSG_MODE_POSITION;
		ref->position[p->joint[i]] = p->from_rad[i] + share(p) * (p->to_rad[i] - p->from_rad[i]);
	}
}

int main(int argc, char **argv)
{
	struct path path = { .t_s = 0 };
	struct endplate *robot;
	struct endplate_device *device;
	struct endplate_view view;
	struct msg_joint_state state;
	struct msg_joint_ref ref = { .count = 0 };
	int follows = 0;

	if (read_arguments(&path, argc, argv))
		errx(100, "usage: coordinate DEVICE JOINT TARGET_RAD JOINT TARGET_RAD SECONDS");
	if (endplate_open(&robot, NULL) || endplate_device_open(robot, argv[1], msg_joint_state_number, &device))
		errx(111, "%s: unable to open the robot: %s", argv[1], endplate_errstr());
	find_joints(&path, device, argv);
	/* Half a second longer than the path: drivers reach a target by a ramp of their own. */
	while (path.t_s < path.seconds + 0.5 && !endplate_wait(robot, PERIOD_NS, NULL)) {
		if (endplate_state(device, &state, sizeof(state), &view) || view.doubts || !view.follows) {
			follows = 0;
			continue;
		}
		if (!follows)
			begin(&path, &state);
		path.t_s += PERIOD_NS / 1e9;
		fill(&ref, &path, state.count);
		follows = !endplate_put(device, &ref, sizeof(ref), 20000000);
		if (!follows)
			warnx("reference refused: %s", endplate_errstr());
	}
	printf("%.3f %.3f\n", state.position[path.joint[0]], state.position[path.joint[1]]);
	endplate_close(robot);
	return 0;
}
