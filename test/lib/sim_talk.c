/* sim_talk.c: a question to robotsim from a test. */
#include <string.h>
#include <unistd.h>

#include "can/bus/attach.h"
#include "channels/clock/clock.h"
#include "channels/port/rpc.h"
#include "config/base/run.h"
#include "test/lib/sim_talk.h"
#include "unity.h"

#define GIVE_UP_NS INT64_C(30000000000)

void sim_talk(const char *question, char *said, size_t size, void (*turn)(void))
{
	const int64_t by_ns = clock_now_ns() + GIVE_UP_NS;
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct clock_fd answer = { .events = POLLIN };
	int fds[ATTACH_FDS_MAX], fds_n = 0, n;
	char path[RUN_PATH_MAX];

	TEST_ASSERT_EQUAL(0, run_path(path, "robotsim", &errors));
	/* The socket of one that was killed is there, too, until the next one listens. */
	while ((answer.fd = rpc_connect_by(path, by_ns)) < 0) {
		TEST_ASSERT_MESSAGE(clock_now_ns() < by_ns, "robotsim is not there");
		turn();
	}
	TEST_ASSERT(attach_send(answer.fd, question, strlen(question), NULL, 0) > 0);
	TEST_ASSERT(clock_wait(&answer, 1, by_ns) == 1);
	n = attach_receive(answer.fd, said, size - 1, fds, &fds_n);
	close(answer.fd);
	said[n > 0 ? n : 0] = 0;
	TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE("ok", said, 2, said);
}
