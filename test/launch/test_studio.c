/* test_studio.c: services of a studio: who may call them, and what a call has to name. */
#include "test/channels/testcase.h"

#include "launch/achweb/studio_services.h"

enum { STOP, HOLD, ARM, HOME };

static struct view view;
static struct acts acts = { .view = &view };
static struct client *c;

/* In place of act.c. */
static struct order begun[64];
static uint64_t begun_for[64];
static size_t begun_n;
void act_begin(struct acts *to, const struct order *order, uint64_t client, const char *who, int64_t now_ns)
{
	(void)who;
	(void)now_ns;
	TEST_ASSERT_EQUAL_PTR(&acts, to);
	begun[begun_n] = *order;
	begun_for[begun_n++] = client;
}

static void begin(unsigned int rights)
{
	begun_n = 0;
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

static void call(unsigned int service, const char *json)
{
	uint8_t bytes[400] = { (uint8_t)service, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 'j', 's', 'o', 'n' };

	memcpy(bytes + 16, json, strlen(json));
	studio_services_call(c, &acts, bytes, 16 + strlen(json), 0);
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

TEST(nobody_arms_who_does_not_name_what_was_shown)
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
	TEST_ASSERT_EQUAL_INT(ORDER_ARM, begun[0].kind);
	TEST_ASSERT_EQUAL_UINT64(1, begun[0].seen.id[0]);
	TEST_ASSERT_EQUAL_UINT64(2, begun[0].seen.seq[0]);
	TEST_ASSERT_EQUAL_UINT64(3, begun[0].seen.id[1]);
	TEST_ASSERT_EQUAL_UINT64(4, begun[0].seen.seq[1]);
	end();
}

TEST(looking_is_no_acting)
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
		TEST_ASSERT_EQUAL_INT(ORDER_STOP, begun[begun_n - 1].kind);
		TEST_ASSERT_EQUAL_INT(i % 2 ? MSG_LEVEL_ESTOP : MSG_LEVEL_HOLD, begun[begun_n - 1].level);
		TEST_ASSERT_EQUAL_INT(i >= STUDIO_STOPS, *failure() != 0); /* that its result is not told here */
	}
	end();
}
