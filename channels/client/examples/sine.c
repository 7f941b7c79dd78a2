/* sine.c: moves a joint to and fro around where it stands: sine DEVICE JOINT AMPLITUDE_RAD PERIOD_S SECONDS */
#include <err.h>
#include <math.h>
#include <stdlib.h>

#include <endplate.h>

int main(int argc, char **argv)
{
	const unsigned int joint = argc == 6 ? (unsigned int)atoi(argv[2]) : MSG_JOINTS;
	struct endplate *robot;
	struct endplate_device *device;
	struct endplate_view view;
	struct msg_joint_state state;
	struct msg_joint_ref ref = { .count = 0 };
	double centre_rad = 0, t_s = 0;

	if (joint >= MSG_JOINTS)
		errx(100, "usage: sine DEVICE JOINT AMPLITUDE_RAD PERIOD_S SECONDS");
	if (endplate_open(&robot, NULL) || endplate_device_open(robot, argv[1], msg_joint_state_number, &device))
		errx(111, "%s: unable to open the robot: %s", argv[1], endplate_errstr());
	while (t_s < atof(argv[5]) && !endplate_wait(robot, 5000000, NULL)) {
		int status = endplate_state(device, &state, sizeof(state), &view);

		if (!status && view.doubts & ENDPLATE_RESTARTED)
			warnx("incarnation %u: goes on from where the joint stands", (unsigned int)view.incarnation);
		if (status || view.doubts || !view.follows || joint >= state.count) {
			centre_rad = NAN;
			continue;
		}
		if (isnan(centre_rad) || t_s == 0)
			centre_rad = state.position[joint] - atof(argv[3]) * sin(2 * M_PI * t_s / atof(argv[4]));
		t_s += 0.005;
		ref.count = state.count;
		ref.mode[joint] = MSG_MODE_POSITION;
		ref.position[joint] = centre_rad + atof(argv[3]) * sin(2 * M_PI * t_s / atof(argv[4]));
		status = endplate_put(device, &ref, sizeof(ref), 20000000);
		if (status)
			warnx("%s: reference refused: %s", argv[1], endplate_strerror(status));
	}
	endplate_close(robot);
	return 0;
}
