/* test_safe_path.c: folders, files and sockets that no other user can have put there. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "config/base/safe_path.h"
#include "test/config/settings/lines.h"
#include "test/lib/testcase.h"

#define ROBOT 23411 /* a user who has a robot */
#define OTHER 23412 /* a user who has none */

static char top[] = "/tmp/test-owned-XXXXXX";
static char path[256];
static struct error_sink *errors;

static void shell(const char *format)
{
	char command[1024];

	snprintf(command, sizeof(command), "cd %s && { %s; }", top, format);
	TEST_ASSERT_EQUAL_MESSAGE(0, system(command), command);
}

void setUp(void)
{
	if (!mkdtemp(strcpy(top, "/tmp/test-owned-XXXXXX")))
		abort();
	chmod(top, 0755);
	errors = lines_start();
}

void tearDown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command))
		abort();
}

static const char *in_top(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

/* That user calls it; what it returned, with its lines. */
static int as(uid_t uid, int (*call)(const char *name), const char *name)
{
	struct {
		int status;
		char text[2048];
	} answer = { 0 };
	int ends[2];
	pid_t pid;

	TEST_ASSERT_EQUAL(0, pipe(ends));
	pid = fork();
	if (!pid) {
		if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			_exit(1);
		answer.status = call(name);
		memcpy(answer.text, lines, sizeof(answer.text));
		_exit(write(ends[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	close(ends[1]);
	TEST_ASSERT_EQUAL(sizeof(answer), read(ends[0], &answer, sizeof(answer)));
	close(ends[0]);
	waitpid(pid, NULL, 0);
	memcpy(lines, answer.text, sizeof(answer.text));
	return answer.status < 0 ? answer.status : 0;
}

static int make_it(const char *name)
{
	return safe_path_folder(in_top(name), 0700, errors);
}

static int open_it(const char *name)
{
	return safe_path_open(in_top(name), errors);
}

/* ---- folders ---- */

static void needs_root(void)
{
	if (geteuid())
		TEST_IGNORE_MESSAGE("needs root");
}

/* What lies at run, and what its user and another one get from it. */
TEST(a_folder_is_refused_unless_it_is_ours)
{
	static const struct {
		const char *made; /* as root, in top */
		const char *run;
		int make, open; /* by ROBOT */
		const char *said;
	} rows[] = {
		{ "install -d -o 23411 -m 755 run", "run", 0, 0, NULL },
		{ "install -d -o 23411 -m 755 run", "./run//", 0, 0, NULL },
		{ "install -d -o 23412 -m 755 run", "run", -EPERM, 0, "belongs to uid 23412, not to uid 23411" },
		{ "install -d -o 23412 -m 755 a; install -d -o 23412 -m 755 a/run", "a/run", -EPERM, -EPERM,
		  "belongs to uid 23412" },
		{ "install -d -m 1777 tmp; install -d -o 23412 -m 755 tmp/run", "tmp/run", -EPERM, -EPERM,
		  "set ENDPLATE_RUN to a folder of your own" },
		{ "install -d -m 755 run", "run", -EPERM, 0, "belongs to uid 0" },
		{ "install -d -o 23411 -m 757 run", "run", -EPERM, -EPERM, "mode 0757" },
		{ "install -d -o 23411 -m 775 run", "run", -EPERM, -EPERM, "chmod go-w" },
		{ "install -d -o 23411 -m 755 real; ln -s real run", "run", -ELOOP, -ELOOP, "symbolic link" },
		{ "install -d -o 23411 -m 755 real real/run; ln -s real a", "a/run", -ELOOP, -ELOOP, "symbolic link" },
		{ "ln -s nowhere run", "run", -ELOOP, -ELOOP, "symbolic link" },
		{ "touch run", "run", -ENOTDIR, -ENOTDIR, "Not a directory" },
		{ "true", "run", -EACCES, -ENOENT, "Permission denied" },
		{ "install -d -m 1777 tmp", "tmp/a/run", 0, -ENOENT, NULL },
	};

	needs_root();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		shell(rows[i].made);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].open, as(ROBOT, open_it, rows[i].run), rows[i].made);
		lines_start();
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].make, as(ROBOT, make_it, rows[i].run), rows[i].made);
		if (rows[i].said)
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(lines, rows[i].said), lines);
		tearDown();
		setUp();
	}
}

TEST(a_new_folder_has_its_mode_whatever_the_umask)
{
	struct stat st;
	int fd, in;

	umask(0077);
	fd = safe_path_folder(in_top("a/b"), 0750, errors);
	in = safe_path_folder_in(fd, "log", 0750, errors);
	umask(0);
	TEST_ASSERT(fd >= 0 && in >= 0);
	TEST_ASSERT_EQUAL(0, fstat(fd, &st));
	TEST_ASSERT_EQUAL_HEX(0750, st.st_mode & 07777);
	TEST_ASSERT_EQUAL(0, fstat(in, &st));
	TEST_ASSERT_EQUAL_HEX(0750, st.st_mode & 07777);
	TEST_ASSERT_EQUAL(0, stat(in_top("a"), &st));
	TEST_ASSERT_EQUAL_HEX(0755, st.st_mode & 07777);
	close(in);
	in = safe_path_folder_in(fd, "state", 0700, errors); /* with the umask 0 */
	TEST_ASSERT_EQUAL(0, fstat(in, &st));
	TEST_ASSERT_EQUAL_HEX(0700, st.st_mode & 07777);
	close(in);
	close(fd);
}

static int make_state_in_it(const char *name)
{
	const int fd = make_it(name);

	return fd < 0 ? fd : safe_path_folder_in(fd, "state", 0700, errors);
}

TEST(a_folder_inside_is_refused_unless_it_is_ours)
{
	needs_root();
	shell("install -d -o 23411 run; install -d -o 23412 run/state");
	TEST_ASSERT_EQUAL(-EPERM, as(ROBOT, make_state_in_it, "run"));
	TEST_ASSERT_NOT_NULL(strstr(lines, "run/state: it belongs to uid 23412"));
	shell("rmdir run/state; ln -s /tmp run/state");
	TEST_ASSERT_EQUAL(-ELOOP, as(ROBOT, make_state_in_it, "run"));
}

/* ---- files ---- */

static int open_lock(const char *name)
{
	const int fd = make_it(name);

	return fd < 0 ? fd : safe_path_file(fd, "lock", O_RDWR | O_CREAT, 0600, errors);
}

static int read_lock(const char *name)
{
	const int fd = open_it(name);
	char text[16];

	return fd < 0 ? fd : safe_path_read(fd, "lock", text, sizeof(text), errors);
}

TEST(a_file_is_refused_unless_it_is_ours)
{
	static const struct {
		const char *made;
		int status;
		const char *said;
	} rows[] = {
		{ "true", 0, NULL },
		{ "install -o 23411 -m 644 /dev/null run/lock", 0, NULL },
		{ "install -o 23412 -m 666 /dev/null run/lock", -EPERM, "run/lock: it belongs to uid 23412" },
		{ "install -o 23411 -m 620 /dev/null run/lock", -EPERM, "chmod go-w" },
		{ "install -o 23411 -m 644 /dev/null run/lock; ln run/lock run/other", -EINVAL, "one name" },
		{ "install -o 23411 -m 644 /dev/null victim; ln -s ../victim run/lock", -ELOOP, "symbolic link" },
		{ "ln -s ../victim run/lock", -ELOOP, "symbolic link" },
		{ "mkfifo -m 600 run/lock; chown 23411 run/lock", -EINVAL, "not a file" },
	};
	struct stat st;

	needs_root();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		shell("install -d -o 23411 run");
		shell(rows[i].made);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].status, as(ROBOT, open_lock, "run"), rows[i].made);
		if (rows[i].said)
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(lines, rows[i].said), lines);
		TEST_ASSERT_EQUAL(0, lstat(in_top("run/lock"), &st));
		if (!rows[i].status) /* a user who cannot open it cannot flock it */
			TEST_ASSERT_EQUAL_HEX(0600, st.st_mode & 07777);
		lines_start();
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].status, as(0, read_lock, "run"), rows[i].made);
		tearDown();
		setUp();
	}
}

static int write_robot(const char *name)
{
	const int fd = make_it(name);

	return fd < 0 ? fd : safe_path_write(fd, "robot", 0640, "new", 3);
}

TEST(nothing_is_written_through_a_link)
{
	needs_root();
	shell("install -d -o 23411 run; echo old > victim; chown 23411 victim; ln -s ../victim run/robot;"
	      "ln -s ../victim run/.robot.new");
	TEST_ASSERT_EQUAL(0, as(ROBOT, write_robot, "run"));
	shell("[ \"$(cat victim)\" = old ] && [ \"$(stat -c %F%a run/robot)\" = 'regular file640' ]");
	shell("[ \"$(ls -A run)\" = robot ]");
}

static int evict_it(const char *name)
{
	return safe_path_evict(in_top(name));
}

TEST(what_another_user_left_is_removed_or_moved_aside)
{
	static const char *const left[] = { "echo mine >keep; ln -s keep x", "mkfifo x", "mkdir x", "mkdir x x/in" };

	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		shell(left[i]);
		TEST_ASSERT_EQUAL(0, evict_it("x"));
		shell("! ls -d x 2>/dev/null");
	}
	shell("test \"$(cat keep)\" = mine && test -d .foreign-*/in");
	TEST_ASSERT_EQUAL(-ENOENT, evict_it("x"));
}

TEST(what_may_not_be_removed_stays)
{
	needs_root();
	shell("mkdir -m 1777 open && mkdir -m 777 open/x open/x/in && touch open/file");
	TEST_ASSERT_EQUAL(-EPERM, as(ROBOT, evict_it, "open/x"));
	TEST_ASSERT_EQUAL(-EPERM, as(ROBOT, evict_it, "open/file"));
	shell("test -d open/x/in && test -e open/file");
}

TEST(a_removed_file_is_noticed)
{
	const int folder = make_it("run"), fd = safe_path_file(folder, "lock", O_RDWR | O_CREAT, 0600, errors);

	TEST_ASSERT_TRUE(safe_path_is_there(fd, folder, "lock"));
	TEST_ASSERT_FALSE(safe_path_is_there(-1, folder, "lock"));
	shell("mv run/lock run/old; touch run/lock");
	TEST_ASSERT_FALSE(safe_path_is_there(fd, folder, "lock"));
	TEST_ASSERT_TRUE(safe_path_is_there(fd, folder, "old"));
	shell("rm run/lock; ln -s old run/lock");
	TEST_ASSERT_FALSE(safe_path_is_there(fd, folder, "lock"));
	TEST_ASSERT_EQUAL(-ENOENT, safe_path_file(folder, "nothing", O_RDONLY, 0, errors));
	close(fd);
	close(folder);
}

/* ---- sockets ---- */

static int listen_at(const char *name)
{
	const int folder = make_it(name);
	const int fd = folder < 0 ? folder : safe_path_socket(folder, "control", SOCK_STREAM, 0600);

	return fd < 0 ? fd : listen(fd, 1) ? -errno : fd;
}

static int connect_to(const char *name)
{
	const int folder = open_it(name);

	return folder < 0 ? folder : safe_path_connect(folder, "control", SOCK_STREAM);
}

TEST(a_socket_is_for_its_owner)
{
	struct stat st;
	int fd;

	needs_root();
	umask(0);
	fd = listen_at("run");
	TEST_ASSERT(fd >= 0);
	TEST_ASSERT_EQUAL(0, lstat(in_top("run/control"), &st));
	TEST_ASSERT_EQUAL_HEX(0600, st.st_mode & 07777);
	TEST_ASSERT_EQUAL(0, as(0, connect_to, "run"));
	shell("chmod 755 run");
	TEST_ASSERT_EQUAL(-EACCES, as(ROBOT, connect_to, "run"));
	close(fd);
	TEST_ASSERT_EQUAL(-ECONNREFUSED, as(0, connect_to, "run"));
	shell("rm run/control; ln -s /nowhere run/control");
	TEST_ASSERT_EQUAL(-EPERM, as(0, connect_to, "run"));
	shell("rm run/control");
	TEST_ASSERT_EQUAL(-ENOENT, as(0, connect_to, "run"));
}

/* However it came there: the process behind a socket is the owner's or root's. */
TEST(the_process_behind_a_socket_is_the_owners)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	needs_root();
	shell("install -d -o 23411 run");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/control", top);
	TEST_ASSERT_EQUAL(0, bind(fd, (struct sockaddr *)&address, sizeof(address)));
	TEST_ASSERT_EQUAL(0, seteuid(OTHER)); /* listen takes the credentials */
	TEST_ASSERT_EQUAL(0, listen(fd, 8));
	TEST_ASSERT_EQUAL(0, seteuid(0));
	TEST_ASSERT_EQUAL(-EPERM, as(0, connect_to, "run"));
	TEST_ASSERT_EQUAL(0, listen(fd, 8));
	TEST_ASSERT_EQUAL(0, as(0, connect_to, "run"));
	TEST_ASSERT_EQUAL(0, seteuid(ROBOT));
	TEST_ASSERT_EQUAL(0, listen(fd, 8));
	TEST_ASSERT_EQUAL(0, seteuid(0));
	TEST_ASSERT_EQUAL(0, as(0, connect_to, "run"));
	close(fd);
}
