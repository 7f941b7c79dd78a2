/* twoarms.c: moves both arms of Krang through waypoints, until a wrist meets more than 20 N.
 *
 *	twoarms [ROUNDS]
 *
 * All joints arrive together, within the limits of the robot file.  Exit status 1: a force stopped them.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>

#include <endplate.h>

#define N(array) (sizeof(array) / sizeof(*(array)))

enum { LARM, RARM, LFT, RFT };
static const char *const names[] = { "larm", "rarm", "lft", "rft" };
static const char *const joints[] = { "5", "7", "9" }; /* of each arm; the others stay where they are */
static const double waypoints[][2 * N(joints)] = {
	{ 0.6, -0.8, 0.3, -0.6, 0.8, -0.3 },
	{ 0.6, -0.2, 0.9, -0.6, 0.2, -0.9 },
	{ 0, 0, 0, 0, 0, 0 },
};

static void check(int status)
{
	if (status < 0)
		errx(status == -EINTR ? 1 : 111, "%s",
		     *endplate_errstr() ? endplate_errstr() : endplate_strerror(status));
}

int main(int argc, char **argv)
{
	struct endplate *robot;
	struct endplate_device *devices[N(names)];
	struct endplate_trajectory *t;

	check(endplate_open(&robot, NULL));
	for (size_t i = 0; i < N(names); i++)
		check(endplate_device_open(robot, names[i], i < LFT ? msg_joint_state_number : msg_ft_number,
					   &devices[i]));
	check(endplate_ready(devices, N(names), 10000000000));

	check(endplate_trajectory_open(robot, &t));
	for (int arm = LARM; arm <= RARM; arm++)
		for (size_t i = 0; i < N(joints); i++)
			check(endplate_trajectory_joint(t, devices[arm], joints[i]));
	check(endplate_trajectory_until(t, devices[LFT], "force", 20));
	check(endplate_trajectory_until(t, devices[RFT], "force", 20));
	for (int round = argc > 1 ? atoi(argv[1]) : 1; round > 0; round--) {
		for (size_t i = 0; i < N(waypoints); i++)
			check(endplate_trajectory_add(t, waypoints[i], 0));
		check(endplate_trajectory_run(t));
	}
	endplate_trajectory_close(t);
	endplate_close(robot);
	return 0;
}
