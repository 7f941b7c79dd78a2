/* test_studio.c: services of a studio: who may call them, and what a call has to name; messages for several studios. */
#include "test/lib/testcase.h"

#include "launch/achweb/studio.h"

enum { STOP, HOLD, ARM, HOME };

static struct robot_view view;
static struct web_actions acts = { .view = &view };
static struct client *c;

/* In place of act.c. */
static struct post_body begun[64];
static uint64_t begun_for[64];
static size_t begun_n;
void web_action_begin(struct web_actions *to, const struct post_body *order, uint64_t client,
		      struct web_action_person person, int64_t now_ns)
{
	(void)person;
	(void)now_ns;
	TEST_ASSERT_EQUAL_PTR(&acts, to);
	begun[begun_n] = *order;
	begun_for[begun_n++] = client;
}

static void begin(unsigned int rights)
{
	begun_n = 0;
	acts.rate = (struct rate){ 0 };
	memset(&view, 0, sizeof(view));
	c = client_open(-1, 7, 0);
	c->kind = CLIENT_STUDIO;
	c->rights = rights;
	c->studio = calloc(1, sizeof(*c->studio));
}

static void end(void)
{
	client_close(c);
}

static int64_t now_ns = 1000000000;

static void call(unsigned int service, const char *json)
{
	uint8_t bytes[400] = { (uint8_t)service, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 'j', 's', 'o', 'n' };

	memcpy(bytes + 16, json, strlen(json));
	studio_services_call(c, &acts, bytes, 16 + strlen(json), now_ns);
}

/* The failure that was answered last; "": none was. */
static const char *failure(void)
{
	static char text[600];

	*text = 0;
	if (c->queue_n) {
		const struct blob *blob = c->queue[c->queue_n - 1].blob;

		snprintf(text, sizeof(text), "%.*s", (int)blob->len, blob->bytes);
		blob_drop(c->queue[--c->queue_n].blob);
	}
	return text;
}

TEST(arming_needs_the_state_that_was_shown)
{
	begin(TOKEN_LOOK | TOKEN_ACT);
	view.status.epoch = 5;
	/* A raise has no epoch of its own: it does not tell whether the person knows of the newest one. */
	call(ARM, "{\"epoch\":5}");
	TEST_ASSERT_EQUAL_size_t(0, begun_n);
	TEST_ASSERT_NOT_NULL(strstr(failure(), "seen"));
	call(ARM, "{\"seen\":[\"1\",\"2\",\"3\"]}");
	TEST_ASSERT_EQUAL_size_t(0, begun_n);
	TEST_ASSERT_NOT_NULL(strstr(failure(), "four"));
	call(ARM, "{\"seen\":[\"1\",\"2\",\"3\",\"4\"]}");
	TEST_ASSERT_EQUAL_STRING("", failure());
	TEST_ASSERT_EQUAL_size_t(1, begun_n);
	TEST_ASSERT_EQUAL_INT(POST_BODY_ARM, begun[0].kind);
	TEST_ASSERT_EQUAL_UINT64(1, begun[0].seen.id[0]);
	TEST_ASSERT_EQUAL_UINT64(2, begun[0].seen.seq[0]);
	TEST_ASSERT_EQUAL_UINT64(3, begun[0].seen.id[1]);
	TEST_ASSERT_EQUAL_UINT64(4, begun[0].seen.seq[1]);
	end();
}

TEST(looking_is_not_acting)
{
	begin(TOKEN_LOOK);
	call(ARM, "{\"seen\":[\"1\",\"2\",\"3\",\"4\"]}");
	TEST_ASSERT_NOT_NULL(strstr(failure(), "no such service"));
	call(HOME, "{\"name\":\"waist\"}");
	TEST_ASSERT_NOT_NULL(strstr(failure(), "no such service"));
	call(200, "{}");
	TEST_ASSERT_NOT_NULL(strstr(failure(), "no such service"));
	TEST_ASSERT_EQUAL_size_t(0, begun_n);
	call(STOP, "{}");
	TEST_ASSERT_EQUAL_size_t(1, begun_n);
	end();
}

TEST(calls_under_way_keep_no_stop_out)
{
	begin(TOKEN_LOOK | TOKEN_ACT);
	for (int i = 0; i < 20; i++) {
		call(HOME, "{\"name\":\"waist\"}");
		failure();
	}
	TEST_ASSERT_EQUAL_size_t(STUDIO_CALLS, begun_n);
	for (int i = 0; i < 20; i++) {
		call(i % 2 ? STOP : HOLD, "not even JSON");
		TEST_ASSERT_EQUAL_size_t(STUDIO_CALLS + 1 + (size_t)i, begun_n);
		TEST_ASSERT_EQUAL_INT(POST_BODY_STOP, begun[begun_n - 1].kind);
		TEST_ASSERT_EQUAL_INT(i % 2 ? MSG_LEVEL_ESTOP : MSG_LEVEL_HOLD, begun[begun_n - 1].level);
		TEST_ASSERT_EQUAL_INT(i >= STUDIO_STOPS, *failure() != 0); /* its result is not reported here */
	}
	end();
}

/* So fast that none is under way any more when the next one comes. */
TEST(actions_have_a_rate_and_stops_have_none)
{
	begin(TOKEN_LOOK | TOKEN_ACT);
	for (int i = 0; i < 30; i++) {
		call(HOME, "{\"name\":\"waist\"}");
		memset(c->studio->calls, 0, sizeof(c->studio->calls));
		TEST_ASSERT_EQUAL_INT(i >= WEB_ACTION_BURST, strstr(failure(), "too many actions") != NULL);
	}
	TEST_ASSERT_EQUAL_size_t(WEB_ACTION_BURST, begun_n);
	/* Pages share it. */
	TEST_ASSERT_FALSE(web_action_may_begin(&acts, now_ns));
	call(STOP, "{}");
	TEST_ASSERT_EQUAL_STRING("", failure());
	TEST_ASSERT_EQUAL_size_t(WEB_ACTION_BURST + 1, begun_n);
	now_ns += WEB_ACTION_EVERY_NS;
	call(HOME, "{\"name\":\"waist\"}");
	TEST_ASSERT_EQUAL_STRING("", failure());
	TEST_ASSERT_EQUAL_size_t(WEB_ACTION_BURST + 2, begun_n);
	end();
}

/* A call that only shows what to name, and one that is wrong, cost nothing. */
TEST(actions_that_do_not_begin_have_no_rate)
{
	begin(TOKEN_LOOK | TOKEN_ACT);
	for (int i = 0; i < 30; i++) {
		call(ARM, "{}");
		TEST_ASSERT_NOT_NULL(strstr(failure(), "not armed yet"));
	}
	call(ARM, "{\"seen\":[\"1\",\"2\",\"3\",\"4\"]}");
	TEST_ASSERT_EQUAL_STRING("", failure());
	end();
}

/* ---- messages ---- */

static struct studio_topics topics;

static struct client *subscriber(size_t topic)
{
	struct client *one = client_open(-1, 8, 0);

	one->kind = CLIENT_STUDIO;
	one->studio = calloc(1, sizeof(*one->studio));
	one->studio->advertised = topics.n;
	one->studio->subscriptions[5].used = true;
	one->studio->subscriptions[5].id = 77;
	one->studio->subscriptions[5].topic = (uint32_t)topic;
	return one;
}

static bool gets(struct client *one)
{
	one->studio->left = STUDIO_SUBSCRIPTIONS;
	one->head_len = 0;
	blob_drop(one->blob);
	one->blob = NULL;
	return studio_send(one, &topics, &view, now_ns);
}

TEST(a_message_is_encoded_once_for_all_studios)
{
	struct robot_view_device device = { .channel = "waist-state",
					    .name = "waist",
					    .number = 1,
					    .type = msg_type_by_number(msg_joint_state_number) };
	struct client *one, *two;
	struct blob *first;

	memset(&view, 0, sizeof(view));
	view.devices[view.devices_n++] = &device;
	msg_init(device.msg.bytes, device.type);
	device.msg.header.t_publish_ns = 5;
	studio_find_topics(&topics, &view);
	TEST_ASSERT_EQUAL_STRING("/waist-state/joint_states", topics.at[STUDIO_OWN_TOPICS].topic);
	one = subscriber(STUDIO_OWN_TOPICS);
	two = subscriber(STUDIO_OWN_TOPICS);
	TEST_ASSERT_TRUE(gets(one));
	TEST_ASSERT_TRUE(gets(two));
	TEST_ASSERT_NOT_NULL(one->blob);
	TEST_ASSERT_EQUAL_PTR(one->blob, two->blob);
	/* opcode and length of the frame, opcode of the message, its subscription, the time */
	TEST_ASSERT_EQUAL_UINT8(0x82, one->head[0]);
	TEST_ASSERT_EQUAL_UINT8(13 + one->blob->len, one->head[1]);
	TEST_ASSERT_EQUAL_size_t(2 + 13, one->head_len);
	TEST_ASSERT_EQUAL_UINT8(1, one->head[2]);
	TEST_ASSERT_EQUAL_UINT8(77, one->head[3]);
	TEST_ASSERT_FALSE(gets(one)); /* it has got it */
	first = blob_keep(two->blob);
	device.number = 9; /* the channel was removed and made again, or there is a newer message */
	TEST_ASSERT_TRUE(gets(one));
	TEST_ASSERT_TRUE(one->blob != first);
	TEST_ASSERT_TRUE(gets(two));
	TEST_ASSERT_EQUAL_PTR(one->blob, two->blob);
	blob_drop(first);
	client_close(one);
	client_close(two);
	studio_close_topics(&topics);
}

TEST(the_picture_has_the_arms_of_the_robot)
{
	struct robot_view_device balance = { .channel = "balance-state",
					     .name = "balance",
					     .number = 1,
					     .type = msg_type_by_number(msg_balance_state_number) };
	struct robot_view_device larm = {
		.channel = "larm-state", .name = "larm", .number = 2, .type = msg_type_by_number(msg_joint_state_number)
	};
	struct blob *alone, *whole;

	memset(&view, 0, sizeof(view));
	view.devices[view.devices_n++] = &balance;
	msg_init(balance.msg.bytes, balance.type);
	msg_init(larm.msg.bytes, larm.type);
	((struct msg_joint_state *)larm.msg.bytes)->count = 7;
	studio_find_topics(&topics, &view);
	TEST_ASSERT_EQUAL_STRING("/balance-state/markers", topics.at[STUDIO_OWN_TOPICS].topic);
	alone = blob_keep(studio_newest(&topics.at[STUDIO_OWN_TOPICS], &balance, &view));
	view.devices[view.devices_n++] = &larm;
	balance.number = 3;
	whole = studio_newest(&topics.at[STUDIO_OWN_TOPICS], &balance, &view);
	TEST_ASSERT_EQUAL_UINT8(10, alone->bytes[CDR_HEADER]);
	TEST_ASSERT_EQUAL_UINT8(14, whole->bytes[CDR_HEADER]);
	blob_drop(alone);
	studio_close_topics(&topics);
}
