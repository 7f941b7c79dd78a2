/* test_token.c: links of one use, sessions, and a place for every user. */
#include "test/lib/testcase.h"

#include "config/base/hmac.h"
#include "launch/achweb/token.h"

#define S INT64_C(1000000000)
#define CLIENT "0123456789abcdef0123456789abcdef"

static struct token_store store;
static uint8_t seed;
static const struct token_holder alice = { TOKEN_LOOK, 1000, "alice" }, boss = { TOKEN_LOOK | TOKEN_ACT, 1001, "boss" };

static const uint8_t *fresh(void)
{
	static uint8_t bytes[TOKEN_RANDOM];

	memset(bytes, ++seed, sizeof(bytes));
	return bytes;
}

static void begin(void)
{
	memset(&store, 0, sizeof(store));
	seed = 0;
}

static void expect_hmac(const char *hex, size_t digits, const uint8_t *key, const char *text)
{
	uint8_t digest[SHA256_BYTES];
	char full[PROOF_MAX];
	struct hmac h;

	hmac_start(&h, key, PROOF_KEY);
	hmac_add(&h, text, strlen(text));
	hmac_end(&h, digest);
	proof_hex(full, digest, sizeof(digest));
	TEST_ASSERT_EQUAL_STRING_LEN(full, hex, digits);
}

/* What both sides compute from the token in the link. */
TEST(keys_are_derived_from_the_token)
{
	uint8_t token[TOKEN_RANDOM], look[PROOF_KEY];
	char hex[PROOF_MAX];
	struct token *link, *session;

	begin();
	memcpy(token, fresh(), sizeof(token));
	link = token_issue(&store, token, &boss, S);
	expect_hmac(link->id, TOKEN_ID - 1, token, "2:id");
	proof_hex(hex, link->look, PROOF_KEY);
	expect_hmac(hex, PROOF_MAX - 1, token, "4:look");
	proof_hex(hex, link->act, PROOF_KEY);
	expect_hmac(hex, PROOF_MAX - 1, token, "3:act");
	memcpy(look, link->look, sizeof(look));
	session = token_redeem(&store, link, CLIENT, fresh(), S);
	proof_hex(hex, session->look, PROOF_KEY);
	expect_hmac(hex, PROOF_MAX - 1, look, "7:session32:" CLIENT "32:02020202020202020202020202020202");
}

TEST(a_token_is_good_for_one_session)
{
	char id[TOKEN_ID], other[TOKEN_ID];
	uint8_t act[PROOF_KEY];
	struct token *link, *session;

	begin();
	link = token_issue(&store, fresh(), &boss, S);
	memcpy(id, link->id, sizeof(id));
	memcpy(act, link->act, sizeof(act));
	TEST_ASSERT_NULL(token_session(&store, id, S));
	TEST_ASSERT_EQUAL_PTR(link, token_link(&store, id, 2 * S));
	session = token_redeem(&store, link, CLIENT, fresh(), 2 * S);
	TEST_ASSERT_NOT_NULL(session);
	TEST_ASSERT_EQUAL_UINT(TOKEN_LOOK | TOKEN_ACT, session->rights);
	TEST_ASSERT_EQUAL_STRING("boss", session->who);
	TEST_ASSERT_EQUAL_UINT(1001, session->uid);
	TEST_ASSERT_NULL(token_link(&store, id, 2 * S));
	memcpy(other, session->id, sizeof(other));
	TEST_ASSERT_NULL(token_link(&store, other, 2 * S));
	TEST_ASSERT_EQUAL_PTR(session, token_session(&store, other, 2 * S));
	/* Whoever finds the link later has no key of the session. */
	TEST_ASSERT_TRUE(memcmp(act, session->act, sizeof(act)));
}

TEST(without_the_right_to_act_there_is_no_key_for_it)
{
	static const uint8_t none[PROOF_KEY];
	struct token *link, *session;

	begin();
	link = token_issue(&store, fresh(), &alice, S);
	TEST_ASSERT_EQUAL_MEMORY(none, link->act, sizeof(none));
	session = token_redeem(&store, link, CLIENT, fresh(), S);
	TEST_ASSERT_EQUAL_MEMORY(none, session->act, sizeof(none));
	TEST_ASSERT_TRUE(memcmp(none, session->look, sizeof(none)));
}

TEST(a_token_ends_after_its_time)
{
	char id[TOKEN_ID];

	begin();
	memcpy(id, token_issue(&store, fresh(), &alice, S)->id, sizeof(id));
	TEST_ASSERT_NULL(token_link(&store, id, S + TOKEN_LIFE_NS));
	TEST_ASSERT_NOT_NULL(token_link(&store, id, S + TOKEN_LIFE_NS - 1));
}

/* Its id is not a secret: naming it is not using it. */
TEST(a_session_ends_when_it_is_not_used)
{
	struct token *session;
	int64_t now_ns = S;

	begin();
	session = token_redeem(&store, token_issue(&store, fresh(), &alice, now_ns), CLIENT, fresh(), now_ns);
	for (int i = 0; i < 3; i++) {
		now_ns += TOKEN_SESSION_NS - 1;
		TEST_ASSERT_EQUAL_PTR(session, token_session(&store, session->id, now_ns));
		token_keep(session, now_ns);
	}
	TEST_ASSERT_NOT_NULL(token_session(&store, session->id, now_ns + TOKEN_SESSION_NS - 1));
	TEST_ASSERT_NULL(token_session(&store, session->id, now_ns + TOKEN_SESSION_NS));
}

/* The key in the address of a studio proves nothing, and the id of a page opens no studio. */
TEST(pages_and_studios_have_sessions_of_their_own)
{
	const struct token *studio, *page;

	begin();
	studio = token_begin_studio(&store, fresh(), &boss, S);
	page = token_redeem(&store, token_issue(&store, fresh(), &boss, S), CLIENT, fresh(), S);
	TEST_ASSERT_EQUAL_PTR(studio, token_studio(&store, studio->id, S));
	TEST_ASSERT_NULL(token_session(&store, studio->id, S));
	TEST_ASSERT_EQUAL_PTR(page, token_session(&store, page->id, S));
	TEST_ASSERT_NULL(token_studio(&store, page->id, S));
}

TEST(other_texts_are_not_ids)
{
	static const char *const cases[] = { "",
					     "0",
					     "00000000000000000000000000000000",
					     "0101010101010101010101010101010",
					     "010101010101010101010101010101010",
					     "01010101010101010101010101010102",
					     "11010101010101010101010101010101",
					     "0101010101010101010101010101010G" };

	begin();
	token_begin_studio(&store, fresh(), &alice, S);
	TEST_ASSERT_NOT_NULL(token_studio(&store, "01010101010101010101010101010101", S));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_NULL_MESSAGE(token_link(&store, cases[i], S), cases[i]);
		TEST_ASSERT_NULL_MESSAGE(token_session(&store, cases[i], S), cases[i]);
		TEST_ASSERT_NULL_MESSAGE(token_studio(&store, cases[i], S), cases[i]);
	}
}

TEST(the_oldest_of_a_user_makes_room)
{
	char first[TOKEN_ID], second[TOKEN_ID];

	begin();
	memcpy(first, token_issue(&store, fresh(), &alice, S)->id, sizeof(first));
	memcpy(second, token_issue(&store, fresh(), &alice, 2 * S)->id, sizeof(second));
	for (int64_t i = 2; i <= TOKEN_LINKS; i++)
		token_issue(&store, fresh(), &alice, (i + 1) * S);
	TEST_ASSERT_NULL(token_link(&store, first, 20 * S));
	TEST_ASSERT_NOT_NULL(token_link(&store, second, 20 * S));
}

/* Also if several of them, or all that there are, do nothing else. */
TEST(a_user_pushes_no_link_of_another_out)
{
	char one[TOKEN_ID], two[TOKEN_ID];

	begin();
	memcpy(one, token_issue(&store, fresh(), &alice, S)->id, sizeof(one));
	memcpy(two, token_issue(&store, fresh(), &boss, 2 * S)->id, sizeof(two));
	for (uid_t i = 0; i < 300; i++) {
		const struct token_holder mallory = { TOKEN_LOOK, 2000 + i % 3, "mallory" };

		TEST_ASSERT_NOT_NULL(token_issue(&store, fresh(), &mallory, 3 * S + i));
	}
	TEST_ASSERT_NOT_NULL(token_link(&store, one, 20 * S));
	TEST_ASSERT_NOT_NULL(token_link(&store, two, 20 * S));
	/* Whoever comes now takes a place of those who have most. */
	TEST_ASSERT_NOT_NULL(token_issue(&store, fresh(), &(struct token_holder){ TOKEN_LOOK, 1002, "carol" }, 4 * S));
	TEST_ASSERT_NOT_NULL(token_link(&store, one, 20 * S));
}

TEST(a_user_pushes_no_session_of_another_out)
{
	const struct token *page;
	char id[TOKEN_ID];

	begin();
	page = token_redeem(&store, token_issue(&store, fresh(), &alice, S), CLIENT, fresh(), S);
	memcpy(id, page->id, sizeof(id));
	for (uint64_t i = 0; i < 200; i++)
		TEST_ASSERT_NOT_NULL(token_begin_studio(&store, (const uint8_t *)&(uint64_t[2]){ i + 1, 9 }, &boss,
							2 * S + (int64_t)i));
	TEST_ASSERT_NOT_NULL(token_session(&store, id, 3 * S));
}

TEST(a_user_without_a_link_pushes_no_only_link_out)
{
	char first[TOKEN_ID] = "";

	begin();
	for (uid_t i = 0; i < TOKEN_LINKS; i++) {
		const struct token_holder user = { TOKEN_LOOK, 3000 + i, "user" };
		const struct token *link = token_issue(&store, fresh(), &user, S);

		if (!i)
			memcpy(first, link->id, sizeof(first));
	}
	TEST_ASSERT_NULL(token_issue(&store, fresh(), &alice, 2 * S));
	/* Another one of a user who has one replaces that one. */
	TEST_ASSERT_NOT_NULL(token_issue(&store, fresh(), &(struct token_holder){ TOKEN_LOOK, 3001, "user" }, 2 * S));
	TEST_ASSERT_NOT_NULL(token_link(&store, first, 2 * S));
	/* They end, and make room. */
	TEST_ASSERT_NOT_NULL(token_issue(&store, fresh(), &alice, S + TOKEN_LIFE_NS));
}
