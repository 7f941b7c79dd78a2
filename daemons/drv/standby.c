/* standby.c: a driver that is started before it is needed. */
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "daemons/drv/realtime.h"
#include "daemons/drv/standby.h"

#define PLACE_MAX 640

static char **arguments; /* as they were given; NULL: no memory for them */

/* achstart starts spares only of programs that have it (launch/file/launch_file.h). */
__attribute__((used)) static const char mark[] = "@(#)endplate-standby";

bool standby_asked(void)
{
	return getenv(STANDBY);
}

static int priority(void)
{
	return atoi(getenv(STANDBY)); /* NOLINT(cert-err34-c): of achstart */
}

bool standby_on_clock(void)
{
	return priority() == STANDBY_ON_CLOCK;
}

void standby_begin(int argc, char **argv)
{
	struct clock_fd go = { .fd = STDIN_FILENO, .events = POLLIN };

	if (!standby_asked())
		return;
	if (clock_wait(&go, 1, INT64_MIN) <= 0)
		realtime_schedule(0, SCHED_OTHER, 0);
	arguments = calloc((size_t)argc + 1, sizeof(*argv));
	if (arguments)
		memcpy(arguments, argv, (size_t)argc * sizeof(*argv));
}

/* achstart has raised it, too, to hurry one that was not waiting yet; that may have been before standby_begin. */
static void take_priority(void)
{
	if (priority() > 0)
		realtime_schedule(0, SCHED_FIFO, priority());
}

static void note_program(const char *path)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	read_files_note(path, fd);
	if (fd >= 0)
		close(fd);
}

static void close_stdin(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	close(null);
}

/* Its place on the virtual clock, "": in real time.  false: stdin has ended. */
static bool read_go(char place[PLACE_MAX])
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(STDIN_FILENO, place + len, 1);
		if (n > 0 && !place[len])
			return true;
		len += n > 0;
	} while (len < PLACE_MAX && (n > 0 || (n < 0 && errno == EINTR)));
	return false;
}

bool standby_wait(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
	char place[PLACE_MAX];
	bool needed;

	note_program(path);
	needed = read_go(place);
	if (needed)
		take_priority();
	close_stdin();
	unsetenv(STANDBY);
	if (needed && *place)
		setenv(VT_CLOCK_PLACE, place, 1);
	if (needed && arguments && read_files_changed())
		execv(path, arguments); /* it returns if that is not possible */
	if (needed && *place)
		vt_clock_join(place);
	return needed;
}
