/* test_server.c: connections of achweb: proofs, sessions that pages keep, logins, and stops that no driver shows. */
#include "test/lib/testcase.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "launch/achweb/server.h"
#include "test/lib/lib.h"

#define HOUR_NS INT64_C(3600000000000)
#define ORIGIN "Host: a:1\r\nOrigin: http://a:1\r\n"
#define HOME "{\"do\":\"home\",\"name\":\"waist\"}"
#define UPGRADE                                                                      \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n"

static struct server server;
static char prefix[24];
static int listener;
static int64_t now_ns;
static char got[100000]; /* the last answer */
static size_t got_len;

/* The page: what it knows, and what it sends. */
static struct {
	struct token t; /* id and keys */
	char client[PROOF_WORD], challenge[PROOF_WORD];
	unsigned int count;
	bool act; /* prove with the key to act */
} me;

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
	return bytes;
}

static void begin_page(const struct token *t)
{
	static unsigned int loads;

	memset(&me, 0, sizeof(me));
	me.t = *t;
	snprintf(me.client, sizeof(me.client), "%032x", ++loads);
	snprintf(me.challenge, sizeof(me.challenge), "%s", server.fresh.now);
}

static struct token *issue(unsigned int rights)
{
	const struct token_holder alice = { rights, geteuid(), "alice" };

	return token_issue(&server.tokens, fresh(), &alice, now_ns);
}

/* A session, without the request for it. */
static void log_in(unsigned int rights)
{
	begin_page(token_redeem(&server.tokens, issue(rights), "c", fresh(), now_ns));
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
	got_len = len;
	return n < 0;
}

/* Answers are awaited for 3 s of real time: stops ask drivers. */
static int request(int fd, const char *line, const char *headers, const char *body)
{
	const int64_t until_ns = clock_now_ns() + 3000000000;
	char text[2000];
	int len = snprintf(text, sizeof(text), "%s HTTP/1.1\r\n" ORIGIN "%s", line, headers);

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

static int ask(const char *line, const char *headers, const char *body)
{
	const int fd = dial(), status = request(fd, line, headers, body);

	close(fd);
	return status;
}

/* "ID CLIENT COUNT CHALLENGE PROOF" */
static void write_claim(char claim[300], const char *method, const char *path, const char *body)
{
	char count[16], digest[PROOF_MAX], proof[PROOF_MAX];

	snprintf(count, sizeof(count), "%u", me.count);
	proof_digest(digest, body, strlen(body));
	proof_make(proof, me.act ? me.t.act : me.t.look,
		   (const char *const[]){ "ask", me.challenge, me.client, count, method, path, digest, NULL });
	snprintf(claim, 300, "%s %s %s %s %s", me.t.id, me.client, count, me.challenge, proof);
}

/* Posts with that claim. */
static int post_as(const char *claim, const char *path, const char *body)
{
	char line[40], headers[400];

	snprintf(line, sizeof(line), "POST %s", path);
	snprintf(headers, sizeof(headers), "X-Endplate: %s\r\nContent-Type: application/json\r\n", claim);
	return ask(line, headers, body);
}

/* Posts with a proof of its own; to /act with the key to act. */
static int post(const char *path, const char *body)
{
	char claim[300];

	me.count++;
	me.act = !strcmp(path, "/act");
	write_claim(claim, "POST", path, body);
	return post_as(claim, path, body);
}

/* Is the last answer proven for the last request? */
static bool is_proven(void)
{
	char status[8] = "", count[16], digest[PROOF_MAX], proof[PROOF_MAX], header[PROOF_MAX + 20];
	const char *body = strstr(got, "\r\n\r\n");

	TEST_ASSERT_NOT_NULL(body);
	memcpy(status, got + strlen("HTTP/1.1 "), 3);
	snprintf(count, sizeof(count), "%u", me.count);
	proof_digest(digest, body + 4, strlen(body + 4));
	proof_make(proof, me.act ? me.t.act : me.t.look,
		   (const char *const[]){ "answer", me.challenge, me.client, count, status, digest, NULL });
	snprintf(header, sizeof(header), "\r\nX-Endplate: %s\r\n", proof);
	TEST_ASSERT_EQUAL_INT(strstr(got, header) != NULL, strstr(got, "X-Endplate") != NULL);
	return strstr(got, header);
}

/* ---- WebSockets ---- */

static void send_text(int fd, const char *text)
{
	const size_t len = strlen(text);
	uint8_t frame[400] = { 0x81, 0xfe, (uint8_t)(len >> 8), (uint8_t)len };

	memcpy(frame + 8, text, len); /* the mask is zero */
	TEST_ASSERT_EQUAL_INT(8 + len, send(fd, frame, 8 + len, MSG_NOSIGNAL));
}

/* The first message of a page, as often as it is asked for another. */
static void greet(int fd)
{
	char claim[300];

	me.count++;
	me.act = false;
	write_claim(claim, "GET", "/socket", "");
	send_text(fd, claim);
	hear(fd);
}

static int open_page(void)
{
	const int fd = dial();

	TEST_ASSERT_EQUAL_INT(101, request(fd, "GET /socket", UPGRADE, NULL));
	snprintf(me.challenge, sizeof(me.challenge), "%s", server.fresh.now);
	greet(fd);
	TEST_ASSERT_NOT_NULL_MESSAGE(memmem(got, 300, "\"op\":\"hello\"", 12), got + 2);
	return fd;
}

/* The messages in got: how many are proven, as the next ones behind *number. */
static int count_proven(unsigned int *number)
{
	int right = 0;

	for (size_t at = 0; at + 2 < got_len;) {
		const uint8_t *head = (const uint8_t *)got + at;
		const size_t skip = head[1] < 126 ? 2 : head[1] == 126 ? 4 : 10;
		size_t size = head[1] < 126 ? head[1] : 0;
		char count[16], next[16], digest[PROOF_MAX], proof[PROOF_MAX], front[160];
		const char *text = got + at + skip, *body;

		for (size_t i = 2; i < skip; i++)
			size = size << 8 | head[i];
		at += skip + size;
		body = memchr(text, '\n', size);
		if (head[0] != 0x81 || !body)
			continue;
		proof_digest(digest, body + 1, (size_t)(text + size - body - 1));
		snprintf(count, sizeof(count), "%u", me.count);
		snprintf(next, sizeof(next), "%u", ++*number);
		proof_make(proof, me.t.look,
			   (const char *const[]){ "snapshot", me.client, count, next, server.fresh.now, digest, NULL });
		snprintf(front, sizeof(front), "%s %s %s\n", proof, next, server.fresh.now);
		right += !strncmp(text, front, strlen(front));
	}
	return right;
}

/* ---- proofs ---- */

TEST(a_proven_request_is_done_and_its_answer_is_proven)
{
	log_in(TOKEN_LOOK | TOKEN_ACT);
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{}"));
	TEST_ASSERT_TRUE(is_proven());
	TEST_ASSERT_EQUAL_INT(200, post("/act", HOME));
	TEST_ASSERT_TRUE(is_proven());
	TEST_ASSERT_EQUAL_INT(400, post("/act", "{}"));
	TEST_ASSERT_TRUE(is_proven());
	TEST_ASSERT_NULL(strstr(got, "Set-Cookie"));
}

/* An answer that was proven would make another program's page believable. */
TEST(a_request_without_a_right_proof_gets_no_proven_answer)
{
	char claim[300], changed[300];

	log_in(TOKEN_LOOK | TOKEN_ACT);
	me.count = 1;
	write_claim(claim, "POST", "/stop", "{}");
	for (size_t i = 0; i < strlen(claim); i++) {
		snprintf(changed, sizeof(changed), "%s", claim);
		changed[i] = changed[i] == '0' ? '1' : '0';
		TEST_ASSERT_EQUAL_INT_MESSAGE(401, post_as(changed, "/stop", "{}"), changed);
		TEST_ASSERT_FALSE(is_proven());
	}
	TEST_ASSERT_EQUAL_INT(401, post_as("1", "/stop", "{}"));
	TEST_ASSERT_EQUAL_INT(401, post_as(claim, "/stop", "{ }"));
	TEST_ASSERT_EQUAL_INT(401, post_as(claim, "/act", "{}"));
	TEST_ASSERT_EQUAL_INT(401, post_as(claim, "/login", "{}"));
	TEST_ASSERT_FALSE(is_proven());
	TEST_ASSERT_EQUAL_INT(200, post_as(claim, "/stop", "{}"));
	TEST_ASSERT_TRUE(is_proven());
	TEST_ASSERT_EQUAL_INT(404, ask("GET /nothing", "", NULL));
	TEST_ASSERT_NULL(strstr(got, "X-Endplate"));
	TEST_ASSERT_EQUAL_INT(200, ask("GET /", "", NULL));
	TEST_ASSERT_NULL(strstr(got, "X-Endplate"));
}

TEST(a_request_is_good_once)
{
	char claim[300];

	log_in(TOKEN_LOOK | TOKEN_ACT);
	me.count = 1;
	me.act = true;
	write_claim(claim, "POST", "/act", HOME);
	TEST_ASSERT_EQUAL_INT(200, post_as(claim, "/act", HOME));
	TEST_ASSERT_EQUAL_INT(401, post_as(claim, "/act", HOME));
	TEST_ASSERT_NOT_NULL(strstr(got, "used already"));
	TEST_ASSERT_EQUAL_INT(200, post("/act", HOME));
}

/* Held back by another program, or recorded before achweb was killed. */
TEST(a_request_with_an_old_challenge_is_not_done_and_gets_the_new_one)
{
	char claim[300], old[PROOF_WORD];

	log_in(TOKEN_LOOK | TOKEN_ACT);
	me.count = 1;
	me.act = true;
	memcpy(old, me.challenge, sizeof(old));
	write_claim(claim, "POST", "/act", HOME);
	now_ns += 2 * FRESH_NS;
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL_INT(409, post_as(claim, "/act", HOME));
		TEST_ASSERT_TRUE(is_proven());
		TEST_ASSERT_NOT_NULL(strstr(got, server.fresh.now));
	}
	snprintf(me.challenge, sizeof(me.challenge), PROOF_NONE);
	TEST_ASSERT_EQUAL_INT(409, post("/stop", "{}"));
	TEST_ASSERT_TRUE(is_proven());
	snprintf(me.challenge, sizeof(me.challenge), "%s", server.fresh.now);
	TEST_ASSERT_EQUAL_INT(200, post("/act", HOME));
	/* of another process */
	server_close(&server);
	memset(&server.fresh, 0, sizeof(server.fresh));
	setUp();
	TEST_ASSERT_FALSE(fresh_has(&server.fresh, old));
	TEST_ASSERT_FALSE(fresh_has(&server.fresh, me.challenge));
}

/* Whatever its session was given.  The user database is asked each time; a silent one is left alone for a while. */
TEST(an_action_takes_a_user_who_may_arm_now)
{
	log_in(TOKEN_LOOK | TOKEN_ACT);
	for (size_t i = 0; i < TOKEN_SESSIONS; i++)
		server.tokens.sessions[i].uid = 23987;
	TEST_ASSERT_EQUAL_INT(200, post("/act", HOME));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(got, "your user may not act any more"), got);
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{\"level\":\"estop\"}"));
	TEST_ASSERT_NULL(strstr(got, "may not act"));
	for (size_t i = 0; i < TOKEN_SESSIONS; i++)
		server.tokens.sessions[i].uid = geteuid();
	TEST_ASSERT_EQUAL_INT(200, post("/act", HOME));
	TEST_ASSERT_NULL(strstr(got, "may not act"));
	server.acts.unknown_ns = now_ns + 1000000000;
	TEST_ASSERT_EQUAL_INT(200, post("/act", HOME));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(got, "the user database does not say"), got);
}

TEST(a_key_to_look_does_not_act)
{
	log_in(TOKEN_LOOK | TOKEN_ACT);
	memcpy(me.t.act, me.t.look, sizeof(me.t.act));
	TEST_ASSERT_EQUAL_INT(401, post("/act", HOME));
	log_in(TOKEN_LOOK);
	TEST_ASSERT_EQUAL_INT(401, post("/act", HOME)); /* with zeroes, which is what the server has */
	memset(me.t.act, 0, sizeof(me.t.act));
	TEST_ASSERT_EQUAL_INT(401, post("/act", HOME));
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{}"));
}

/* ---- pages ---- */

TEST(each_snapshot_has_a_number_and_a_proof)
{
	const int page = (log_in(TOKEN_LOOK), open_page());
	unsigned int number = 0;
	int right = count_proven(&number);

	for (int i = 0; i < 3; i++) {
		now_ns += SERVER_LOOK_NS;
		hear(page);
		right += count_proven(&number);
	}
	TEST_ASSERT_TRUE(right >= 4); /* hello, and the robot three times */
	TEST_ASSERT_EQUAL_INT((int)number, right);
	close(page);
}

TEST(a_page_with_an_old_challenge_is_asked_again)
{
	const int page = (log_in(TOKEN_LOOK), dial());

	TEST_ASSERT_EQUAL_INT(101, request(page, "GET /socket", UPGRADE, NULL));
	snprintf(me.challenge, sizeof(me.challenge), PROOF_NONE);
	greet(page);
	TEST_ASSERT_NOT_NULL(memmem(got, 300, "{\"op\":\"again\"}", 14));
	TEST_ASSERT_EQUAL_size_t(1, server.visitors_n);
	snprintf(me.challenge, sizeof(me.challenge), "%s", server.fresh.now);
	greet(page);
	TEST_ASSERT_NOT_NULL(memmem(got, 300, "\"op\":\"hello\"", 12));
	TEST_ASSERT_EQUAL_size_t(1, server.pages_n);
	TEST_ASSERT_EQUAL_size_t(0, server.visitors_n);
	close(page);
}

TEST(a_socket_without_a_proof_gets_nothing)
{
	static const char *const texts[] = { "", "{}", "1", "hello" };
	int page;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		page = dial();
		TEST_ASSERT_EQUAL_INT(101, request(page, "GET /socket", UPGRADE, NULL));
		now_ns += SERVER_LOOK_NS;
		TEST_ASSERT_TRUE(hear(page));
		TEST_ASSERT_EQUAL_STRING("", got);
		send_text(page, texts[i]);
		hear(page);
		TEST_ASSERT_EQUAL_HEX8(0x88, (uint8_t)got[0]);
		TEST_ASSERT_EQUAL_UINT(1008, (unsigned int)(uint8_t)got[2] << 8 | (uint8_t)got[3]);
		close(page);
	}
	page = dial(); /* and one that says nothing is not waited for */
	TEST_ASSERT_EQUAL_INT(101, request(page, "GET /socket", UPGRADE, NULL));
	now_ns += 11000000000;
	hear(page);
	TEST_ASSERT_FALSE(hear(page));
	TEST_ASSERT_EQUAL_size_t(0, server.pages_n + server.visitors_n);
	close(page);
}

/* Any local user can open them. */
TEST(sockets_without_a_proof_keep_no_page_and_no_stop_out)
{
	int idle[SERVER_VISITORS_MAX + 40], page;

	log_in(TOKEN_LOOK);
	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++) {
		idle[i] = dial();
		TEST_ASSERT_EQUAL_INT(101, request(idle[i], "GET /socket", UPGRADE, NULL));
		now_ns += 1000;
	}
	TEST_ASSERT_TRUE(server.visitors_n <= SERVER_VISITORS_MAX + 1);
	page = open_page();
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{}"));
	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++)
		close(idle[i]);
	close(page);
}

TEST(an_open_page_keeps_its_session)
{
	const int page = (log_in(TOKEN_LOOK), open_page());

	for (int i = 0; i < 30; i++) {
		now_ns += HOUR_NS;
		TEST_ASSERT_TRUE(hear(page));
	}
	TEST_ASSERT_NOT_NULL(token_session(&server.tokens, me.t.id, now_ns));
	close(page);
	hear(page);
	now_ns += TOKEN_SESSION_NS;
	TEST_ASSERT_EQUAL_INT(401, post("/stop", "{}"));
}

/* The address of a studio, as achctl web --foxglove prints it. */
static int open_studio(unsigned int rights)
{
	const struct token_holder alice = { rights, geteuid(), "alice" };
	char line[100];
	const int fd = dial();

	snprintf(line, sizeof(line), "GET /foxglove?key=%s",
		 token_begin_studio(&server.tokens, fresh(), &alice, now_ns)->id);
	TEST_ASSERT_EQUAL_INT(101, request(fd, line, UPGRADE, NULL));
	return fd;
}

TEST(a_socket_ends_with_its_session)
{
	const int page = (log_in(TOKEN_LOOK | TOKEN_ACT), open_page());
	const int studio = open_studio(TOKEN_LOOK);

	memset(server.tokens.sessions, 0, sizeof(server.tokens.sessions));
	now_ns += 2000000000;
	hear(page);
	TEST_ASSERT_FALSE(hear(page));
	TEST_ASSERT_FALSE(hear(studio));
	close(page);
	close(studio);
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

TEST(a_studio_needs_its_own_key)
{
	const struct token_holder alice = { TOKEN_LOOK | TOKEN_ACT, geteuid(), "alice" };
	char path[80];

	log_in(TOKEN_LOOK | TOKEN_ACT);
	TEST_ASSERT_EQUAL_UINT(0, rights_of("/foxglove"));
	snprintf(path, sizeof(path), "/foxglove?key=%s", me.t.id); /* of a page, which is sent */
	TEST_ASSERT_EQUAL_UINT(0, rights_of(path));
	snprintf(path, sizeof(path), "/foxglove?key=%s",
		 token_begin_studio(&server.tokens, fresh(), &alice, now_ns)->id);
	TEST_ASSERT_EQUAL_UINT(TOKEN_LOOK | TOKEN_ACT, rights_of(path));
	memcpy(me.t.id, path + strlen("/foxglove?key="), TOKEN_ID);
	memset(me.t.look, 0, sizeof(me.t.look));
	TEST_ASSERT_EQUAL_INT(401, post("/stop", "{}")); /* and it proves nothing */
}

/* ---- logging in ---- */

TEST(a_link_becomes_a_session_once)
{
	char claim[300], session[TOKEN_ID] = "";
	const char *at;
	uint8_t look[PROOF_KEY];

	begin_page(issue(TOKEN_LOOK));
	TEST_ASSERT_EQUAL_INT(401, post("/stop", "{}")); /* a link is not a session */
	TEST_ASSERT_EQUAL_INT(200, post("/login", "{}"));
	TEST_ASSERT_TRUE(is_proven());
	at = strstr(got, "\"session\":\"");
	TEST_ASSERT_NOT_NULL(at);
	memcpy(session, at + strlen("\"session\":\""), TOKEN_ID - 1);
	TEST_ASSERT_EQUAL_INT(401, post("/login", "{}"));
	TEST_ASSERT_NOT_NULL(strstr(got, "was used"));
	TEST_ASSERT_FALSE(is_proven());
	/* keys that only this page and achweb know */
	proof_key(look, me.t.look, (const char *const[]){ "session", me.client, session, NULL });
	memcpy(me.t.id, session, sizeof(session));
	TEST_ASSERT_EQUAL_INT(401, post("/stop", "{}"));
	memcpy(me.t.look, look, sizeof(look));
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{}"));
	me.count++;
	write_claim(claim, "POST", "/stop", "{}");
	TEST_ASSERT_EQUAL_INT(200, post_as(claim, "/stop", "{}"));
}

TEST(wrong_tokens_keep_no_person_out)
{
	int status = 0;

	begin_page(&(struct token){ .id = "ffffffffffffffffffffffffffffffff" });
	for (int i = 0; i < 30; i++)
		status = post("/login", "{}");
	TEST_ASSERT_EQUAL_INT(429, status);
	TEST_ASSERT_FALSE(is_proven());
	begin_page(issue(TOKEN_LOOK));
	TEST_ASSERT_EQUAL_INT(200, post("/login", "{}"));
}

/* Nine loads of a page within seconds: it looks no more for a moment, and stops. */
TEST(many_loads_of_a_page_keep_no_stop_out)
{
	log_in(TOKEN_LOOK | TOKEN_ACT);
	for (int i = 0; i < FRESH_CLIENTS; i++) {
		me.client[0] = (char)('a' + i % 6);
		me.client[1] = (char)('0' + i);
		TEST_ASSERT_EQUAL_INT(200, post("/act", HOME));
	}
	me.client[1] = 'f';
	TEST_ASSERT_EQUAL_INT(429, post("/act", HOME));
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{}"));
}

/* ---- the rest ---- */

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
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{}"));
	TEST_ASSERT_NOT_NULL(strstr(got, "{\"ok\":false,\"text\":\"NOT RAISED: no robot is up here"));
	TEST_ASSERT_EQUAL_INT(0, robot_level_open(&estop, true, &(struct error_sink){ 0 }));
	TEST_ASSERT_EQUAL_INT(200, post("/stop", "{}"));
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
