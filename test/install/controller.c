/* controller.c: compiled against the installed endplate.h only, as C99 and as C++11: reads, asks and raises.
 *
 *	controller DEVICE ask|raise|versions
 */
#include <stdio.h>
#include <string.h>

#include <endplate.h>

static int read_device(struct endplate *robot, const char *name)
{
	struct endplate_device *device;
	struct msg_joint_state state;
	struct endplate_view view;
	int status = endplate_device_open(robot, name, msg_joint_state_number, &device);

	if (status)
		return status;
	for (int i = 0; i < 400; i++) {
		status = endplate_state(device, &state, sizeof(state), &view);
		if (!status && !view.doubts)
			break;
		endplate_wait(robot, 5000000, NULL);
	}
	if (!status)
		printf("%u joints, level %d\n", (unsigned)state.count, (int)endplate_level(robot));
	return status;
}

static int ask(struct endplate *robot, const char *name)
{
	struct msg_reply reply;
	int status = endplate_ask(robot, name, MSG_VERB_GET, "tick", NULL, (int64_t)10000000000, &reply);

	if (!status)
		puts(reply.value);
	if (!status &&
	    (status = endplate_ask(robot, name, MSG_VERB_GET, "nothing", NULL, (int64_t)10000000000, &reply))) {
		printf("refused: %s\n", *reply.error && strstr(endplate_errstr(), reply.error) ? "with a reason" : "");
		status = 0;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct endplate *robot;
	int status;

	if (argc != 3)
		return 100;
	if (!strcmp(argv[2], "versions")) {
		printf("%x %d %d\n", ENDPLATE_VERSION, (int)msg_joint_state_version, (int)msg_joint_ref_version);
		return 0;
	}
	status = endplate_open(&robot, NULL);
	if (!status)
		status = read_device(robot, argv[1]);
	if (!status && !strcmp(argv[2], "ask"))
		status = ask(robot, argv[1]);
	if (!status && !strcmp(argv[2], "raise"))
		status = endplate_raise(robot, MSG_LEVEL_HOLD, "by a controller");
	if (status)
		printf("%s: %s\n", endplate_strerror(status), endplate_errstr());
	endplate_close(robot);
	return status ? 1 : 0;
}
