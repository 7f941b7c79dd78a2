/* test_drv_ask.c: a reply belongs to its own request, whatever is late, lost, repeated or under way beside it. */
#include "can/slots/slots.h"
#include "daemons/drv/drv_ask.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define SEND 7
#define RECEIVE 9

static struct drv_ask ask;
static struct drv_ask_answer answer;

void setUp(void)
{
	memset(&ask, 0, sizeof(ask));
}

/* Two bytes that come back at their places: command and parameter of a PowerCube. */
static struct drv_question two_bytes(void)
{
	return (struct drv_question){
		.send = SEND,
		.receive = RECEIVE,
		.echo = { { 0, 0, 0xFF }, { 1, 1, 0xFF } },
		.late_ns = 20 * MS,
		.lost_ns = 100 * MS,
	};
}

static struct frame bytes(const char *hex)
{
	struct frame frame = { .id = 0x123 };

	for (unsigned int value; sscanf(hex, "%2x", &value) == 1; hex += 2)
		frame.data[frame.len++] = (uint8_t)value;
	return frame;
}

/* ---- one key in the course of time ---- */

/* Steps of one letter and a time in ms:
 *	m may it be asked?  =0, =B busy		p put, which it may be		s on the wire
 *	l lost, perhaps sent			x lost, not sent
 *	r a reply: =A the answer, =a one of several frames of it, =L late, =N of no request
 *	P a pause of 40 ms, which ends then
 *	d what is due: =- nothing, R sent again, U unanswered; D: the next try is refused */
struct course {
	const char *name;
	unsigned int tries, replies;
	const char *steps;
};

static const struct course courses[] = {
	{ "a reply in time is the answer", 1, 1, "m1000=0 p1000 s1001 m1002=B r1003=A m1003=0 d2000=-" },
	{ "a reply to no request", 1, 1, "r1000=N p1001 s1001 r1002=A r1003=N m1003=0" },
	{ "a reply that is delivered before the confirmation counts", 1, 1,
	  "p1000 r1001=A m1001=0 r1001=N s1002 m1003=0 p1010 r1011=A s1012 p1020 s1021 r1022=A" },
	{ "and the confirmation comes when the next one is put", 1, 1,
	  "p1100 r1101=A p1102 s1103 s1104 r1103=N r1105=A m1105=0" },
	{ "or the next but one", 1, 1, "p1100 r1101=A p1102 r1103=A p1104 s1105 s1106 s1107 r1106=N r1108=A d2000=-" },
	{ "or the request is reported lost", 1, 1, "p1200 r1201=A l1201 p1202 s1203 r1202=N r1204=A" },
	{ "when the next one is put", 1, 1, "p1200 r1201=A p1202 l1202 d1203=- s1203 r1202=N r1204=A" },
	{ "an early reply without any confirmation is forgotten", 1, 1,
	  "p1000 r1001=A d1101=- p1200 s1202 r1201=N r1203=A" },
	{ "but not before it is lost", 1, 1, "p1000 r1001=A d1100=- s1100 p1101 s1102 r1102=A" },
	{ "a reply before its request, by the stamps, is not the answer", 1, 1,
	  "p1000 r999=N m1000=B s1003 r1002=N m1004=B r1003=A" },
	{ "late is more than late_ns", 1, 1, "p1000 s1000 d1020=- r1020=A p1100 s1100 d1121=U" },
	{ "late by the stamp, though nothing was due yet", 1, 1, "p1100 s1100 r1121=L m1121=B d1121=U m1121=0" },
	{ "late counts from the wire", 1, 1, "p1000 s1015 d1035=- r1035=A" },
	{ "a late reply is dropped and the key is free again", 1, 1,
	  "p1000 s1000 d1021=U m1021=B r1030=L m1030=0 p1035 s1035 r1036=A" },
	{ "a reply is owed until it is lost", 1, 1, "p1000 s1000 d1021=U d1100=- m1100=B d1101=- m1101=0" },
	{ "after that it belongs to no request", 1, 1, "p1000 s1000 d1021=U d1101=- r1102=N" },
	{ "what was not confirmed is given up, too", 1, 1, "p1000 d1020=- d1021=U m1021=B" },
	{ "and is owed from the time it is on the wire", 1, 1,
	  "p1000 d1021=U s1090 d1150=- m1150=B r1089=N r1151=L m1151=0" },
	{ "a confirmation after it was forgotten", 1, 1,
	  "p1000 d1050=U d1101=- m1101=0 s1200 m1201=B r1199=N r1201=L m1201=0" },
	{ "which is forgotten again", 1, 1, "s1200 d1300=- m1300=B d1301=- m1301=0" },
	{ "two on the wire owe two replies", 1, 1,
	  "p1000 d1050=U d1101=- p1101 s1102 s1103 m1103=B d1103=U r1104=L m1104=B r1105=L m1105=0" },
	{ "also if they come before that is due", 1, 1,
	  "p1000 d1050=U d1101=- p1101 s1102 s1103 r1104=L m1104=B d1105=U m1105=B r1105=L m1105=0" },
	{ "and are not tried again", 3, 1, "p1000 d1021=R d1042=R d1063=U d1164=- p1200 s1201 s1202 d1202=U d2000=-" },
	{ "two on the wire before the next one is due", 1, 1,
	  "p1000 d1050=U d1101=- p1101 s1102 s1103 s1104 d1105=U r1106=L r1106=L m1106=B r1106=L m1106=0" },
	{ "a lost one may have been sent", 1, 1, "p1000 l1000 m1001=B d1001=U r1002=L m1002=0" },
	{ "the loss of a frame that is not under way", 1, 1, "l1000 m1002=0 p1003 s1003 l1003 r1004=A" },
	{ "an unsent request owes nothing", 1, 1, "p1000 x1000 d1001=U m1001=0" },
	{ "nor if that is found out later", 1, 1, "p1000 d1021=U x1030 m1030=0" },
	{ "lost perhaps, found out later", 1, 1, "p1000 d1021=U l1030 m1030=B r1031=L m1031=0" },
	{ "it is sent again", 3, 1, "p1000 s1000 d1020=- d1021=R s1022 d1042=- d1043=R s1043 r1050=A d1200=-" },
	{ "and unanswered after the last try", 2, 1, "p1000 s1000 d1021=R s1021 d1041=- d1042=U m1042=B" },
	{ "which owes a reply for each try", 2, 1,
	  "p1000 s1000 d1021=R s1021 d1042=U r1043=L m1043=B r1044=L m1044=0" },
	{ "until lost_ns after the last", 2, 1, "p1000 s1000 d1021=R s1021 d1042=U d1121=- m1121=B d1122=- m1122=0" },
	{ "the answer to the first try answers", 2, 1, "p1000 s1000 d1021=R s1022 r1023=A m1023=B r1024=L m1024=0" },
	{ "also before the second is on the wire", 2, 1,
	  "p1000 s1000 d1021=R r1021=A s1022 m1022=B d1122=- m1122=B d1123=- m1123=0" },
	{ "but not one from before the first", 2, 1, "p1000 s1001 d1022=R s1023 r1000=N r1001=A" },
	{ "the first try is confirmed after the second is put", 2, 1,
	  "p1000 d1021=R s1022 s1023 r1024=A r1024=L m1024=0" },
	{ "at once if it was not sent", 2, 1, "p1000 x1000 d1001=R s1002 r1002=A m1002=0" },
	{ "at once if it was lost", 2, 1, "p1000 l1000 d1001=R s1002 r1003=A m1003=B r1004=L m1004=0" },
	{ "at once after a late reply", 2, 1, "p1000 s1000 r1021=L d1021=R s1021 r1022=A m1022=0" },
	{ "the next try is refused", 3, 1, "p1000 x1000 D1001=R d1021=- d1022=R s1022 r1023=A m1023=0" },
	{ "and a reply then belongs to no request", 2, 1, "p1000 x1000 D1001=R r1002=N d1021=- d1022=U m1022=0" },
	{ "confirmed after it was refused", 3, 1, "p1000 s1000 r1021=L D1021=R s1022 d1022=U m1022=B r1023=L m1023=0" },
	{ "several frames are one answer", 1, 3, "p1000 s1000 r1001=a r1002=a m1002=B r1003=A m1003=0 r1004=N" },
	{ "one of them is missing", 1, 3, "p1000 s1000 r1001=a r1002=a d1021=U m1021=B r1022=L m1022=0" },
	{ "and all of them are asked for again", 2, 2,
	  "p1000 s1000 r1001=a d1021=R s1021 r1022=a r1023=A m1023=B r1024=L m1024=0" },
	{ "not sent, none of them is owed", 1, 3, "p1000 x1000 d1001=U m1001=0" },
	{ "of two tries one is not sent", 2, 3,
	  "p1000 s1000 d1021=R x1021 d1021=U r1022=L r1022=L m1022=B r1022=L m1022=0" },
	{ "a stray confirmation owes all of them", 1, 2, "s1000 r1001=L m1001=B r1002=L m1002=0" },
	{ "time in a pause does not count", 1, 1, "p1000 s1000 P1040 d1059=- d1060=- r1060=A m1060=0" },
	{ "but the rest does", 1, 1, "p1000 s1000 P1040 d1060=- d1061=U r1062=L m1062=0" },
	{ "a request that was confirmed late", 1, 1, "p1000 P1040 s1000 d1060=- r1060=A m1060=0" },
	{ "a reply in a pause that was read late", 1, 1, "p1000 s1000 r1015=A P1040 m1040=0" },
	{ "is the answer, too", 1, 1, "p1000 s1000 P1040 r1015=A m1040=0" },
	{ "a pause of before", 1, 1, "P1000 p1000 s1000 d1020=- d1021=U" },
	{ "what is owed is owed as long, without the pause", 1, 1,
	  "p1000 s1000 d1021=U P1060 d1140=- m1140=B d1141=- m1141=0" },
	{ "0 is one", 0, 0, "p1000 s1000 r1001=A p1010 s1010 d1031=U r1032=L m1032=0" },
};

static void one_step(const struct course *c, const char *step)
{
	const struct frame request = bytes("0A3C01"), reply = bytes("0A3CFF");
	const int64_t t_ns = atoll(step + 1) * MS;
	const char *expected = strchr(step, '=');
	char got[16] = "", message[200];
	enum drv_ask_what what;

	snprintf(message, sizeof(message), "%s: at %.12s", c->name, step);
	switch (*step) {
	case 'm':
		*got = drv_ask_may(&ask, 0, &request) ? 'B' : '0';
		break;
	case 'p':
		TEST_ASSERT_EQUAL_MESSAGE(0, drv_ask_may(&ask, 0, &request), message);
		drv_ask_put(&ask, 0, &request, 5, t_ns);
		return;
	case 's':
		drv_ask_sent(&ask, SEND, &request, t_ns);
		return;
	case 'P':
		drv_ask_paused(&ask, t_ns - 40 * MS, t_ns);
		return;
	case 'l':
	case 'x':
		drv_ask_lost(&ask, SEND, &request, *step == 'l');
		return;
	case 'r':
		what = drv_ask_reply(&ask, RECEIVE, &reply, t_ns, &answer);
		*got = what == DRV_ASK_ANSWER ? (answer.left ? 'a' : 'A') : what == DRV_ASK_LATE ? 'L' : 'N';
		break;
	default:
		while ((what = drv_ask_due(&ask, t_ns, &answer)) != DRV_ASK_NOTHING) {
			got[strlen(got)] = what == DRV_ASK_AGAIN ? 'R' : 'U';
			TEST_ASSERT_EQUAL_MESSAGE(5, answer.tag, message);
			if (what == DRV_ASK_AGAIN)
				drv_ask_again(&ask, answer.entry, *step == 'd', t_ns);
		}
		if (!*got)
			*got = '-';
		TEST_ASSERT_MESSAGE(drv_ask_next_ns(&ask) > t_ns, message); /* or the loop would spin */
	}
	TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE(expected + 1, got, strlen(got), message);
	TEST_ASSERT_MESSAGE(strchr(" ", expected[1 + strlen(got)]), message);
}

TEST(each_course)
{
	for (size_t i = 0; i < sizeof(courses) / sizeof(*courses); i++) {
		struct drv_question question = two_bytes();

		setUp();
		question.tries = courses[i].tries;
		question.replies = courses[i].replies;
		TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
		for (const char *step = courses[i].steps; step; step = strchr(step, ' ') ? strchr(step, ' ') + 1 : NULL)
			one_step(&courses[i], step);
	}
}

/* On an interface that confirms nothing. */
TEST(without_confirmations_every_reply_is_the_answer)
{
	const struct course c = { "without confirmations", 1, 1, "" };
	const struct drv_question question = two_bytes();
	char step[32];

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	for (int i = 0; i < 100; i++) {
		snprintf(step, sizeof(step), "p%d", 1000 + 10 * i);
		one_step(&c, step);
		snprintf(step, sizeof(step), "r%d=A", 1001 + 10 * i);
		one_step(&c, step);
	}
	TEST_ASSERT_EQUAL_UINT(1, ask.entries_n);
	/* Those that come all of a sudden, as many as are in flight, are passed over. */
	one_step(&c, "s2000");
	one_step(&c, "p2001");
	for (int i = 0; i < SLOTS_IN_FLIGHT_MAX; i++)
		one_step(&c, "s2002");
	one_step(&c, "s2004");
	one_step(&c, "r2003=N");
	one_step(&c, "r2004=A");
}

/* The driver asks the next one when it is told. */
TEST(what_is_lost_when_it_is_late_may_be_asked_again_at_once)
{
	const struct course c = { "lost when late", 1, 1, "" };
	struct drv_question question = two_bytes();
	const struct frame request = bytes("0A3C01");

	question.lost_ns = question.late_ns;
	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	one_step(&c, "p1000");
	one_step(&c, "s1000");
	TEST_ASSERT_EQUAL(DRV_ASK_UNANSWERED, drv_ask_due(&ask, 1021 * MS, &answer));
	TEST_ASSERT_EQUAL(0, drv_ask_may(&ask, 0, &request));
	one_step(&c, "p1021");
	one_step(&c, "s1021");
	one_step(&c, "r1022=A");
	/* What becomes of the one before does not count for the next. */
	for (const char *late = "xls"; *late; late++) {
		char step[8] = { *late, '2', '0', '2', '2' };

		setUp();
		TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
		one_step(&c, "p2000");
		TEST_ASSERT_EQUAL(DRV_ASK_UNANSWERED, drv_ask_due(&ask, 2021 * MS, &answer));
		one_step(&c, "p2021");
		one_step(&c, step);
		one_step(&c, "d2022=-");
		one_step(&c, "s2023");
		one_step(&c, "r2024=A");
	}
}

TEST(a_reply_lost_for_good_does_not_shift_those_behind_it)
{
	const struct drv_question question = two_bytes();
	const struct frame request = bytes("0A3C"), reply = bytes("0A3C00");
	unsigned int answered = 0;

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	for (int64_t now_ms = 1000; now_ms < 1505; now_ms += 5) {
		while (drv_ask_due(&ask, now_ms * MS, &answer) != DRV_ASK_NOTHING)
			continue;
		if (drv_ask_may(&ask, 0, &request))
			continue;
		drv_ask_put(&ask, 0, &request, 0, now_ms * MS);
		drv_ask_sent(&ask, SEND, &request, now_ms * MS);
		if (now_ms > 1000) /* the first one is never answered */
			answered += drv_ask_reply(&ask, RECEIVE, &reply, (now_ms + 1) * MS, &answer) == DRV_ASK_ANSWER;
	}
	TEST_ASSERT_EQUAL_UINT(80, answered); /* all but those of the first 100 ms */
}

/* ---- keys ---- */

#define SAME(byte)               \
	{                        \
		byte, byte, 0xFF \
	}
#define CUBE                     \
	{                        \
		SAME(0), SAME(1) \
	}
#define SDO                               \
	{                                 \
		SAME(1), SAME(2), SAME(3) \
	}
#define EIGHT                                                                          \
	{                                                                              \
		SAME(0), SAME(1), SAME(2), SAME(3), SAME(4), SAME(5), SAME(6), SAME(7) \
	}
static const struct {
	const char *name;
	struct drv_ask_echo echo[DRV_ASK_ECHOES_MAX];
	const char *request, *reply;
	bool answers;
} keys[] = {
	{ "PowerCube: command and parameter", CUBE, "0A3C", "0A3C00112233", true },
	{ "PowerCube: another parameter", CUBE, "0A3C", "0A3D00112233", false },
	{ "PowerCube: another command", CUBE, "0A3C", "083C64", false },
	{ "PowerCube: too short", CUBE, "0A3C", "0A", false },
	{ "PowerCube: too short for a 0", CUBE, "0A00", "0A", false },
	{ "SDO upload", SDO, "4041600000000000", "4B41600037020000", true },
	{ "SDO abort", SDO, "4041600000000000", "8041600000000206", true },
	{ "SDO of another subindex", SDO, "4041600000000000", "4B41600137020000", false },
	{ "nothing is repeated", { { 0 } }, "", "", true },
	{ "at other places", { { 0, 3, 0xFF }, { 4, 1, 0xFF } }, "1122334455", "00550011", true },
	{ "beyond the end of the request", { { 0, 3, 0xFF } }, "11", "00000011", true },
	{ "not at its own", { { 0, 3, 0xFF }, { 4, 1, 0xFF } }, "1122334455", "11000055", false },
	{ "some bits", { { 0, 0, 0x0F } }, "35", "A5", true },
	{ "other bits", { { 0, 0, 0x0F } }, "35", "34", false },
	{ "eight bytes", EIGHT, "0102030405060708", "0102030405060708", true },
	{ "the first of eight", EIGHT, "0102030405060708", "FF02030405060708", false },
	{ "the last of eight", EIGHT, "0102030405060708", "01020304050607FF", false },
};

TEST(each_key)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct frame request = bytes(keys[i].request), reply = bytes(keys[i].reply);
		struct drv_question question = two_bytes();

		setUp();
		memcpy(question.echo, keys[i].echo, sizeof(question.echo));
		TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
		TEST_ASSERT_EQUAL(0, drv_ask_may(&ask, 0, &request));
		drv_ask_put(&ask, 0, &request, 0, 1000 * MS);
		drv_ask_sent(&ask, SEND, &request, 1002 * MS);
		TEST_ASSERT_EQUAL_MESSAGE(DRV_ASK_NOTHING, drv_ask_reply(&ask, RECEIVE, &reply, 1001 * MS, &answer),
					  keys[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(keys[i].answers ? DRV_ASK_ANSWER : DRV_ASK_NOTHING,
					  drv_ask_reply(&ask, RECEIVE, &reply, 1002 * MS, &answer), keys[i].name);
	}
}

TEST(a_remote_frame_has_no_bytes)
{
	const struct drv_question question = two_bytes();
	struct frame request = bytes("0A3C");

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	request.id |= FRAME_RTR;
	TEST_ASSERT_EQUAL(-EINVAL, drv_ask_may(&ask, 0, &request));
	drv_ask_put(&ask, 0, &request, 0, 1000 * MS);
	drv_ask_sent(&ask, SEND, &request, 1000 * MS);
	TEST_ASSERT_EQUAL(0, ask.entries_n);
}

/* ---- several ---- */

TEST(requests_with_different_keys_are_under_way_at_the_same_time)
{
	static const char *const asked[] = { "0A3C", "0A3D", "0A41" };
	const struct drv_question question = two_bytes();

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	for (unsigned int i = 0; i < 3; i++) {
		const struct frame request = bytes(asked[i]);

		TEST_ASSERT_EQUAL(0, drv_ask_may(&ask, 0, &request));
		drv_ask_put(&ask, 0, &request, 100 + i, (1000 + i) * MS);
		drv_ask_sent(&ask, SEND, &request, (1001 + i) * MS);
		TEST_ASSERT_EQUAL(-EBUSY, drv_ask_may(&ask, 0, &request));
	}
	for (unsigned int n = 0; n < 3; n++) {
		const unsigned int i = (n + 1) % 3; /* the middle one first */
		const struct frame reply = bytes(asked[i]);

		TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &reply, 1010 * MS, &answer));
		TEST_ASSERT_EQUAL(100 + i, answer.tag);
		TEST_ASSERT_EQUAL(0, answer.question);
		TEST_ASSERT_EQUAL(1, answer.tries);
		TEST_ASSERT_EQUAL_INT64((1001 + i) * MS, answer.asked_ns);
		TEST_ASSERT_TRUE(frame_equal(&reply, &answer.request));
	}
	TEST_ASSERT_EQUAL(DRV_ASK_NOTHING, drv_ask_due(&ask, 5000 * MS, &answer));
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, drv_ask_next_ns(&ask));
}

TEST(an_sdo_server_is_asked_one_thing_at_a_time)
{
	struct drv_question question = two_bytes();
	const struct frame first = bytes("0A3C"), second = bytes("0A3D");

	question.exclusive = true;
	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	drv_ask_put(&ask, 0, &first, 0, 1000 * MS);
	TEST_ASSERT_EQUAL(-EBUSY, drv_ask_may(&ask, 0, &second));
	TEST_ASSERT_EQUAL(DRV_ASK_UNANSWERED, drv_ask_due(&ask, 1021 * MS, &answer));
	TEST_ASSERT_EQUAL(-EBUSY, drv_ask_may(&ask, 0, &second));
	TEST_ASSERT_EQUAL(DRV_ASK_LATE, drv_ask_reply(&ask, RECEIVE, &first, 1022 * MS, &answer));
	TEST_ASSERT_EQUAL(0, drv_ask_may(&ask, 0, &second)); /* the confirmation that is still to come does not count */
}

/* Reading and writing: rows of their own that the device answers with the same identifier. */
TEST(questions_may_share_the_row_of_their_replies)
{
	struct drv_question get = two_bytes(), set = two_bytes(), other = two_bytes();
	const struct frame got = bytes("0A3C"), done = bytes("083C");

	set.send = SEND + 1;
	other.send = SEND + 2;
	other.receive = RECEIVE + 1;
	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &get));
	TEST_ASSERT_EQUAL(1, drv_ask_add(&ask, &set));
	TEST_ASSERT_EQUAL(2, drv_ask_add(&ask, &other));
	drv_ask_put(&ask, 0, &got, 10, 1000 * MS);
	drv_ask_put(&ask, 1, &done, 11, 1000 * MS);
	drv_ask_put(&ask, 2, &got, 12, 1000 * MS);
	drv_ask_sent(&ask, SEND + 1, &done, 1005 * MS);
	TEST_ASSERT_EQUAL(DRV_ASK_NOTHING, drv_ask_reply(&ask, RECEIVE, &done, 1004 * MS, &answer));
	TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &got, 1004 * MS, &answer));
	TEST_ASSERT_EQUAL(10, answer.tag);
	TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &done, 1006 * MS, &answer));
	TEST_ASSERT_EQUAL(11, answer.tag);
	TEST_ASSERT_EQUAL(1, answer.question);
	TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE + 1, &got, 1006 * MS, &answer));
	TEST_ASSERT_EQUAL(12, answer.tag);
}

static struct frame request_number(unsigned int i)
{
	struct frame request = { .id = 0x123, .len = 2 };

	request.data[0] = (uint8_t)(i >> 8);
	request.data[1] = (uint8_t)i;
	return request;
}

/* Each that is due is reported once, and asking meanwhile disturbs nothing. */
TEST(all_places_are_used_and_given_back)
{
	const struct drv_question question = two_bytes();
	struct frame request;

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	for (unsigned int round = 0; round < 3; round++) {
		const int64_t now_ns = (1000 + 1000 * round) * MS;
		unsigned int unanswered = 0;

		for (unsigned int i = 0; i < DRV_ASK_MAX; i++) {
			request = request_number(i);
			TEST_ASSERT_EQUAL(0, drv_ask_may(&ask, 0, &request));
			drv_ask_put(&ask, 0, &request, i, now_ns);
		}
		request = request_number(DRV_ASK_MAX);
		TEST_ASSERT_EQUAL(-ENOSPC, drv_ask_may(&ask, 0, &request));
		drv_ask_put(&ask, 0, &request, 0, now_ns);
		drv_ask_sent(&ask, SEND, &request, now_ns);
		TEST_ASSERT_EQUAL(DRV_ASK_NOTHING, drv_ask_reply(&ask, RECEIVE, &request, now_ns, &answer));
		request = request_number(2); /* answered before it is confirmed, its place is kept for its key */
		TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &request, now_ns, &answer));
		TEST_ASSERT_EQUAL(0, drv_ask_may(&ask, 0, &request));
		request = request_number(DRV_ASK_MAX);
		TEST_ASSERT_EQUAL(-ENOSPC, drv_ask_may(&ask, 0, &request));
		for (unsigned int i = 0; i < DRV_ASK_MAX; i += 2) {
			if (i == 2)
				continue;
			request = request_number(i);
			drv_ask_sent(&ask, SEND, &request, now_ns);
			TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &request, now_ns, &answer));
			TEST_ASSERT_EQUAL(i, answer.tag);
		}
		while (drv_ask_due(&ask, now_ns + 21 * MS, &answer) == DRV_ASK_UNANSWERED) {
			TEST_ASSERT_EQUAL(1, answer.tag % 2);
			unanswered++;
			request = request_number(answer.tag - 1);
			if (answer.tag == 3)
				drv_ask_sent(&ask, SEND, &request, now_ns);
			TEST_ASSERT_EQUAL(0, drv_ask_may(&ask, 0, &request));
			drv_ask_put(&ask, 0, &request, answer.tag - 1, now_ns + 21 * MS);
		}
		TEST_ASSERT_EQUAL(DRV_ASK_MAX / 2, unanswered);
		TEST_ASSERT_EQUAL_INT64(now_ns + 41 * MS + 1, drv_ask_next_ns(&ask));
		while (drv_ask_due(&ask, now_ns + 500 * MS, &answer) != DRV_ASK_NOTHING)
			continue;
		while (drv_ask_due(&ask, now_ns + 700 * MS, &answer) != DRV_ASK_NOTHING)
			TEST_FAIL();
		TEST_ASSERT_EQUAL_INT64(INT64_MAX, drv_ask_next_ns(&ask));
	}
}

/* A reply is looked for among the requests of its own row: the others cost nothing. */
TEST(places_are_given_back_from_the_middle)
{
	const struct drv_question question = two_bytes();

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	for (unsigned int i = 0; i < 1000; i++) {
		const struct frame one = request_number(i), two = request_number(i + 1);

		drv_ask_put(&ask, 0, &one, i, 1000 * MS);
		drv_ask_sent(&ask, SEND, &one, 1000 * MS);
		if (!i)
			continue;
		drv_ask_put(&ask, 0, &two, i + 1, 1000 * MS);
		drv_ask_sent(&ask, SEND, &two, 1000 * MS);
		TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &one, 1001 * MS, &answer));
		TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &two, 1001 * MS, &answer));
	}
	TEST_ASSERT_EQUAL_UINT(3, ask.entries_n);
}

TEST(what_is_waited_for_next)
{
	struct drv_question question = two_bytes();
	const struct frame first = bytes("0A3C"), second = bytes("0A3D");

	TEST_ASSERT_EQUAL_INT64(INT64_MAX, drv_ask_next_ns(&ask));
	question.tries = 2;
	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, drv_ask_next_ns(&ask));
	drv_ask_put(&ask, 0, &first, 1, 1000 * MS);
	drv_ask_put(&ask, 0, &second, 2, 1001 * MS);
	question.send++;
	TEST_ASSERT_EQUAL(1, drv_ask_add(&ask, &question));
	TEST_ASSERT_EQUAL_INT64(1020 * MS + 1, drv_ask_next_ns(&ask));
	TEST_ASSERT_EQUAL(DRV_ASK_NOTHING, drv_ask_due(&ask, 1020 * MS, &answer));
	TEST_ASSERT_EQUAL(DRV_ASK_AGAIN, drv_ask_due(&ask, 1020 * MS + 1, &answer));
	TEST_ASSERT_EQUAL(1, answer.tag);
	TEST_ASSERT_EQUAL_INT64(1000 * MS, answer.asked_ns);
	drv_ask_again(&ask, answer.entry, true, 1020 * MS + 1);
	TEST_ASSERT_EQUAL(DRV_ASK_NOTHING, drv_ask_due(&ask, 1020 * MS + 1, &answer));
	TEST_ASSERT_EQUAL_INT64(1021 * MS + 1, drv_ask_next_ns(&ask));
	/* Lost: at once. */
	drv_ask_lost(&ask, SEND, &second, false);
	TEST_ASSERT_EQUAL_INT64(INT64_MIN + 1, drv_ask_next_ns(&ask));
	TEST_ASSERT_EQUAL(DRV_ASK_AGAIN, drv_ask_due(&ask, 1020 * MS + 1, &answer));
	TEST_ASSERT_EQUAL(2, answer.tag);
	drv_ask_again(&ask, answer.entry, true, 1020 * MS + 1);
	TEST_ASSERT_EQUAL(DRV_ASK_NOTHING, drv_ask_due(&ask, 1020 * MS + 1, &answer));
	TEST_ASSERT_EQUAL_INT64(1040 * MS + 2, drv_ask_next_ns(&ask));
}

/* ---- what is not a question ---- */

TEST(each_wrong_question_is_refused)
{
	static const struct {
		const char *name;
		unsigned int send, receive;
		int64_t late_ns, lost_ns;
	} wrong[] = {
		{ "no such row to send", DRV_ASK_ROWS_MAX, 0, MS, MS },
		{ "no such row to receive", 0, DRV_ASK_ROWS_MAX, MS, MS },
		{ "without a time", 0, 0, 0, MS },
		{ "lost before it is late", 0, 0, MS, MS - 1 },
		{ "a row that has one", SEND, 0, MS, MS },
	};
	struct drv_question question = two_bytes();
	const struct frame request = bytes("0A3C");

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		question = (struct drv_question){ .send = wrong[i].send,
						  .receive = wrong[i].receive,
						  .late_ns = wrong[i].late_ns,
						  .lost_ns = wrong[i].lost_ns };
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, drv_ask_add(&ask, &question), wrong[i].name);
	}
	TEST_ASSERT_EQUAL(-EINVAL, drv_ask_may(&ask, 1, &request));
	question = (struct drv_question){ .send = 0, .receive = 0, .late_ns = 1, .lost_ns = 1 };
	for (unsigned int i = 1; i < DRV_ASK_QUESTIONS_MAX; i++) {
		question.send = DRV_ASK_ROWS_MAX - i;
		question.receive = DRV_ASK_ROWS_MAX - 1;
		TEST_ASSERT_EQUAL(i, drv_ask_add(&ask, &question));
	}
	question.send = 0;
	TEST_ASSERT_EQUAL(-ENOSPC, drv_ask_add(&ask, &question));
}

TEST(rows_without_a_question_are_ignored)
{
	const struct drv_question question = two_bytes();
	const struct frame frame = bytes("0A3C");
	static const unsigned int rows[] = { 0, SEND + 1, DRV_ASK_ROWS_MAX };

	TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
	drv_ask_put(&ask, 0, &frame, 0, 999 * MS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		drv_ask_sent(&ask, rows[i], &frame, 1000 * MS);
		drv_ask_lost(&ask, rows[i], &frame, true);
		TEST_ASSERT_EQUAL(DRV_ASK_NOTHING, drv_ask_reply(&ask, rows[i], &frame, 1000 * MS, &answer));
	}
	TEST_ASSERT_EQUAL(1, ask.entries_n);
	TEST_ASSERT_EQUAL(DRV_ASK_ANSWER, drv_ask_reply(&ask, RECEIVE, &frame, 999 * MS, &answer));
}

/* A move whose answer has the position, and one of the same row whose answer is not waited for. */
TEST(only_some_frames_of_a_row_are_requests)
{
	static const struct {
		const char *frame;
		int may;
	} rows[] = { { "0B11", 0 },	  { "0B12", 0 },     { "0B33", 0 },
		     { "0B07", -EINVAL }, { "0B", -EINVAL }, { "", -EINVAL } };
	struct drv_question question = two_bytes();

	question.only = (struct drv_ask_only){ .at = 1, .mask = 0x10, .value = 0x10 };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct frame frame = bytes(rows[i].frame);

		setUp();
		TEST_ASSERT_EQUAL(0, drv_ask_add(&ask, &question));
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].may, drv_ask_may(&ask, 0, &frame), rows[i].frame);
		drv_ask_sent(&ask, SEND, &frame, 1000 * MS); /* as if it had been forgotten */
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].may ? DRV_ASK_NOTHING : DRV_ASK_LATE,
					  drv_ask_reply(&ask, RECEIVE, &frame, 1001 * MS, &answer), rows[i].frame);
	}
}
