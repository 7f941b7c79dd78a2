/* test_drv_request.c: every request is answered exactly once, and a repeated one is not done again. */
#include "test/lib/testcase.h"

#include "daemons/drv/drv_request.h"

static struct drv_request r;
static struct msg_reply reply;

void setUp(void)
{
	memset(&r, 0, sizeof(r));
	memset(&reply, 0xA5, sizeof(reply));
}

static enum drv_request_kind ask(uint32_t client, uint64_t id, uint32_t verb)
{
	struct msg_request request = { .id = id, .client_pid = client, .verb = verb };

	return drv_request_take(&r, &request, &reply);
}

static void is_new(uint32_t client, uint64_t id)
{
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_NEW, ask(client, id, MSG_VERB_GET));
}

static void is_again(uint32_t client, uint64_t id, int result)
{
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_AGAIN, ask(client, id, MSG_VERB_GET));
	TEST_ASSERT_EQUAL_UINT64(id, reply.id);
	TEST_ASSERT_EQUAL_UINT32(client, reply.client_pid);
	TEST_ASSERT_EQUAL_INT(result, reply.result);
}

static void done(uint32_t client, uint64_t id, int result)
{
	struct msg_reply answer = { .id = id, .client_pid = client };

	drv_request_done(&r, &answer, result, NULL, NULL);
}

/* ---- one request ---- */

TEST(test_asked_under_way_answered_repeated)
{
	is_new(7, 1);
	TEST_ASSERT_EQUAL_UINT32(msg_reply_number, reply.header.type);
	TEST_ASSERT_EQUAL_UINT32(sizeof(reply), reply.header.size);
	TEST_ASSERT_EQUAL_UINT64(1, reply.id);
	TEST_ASSERT_EQUAL_UINT32(7, reply.client_pid);
	TEST_ASSERT_EQUAL_INT(0, reply.result);
	TEST_ASSERT_EQUAL_STRING("", reply.error);
	TEST_ASSERT_EQUAL_STRING("", reply.value);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(7, 1, MSG_VERB_GET));
	TEST_ASSERT_EQUAL_UINT64(1, reply.id);
	drv_request_done(&r, &reply, 0, "", "5ms");
	TEST_ASSERT_EQUAL_STRING("5ms", reply.value);
	memset(&reply, 0xA5, sizeof(reply));
	is_again(7, 1, 0);
	TEST_ASSERT_EQUAL_UINT32(msg_reply_number, reply.header.type);
	TEST_ASSERT_EQUAL_STRING("", reply.error);
	TEST_ASSERT_EQUAL_STRING("5ms", reply.value);
	is_again(7, 1, 0);
}

TEST(test_known_by_client_and_id)
{
	is_new(7, 1);
	is_new(8, 1);
	is_new(7, 2);
	done(8, 1, -EPERM);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(7, 1, MSG_VERB_GET));
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(7, 2, MSG_VERB_GET));
	is_again(8, 1, -EPERM);
}

/* Unused entries do not match a request. */
TEST(test_client_and_id_nought)
{
	is_new(0, 0);
	done(0, 0, 0);
	is_again(0, 0, 0);
}

TEST(test_the_answer)
{
	is_new(7, 1);
	drv_request_done(&r, &reply, -EPERM, "homing: not armed", NULL);
	TEST_ASSERT_EQUAL_INT(-EPERM, reply.result);
	TEST_ASSERT_EQUAL_STRING("homing: not armed", reply.error);
	TEST_ASSERT_EQUAL_STRING("", reply.value);
	is_again(7, 1, -EPERM);
	TEST_ASSERT_EQUAL_STRING("homing: not armed", reply.error);
}

/* Every refusal has a reason in words. */
TEST(test_an_error_without_words)
{
	drv_request_done(&r, &reply, -EPERM, NULL, NULL);
	TEST_ASSERT_EQUAL_STRING(strerror(EPERM), reply.error);
	drv_request_done(&r, &reply, -EBUSY, "", "");
	TEST_ASSERT_EQUAL_STRING(strerror(EBUSY), reply.error);
	drv_request_done(&r, &reply, 0, NULL, NULL);
	TEST_ASSERT_EQUAL_STRING("", reply.error);
	drv_request_done(&r, &reply, 0, "a remark", NULL);
	TEST_ASSERT_EQUAL_STRING("a remark", reply.error);
}

TEST(test_long_texts_are_cut_and_nothing_is_left_behind)
{
	char text[MSG_TEXT_SIZE + 10];
	static const char zeros[MSG_TEXT_SIZE];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	drv_request_done(&r, &reply, -EPERM, text, text);
	TEST_ASSERT_EQUAL_size_t(MSG_TEXT_SIZE - 1, strlen(reply.error));
	TEST_ASSERT_EQUAL_size_t(MSG_TEXT_SIZE - 1, strlen(reply.value));
	drv_request_done(&r, &reply, 0, NULL, "v");
	TEST_ASSERT_EQUAL_MEMORY(zeros, reply.error, sizeof(zeros));
	TEST_ASSERT_EQUAL_MEMORY(zeros, reply.value + 1, sizeof(zeros) - 1);
}

/* ---- verbs ---- */

TEST(test_verbs)
{
	uint64_t id = 0;

	for (uint32_t verb = MSG_VERB_HOME; verb <= MSG_VERB_GET; verb++)
		TEST_ASSERT_EQUAL_INT(DRV_REQUEST_NEW, ask(1, ++id, verb));
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(1, ++id, MSG_VERB_NONE));
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(1, ++id, UINT32_MAX));
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(1, ++id, MSG_VERB_CANCEL));
	TEST_ASSERT_EQUAL_INT(-ENOENT, reply.result);
	TEST_ASSERT_EQUAL_STRING("no request of this client and id is under way", reply.error);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(1, ++id, MSG_VERB_CANCEL + 1));
	TEST_ASSERT_EQUAL_UINT64(id, reply.id);
	TEST_ASSERT_EQUAL_UINT32(1, reply.client_pid);
	TEST_ASSERT_EQUAL_UINT32(msg_reply_number, reply.header.type);
	TEST_ASSERT_EQUAL_INT(-EINVAL, reply.result);
	TEST_ASSERT_NOT_NULL(strstr(reply.error, "no such verb"));
	TEST_ASSERT_EQUAL_STRING("", reply.value);
	/* It takes no place. */
	TEST_ASSERT_EQUAL_UINT(MSG_VERB_GET, r.n);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(1, id, MSG_VERB_NONE));
}

/* ---- handles ---- */

static uint32_t handle_of(uint32_t client, uint64_t id)
{
	const struct msg_reply of = { .id = id, .client_pid = client };

	return drv_request_handle(&r, &of);
}

TEST(test_handles_are_of_what_is_under_way)
{
	uint32_t first, second;

	TEST_ASSERT_EQUAL_UINT32(0, handle_of(7, 1));
	is_new(7, 1);
	is_new(7, 2);
	first = handle_of(7, 1);
	second = handle_of(7, 2);
	TEST_ASSERT(first && second && first != second);
	TEST_ASSERT_TRUE(drv_request_find(&r, second, &reply));
	TEST_ASSERT_EQUAL_UINT64(2, reply.id);
	TEST_ASSERT_TRUE(drv_request_find(&r, first, &reply));
	TEST_ASSERT_EQUAL_UINT64(1, reply.id);
	TEST_ASSERT_TRUE(drv_request_done(&r, &reply, 0, NULL, NULL));
	TEST_ASSERT_FALSE(drv_request_done(&r, &reply, -EIO, NULL, NULL)); /* and the first answer stays */
	is_again(7, 1, 0);
	TEST_ASSERT_EQUAL_UINT32(0, handle_of(7, 1));
	TEST_ASSERT_FALSE(drv_request_find(&r, first, &reply));
	TEST_ASSERT_FALSE(drv_request_find(&r, 0, &reply));
	/* Its place is used again, its handle is not. */
	for (uint64_t id = 3; id < 3 + 2 * DRV_REQUEST_KEPT; id++) {
		is_new(7, id);
		TEST_ASSERT(handle_of(7, id) != first);
		done(7, id, 0);
	}
	TEST_ASSERT_EQUAL_UINT32(second, handle_of(7, 2));
}

TEST(test_no_handle_is_nought)
{
	r.last_handle = UINT32_MAX - 1;
	is_new(7, 1);
	is_new(7, 2);
	is_new(7, 3);
	TEST_ASSERT_EQUAL_UINT32(UINT32_MAX, handle_of(7, 1));
	TEST_ASSERT_EQUAL_UINT32(1, handle_of(7, 2));
	TEST_ASSERT_EQUAL_UINT32(2, handle_of(7, 3));
}

TEST(test_one_is_exclusive_until_it_is_answered)
{
	is_new(7, 1);
	is_new(7, 2);
	TEST_ASSERT_FALSE(drv_request_exclusive(&r));
	drv_request_set_exclusive(&r, handle_of(7, 2) + 1); /* unknown */
	TEST_ASSERT_FALSE(drv_request_exclusive(&r));
	drv_request_set_exclusive(&r, handle_of(7, 2));
	TEST_ASSERT_TRUE(drv_request_exclusive(&r));
	done(7, 1, 0);
	TEST_ASSERT_TRUE(drv_request_exclusive(&r));
	done(7, 2, 0);
	TEST_ASSERT_FALSE(drv_request_exclusive(&r));
	for (uint64_t id = 100; id < 100 + DRV_REQUEST_KEPT - 2; id++) { /* up to the first place, and on it */
		is_new(7, id);
		done(7, id, 0);
	}
	is_new(7, 4);
	drv_request_set_exclusive(&r, handle_of(7, 4));
	TEST_ASSERT_TRUE(drv_request_exclusive(&r));
	done(7, 4, 0);
	is_new(7, 3);
	TEST_ASSERT_FALSE(drv_request_exclusive(&r));
}

TEST(test_cancelled_once)
{
	is_new(7, 1);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(8, 1, MSG_VERB_CANCEL));
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_CANCEL, ask(7, 1, MSG_VERB_CANCEL));
	TEST_ASSERT_EQUAL_UINT64(1, reply.id);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(7, 1, MSG_VERB_CANCEL));
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(7, 1, MSG_VERB_HOME));
	done(7, 1, -ECANCELED);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_AGAIN, ask(7, 1, MSG_VERB_CANCEL));
	TEST_ASSERT_EQUAL_INT(-ECANCELED, reply.result);
}

static void new_until(uint64_t id, int64_t until_ns)
{
	const struct msg_request request = {
		.header.valid_until_ns = until_ns, .id = id, .client_pid = 7, .verb = MSG_VERB_HOME
	};

	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_NEW, drv_request_take(&r, &request, &reply));
}

TEST(test_deadlines)
{
	TEST_ASSERT_EQUAL_UINT32(0, drv_request_expired(&r, INT64_MAX));
	new_until(9, 20);
	TEST_ASSERT_EQUAL_UINT32(handle_of(7, 9), drv_request_expired(&r, 21));
	new_until(1, 0); /* none */
	new_until(2, 100);
	new_until(3, 50);
	new_until(4, 50);
	new_until(5, 50);
	done(7, 4, 0);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_CANCEL, ask(7, 5, MSG_VERB_CANCEL));
	TEST_ASSERT_EQUAL_UINT32(0, drv_request_expired(&r, 50));
	TEST_ASSERT_EQUAL_UINT32(handle_of(7, 3), drv_request_expired(&r, 51));
	TEST_ASSERT_EQUAL_UINT32(0, drv_request_expired(&r, 100)); /* once */
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(7, 3, MSG_VERB_CANCEL));
	TEST_ASSERT_EQUAL_UINT32(handle_of(7, 2), drv_request_expired(&r, INT64_MAX));
	TEST_ASSERT_EQUAL_UINT32(0, drv_request_expired(&r, INT64_MAX));
}

/* ---- many ---- */

TEST(test_the_last_answers_are_kept)
{
	for (uint64_t id = 1; id <= 3 * DRV_REQUEST_KEPT; id++) {
		is_new(1, id);
		done(1, id, -(int)id);
		for (uint64_t kept = id > DRV_REQUEST_KEPT ? id - DRV_REQUEST_KEPT + 1 : 1; kept <= id; kept++)
			is_again(1, kept, -(int)kept);
	}
	/* And no more than that. */
	is_new(1, 2 * DRV_REQUEST_KEPT);
}

/* What is under way keeps its place, however many others come and go. */
TEST(test_under_way_is_not_forgotten)
{
	is_new(9, 1);
	for (uint64_t id = 1; id <= 3 * DRV_REQUEST_KEPT; id++) {
		is_new(1, id);
		done(1, id, 0);
		TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(9, 1, MSG_VERB_HOME));
		TEST_ASSERT_EQUAL_INT(DRV_REQUEST_AGAIN, ask(1, id > 1 ? id - 1 : 1, MSG_VERB_HOME));
	}
	done(9, 1, 0);
	is_again(9, 1, 0);
}

TEST(test_too_many_under_way)
{
	for (uint64_t id = 1; id <= DRV_REQUEST_KEPT; id++)
		is_new(1, id);
	TEST_ASSERT_FALSE(drv_request_find(&r, UINT32_MAX, &reply)); /* of all that there is room for */
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(1, 99, MSG_VERB_GET));
	TEST_ASSERT_EQUAL_INT(-EBUSY, reply.result);
	TEST_ASSERT_NOT_NULL(strstr(reply.error, "too many"));
	TEST_ASSERT_EQUAL_UINT64(99, reply.id);
	done(1, DRV_REQUEST_KEPT, 0);
	is_new(1, 99);
	TEST_ASSERT_EQUAL_INT(DRV_REQUEST_WRONG, ask(1, 100, MSG_VERB_GET));
	for (uint64_t id = 1; id < DRV_REQUEST_KEPT; id++)
		TEST_ASSERT_EQUAL_INT(DRV_REQUEST_OPEN, ask(1, id, MSG_VERB_GET));
}

/* The only place left is the last one looked at. */
TEST(test_one_place_left)
{
	for (uint64_t id = 1; id <= DRV_REQUEST_KEPT; id++)
		is_new(1, id);
	done(1, DRV_REQUEST_KEPT, 0);
	is_new(1, 99);
}

/* A reply without a request is made, but takes no entry. */
TEST(test_an_answer_without_a_request)
{
	struct msg_reply answer = { .id = 5, .client_pid = 6 };

	drv_request_done(&r, &answer, -EIO, "lost", NULL);
	TEST_ASSERT_EQUAL_INT(-EIO, answer.result);
	is_new(6, 5);
}
