/* logger.c: states of a device with joints as CSV on stdout, a line for each: logger DEVICE HZ [COUNT]
 *
 * Goes on when the driver is restarted, or its channel is removed; the column incarnation shows it.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <endplate.h>

static void print_line(const struct endplate_view *view, const struct msg_joint_state *state)
{
	printf("%.6f,%.6f,%u,%u,%u", (double)state->header.t_sample_ns / 1e9, (double)view->age_ns / 1e9,
	       (unsigned int)view->incarnation, (unsigned int)view->lifecycle, (unsigned int)view->doubts);
	for (uint32_t i = 0; i < state->count && i < MSG_JOINTS; i++)
		printf(",%.6f,%.6f,%.3f", state->position[i], state->velocity[i], state->current[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	const double hz = argc > 2 ? atof(argv[2]) : 0;
	unsigned long left = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	struct endplate *robot;
	struct endplate_device *device;
	struct endplate_view view;
	struct msg_joint_state state;
	int status, last = 0;

	/* A pipe, as achstart gives it, would get whole buffers, and nothing of the last one if this is killed. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!(hz >= 0.1 && hz <= 1000))
		errx(100, "usage: logger DEVICE HZ [COUNT]");
	if (endplate_open(&robot, NULL) || endplate_device_open(robot, argv[1], msg_joint_state_number, &device))
		errx(111, "%s: unable to open the robot: %s", argv[1], endplate_errstr());
	puts("t_sample_s,age_s,incarnation,lifecycle,doubts,position_rad,velocity_rad_s,current_a,...");
	while (!endplate_wait(robot, (int64_t)(1e9 / hz), NULL)) {
		status = endplate_state(device, &state, sizeof(state), &view);
		if (status && status != last)
			warnx("%s-state: %s; is its driver running?", argv[1], endplate_strerror(status));
		last = status;
		if (status || !view.is_new)
			continue;
		print_line(&view, &state);
		if (left && !--left)
			break;
	}
	endplate_close(robot);
	return 0;
}
