/* test_claim.c: one driver per device. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemons/claim.h"
#include "test/channels/lib.h"
#include "unity.h"

static char folder[] = "/tmp/test-claim-XXXXXX";
static char first_line[512];
static struct error_sink errors;

static void keep(void *to, const char *line)
{
	(void)to;
	snprintf(first_line, sizeof(first_line), "%s", line);
}

void setUp(void)
{
	setenv("ENDPLATE_RUN", folder, 1);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	*first_line = 0;
	errors = (struct error_sink){ keep, NULL, 0 };
}

void tearDown(void)
{
}

static int claim_here(const char *interface, const char *what)
{
	return claim(interface, what, "tested", &errors);
}

/* The file of a claim, for this user. */
static const char *file_of(const char *name)
{
	static char path[512];

	if (geteuid())
		snprintf(path, sizeof(path), "%s/endplate/dev/%s", getenv("XDG_RUNTIME_DIR"), name);
	else
		snprintf(path, sizeof(path), "/run/endplate/dev/%s", name);
	return path;
}

static const char *wire_file(const char *what)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/wire/torso.%s", folder, what);
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '!';
	return file_of(name);
}

static void a_claim_lies_under_the_wires_path_and_says_whose_it_is(void)
{
	char text[64] = "", expected[64];
	const int fd = claim_here("wire:torso", "0EF");
	int file;

	TEST_ASSERT(fd >= 0);
	file = open(wire_file("0EF"), O_RDONLY | O_CLOEXEC);
	TEST_ASSERT(file >= 0);
	TEST_ASSERT(read(file, text, sizeof(text) - 1) > 0);
	close(file);
	snprintf(expected, sizeof(expected), "tested, process %d\n", (int)getpid());
	TEST_ASSERT_EQUAL_STRING(expected, text);
	TEST_ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	TEST_ASSERT_EQUAL(0, errors.count);
	unlink(wire_file("0EF"));
}

static void what_is_taken_is_refused_with_pid_and_program(void)
{
	const int fd = claim_here("wire:torso", "0EF");
	char line[256];

	TEST_ASSERT(fd >= 0);
	TEST_ASSERT_EQUAL(-EBUSY, claim("wire:torso", "0EF", "other", &errors));
	snprintf(line, sizeof(line), "0EF of wire:torso is taken by tested, process %d", (int)getpid());
	TEST_ASSERT_EQUAL_STRING(line, first_line);
	/* The refused one has not put its own name there. */
	TEST_ASSERT_EQUAL(-EBUSY, claim("wire:torso", "0EF", "third", &errors));
	TEST_ASSERT_EQUAL_STRING(line, first_line);
	close(fd);
	unlink(wire_file("0EF"));
}

static void as_which_controller_does_not_matter(void)
{
	const int fd = claim_here("wire:torso", "0EF");

	TEST_ASSERT_EQUAL(-EBUSY, claim_here("wire:torso@other", "0EF"));
	close(fd);
	unlink(wire_file("0EF"));
}

static void other_identifiers_buses_and_robots_are_free(void)
{
	char other[64];
	int fds[4];

	fds[0] = claim_here("wire:torso", "0EF");
	fds[1] = claim_here("wire:torso", "0EE");
	unlink(wire_file("0EE"));
	fds[2] = claim_here("wire:torso2", "0EF");
	snprintf(other, sizeof(other), "%s/other", folder);
	setenv("ENDPLATE_RUN", other, 1);
	fds[3] = claim_here("wire:torso", "0EF");
	for (int i = 0; i < 4; i++) {
		TEST_ASSERT(fds[i] >= 0);
		close(fds[i]);
	}
}

static int claim_and_end(void *gate)
{
	LIB_CHECK(claim_here("wire:torso", "0EF") >= 0);
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2);
	return 0;
}

static void a_killed_holder_holds_nothing(void)
{
	struct lib_gate *gate = lib_gate_new();
	const pid_t holder = lib_child(claim_and_end, gate);
	int fd;

	lib_gate_wait(gate, 1);
	TEST_ASSERT_EQUAL(-EBUSY, claim_here("wire:torso", "0EF"));
	lib_kill(holder);
	fd = claim_here("wire:torso", "0EF");
	TEST_ASSERT(fd >= 0);
	close(fd);
	lib_gate_free(gate);
	unlink(wire_file("0EF"));
}

static void an_empty_file_is_somebodys_all_the_same(void)
{
	const int fd = claim_here("wire:torso", "0EF");

	TEST_ASSERT(fd >= 0);
	TEST_ASSERT_EQUAL(0, ftruncate(fd, 0));
	TEST_ASSERT_EQUAL(-EBUSY, claim_here("wire:torso", "0EF"));
	TEST_ASSERT_EQUAL_STRING("0EF of wire:torso is taken by another process", first_line);
	close(fd);
	unlink(wire_file("0EF"));
}

static void names_have_an_end(void)
{
	char long_name[300];

	memset(long_name, 'x', sizeof(long_name));
	long_name[299] = 0;
	TEST_ASSERT_EQUAL(-ENAMETOOLONG, claim_here(long_name, "0EF"));
	TEST_ASSERT_NOT_NULL(strstr(first_line, "the name is too long for a claim"));
}

static void what_cannot_be_opened_is_told(void)
{
	TEST_ASSERT_EQUAL(0, mkdir(wire_file("0EC"), 0700));
	TEST_ASSERT_EQUAL(-EISDIR, claim_here("wire:torso", "0EC"));
	TEST_ASSERT_NOT_NULL(strstr(first_line, "Is a directory"));
	rmdir(wire_file("0EC"));
}

/* Users without root have a folder of their own. */
static int as_nobody(void *arg)
{
	char path[512];

	(void)arg;
	lib_drop((gid_t)-1);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	LIB_CHECK(claim_here("can5", "0EF") >= 0);
	snprintf(path, sizeof(path), "%s/endplate/dev/can5.0EF", folder);
	LIB_CHECK(!access(path, F_OK));
	LIB_CHECK(claim_here("can5", "0EF") == -EBUSY);
	setenv("XDG_RUNTIME_DIR", "/proc", 1);
	LIB_CHECK(claim_here("can5", "0EF") < 0);
	LIB_CHECK(!strncmp(first_line, "/proc/endplate", 14));
	unsetenv("XDG_RUNTIME_DIR");
	LIB_CHECK(claim_here("can5", "0EF") == -ENOENT);
	LIB_CHECK(strstr(first_line, "$XDG_RUNTIME_DIR is not set"));
	unsetenv("ENDPLATE_RUN");
	setenv("XDG_RUNTIME_DIR", "", 1);
	LIB_CHECK(claim_here("can5", "0EF") == -ENOENT);
	return 0;
}

static void users_have_their_own_folder(void)
{
	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	TEST_ASSERT_EQUAL(0, chmod(folder, 0777));
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(as_nobody, NULL)));
}

int main(void)
{
	char command[128];
	int failures;

	UNITY_BEGIN();
	if (!mkdtemp(folder))
		return 1;
	RUN_TEST(a_claim_lies_under_the_wires_path_and_says_whose_it_is);
	RUN_TEST(what_is_taken_is_refused_with_pid_and_program);
	RUN_TEST(as_which_controller_does_not_matter);
	RUN_TEST(other_identifiers_buses_and_robots_are_free);
	RUN_TEST(a_killed_holder_holds_nothing);
	RUN_TEST(an_empty_file_is_somebodys_all_the_same);
	RUN_TEST(names_have_an_end);
	RUN_TEST(what_cannot_be_opened_is_told);
	RUN_TEST(users_have_their_own_folder);
	failures = UNITY_END();
	snprintf(command, sizeof(command), "rm -rf %s /run/endplate/dev/*%s*", folder, strrchr(folder, '/') + 1);
	(void)!system(command);
	return failures;
}
