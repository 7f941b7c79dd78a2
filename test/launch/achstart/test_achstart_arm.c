/* test_achstart_arm.c: commands that come late, and arming: only what the operator had seen is lowered. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "launch/view/peer.h"
#include "launch/view/robot_channels.h"
#include "test/launch/achstart/rig.h"
#include "test/lib/virtual_lib.h"

#define SOON_NS 60000000000

#define ANSWER_NS 30000000000

static struct estop operator;
static char answer[512];

void setUp(void)
{
	rig_open(NULL);
	rig_start();
	RIG_UNTIL(rig_armed());
	TEST_ASSERT_EQUAL(0, robot_level_open(&operator, false, &(struct error_sink){ 0 }));
}

void tearDown(void)
{
	estop_close(&operator);
	rig_close();
}

/* ---- asking ---- */

static int ask_and_keep(const char *line)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/control", rig.run);
	TEST_ASSERT_EQUAL(0, connect(fd, (struct sockaddr *)&address, sizeof(address)));
	clock_touch(0);
	TEST_ASSERT_EQUAL(strlen(line), send(fd, line, strlen(line), MSG_NOSIGNAL));
	return fd;
}

static const char *read_answer(int fd)
{
	struct clock_fd wait = { .fd = fd, .events = POLLIN };
	ssize_t n;

	TEST_ASSERT_EQUAL(1, clock_wait(&wait, 1, clock_now_ns() + ANSWER_NS));
	n = recv(fd, answer, sizeof(answer) - 1, 0);
	answer[n > 0 ? n : 0] = 0;
	close(fd);
	return answer;
}

static const char *ask(const char *line)
{
	return read_answer(ask_and_keep(line));
}

static const char *arm_line(int64_t until_ns, const struct estop_seen *seen)
{
	static char line[256];

	snprintf(line, sizeof(line), "arm\t%lld\ttester\t%llu\t%llu\t%llu\t%llu\n", (long long)until_ns,
		 (unsigned long long)seen->id[0], (unsigned long long)seen->seq[0], (unsigned long long)seen->id[1],
		 (unsigned long long)seen->seq[1]);
	return line;
}

static struct estop_seen read_estop(void)
{
	estop_read(&operator, clock_now_ns());
	return estop_seen(&operator);
}

/* Until the drivers have copied it. */
static struct estop_seen read_estop_when_quiet(void)
{
	struct estop_seen seen = read_estop(), now;

	for (int turns = 0; turns < 100; turns++) {
		rig_turn();
		now = read_estop();
		if (memcmp(&now, &seen, sizeof(seen)) != 0)
			turns = 0;
		seen = now;
	}
	return seen;
}

static struct estop_seen raise_by(const char *who)
{
	read_estop();
	TEST_ASSERT_EQUAL(0, estop_raise(&operator, MSG_LEVEL_ESTOP, who, 1007, "smoke", &(struct error_sink){ 0 }));
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_DISARMED);
	return read_estop_when_quiet();
}

static void refused(const char *line, const char *why)
{
	if (!strstr(ask(line), why))
		rig_fail(__LINE__, "%s", answer);
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_ESTOP);
}

static void armed(const struct estop_seen *seen)
{
	if (!strstr(ask(arm_line(clock_now_ns() + SOON_NS, seen)), "\"ok\":true"))
		rig_fail(__LINE__, "%s", answer);
	RIG_ASSERT(strstr(answer, "\"taken\":2"));
	RIG_ASSERT(rig_waist().common.level == MSG_LEVEL_RUN); /* it has said so already */
}

/* ---- cases ---- */

/* The name is that of the peer's user id; what it says of itself stands behind it. */
TEST(a_seen_level_is_lowered)
{
	const struct estop_seen seen = raise_by("ann");
	char name[PEER_NAME_MAX], text[MSG_TEXT_SIZE];

	armed(&seen);
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	peer_name(name, getuid(), "/etc/passwd");
	snprintf(text, sizeof(text), "armed by %s (tester)", name);
	RIG_ASSERT(rig_reported("achstart", "armed", text));
}

/* The drivers go by what the operator had read: one lowering, in estop alone, right behind that. */
TEST(the_lowering_has_the_operators_numbers)
{
	const struct estop_seen seen = raise_by("ann");
	const struct msg_estop *msg = &operator.channel[0].messages[(seen.seq[0] + 1) % ESTOP_RETAINED];
	uint64_t epoch;

	rig_level(&epoch);
	armed(&seen);
	read_estop();
	TEST_ASSERT_EQUAL(seen.seq[0] + 1, operator.channel[0].window.newest);
	TEST_ASSERT_EQUAL(seen.seq[1], operator.channel[1].window.newest);
	TEST_ASSERT_EQUAL(MSG_ESTOP_LOWER, msg->kind);
	TEST_ASSERT_EQUAL_UINT64_ARRAY(seen.seq, msg->seen, 2);
	TEST_ASSERT_EQUAL_UINT64_ARRAY(seen.id, msg->chan, 2);
	TEST_ASSERT_EQUAL(epoch + 1, msg->epoch);
	RIG_ASSERT(msg->until_ns - msg->header.t_publish_ns <= ESTOP_LOWER_NS);
}

TEST(a_raise_since_refuses_the_arming)
{
	struct estop_seen seen = raise_by("ann"), now = raise_by("eve");

	refused(arm_line(clock_now_ns() + SOON_NS, &seen), "level raised since by eve: smoke");
	/* On one channel alone. */
	seen.seq[0] = now.seq[0];
	refused(arm_line(clock_now_ns() + SOON_NS, &seen), "level raised since by eve: smoke");
	/* A number says nothing of another channel under the same name. */
	seen = now;
	seen.id[1]++;
	refused(arm_line(clock_now_ns() + SOON_NS, &seen), "estop-b was created again since");
	armed(&now);
}

/* What comes while the request is under way. */
TEST(a_raise_wins_over_a_request_under_way)
{
	const struct estop_seen seen = raise_by("ann");

	for (int i = 0; i < 5; i++) {
		const struct estop_seen at = i ? read_estop_when_quiet() : seen;
		const int fd = ask_and_keep(arm_line(clock_now_ns() + SOON_NS, &at));

		for (int turns = 0; turns < 10 * i; turns++)
			rig_turn();
		read_estop();
		TEST_ASSERT_EQUAL(0, estop_raise(&operator, MSG_LEVEL_HOLD, "eve", 1007, "smoke",
						 &(struct error_sink){ 0 }));
		read_answer(fd);
		if (strstr(answer, "\"ok\":true"))
			RIG_UNTIL(rig_waist().common.level == MSG_LEVEL_HOLD);
		else
			RIG_UNTIL(rig_waist().common.level == MSG_LEVEL_ESTOP);
		RIG_ASSERT(rig_level(NULL) != MSG_LEVEL_RUN);
		if (strstr(answer, "\"ok\":true"))
			raise_by("ann");
	}
}

TEST(one_request_at_a_time)
{
	const struct estop_seen seen = raise_by("ann");
	int first, second;

	virtual_lib_signal(rig.achstart, SIGSTOP);
	first = ask_and_keep(arm_line(clock_now_ns() + SOON_NS, &seen));
	second = ask_and_keep(arm_line(clock_now_ns() + SOON_NS, &seen));
	virtual_lib_signal(rig.achstart, SIGCONT);
	RIG_ASSERT(strstr(read_answer(second), "another arm request"));
	RIG_ASSERT(strstr(read_answer(first), "\"ok\":true"));
}

TEST(a_late_request_has_no_effect)
{
	const struct estop_seen seen = raise_by("ann");

	refused(arm_line(clock_now_ns() - 1, &seen), "arm came too late, and is not done");
	refused("stop\t1\n", "stop came too late, and is not done");
	refused("restart\t1\twaist\n", "restart came too late, and is not done");
	RIG_ASSERT(rig_incarnation("waist") == 1);
}

/* Its words are there before achstart looks, and so is its end. */
TEST(a_closed_connection_cancels_the_request)
{
	const struct estop_seen seen = raise_by("ann");

	for (unsigned int i = 0; i < 20; i++) {
		virtual_lib_signal(rig.achstart, SIGSTOP);
		close(ask_and_keep(arm_line(clock_now_ns() + SOON_NS, &seen)));
		virtual_lib_signal(rig.achstart, SIGCONT);
		RIG_UNTIL(rig_events("achstart", "too-late") == i + 1);
		RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_ESTOP);
	}
}

TEST(a_missing_deadline_is_refused)
{
	raise_by("ann");
	refused("arm\ttester\n", "arm: missing deadline: is achctl of another version?");
	refused("stop\n", "stop: missing deadline");
	refused("arm\t999999999999999999\ttester\n", "missing sequence numbers of the e-stop");
	refused("arm\t999999999999999999\ttester\t1\t2\t3\t-4\n", "missing sequence numbers of the e-stop");
	RIG_ASSERT(!rig_stop());
}

/* ---- raising through achstart ---- */

TEST(achstart_raises_in_the_name_of_its_peer)
{
	const struct msg_estop *msg;

	RIG_ASSERT(strstr(ask("raise\thold\ta hand in the way\n"), "\"ok\":true"));
	RIG_UNTIL(rig_waist().common.level == MSG_LEVEL_HOLD);
	read_estop();
	msg = &operator.channel[1].messages[operator.channel[1].window.newest % ESTOP_RETAINED];
	TEST_ASSERT_EQUAL(geteuid(), msg->uid);
	TEST_ASSERT_EQUAL_STRING("a hand in the way", msg->why);
	RIG_ASSERT(rig_reported("achstart", "raised", "a hand in the way"));
	/* Whatever it is called, it is a raise; and its asker need not wait. */
	close(ask_and_keep("raise\trun\tnonsense\n"));
	RIG_UNTIL(rig_waist().common.level == MSG_LEVEL_ESTOP);
}
