/* test_server.c: connections of achweb: sessions that pages keep, logins, and stops that no driver shows. */
#include "test/channels/testcase.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "channels/clock.h"
#include "launch/achweb/server.h"
#include "test/channels/lib.h"

#define HOUR_NS INT64_C(3600000000000)
#define ORIGIN "Host: a:1\r\nOrigin: http://a:1\r\n"
#define POST "X-Endplate: 1\r\nContent-Type: application/json\r\n"
#define UPGRADE                                                                      \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n"

static struct server server;
static char prefix[24];
static int listener;
static int64_t now_ns;
static char cookie[TOKEN_MAX], key[TOKEN_MAX];
static char got[100000]; /* the last answer */

void setUp(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	lib_watchdog("test_server", LIB_HANG_S);
	snprintf(prefix, sizeof(prefix), "web%d.", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
	setenv("ENDPLATE_RUN", "/nonexistent/there", 1);
	memset(&server, 0, sizeof(server));
	TEST_ASSERT_EQUAL_INT(0, server_open(&server));
	server.guard.hosts[server.guard.hosts_n++] = "a:1";
	snprintf(server.cookie, sizeof(server.cookie), "k");
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* a name of the kernel's */
	TEST_ASSERT_EQUAL_INT(0, bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)));
	TEST_ASSERT_EQUAL_INT(0, server_listen(&server, listener));
	now_ns = clock_now_ns();
}

void tearDown(void)
{
	server_close(&server);
}

static const uint8_t *fresh(void)
{
	static uint8_t bytes[TOKEN_RANDOM];

	bytes[0]++;
	bytes[TOKEN_RANDOM / 2] = (uint8_t)(100 + bytes[0]);
	return bytes;
}

static void log_in(unsigned int rights)
{
	const struct token *session = token_begin_session(&server.tokens, fresh(), rights, "alice", now_ns);

	memcpy(cookie, session->text, sizeof(cookie));
	memcpy(key, session->key, sizeof(key));
}

static int dial(void)
{
	struct sockaddr_un address;
	socklen_t len = sizeof(address);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	TEST_ASSERT_EQUAL_INT(0, getsockname(listener, (struct sockaddr *)&address, &len));
	TEST_ASSERT_EQUAL_INT(0, connect(fd, (struct sockaddr *)&address, len));
	return fd;
}

/* What the server has sent since, in got.  false: it has ended the connection. */
static bool hear(int fd)
{
	size_t len = 0;
	ssize_t n;

	server_turn(&server, now_ns);
	while ((n = recv(fd, got + len, sizeof(got) - 1 - len, 0)) > 0)
		len += (size_t)n;
	got[len] = 0;
	return n < 0;
}

/* Answers are awaited for 3 s of real time: stops ask drivers. */
static int request(int fd, const char *line, const char *headers, const char *body)
{
	const int64_t until_ns = clock_now_ns() + 3000000000;
	char text[2000];
	int len = snprintf(text, sizeof(text), "%s HTTP/1.1\r\n" ORIGIN "%sCookie: k=%s\r\n", line, headers, cookie);

	if (body)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "Content-Length: %zu\r\n", strlen(body));
	len += snprintf(text + len, sizeof(text) - (size_t)len, "\r\n%s", body ? body : "");
	TEST_ASSERT_EQUAL_INT(len, send(fd, text, (size_t)len, 0));
	for (hear(fd); !*got && clock_now_ns() < until_ns; hear(fd)) {
		clock_wait(NULL, 0, clock_now_ns() + 5000000);
		now_ns += 5000000;
	}
	return *got ? atoi(got + strlen("HTTP/1.1 ")) : 0;
}

/* A whole request, and its status. */
static int raw(const char *text)
{
	const int fd = dial();

	TEST_ASSERT_EQUAL_INT(strlen(text), send(fd, text, strlen(text), 0));
	hear(fd);
	close(fd);
	return *got ? atoi(got + strlen("HTTP/1.1 ")) : 0;
}

static int ask(const char *line, const char *headers, const char *body)
{
	const int fd = dial(), status = request(fd, line, headers, body);

	close(fd);
	return status;
}

TEST(an_open_page_keeps_its_session)
{
	const int page = (log_in(TOKEN_LOOK), dial());

	TEST_ASSERT_EQUAL_INT(101, request(page, "GET /socket", UPGRADE, NULL));
	for (int i = 0; i < 30; i++) {
		now_ns += HOUR_NS;
		TEST_ASSERT_TRUE(hear(page));
	}
	TEST_ASSERT_EQUAL_INT(200, ask("GET /session", "", NULL));
	close(page);
	hear(page);
	now_ns += TOKEN_SESSION_NS;
	TEST_ASSERT_EQUAL_INT(401, ask("GET /session", "", NULL));
}

TEST(a_socket_ends_with_its_session)
{
	const int page = (log_in(TOKEN_LOOK | TOKEN_ACT), dial());
	int studio = dial();

	TEST_ASSERT_EQUAL_INT(101, request(page, "GET /socket", UPGRADE, NULL));
	TEST_ASSERT_EQUAL_INT(101, request(studio, "GET /foxglove", UPGRADE, NULL));
	for (int i = 0; i < 64; i++) /* as many as there are */
		token_begin_session(&server.tokens, fresh(), TOKEN_LOOK, "bob", now_ns + HOUR_NS);
	now_ns += 2000000000;
	hear(page);
	TEST_ASSERT_FALSE(hear(page));
	TEST_ASSERT_FALSE(hear(studio));
	close(page);
	close(studio);
}

TEST(a_browser_does_not_forget_the_cookie_of_an_open_page)
{
	char body[80];

	*cookie = 0;
	snprintf(body, sizeof(body), "{\"token\":\"%s\"}",
		 token_issue(&server.tokens, fresh(), TOKEN_LOOK, "alice", now_ns)->text);
	TEST_ASSERT_EQUAL_INT(200, ask("POST /login", POST, body));
	TEST_ASSERT_NOT_NULL(strstr(got, "Set-Cookie: k="));
	TEST_ASSERT_NOT_NULL(strstr(got, "; HttpOnly; SameSite=Strict; Path=/"));
	TEST_ASSERT_NULL(strstr(got, "Max-Age"));
}

TEST(wrong_tokens_keep_no_person_out)
{
	static const char wrong[] = "{\"token\":\"ffffffffffffffffffffffffffffffff\"}";
	char body[80];
	int status = 0;

	*cookie = 0;
	for (int i = 0; i < 30; i++)
		status = ask("POST /login", POST, wrong);
	TEST_ASSERT_EQUAL_INT(429, status);
	snprintf(body, sizeof(body), "{\"token\":\"%s\"}",
		 token_issue(&server.tokens, fresh(), TOKEN_LOOK, "alice", now_ns)->text);
	TEST_ASSERT_EQUAL_INT(200, ask("POST /login", POST, body));
}

/* The rights of the newest connection. */
static unsigned int rights_of(const char *path)
{
	const int fd = dial();
	unsigned int rights = 0;
	char line[100];

	snprintf(line, sizeof(line), "GET %s", path);
	if (request(fd, line, UPGRADE, NULL) == 101)
		for (size_t i = 0; i < SERVER_CLIENTS_MAX; i++)
			if (server.clients[i] && server.clients[i]->serial == server.serial)
				rights = server.clients[i]->rights;
	close(fd);
	return rights;
}

/* Browsers send the cookies of a machine to all its ports, those of other users too. */
TEST(a_cookie_alone_does_not_act)
{
	static const char home[] = "{\"do\":\"home\",\"name\":\"waist\"}";
	char path[80], headers[200];

	log_in(TOKEN_LOOK | TOKEN_ACT);
	TEST_ASSERT_EQUAL_UINT(TOKEN_LOOK, rights_of("/foxglove"));
	snprintf(path, sizeof(path), "/foxglove?key=%s", cookie);
	TEST_ASSERT_EQUAL_UINT(0, rights_of(path));
	snprintf(path, sizeof(path), "/foxglove?key=%s", key);
	TEST_ASSERT_EQUAL_UINT(TOKEN_LOOK | TOKEN_ACT, rights_of(path));
	TEST_ASSERT_EQUAL_INT(403, ask("POST /act", POST, home));
	snprintf(headers, sizeof(headers), "X-Endplate: %s\r\nContent-Type: application/json\r\n", cookie);
	TEST_ASSERT_EQUAL_INT(403, ask("POST /act", headers, home));
	snprintf(headers, sizeof(headers), "X-Endplate: %s\r\nContent-Type: application/json\r\n", key);
	TEST_ASSERT_EQUAL_INT(200, ask("POST /act", headers, home));
	log_in(TOKEN_LOOK); /* another one: the key is not of this cookie */
	TEST_ASSERT_EQUAL_INT(403, ask("POST /act", headers, home));
}

/* A server of another user on this machine can set cookies for all its ports. */
TEST(cookies_of_other_servers_keep_no_person_out)
{
	static const char home[] = "{\"do\":\"home\",\"name\":\"waist\"}";
	char mine[TOKEN_MAX], my_key[TOKEN_MAX], others[TOKEN_MAX], headers[400];

	log_in(TOKEN_LOOK);
	memcpy(others, cookie, sizeof(others));
	log_in(TOKEN_LOOK | TOKEN_ACT);
	memcpy(mine, cookie, sizeof(mine));
	memcpy(my_key, key, sizeof(my_key));
	/* request() adds the last one. */
	snprintf(cookie, sizeof(cookie), "junk");
	TEST_ASSERT_EQUAL_INT(401, ask("GET /session", "", NULL));
	for (int i = 0; i < 2; i++) {
		char line[200];

		snprintf(line, sizeof(line), "GET /session HTTP/1.1\r\n" ORIGIN "Cookie: k=junk; k=%s; k=%s\r\n\r\n",
			 i ? mine : others, i ? others : mine);
		TEST_ASSERT_EQUAL_INT(200, raw(line));
		TEST_ASSERT_NOT_NULL(strstr(got, "look and act"));
		snprintf(headers, sizeof(headers),
			 "POST /act HTTP/1.1\r\n" ORIGIN "Cookie: k=%s; k=%s\r\nX-Endplate: %s\r\n"
			 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			 i ? mine : others, i ? others : mine, my_key, strlen(home), home);
		TEST_ASSERT_EQUAL_INT(200, raw(headers));
	}
}

TEST(a_request_that_does_not_become_whole_is_not_waited_for)
{
	const int slow = dial(), quiet = dial();
	int s = 0;

	while (s < 30 && send(slow, "G", 1, MSG_NOSIGNAL) == 1 && hear(slow)) { /* never silent */
		now_ns += 1000000000;
		s++;
	}
	TEST_ASSERT_INT_WITHIN(1, 10, s);
	TEST_ASSERT_FALSE(hear(quiet));
	close(slow);
	close(quiet);
}

TEST(a_stop_that_no_driver_shows_is_not_confirmed)
{
	char name[40];
	struct estop estop;

	log_in(TOKEN_LOOK);
	TEST_ASSERT_EQUAL_INT(200, ask("POST /stop", POST, "{}"));
	TEST_ASSERT_NOT_NULL(strstr(got, "{\"ok\":false,\"text\":\"NOT RAISED: no robot is up here"));
	TEST_ASSERT_EQUAL_INT(0, robot_level_open(&estop, true, &(struct error_sink){ 0 }));
	TEST_ASSERT_EQUAL_INT(200, ask("POST /stop", POST, "{}"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(got,
					    "{\"ok\":false,\"text\":\"NOT CONFIRMED: level estop is raised, but no "
					    "driver runs"),
				     got);
	estop_close(&estop);
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%sestop%s", prefix, i ? "-b" : "");
		TEST_ASSERT_EQUAL_INT(ACH_OK, ach_unlink(name));
	}
}
