/* test_rpc.c: questions and answers through a local socket; silent and greedy peers do not keep others waiting. */
#include <sys/socket.h>

#include "channels/port/rpc.h"
#include "config/base/safe_path.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define CLIENTS 4
#define LONG_ANSWER 65000

static char folder[] = "/tmp/t-query-XXXXXX", path[64], asked[RPC_QUESTION_MAX], long_answer[LONG_ANSWER + 1];
static int listener, folder_fd;
static struct rpc_client *later;
static struct rpc_server server;
static int64_t now_ns;

static void take_question(void *context, struct rpc_client *client, char *question, int64_t t_ns)
{
	TEST_ASSERT_EQUAL_PTR(&server, context);
	TEST_ASSERT_EQUAL_INT64(now_ns, t_ns);
	TEST_ASSERT_EQUAL(getuid(), client->uid);
	strcpy(asked, question);
	if (!strcmp(question, "later"))
		later = client;
	else if (!strcmp(question, "long"))
		rpc_answer(client, long_answer);
	else if (!strcmp(question, "wrong"))
		rpc_answer(client, "error nothing of that name");
	else
		rpc_answer(client, "ok 42");
}

static void serve(int turns)
{
	struct clock_fd fds[RPC_FDS_MAX];

	while (turns--) {
		clock_wait(fds, rpc_fds(&server, fds), 0);
		rpc_serve(&server, fds, now_ns);
	}
}

static int connect_client(void)
{
	const int fd = rpc_connect(path, &(struct error_sink){ 0 });

	TEST_ASSERT_GREATER_OR_EQUAL(0, fd);
	return fd;
}

static int ask(const char *question)
{
	const int fd = connect_client();

	TEST_ASSERT_EQUAL(strlen(question), send(fd, question, strlen(question), MSG_NOSIGNAL));
	return fd;
}

/* The answer, "" for none yet, NULL for a connection that was closed. */
static const char *answer(int fd)
{
	static char kept[LONG_ANSWER + 1];
	char *text;
	const int status = rpc_receive(fd, &text);

	if (status)
		return status == -EAGAIN ? "" : NULL;
	strcpy(kept, text);
	free(text);
	close(fd);
	return kept;
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	folder_fd = safe_path_open(folder, &(struct error_sink){ 0 });
	listener = safe_path_listen(folder_fd, "here", 0600, 8, &(struct error_sink){ 0 });
	TEST_ASSERT_TRUE(listener >= 0);
	server = (struct rpc_server){
		.question = take_question, .context = &server, .clients_max = CLIENTS, .listener = listener
	};
	rpc_server_init(&server);
	now_ns = clock_now_ns();
	*asked = 0;
}

void tearDown(void)
{
	rpc_server_close(&server);
	close(listener);
	unlink(path);
	close(folder_fd);
}

TEST(test_a_question_is_answered)
{
	const int fd = ask("how many\n");

	serve(1);
	TEST_ASSERT_EQUAL_STRING("how many", asked);
	TEST_ASSERT_EQUAL_STRING("ok 42", answer(fd));
}

TEST(test_an_answer_may_be_long)
{
	const int fd = ask("long");

	memset(long_answer, 'x', LONG_ANSWER);
	serve(1);
	TEST_ASSERT_EQUAL_STRING(long_answer, answer(fd));
}

TEST(test_an_answer_may_come_later)
{
	const int fd = ask("later");

	serve(1);
	now_ns += (int64_t)10 * RPC_SILENT_NS;
	serve(3);
	TEST_ASSERT_EQUAL_STRING("", answer(fd));
	TEST_ASSERT_TRUE(later->asked);
	TEST_ASSERT_EQUAL(RPC_NOTHING, rpc_next(later));
	send(fd, "more", 4, MSG_NOSIGNAL);
	TEST_ASSERT_EQUAL(RPC_MORE, rpc_next(later));
	TEST_ASSERT_EQUAL(RPC_NOTHING, rpc_next(later));
	rpc_answer(later, "at last");
	TEST_ASSERT_EQUAL_STRING("at last", answer(fd));
}

TEST(test_a_client_that_has_gone_is_noticed)
{
	close(ask("later"));
	serve(2);
	TEST_ASSERT_EQUAL(RPC_HUNG_UP, rpc_next(later));
	rpc_drop(later);
	TEST_ASSERT_EQUAL(-1, later->fd);
}

TEST(test_a_silent_client_is_dropped)
{
	const int fd = connect_client();

	serve(1);
	now_ns += RPC_SILENT_NS;
	serve(1);
	TEST_ASSERT_EQUAL_STRING("", answer(fd));
	now_ns++;
	serve(1);
	TEST_ASSERT_NULL(answer(fd));
	close(fd);
}

TEST(test_silent_clients_do_not_keep_others_out)
{
	int silent[CLIENTS], fd;

	for (int i = 0; i < CLIENTS; i++) {
		silent[i] = connect_client();
		serve(1);
		now_ns++;
	}
	fd = ask("how many");
	serve(1);
	TEST_ASSERT_EQUAL_STRING("ok 42", answer(fd));
	TEST_ASSERT_NULL(answer(silent[0])); /* silent for longest */
	TEST_ASSERT_EQUAL_STRING("", answer(silent[1]));
	for (int i = 0; i < CLIENTS; i++)
		close(silent[i]);
}

TEST(test_clients_that_wait_stay)
{
	int waiting[CLIENTS], fd;

	for (int i = 0; i < CLIENTS; i++) {
		waiting[i] = ask("later");
		serve(1);
	}
	fd = ask("how many");
	serve(1);
	TEST_ASSERT_NULL(answer(fd));
	for (int i = 0; i < CLIENTS; i++) {
		TEST_ASSERT_EQUAL_STRING("", answer(waiting[i]));
		close(waiting[i]);
	}
	close(fd);
}

TEST(test_a_question_that_is_too_long_or_empty_is_not_answered)
{
	char much[RPC_QUESTION_MAX + 1];
	int fd;

	memset(much, 'x', RPC_QUESTION_MAX);
	much[RPC_QUESTION_MAX] = 0;
	fd = ask(much);
	serve(1);
	TEST_ASSERT_NULL(answer(fd));
	close(fd);
	much[RPC_QUESTION_MAX - 1] = 0;
	fd = ask(much);
	serve(1);
	TEST_ASSERT_EQUAL_STRING("ok 42", answer(fd));
	fd = ask("");
	serve(1);
	TEST_ASSERT_NULL(answer(fd));
	close(fd);
	TEST_ASSERT_EQUAL_STRING(much, asked);
}

static int serve_for_ever(void *arg)
{
	struct clock_fd fds[RPC_FDS_MAX];

	(void)arg;
	while (clock_wait(fds, rpc_fds(&server, fds), CLOCK_NEVER) > 0) {
		now_ns = clock_now_ns();
		rpc_serve(&server, fds, now_ns);
	}
	return 1;
}

TEST(test_asking_another_process)
{
	const pid_t child = lib_child(serve_for_ever, NULL);
	const int64_t by_ns = clock_now_ns() + 10000000000;
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	char text[16] = "";

	TEST_ASSERT_EQUAL(0, rpc_call(path, "how many", text, sizeof(text), by_ns, &errors));
	TEST_ASSERT_EQUAL_STRING("42", text);
	TEST_ASSERT_EQUAL(0, errors.count);
	TEST_ASSERT_EQUAL(-EINVAL, rpc_call(path, "wrong", text, sizeof(text), by_ns, &errors));
	TEST_ASSERT_EQUAL(1, errors.count);
	TEST_ASSERT_EQUAL(0, rpc_call(path, "how many", text, 2, by_ns, &errors));
	TEST_ASSERT_EQUAL_STRING("4", text);
	lib_kill(child);
	TEST_ASSERT_EQUAL(-ETIMEDOUT,
			  rpc_call(path, "how many", text, sizeof(text), clock_now_ns() + 1000000, &errors));
	unlink(path);
	TEST_ASSERT_EQUAL(-ENOENT, rpc_call(path, "how many", text, sizeof(text), 0, &errors));
}

TEST(test_what_does_not_fit_is_cut)
{
	char room[8];
	struct rpc_text text = { room, 0, sizeof(room) };

	rpc_say(&text, "%s", "abcde");
	rpc_say(&text, "%s", "fghij");
	rpc_say(&text, "%s", "klmno");
	TEST_ASSERT_EQUAL_STRING("abcdefg", room);
	TEST_ASSERT_EQUAL_size_t(7, text.len);
}

int main(void)
{
	UNITY_BEGIN();
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/here", folder);
	testcase_run_all();
	rmdir(folder);
	return UNITY_END();
}
