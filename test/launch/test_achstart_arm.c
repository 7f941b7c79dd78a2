/* test_achstart_arm.c: commands that come late, and arming: only what the operator had seen is lowered. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unity.h"

#include "channels/clock.h"
#include "launch/achstart/peer.h"
#include "test/launch/rig.h"

#define SOON_NS 60000000000

static struct arm operator;
static char answer[512];

void setUp(void)
{
	struct error_sink quiet = { 0 };

	rig_open(NULL);
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_level(NULL) == MSG_LEVEL_RUN);
	TEST_ASSERT_EQUAL(0, arm_open(&operator, false, (gid_t)-1, &quiet));
}

void tearDown(void)
{
	arm_close(&operator);
	rig_close();
}

/* ---- asking ---- */

static int ask_and_keep(const char *line)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/control", rig.run);
	TEST_ASSERT_EQUAL(0, connect(fd, (struct sockaddr *)&address, sizeof(address)));
	TEST_ASSERT_EQUAL(strlen(line), send(fd, line, strlen(line), MSG_NOSIGNAL));
	return fd;
}

static const char *ask(const char *line)
{
	const int fd = ask_and_keep(line);
	const ssize_t n = recv(fd, answer, sizeof(answer) - 1, 0);

	answer[n > 0 ? n : 0] = 0;
	close(fd);
	return answer;
}

static const char *arm_line(int64_t until_ns, const struct arm_seen *seen)
{
	static char line[256];

	snprintf(line, sizeof(line), "arm\t%lld\ttester\t%llu\t%llu\t%llu\t%llu\n", (long long)until_ns,
		 (unsigned long long)seen->id[0], (unsigned long long)seen->seq[0], (unsigned long long)seen->id[1],
		 (unsigned long long)seen->seq[1]);
	return line;
}

static void raise_by(const char *who)
{
	struct error_sink quiet = { 0 };

	TEST_ASSERT_EQUAL(0, arm_read(&operator, & quiet));
	TEST_ASSERT_EQUAL(0, arm_raise(&operator, MSG_LEVEL_ESTOP, who, "smoke", &quiet));
	TEST_ASSERT_EQUAL(0, arm_read(&operator, & quiet));
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_DISARMED);
}

static void refused(const char *line, const char *why)
{
	if (!strstr(ask(line), why))
		rig_fail(__LINE__, "%s", answer);
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_ESTOP);
}

/* ---- cases ---- */

/* The name is that of the peer's user id; what it says of itself stands behind it. */
static void what_was_seen_is_lowered(void)
{
	char name[PEER_NAME_MAX], text[MSG_TEXT_SIZE];

	raise_by("ann");
	if (!strstr(ask(arm_line(clock_now_ns() + SOON_NS, &operator.seen)), "\"ok\":true"))
		rig_fail(__LINE__, "%s", answer);
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_UNTIL(rig_waist().common.level == MSG_LEVEL_RUN);
	peer_name(name, getuid(), "/etc/passwd");
	snprintf(text, sizeof(text), "armed by %s (tester)", name);
	RIG_ASSERT(rig_told("achstart", "armed", text));
}

/* The drivers judge by what the operator had read, not by what achstart has read when it lowers. */
static void the_operators_numbers_are_told(void)
{
	struct error_sink quiet = { 0 };
	struct msg_estop msg;
	struct arm_seen seen;
	size_t len;

	raise_by("ann");
	seen = operator.seen;
	TEST_ASSERT_EQUAL(0, arm_raise(&operator, MSG_LEVEL_RUN, "ann", "which raises nothing", &quiet));
	if (!strstr(ask(arm_line(clock_now_ns() + SOON_NS, &seen)), "\"ok\":true"))
		rig_fail(__LINE__, "%s", answer);
	for (int c = 0; c < 2; c++) {
		const enum ach_status status = ach_get(&operator.chan[c], &msg, sizeof(msg), &len, NULL, ACH_O_LAST);

		TEST_ASSERT_TRUE(status == ACH_OK || status == ACH_MISSED_FRAME);
		TEST_ASSERT_EQUAL_UINT64_ARRAY(seen.seq, msg.seen, 2);
	}
}

static void what_was_raised_since_is_not(void)
{
	struct arm_seen seen;

	raise_by("ann");
	seen = operator.seen;
	raise_by("eve");
	refused(arm_line(clock_now_ns() + SOON_NS, &seen), "level raised since by eve: smoke");
	/* On one channel alone. */
	seen.seq[0] = operator.seen.seq[0];
	refused(arm_line(clock_now_ns() + SOON_NS, &seen), "level raised since by eve: smoke");
	/* A number says nothing of another channel under the same name. */
	seen = operator.seen;
	seen.id[1]++;
	seen.seq[1] += 1000;
	refused(arm_line(clock_now_ns() + SOON_NS, &seen), "channel estop-b was made anew since");
}

static void what_is_late_is_not_done(void)
{
	raise_by("ann");
	refused(arm_line(clock_now_ns() - 1, &operator.seen), "arm came too late, and is not done");
	refused("stop\t1\n", "stop came too late, and is not done");
	refused("restart\t1\twaist\n", "restart came too late, and is not done");
	RIG_ASSERT(rig_incarnation("waist") == 1);
}

/* Its words are there before achstart looks, and so is its end. */
static void who_has_hung_up_is_not_obeyed(void)
{
	raise_by("ann");
	for (unsigned int i = 0; i < 20; i++) {
		TEST_ASSERT_EQUAL(0, kill(rig.achstart, SIGSTOP));
		close(ask_and_keep(arm_line(clock_now_ns() + SOON_NS, &operator.seen)));
		TEST_ASSERT_EQUAL(0, kill(rig.achstart, SIGCONT));
		RIG_UNTIL(rig_events("achstart", "too-late") == i + 1);
		RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_ESTOP);
	}
}

static void who_does_not_say_until_when_is_refused(void)
{
	raise_by("ann");
	refused("arm\ttester\n", "arm: it does not say until when: is achctl of another version?");
	refused("stop\n", "stop: it does not say until when");
	refused("arm\t99999999999999999\ttester\n", "it does not say what was seen of the e-stop");
	refused("arm\t99999999999999999\ttester\t1\t2\t3\t-4\n", "it does not say what was seen of the e-stop");
	RIG_ASSERT(!rig_stop());
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(what_was_seen_is_lowered);
	RUN_TEST(the_operators_numbers_are_told);
	RUN_TEST(what_was_raised_since_is_not);
	RUN_TEST(what_is_late_is_not_done);
	RUN_TEST(who_has_hung_up_is_not_obeyed);
	RUN_TEST(who_does_not_say_until_when_is_refused);
	return UNITY_END();
}
