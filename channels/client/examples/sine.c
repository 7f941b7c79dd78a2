/* sine.c: moves a joint to and fro around where it stands: sine DEVICE JOINT AMPLITUDE_RAD PERIOD_S SECONDS */
#include <err.h>
#include <math.h>
#include <stdlib.h>

#include <endplate.h>

#define SECOND_NS INT64_C(1000000000)

/* Until the device follows references; says what is in the way, and gives up after five seconds. */
static void wait_for(struct endplate_device *device)
{
	if (!endplate_ready(&device, 1, SECOND_NS / 2))
		return;
	warnx("waits: %s", endplate_errstr());
	if (endplate_ready(&device, 1, 5 * SECOND_NS))
		errx(111, "%s", endplate_errstr());
}

int main(int argc, char **argv)
{
	struct endplate *robot;
	struct endplate_device *device;
	struct endplate_view view;
	struct msg_joint_state state;
	struct msg_joint_ref ref = { .count = 0 };
	double centre_rad = NAN, t_s = 0, said_s = -1;
	uint32_t incarnation = 0;
	int joint;

	if (argc != 6)
		errx(100, "usage: sine DEVICE JOINT AMPLITUDE_RAD PERIOD_S SECONDS");
	if (endplate_open(&robot, NULL) || endplate_device_open(robot, argv[1], msg_joint_state_number, &device))
		errx(111, "%s: unable to open the robot: %s", argv[1], endplate_errstr());
	wait_for(device);
	joint = endplate_joint(device, argv[2]);
	if (joint < 0)
		errx(100, "%s", endplate_errstr());
	while (t_s < atof(argv[5]) && !endplate_wait(robot, SECOND_NS / 200, NULL)) {
		if (endplate_state(device, &state, sizeof(state), &view) || view.doubts || !view.follows) {
			wait_for(device);
			centre_rad = NAN;
			continue;
		}
		if (incarnation && view.incarnation != incarnation)
			warnx("incarnation %u: goes on from where the joint stands", (unsigned int)view.incarnation);
		incarnation = view.incarnation;
		if (isnan(centre_rad))
			centre_rad = state.position[joint] - atof(argv[3]) * sin(2 * M_PI * t_s / atof(argv[4]));
		t_s += 0.005;
		ref.count = state.count;
		ref.mode[joint] = MSG_MODE_POSITION;
		ref.position[joint] = centre_rad + atof(argv[3]) * sin(2 * M_PI * t_s / atof(argv[4]));
		if ((endplate_put(device, &ref, sizeof(ref), SECOND_NS / 50) || view.refused) && t_s >= said_s + 1) {
			warnx("reference refused: %s", view.refused ? endplate_refusal(device) : endplate_errstr());
			said_s = t_s; /* again in a second */
		}
	}
	endplate_close(robot);
	return 0;
}
