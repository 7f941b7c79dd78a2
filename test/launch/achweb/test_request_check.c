/* test_request_check.c: which requests are answered, as a table.  Also for rate.h. */
#include "test/lib/testcase.h"

#include "launch/achweb/rate.h"
#include "launch/achweb/request_check.h"
#include "launch/achweb/token.h"

#define HOST "127.0.0.1:8765"
#define OWN "http://127.0.0.1:8765"
#define LOOK TOKEN_LOOK
#define ACT (TOKEN_LOOK | TOKEN_ACT)

static const struct request_check guard = {
	.hosts = { HOST, "localhost:8765" },
	.hosts_n = 2,
	.origins = { "https://studio.lan" },
	.origins_n = 1,
};

/* The fields that decide. */
struct asked {
	bool post;
	const char *path, *host, *origin, *type, *proof;
	bool socket;
	unsigned int rights;
};

static struct http request_of(const struct asked *a)
{
	return (struct http){ .post = a->post,
			      .path = a->path,
			      .query = "",
			      .host = a->host,
			      .origin = a->origin ? a->origin : "",
			      .type = a->type ? a->type : "",
			      .proof = a->proof ? a->proof : "",
			      .connection = a->socket ? "keep-alive, Upgrade" : "keep-alive",
			      .upgrade = a->socket ? "websocket" : "",
			      .ws_key = "",
			      .ws_version = a->socket ? "13" : "",
			      .ws_protocols = "" };
}

#define JSON "application/json"

TEST(requests_are_answered_by_a_table)
{
	static const struct {
		struct asked a;
		int status;
	} cases[] = {
		/* the page is public, but only under our names */
		{ { false, "/", HOST, NULL, NULL, NULL, false, 0 }, 0 },
		{ { false, "/", "LOCALHOST:8765", NULL, NULL, NULL, false, 0 }, 0 },
		{ { false, "/", "evil.example", NULL, NULL, NULL, false, 0 }, 421 },
		{ { false, "/", "127.0.0.1", NULL, NULL, NULL, false, 0 }, 421 },
		{ { false, "/", "", NULL, NULL, NULL, false, 0 }, 421 },
		{ { true, "/", HOST, OWN, JSON, "1", false, ACT }, 405 },
		{ { false, "/etc/passwd", HOST, NULL, NULL, NULL, false, ACT }, 404 },
		/* the WebSocket of the page: of our own origin; its first message is the proof */
		{ { false, "/socket", HOST, OWN, NULL, NULL, true, LOOK }, 0 },
		{ { false, "/socket", HOST, "https://" HOST, NULL, NULL, true, LOOK }, 0 },
		{ { false, "/socket", HOST, OWN, NULL, NULL, true, 0 }, 0 },
		{ { false, "/socket", HOST, NULL, NULL, NULL, true, LOOK }, 403 },
		{ { false, "/socket", HOST, "http://evil.example", NULL, NULL, true, LOOK }, 403 },
		{ { false, "/socket", HOST, "http://localhost:8765", NULL, NULL, true, LOOK }, 403 },
		{ { false, "/socket", HOST, "ftp://" HOST, NULL, NULL, true, LOOK }, 403 },
		{ { false, "/socket", HOST, HOST, NULL, NULL, true, LOOK }, 403 },
		{ { false, "/socket", HOST, "null", NULL, NULL, true, LOOK }, 403 },
		{ { false, "/socket", HOST, "https://studio.lan", NULL, NULL, true, LOOK }, 403 },
		{ { false, "/socket", HOST, OWN, NULL, NULL, false, LOOK }, 426 },
		{ { false, "/socket", "evil.example", "http://evil.example", NULL, NULL, true, LOOK }, 421 },
		/* a studio: a program without an origin, a page of ours, or one that is listed */
		{ { false, "/foxglove", HOST, NULL, NULL, NULL, true, LOOK }, 0 },
		{ { false, "/foxglove", HOST, NULL, NULL, NULL, true, 0 }, 401 },
		{ { false, "/foxglove", HOST, OWN, NULL, NULL, true, LOOK }, 0 },
		{ { false, "/foxglove", HOST, "https://studio.lan", NULL, NULL, true, LOOK }, 0 },
		{ { false, "/foxglove", HOST, "https://evil.example", NULL, NULL, true, LOOK }, 403 },
		{ { false, "/foxglove", HOST, NULL, NULL, NULL, false, LOOK }, 426 },
		/* logging in: with the proof of a link */
		{ { true, "/login", HOST, OWN, JSON, "1", false, 0 }, 401 },
		{ { true, "/login", HOST, OWN, JSON, "1", false, LOOK }, 0 },
		{ { true, "/login", HOST, OWN, JSON "; charset=utf-8", "1", false, LOOK }, 0 },
		{ { false, "/login", HOST, OWN, JSON, "1", false, 0 }, 405 },
		{ { true, "/login", HOST, NULL, JSON, "1", false, 0 }, 403 },
		{ { true, "/login", HOST, "http://evil.example", JSON, "1", false, 0 }, 403 },
		{ { true, "/login", HOST, OWN, JSON, NULL, false, 0 }, 403 },
		{ { true, "/login", HOST, OWN, JSON, "a key", false, LOOK }, 0 },
		{ { true, "/login", HOST, OWN, "text/plain", "1", false, 0 }, 415 },
		{ { true, "/login", HOST, OWN, "application/jsonp", "1", false, 0 }, 415 },
		{ { true, "/login", HOST, OWN, "application/jso", "1", false, 0 }, 415 },
		/* stopping takes the right to look, acting another one */
		{ { true, "/stop", HOST, OWN, JSON, "1", false, LOOK }, 0 },
		{ { true, "/stop", HOST, OWN, JSON, "1", false, 0 }, 401 },
		{ { true, "/stop", HOST, "http://evil.example", JSON, "1", false, ACT }, 403 },
		{ { false, "/stop", HOST, OWN, JSON, "1", false, ACT }, 405 },
		{ { true, "/act", HOST, OWN, JSON, "1", false, ACT }, 0 },
		{ { true, "/act", HOST, OWN, JSON, "1", false, LOOK }, 403 },
		{ { true, "/act", HOST, OWN, JSON, "1", false, 0 }, 401 },
		{ { true, "/act", HOST, OWN, JSON, NULL, false, ACT }, 403 },
		{ { false, "/act", HOST, OWN, JSON, "1", false, ACT }, 405 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct http r = request_of(&cases[i].a);
		const enum request_check_route route = request_check_route(&r, !strcmp(r.path, "/"));
		const char *why = NULL;
		char which[64];
		const int status = request_check_check(&guard, &r, route, cases[i].a.rights, &why);

		snprintf(which, sizeof(which), "case %zu, %s", i, r.path);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status, status, which);
		TEST_ASSERT_EQUAL_INT_MESSAGE(status != 0, why != NULL, which);
	}
}

/* Only names that were given out, as long as their link or session is there. */
TEST(names_of_links_are_known_and_no_others)
{
	static struct token_store store;
	const struct token_holder alice = { LOOK, 1000, "alice" };
	const struct request_check named = { .links = &store, .suffix = ".localhost:8765" };
	struct token *link = token_issue(&store, (uint8_t[TOKEN_RANDOM]){ 7 }, &alice, 1), *session;
	static const struct {
		const char *before, *behind;
		int status;
	} rows[] = {
		{ "", ".localhost:8765", 0 },	     { "", ".LOCALHOST:8765", 0 },    { "", ".localhost", 421 },
		{ "", ".localhost:8766", 421 },	     { "", ".local:8765", 421 },      { "", "", 421 },
		{ "x.", ".localhost:8765", 421 },    { "0", ".localhost:8765", 421 }, { "", "0.localhost:8765", 421 },
		{ "", ".evil.localhost:8765", 421 },
	};
	const char *why;
	char host[80], label[TOKEN_HOST];
	struct http r = request_of(&(struct asked){ .path = "/", .host = host });

	memcpy(label, link->host, sizeof(label));
	for (int used = 0; used < 2; used++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			snprintf(host, sizeof(host), "%s%s%s", rows[i].before, label, rows[i].behind);
			TEST_ASSERT_EQUAL_INT_MESSAGE(
				rows[i].status, request_check_check(&named, &r, REQUEST_CHECK_FILE, 0, &why), host);
		}
		if (!used) { /* the session has the name of its link */
			session = token_redeem(&store, link, "c", (uint8_t[TOKEN_ID_RANDOM]){ 8 }, 2);
			TEST_ASSERT_EQUAL_STRING(label, session->host);
		}
	}
	static const char *const others[] = { "0123456789abcdef.localhost:8765", ".localhost:8765", "localhost:8765",
					      "0000000000000000.localhost:8765" };
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		snprintf(host, sizeof(host), "%s", others[i]);
		TEST_ASSERT_EQUAL_INT_MESSAGE(421, request_check_check(&named, &r, REQUEST_CHECK_FILE, 0, &why), host);
	}
	snprintf(host, sizeof(host), "%s.localhost:8765", label);
	TEST_ASSERT_EQUAL_INT(421, request_check_check(&guard, &r, REQUEST_CHECK_FILE, 0,
						       &why)); /* links have no names there */
}

TEST(an_old_protocol_or_version_is_not_upgraded)
{
	struct http r = request_of(&(struct asked){ .path = "/socket", .host = HOST, .origin = OWN, .socket = true });
	const char *why;

	r.old = true;
	TEST_ASSERT_EQUAL_INT(426, request_check_check(&guard, &r, REQUEST_CHECK_SOCKET, LOOK, &why));
	r.old = false;
	r.ws_version = "8";
	TEST_ASSERT_EQUAL_INT(426, request_check_check(&guard, &r, REQUEST_CHECK_SOCKET, LOOK, &why));
	r.ws_version = "13";
	r.connection = "close";
	TEST_ASSERT_EQUAL_INT(426, request_check_check(&guard, &r, REQUEST_CHECK_SOCKET, LOOK, &why));
	r.connection = "upgrade";
	r.upgrade = "h2c";
	TEST_ASSERT_EQUAL_INT(426, request_check_check(&guard, &r, REQUEST_CHECK_SOCKET, LOOK, &why));
}

TEST(a_refused_method_names_the_other)
{
	struct http r = request_of(&(struct asked){ .path = "/stop", .host = HOST, .origin = OWN });
	const char *why;

	TEST_ASSERT_EQUAL_INT(405, request_check_check(&guard, &r, REQUEST_CHECK_STOP, LOOK, &why));
	TEST_ASSERT_EQUAL_STRING("only POST is served here", why);
	r.post = true;
	TEST_ASSERT_EQUAL_INT(405, request_check_check(&guard, &r, REQUEST_CHECK_FILE, LOOK, &why));
	TEST_ASSERT_EQUAL_STRING("only GET is served here", why);
}

TEST(a_rate_allows_a_burst_and_then_its_average)
{
	struct rate rate = { 0 };
	int taken = 0;

	for (int i = 0; i < 100; i++)
		taken += rate_take(&rate, 1000, 10, 5);
	TEST_ASSERT_EQUAL_INT(5, taken);
	TEST_ASSERT_FALSE(rate_take(&rate, 1009, 10, 5));
	TEST_ASSERT_TRUE(rate_take(&rate, 1010, 10, 5));
	TEST_ASSERT_FALSE(rate_take(&rate, 1010, 10, 5));
	for (int64_t t = 2000; t < 3000; t++)
		taken += rate_take(&rate, t, 10, 5);
	TEST_ASSERT_INT_WITHIN(1, 5 + 5 + 100, taken);
}
