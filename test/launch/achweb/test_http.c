/* test_http.c: heads of HTTP requests, whole, in pieces, and bad ones. */
#include "test/lib/testcase.h"

#include "launch/achweb/http.h"

static struct http r;
static char bytes[HTTP_HEAD_MAX + HTTP_BODY_MAX + 16];

static int read_text(const char *text)
{
	snprintf(bytes, sizeof(bytes), "%s", text);
	return http_read(&r, bytes, strlen(text));
}

TEST(a_request_is_read_where_it_lies)
{
	static const char text[] =
		"POST /act?x=1&y=2 HTTP/1.1\r\nHost: 127.0.0.1:8765\r\norigin:http://127.0.0.1:8765 \t\r\n"
		"Cookie: a=1; b=2\r\nContent-Type: application/json\r\nX-Endplate: 1\r\n"
		"Connection: keep-alive\r\nContent-Length: 12\r\nAccept: */*\r\n\r\nhello";

	TEST_ASSERT_EQUAL_INT(strlen(text) - 5, read_text(text));
	TEST_ASSERT_TRUE(r.post);
	TEST_ASSERT_FALSE(r.old);
	TEST_ASSERT_EQUAL_STRING("/act", r.path);
	TEST_ASSERT_EQUAL_STRING("x=1&y=2", r.query);
	TEST_ASSERT_EQUAL_STRING("127.0.0.1:8765", r.host);
	TEST_ASSERT_EQUAL_STRING("http://127.0.0.1:8765", r.origin);
	TEST_ASSERT_EQUAL_STRING("application/json", r.type);
	TEST_ASSERT_EQUAL_STRING("keep-alive", r.connection);
	TEST_ASSERT_EQUAL_STRING("1", r.proof);
	TEST_ASSERT_EQUAL_STRING("", r.upgrade);
	TEST_ASSERT_EQUAL_UINT(12, r.length);
}

TEST(a_head_that_has_not_come_whole_is_waited_for)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n"
				   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: x, y\r\n\r\n";

	for (size_t n = 0; n < strlen(text); n++) {
		memcpy(bytes, text, n);
		TEST_ASSERT_EQUAL_INT(0, http_read(&r, bytes, n));
	}
	TEST_ASSERT_EQUAL_INT(strlen(text), read_text(text));
	TEST_ASSERT_FALSE(r.post);
	TEST_ASSERT_EQUAL_STRING("", r.query);
	TEST_ASSERT_EQUAL_STRING("websocket", r.upgrade);
	TEST_ASSERT_EQUAL_STRING("k", r.ws_key);
	TEST_ASSERT_EQUAL_STRING("13", r.ws_version);
	TEST_ASSERT_EQUAL_STRING("x, y", r.ws_protocols);
	TEST_ASSERT_EQUAL_UINT(0, r.length);
}

TEST(bad_requests_are_refused)
{
	static const char zero[] = "GET / HTTP/1.1\r\nA: \0\r\n\r\n";
	static const struct {
		int status;
		const char *text;
	} cases[] = {
		{ -400, "\r\n\r\n" },
		{ -400, "GET /\r\n\r\n" },
		{ -400, "GET  / HTTP/1.1\r\n\r\n" },
		{ -400, "GET http://a/ HTTP/1.1\r\n\r\n" },
		{ -400, "GET /a\tb HTTP/1.1\r\n\r\n" },
		{ -400, "GET /a\x7f HTTP/1.1\r\n\r\n" },
		{ -400, "GET /# HTTP/1.1\r\n\r\n" },
		{ -400, "GET / JUNK/1.1\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\nno colon\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\n: no name\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\nHo(st: a\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n" },
		{ -400, "GET / HTTP/1.1\r\n folded: a\r\n\r\n" },
		{ -400, "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n" },
		{ -400, "POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n" },
		{ -400, "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n" },
		{ -400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n" },
		{ -405, "PUT / HTTP/1.1\r\n\r\n" },
		{ -405, "HEAD / HTTP/1.1\r\n\r\n" },
		{ -405, "get / HTTP/1.1\r\n\r\n" },
		{ -411, "POST / HTTP/1.1\r\nHost: a\r\n\r\n" },
		{ -413, "POST / HTTP/1.1\r\nContent-Length: 1025\r\n\r\n" },
		{ -413, "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999999\r\n\r\n" },
		{ -501, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" },
		{ -505, "GET / HTTP/2.0\r\n\r\n" },
		{ -505, "GET / HTTP/1.12\r\n\r\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status, read_text(cases[i].text), cases[i].text);
	memcpy(bytes, zero, sizeof(zero));
	TEST_ASSERT_EQUAL_INT(-400, http_read(&r, bytes, sizeof(zero) - 1));
}

TEST(what_is_allowed_is_read)
{
	static const char *const cases[] = {
		"GET / HTTP/1.0\r\n\r\n",
		"GET /a?b?c HTTP/1.1\r\nHOST: a\r\n\r\n",
		"GET / HTTP/1.1\r\nX: a\tb \"()\"\r\nX: again\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 1024\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		TEST_ASSERT_EQUAL_INT_MESSAGE(strlen(cases[i]), read_text(cases[i]), cases[i]);
	read_text(cases[0]);
	TEST_ASSERT_TRUE(r.old);
	read_text(cases[1]);
	TEST_ASSERT_EQUAL_STRING("b?c", r.query);
	TEST_ASSERT_EQUAL_STRING("a", r.host);
	read_text(cases[3]);
	TEST_ASSERT_EQUAL_UINT(1024, r.length);
}

/* A request with a path and a last header of these lengths, and so many headers.  Its length is *len. */
static int sized(size_t path, size_t headers, size_t last, size_t *len)
{
	size_t n = (size_t)sprintf(bytes, "GET /");

	memset(bytes + n, 'p', path - 1);
	n += path - 1;
	n += (size_t)sprintf(bytes + n, " HTTP/1.1\r\n");
	for (size_t i = 1; i < headers; i++)
		n += (size_t)sprintf(bytes + n, "a:\r\n");
	n += (size_t)sprintf(bytes + n, "a:");
	memset(bytes + n, 'x', last);
	n += last;
	n += (size_t)sprintf(bytes + n, "\r\n\r\n");
	*len = n;
	return http_read(&r, bytes, n);
}

TEST(lengths_have_bounds)
{
	const size_t rest = strlen("GET / HTTP/1.1\r\na:\r\n\r\n");
	size_t len;

	int status;

	status = sized(1024, 1, 0, &len);
	TEST_ASSERT_EQUAL_INT(len, status);
	TEST_ASSERT_EQUAL_INT(-414, sized(1025, 1, 0, &len));
	status = sized(1, 64, 0, &len);
	TEST_ASSERT_EQUAL_INT(len, status);
	TEST_ASSERT_EQUAL_INT(-431, sized(1, 65, 0, &len));
	status = sized(1, 1, HTTP_HEAD_MAX - rest, &len);
	TEST_ASSERT_EQUAL_INT(len, status);
	TEST_ASSERT_EQUAL_INT(-431, sized(1, 1, HTTP_HEAD_MAX - rest + 1, &len));
	memset(bytes, 'a', sizeof(bytes));
	TEST_ASSERT_EQUAL_INT(0, http_read(&r, bytes, HTTP_HEAD_MAX - 1));
	TEST_ASSERT_EQUAL_INT(-431, http_read(&r, bytes, HTTP_HEAD_MAX));
}

TEST(lists_of_words)
{
	static const struct {
		const char *list, *word;
		bool found;
	} cases[] = {
		{ "upgrade", "upgrade", true },	   { "keep-alive, Upgrade", "upgrade", true },
		{ "Upgrade ,x", "upgrade", true }, { "\tupgrade\t", "upgrade", true },
		{ "upgrades", "upgrade", false },  { "up, grade", "upgrade", false },
		{ "", "upgrade", false },	   { " , ,", "upgrade", false },
		{ "pgrade", "upgrade", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].found, http_lists(cases[i].list, cases[i].word), cases[i].list);
}

TEST(values_of_queries)
{
	static const struct {
		const char *text, *value; /* NULL: none */
	} cases[] = {
		{ "k=abc", "abc" },
		{ "a=1&k=abc&b=2", "abc" },
		{ "k=", "" },
		{ "k=a=b", "a=b" },
		{ "kk=1", NULL },
		{ "k", NULL },
		{ "", NULL },
		{ "K=abc", NULL },
		{ "k=abc&k=abd", NULL },
		{ "k=1234567", "1234567" },
		{ "k=12345678", NULL },
		{ "a=1;k=abc", NULL },
		{ "&&k=abc&&", "abc" },
		{ "xk=1&k=2", "2" },
	};
	char value[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool found = http_value(cases[i].text, "k", value, sizeof(value));

		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].value != NULL, found, cases[i].text);
		if (found)
			TEST_ASSERT_EQUAL_STRING(cases[i].value, value);
	}
}

TEST(statuses_have_reasons)
{
	TEST_ASSERT_EQUAL_STRING("OK", http_reason(200));
	TEST_ASSERT_EQUAL_STRING("HTTP Version Not Supported", http_reason(505));
	TEST_ASSERT_EQUAL_STRING("Error", http_reason(999));
}
