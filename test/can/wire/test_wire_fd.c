/* test_wire_fd.c: the suite of every bus, on a soft wire with CAN FD. */
#include <signal.h>
#include <sys/wait.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "test/can/bus/bus_suite.h"
#include "test/can/bus/wire_lib.h"

void tearDown(void)
{
	bus_suite_end_case();
}

/* A third node, which acknowledges and understands CAN FD. */
static pid_t acknowledge(void)
{
	const pid_t pid = fork();
	struct bus *bus;

	if (pid)
		return pid;
	if (bus_open(&bus, "wire:torso@acknowledges", &(struct bus_options){ .fd = true }, &(struct error_sink){ 0 }))
		_exit(1);
	for (;;)
		clock_wait(NULL, 0, CLOCK_NEVER);
}

int main(void)
{
	static const struct bus_suite suite = { .a = "wire:torso", .b = "wire:torso@other", .dlc = true, .fd = true };
	pid_t third;
	int r;

	UNITY_BEGIN();
	wire_lib_start("--fd 5000000 torso");
	third = acknowledge();
	bus_suite_run(&suite);
	kill(third, SIGKILL);
	waitpid(third, NULL, 0);
	r = UNITY_END();
	wire_lib_clean();
	return r;
}
