/* test_read_files.c: does a process notice that a file that it has read was changed?  Each case has its own process. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test/lib/testcase.h"

#include "config/base/read_files.h"

static char path[64];

void setUp(void)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/source-XXXXXX");
	fd = mkstemp(path);
	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL(4, write(fd, "one\n", 4));
	close(fd);
}

void tearDown(void)
{
	remove(path);
}

static void write_file(const char *name, const char *text)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(2);
	close(fd);
}

static void note(const char *name)
{
	const int fd = open(name, O_RDONLY | O_CLOEXEC);

	read_files_note(name, fd);
	close(fd);
}

static void nothing(void)
{
}

static void append(void)
{
	write_file(path, "one\ntwo\n");
}

/* As an editor does: another file of the same size under the name. */
static void replace(void)
{
	char other[80];

	snprintf(other, sizeof(other), "%s.new", path);
	write_file(other, "two\n");
	rename(other, path);
}

static void touch(void)
{
	utimensat(AT_FDCWD, path, (const struct timespec[]){ { .tv_sec = 1 }, { .tv_sec = 1 } }, 0);
}

/* As cp -p does, of a file of the same size and time.  The clock of files is coarse: until it has moved on. */
static void copy_over(void)
{
	struct stat was, now;

	stat(path, &was);
	do {
		write_file(path, "two\n");
		utimensat(AT_FDCWD, path, (const struct timespec[]){ was.st_atim, was.st_mtim }, 0);
		stat(path, &now);
	} while (now.st_ctim.tv_sec == was.st_ctim.tv_sec && now.st_ctim.tv_nsec == was.st_ctim.tv_nsec);
}

static void take_away(void)
{
	remove(path);
}

static void note_many(void)
{
	for (int i = 0; i < 100; i++)
		note(path);
}

static void note_none(void)
{
	read_files_note(path, -1);
}

static void note_long(void)
{
	static char name[4096];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(name, 'x', sizeof(name) - 1);
	read_files_note(name, fd);
}

TEST(what_was_changed_is_noticed)
{
	static const struct {
		const char *what;
		void (*change)(void);
		int changed;
	} rows[] = {
		{ "nothing", nothing, 0 },
		{ "longer", append, 1 },
		{ "replaced", replace, 1 },
		{ "newer", touch, 1 },
		{ "of the same time", copy_over, 1 },
		{ "removed", take_away, 1 },
		{ "too many to keep", note_many, 1 },
		{ "not readable", note_none, 1 },
		{ "a name too long", note_long, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const pid_t pid = fork();
		int status;

		if (!pid) {
			note(path);
			rows[i].change();
			_exit(read_files_changed());
		}
		TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].changed, WEXITSTATUS(status), rows[i].what);
		tearDown();
		setUp();
	}
}
