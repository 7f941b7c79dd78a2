/* test_notify.c: what the supervisor hears, and that nothing it does or leaves undone is felt. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "channels/port/notify.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define MS 1000000

static struct notify notify;
static char folder[] = "/tmp/t-notify-XXXXXX", path[64];
static int supervisor;
static int64_t now;

/* ---- the supervisor ---- */

static int listen_at(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t len = strlen(name);

	memcpy(at.sun_path, name, len);
	if (*name == '@')
		at.sun_path[0] = 0;
	else
		len++;
	LIB_CHECK(!bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)));
	return fd;
}

/* The next datagram, "" if there is none. */
static const char *heard(void)
{
	static char text[1024];
	ssize_t len = recv(supervisor, text, sizeof text - 1, MSG_DONTWAIT);

	LIB_CHECK(len >= 0 || errno == EAGAIN);
	text[len > 0 ? len : 0] = 0;
	return text;
}

static void leave(void)
{
	if (supervisor >= 0)
		close(supervisor);
	supervisor = -1;
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	supervisor = listen_at(path);
	setenv("NOTIFY_SOCKET", path, 1);
	LIB_CHECK(notify_open(&notify) == 1);
	now = 12345 * (int64_t)MS;
}

void tearDown(void)
{
	notify_close(&notify);
	leave();
	unlink(path);
}

/* ---- to which socket ---- */

static void check_not_sent(int answer, const char *name)
{
	notify_close(&notify);
	if (name)
		setenv("NOTIFY_SOCKET", name, 1);
	else
		unsetenv("NOTIFY_SOCKET");
	TEST_ASSERT_EQUAL_INT(answer, notify_open(&notify));
	TEST_ASSERT_EQUAL_INT(0, notify_ready(&notify));
	TEST_ASSERT_EQUAL_INT(0, notify_status(&notify, now, "x"));
	TEST_ASSERT_EQUAL_INT(0, notify_watchdog(&notify, now));
	TEST_ASSERT_EQUAL_INT(0, notify_flush(&notify, now));
	TEST_ASSERT_EQUAL_INT(0, notify_send(&notify, "X=1\n"));
	TEST_ASSERT_EQUAL_INT(0, notify_stopping(&notify));
	TEST_ASSERT_EQUAL_UINT64(0, notify.sent + notify.held + notify.lost);
	TEST_ASSERT_EQUAL_INT(-1, notify.fd);
	TEST_ASSERT_EQUAL_STRING("", heard());
}

TEST(test_nothing_is_sent_without_an_address)
{
	check_not_sent(0, NULL);
	check_not_sent(0, "");
}

TEST(test_names_that_make_no_sense)
{
	char name[200];

	check_not_sent(-EINVAL, "run/notify");
	check_not_sent(-EINVAL, "/");
	check_not_sent(-EINVAL, "@");
	memset(name, 'x', sizeof name);
	name[0] = '/';
	name[sizeof(((struct sockaddr_un *)0)->sun_path)] = 0;
	check_not_sent(-ENAMETOOLONG, name);
}

TEST(test_shortest_names)
{
	setenv("NOTIFY_SOCKET", "/x", 1);
	TEST_ASSERT_EQUAL_INT(1, notify_open(&notify));
	setenv("NOTIFY_SOCKET", "@x", 1);
	TEST_ASSERT_EQUAL_INT(1, notify_open(&notify));
}

TEST(test_longest_path)
{
	size_t room = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	char name[200];

	memset(name, 'x', sizeof name);
	name[room] = 0;
	memcpy(name, folder, strlen(folder));
	name[strlen(folder)] = '/';
	leave();
	supervisor = listen_at(name);
	setenv("NOTIFY_SOCKET", name, 1);
	TEST_ASSERT_EQUAL_INT(1, notify_open(&notify));
	TEST_ASSERT_EQUAL_INT(1, notify_ready(&notify));
	TEST_ASSERT_EQUAL_STRING("READY=1\n", heard());
	unlink(name);
}

TEST(test_abstract_name)
{
	char name[64];

	snprintf(name, sizeof name, "@t-notify-%d", (int)getpid());
	leave();
	supervisor = listen_at(name);
	setenv("NOTIFY_SOCKET", name, 1);
	TEST_ASSERT_EQUAL_INT(1, notify_open(&notify));
	TEST_ASSERT_EQUAL_INT(1, notify_ready(&notify));
	TEST_ASSERT_EQUAL_STRING("READY=1\n", heard());
	leave();
	TEST_ASSERT_EQUAL_INT(-ECONNREFUSED, notify_send(&notify, "X=1\n"));
}

/* ---- what is sent ---- */

TEST(test_words)
{
	TEST_ASSERT_EQUAL_INT(1, notify_ready(&notify));
	TEST_ASSERT_EQUAL_STRING("READY=1\n", heard());
	TEST_ASSERT_EQUAL_INT(1, notify_status(&notify, now, "homing 3 of 7"));
	TEST_ASSERT_EQUAL_STRING("STATUS=homing 3 of 7\n", heard());
	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now += 100 * MS));
	TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
	TEST_ASSERT_EQUAL_INT(1, notify_send(&notify, "ERRNO=5\nX_ENDPLATE=1\n"));
	TEST_ASSERT_EQUAL_STRING("ERRNO=5\nX_ENDPLATE=1\n", heard());
	TEST_ASSERT_EQUAL_INT(1, notify_stopping(&notify));
	TEST_ASSERT_EQUAL_STRING("STOPPING=1\n", heard());
	TEST_ASSERT_EQUAL_INT(0, notify_flush(&notify, now += 1000 * MS)); /* nothing is left */
	TEST_ASSERT_EQUAL_STRING("", heard());
	TEST_ASSERT_EQUAL_UINT64(5, notify.sent);
	TEST_ASSERT_EQUAL_UINT64(0, notify.held + notify.lost);
}

TEST(test_status_is_one_line)
{
	notify_status(&notify, now, "a\nREADY=1\r\tb\x7f\x1b[1mc \xc3\xa4");
	TEST_ASSERT_EQUAL_STRING("STATUS=a READY=1  b  [1mc \xc3\xa4\n", heard());
}

TEST(test_status_is_cut_between_characters)
{
	for (size_t len = NOTIFY_STATUS_MAX - 8; len < NOTIFY_STATUS_MAX + 8; len++) {
		char text[NOTIFY_STATUS_MAX + 16], expected[NOTIFY_STATUS_MAX + 32];
		size_t fits = NOTIFY_STATUS_MAX - 1, keep = len + 4 <= fits ? len + 4 : len <= fits ? len : fits;

		memset(text, 'x', len);
		strcpy(text + len, "\xf0\x9f\xa4\x96"); /* four bytes: all or none */
		snprintf(expected, sizeof expected, "STATUS=%.*s\n", (int)keep, text);
		TEST_ASSERT_EQUAL_INT(1, notify_status(&notify, now += 100 * MS, text));
		TEST_ASSERT_EQUAL_STRING(expected, heard());
	}
}

TEST(test_status_of_continuation_bytes_only)
{
	char text[2 * NOTIFY_STATUS_MAX];

	memset(text, 0x80, sizeof text);
	text[sizeof text - 1] = 0;
	TEST_ASSERT_EQUAL_INT(1, notify_status(&notify, now, text));
	TEST_ASSERT_EQUAL_STRING("STATUS=\n", heard());
}

/* ---- how often ---- */

/* Sending at the times of calls: k more than one take at least k periods less the jitter, whatever k and the calls. */
static void check_rate(int64_t step_min, int64_t step_max)
{
	enum { CALLS = 3000 };
	static int64_t sent[CALLS];
	struct notify_rate rate = { 0 };
	uint64_t seed = 2463534242 + (uint64_t)step_max;
	int64_t t = -5000 * (int64_t)MS;
	int n = 0;

	for (int i = 0; i < CALLS; i++) {
		int64_t gap = n ? t - sent[n - 1] : INT64_MAX;

		if (notify_rate_take(&rate, t))
			sent[n++] = t;
		else
			TEST_ASSERT_LESS_THAN_INT64(NOTIFY_PERIOD_NS,
						    gap); /* a caller that waited that long is not refused */
		t += step_min + (int64_t)(lib_random(&seed) % (uint64_t)(step_max - step_min + 1));
	}
	TEST_ASSERT_GREATER_THAN_INT(1, n);
	for (int i = 0; i < n; i++)
		for (int k = 1; i + k < n && k < 50; k++)
			TEST_ASSERT_GREATER_OR_EQUAL_INT64(k * (int64_t)NOTIFY_PERIOD_NS - NOTIFY_PERIOD_NS / 10,
							   sent[i + k] - sent[i]);
}

TEST(test_rate)
{
	check_rate(1 * MS, 1 * MS);
	check_rate(0, 1 * MS);
	check_rate(0, 30 * MS);
	check_rate(33 * MS, 33 * MS);
	check_rate(90 * MS, 110 * MS);
	check_rate(0, 300 * MS);
	check_rate(99 * MS, 101 * MS);
}

TEST(test_beats_of_a_loop_that_calls_every_turn)
{
	int beats = 0;

	for (int ms = 0; ms < 10000; ms++)
		switch (notify_watchdog(&notify, now + ms * (int64_t)MS)) {
		case 1:
			TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
			beats++;
			break;
		default:
			TEST_ASSERT_EQUAL_STRING("", heard());
		}
	TEST_ASSERT_EQUAL_INT(101, beats); /* at 0, 90, 190 ... 9990 */
	TEST_ASSERT_EQUAL_UINT64(101, notify.sent);
	TEST_ASSERT_EQUAL_UINT64(10000 - 101, notify.held);
}

TEST(test_beats_of_a_jittery_timer_all_go)
{
	uint64_t seed = 521288629;

	for (int64_t i = 0; i < 1000; i++) {
		int64_t late = (int64_t)(lib_random(&seed) % (9 * MS));

		TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now + i * NOTIFY_PERIOD_NS + late));
		TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
	}
	TEST_ASSERT_EQUAL_UINT64(0, notify.held);
}

TEST(test_status_without_beats)
{
	TEST_ASSERT_EQUAL_INT(1, notify_status(&notify, now, "1"));
	TEST_ASSERT_EQUAL_STRING("STATUS=1\n", heard());
	TEST_ASSERT_EQUAL_INT(-EBUSY, notify_status(&notify, now + 10 * MS, "2"));
	TEST_ASSERT_EQUAL_INT(-EBUSY, notify_status(&notify, now + 20 * MS, "3"));
	TEST_ASSERT_EQUAL_INT(-EBUSY, notify_flush(&notify, now + 89 * MS));
	TEST_ASSERT_EQUAL_STRING("", heard());
	TEST_ASSERT_EQUAL_INT(1, notify_flush(&notify, now + 90 * MS));
	TEST_ASSERT_EQUAL_STRING("STATUS=3\n", heard());
	TEST_ASSERT_EQUAL_INT(0, notify_flush(&notify, now + 500 * MS));
	TEST_ASSERT_EQUAL_UINT64(3, notify.held);
}

/* A status every 37 ms besides: all beats arrive in time, with the newest status, and no datagram more. */
TEST(test_status_never_takes_the_place_of_a_beat)
{
	char status[32] = "", expected[64];
	bool changed = false;

	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now));
	TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
	for (int ms = 1; ms <= 5000; ms++) {
		if (ms % 37 == 0) {
			snprintf(status, sizeof status, "at %d ms", ms);
			TEST_ASSERT_EQUAL_INT(-EBUSY, notify_status(&notify, now + ms * (int64_t)MS, status));
			changed = true;
		}
		if (ms % 100 == 0) {
			TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now + ms * (int64_t)MS));
			snprintf(expected, sizeof expected, changed ? "WATCHDOG=1\nSTATUS=%s\n" : "WATCHDOG=1\n",
				 status);
			TEST_ASSERT_EQUAL_STRING(expected, heard());
			changed = false;
		}
	}
	TEST_ASSERT_EQUAL_STRING("", heard());
	TEST_ASSERT_EQUAL_UINT64(5000 / 37, notify.held);
	/* No beat any more: the status need not wait for one. */
	TEST_ASSERT_EQUAL_INT(-EBUSY, notify_status(&notify, now + 5199 * (int64_t)MS, "stuck"));
	TEST_ASSERT_EQUAL_INT(1, notify_flush(&notify, now + 5200 * (int64_t)MS));
	TEST_ASSERT_EQUAL_STRING("STATUS=stuck\n", heard());
}

TEST(test_ready_is_outside_the_rate)
{
	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now));
	TEST_ASSERT_EQUAL_INT(1, notify_ready(&notify));
	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now += 100 * MS)); /* and delays no beat */
	TEST_ASSERT_EQUAL_INT(1, notify_stopping(&notify));
	TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
	TEST_ASSERT_EQUAL_STRING("READY=1\n", heard());
	TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
	TEST_ASSERT_EQUAL_STRING("STOPPING=1\n", heard());
}

/* ---- a supervisor in trouble ---- */

/* Until the socket takes no more; the watchdog ends a test that blocks. */
static void fill(void)
{
	int ret = 1;

	for (int i = 0; i < 100000 && ret == 1; i++)
		ret = notify_send(&notify, "X=1\n");
	TEST_ASSERT_EQUAL_INT(-EAGAIN, ret);
	TEST_ASSERT_EQUAL_UINT64(1, notify.lost);
}

TEST(test_supervisor_that_does_not_read)
{
	char text[NOTIFY_STATUS_MAX], expected[300];

	fill();
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	TEST_ASSERT_EQUAL_INT(-EAGAIN, notify_ready(&notify));
	TEST_ASSERT_EQUAL_INT(-EAGAIN, notify_watchdog(&notify, now));
	TEST_ASSERT_EQUAL_INT(-EBUSY, notify_status(&notify, now, text));
	TEST_ASSERT_EQUAL_UINT64(3, notify.lost);
	while (*heard())
		;
	TEST_ASSERT_EQUAL_INT(-EBUSY, notify_watchdog(&notify, now + 14 * MS));
	/* What was to be said is said, all of it, and a beat only if it is one of now. */
	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now += 15 * MS));
	snprintf(expected, sizeof expected, "READY=1\nWATCHDOG=1\nSTATUS=%s\n", text);
	TEST_ASSERT_EQUAL_STRING(expected, heard());
	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now += 100 * MS));
	TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
}

TEST(test_full_socket_is_tried_more_often)
{
	fill();
	notify_ready(&notify);
	for (int ms = 0; ms < 1000; ms++)
		notify_flush(&notify, now + ms * (int64_t)MS);
	TEST_ASSERT_EQUAL_UINT64(2 + 67, notify.lost); /* at 0, 15 ... 990 ms */
}

TEST(test_supervisor_that_comes_back)
{
	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now));
	leave();
	TEST_ASSERT_EQUAL_INT(-ECONNREFUSED, notify_ready(&notify));
	unlink(path);
	TEST_ASSERT_EQUAL_INT(-ENOENT, notify_watchdog(&notify, now += 100 * MS));
	TEST_ASSERT_EQUAL_UINT64(2, notify.lost);
	supervisor = listen_at(path);
	TEST_ASSERT_EQUAL_INT(1, notify_flush(&notify, now += 300 * MS)); /* no beats: on its own */
	TEST_ASSERT_EQUAL_STRING("READY=1\n", heard());
	TEST_ASSERT_EQUAL_INT(1, notify_watchdog(&notify, now += 100 * MS));
	TEST_ASSERT_EQUAL_STRING("WATCHDOG=1\n", heard());
}

TEST(test_supervisor_that_comes_later)
{
	leave();
	unlink(path);
	TEST_ASSERT_EQUAL_INT(-ENOENT, notify_ready(&notify));
	supervisor = listen_at(path);
	TEST_ASSERT_EQUAL_INT(1, notify_flush(&notify, now));
	TEST_ASSERT_EQUAL_STRING("READY=1\n", heard());
}

TEST(test_stopping_takes_ready_back)
{
	leave();
	TEST_ASSERT_EQUAL_INT(-ECONNREFUSED, notify_ready(&notify));
	unlink(path);
	supervisor = listen_at(path);
	TEST_ASSERT_EQUAL_INT(1, notify_stopping(&notify));
	TEST_ASSERT_EQUAL_STRING("STOPPING=1\n", heard());
}

TEST(test_no_descriptor_to_be_had)
{
	struct rlimit usual, none;

	LIB_CHECK(!getrlimit(RLIMIT_NOFILE, &usual));
	none = (struct rlimit){ .rlim_max = usual.rlim_max };
	LIB_CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	TEST_ASSERT_EQUAL_INT(-EMFILE, notify_ready(&notify));
	LIB_CHECK(!setrlimit(RLIMIT_NOFILE, &usual));
	TEST_ASSERT_EQUAL_INT(1, notify_flush(&notify, now));
	TEST_ASSERT_EQUAL_STRING("READY=1\n", heard());
}

TEST(test_nothing_is_left_open)
{
	int before = dup(supervisor);

	close(before);
	notify_ready(&notify);
	TEST_ASSERT_EQUAL_INT(FD_CLOEXEC, fcntl(notify.fd, F_GETFD));
	notify_close(&notify);
	notify_close(&notify);
	TEST_ASSERT_EQUAL_INT(0, notify_ready(&notify));
	TEST_ASSERT_EQUAL_INT(before, dup(supervisor));
	close(before);
}

int main(void)
{
	int status;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/notify", folder);
	UNITY_BEGIN();
	testcase_run_all();
	status = UNITY_END();
	rmdir(folder);
	return status;
}
