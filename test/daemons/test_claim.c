/* test_claim.c: one driver per device, for all users. */
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemons/drv/claim.h"
#include "test/channels/lib.h"
#include "test/channels/testcase.h"

static char folder[] = "/tmp/test-claim-XXXXXX";
static char interface[32]; /* that no other run of this test has */
static char first_line[ERROR_LINE_MAX];
static struct error_sink errors;

void setUp(void)
{
	setenv("ENDPLATE_RUN", folder, 1);
	unsetenv("ACH_DIR");
	*first_line = 0;
	errors = (struct error_sink){ error_keep_last, first_line, 0 };
}

static int claim_here(const char *on, const char *what)
{
	return claim(on, what, &errors);
}

/* Does another process find that claim taken? */
static bool is_held(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool held;

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s", name);
	held = bind(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) &&
	       errno == EADDRINUSE;
	close(fd);
	return held;
}

static void is_taken_by(const char *what, const char *on, pid_t pid, uid_t uid)
{
	char line[512];

	snprintf(line, sizeof(line), "%s of %s is taken by %s, process %d of uid %u", what, on,
		 program_invocation_short_name, (int)pid, (unsigned int)uid);
	TEST_ASSERT_EQUAL_STRING(line, first_line);
}

/* ---- names ---- */

TEST(a_claim_is_named_after_the_interface_or_the_path_of_the_wire)
{
	char name[128];
	int fd = claim_here("wire:torso", "0EF");

	TEST_ASSERT(fd >= 0);
	TEST_ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	snprintf(name, sizeof(name), "endplate/dev/%s/wire/torso.0EF", folder);
	TEST_ASSERT_TRUE(is_held(name));
	close(fd);
	TEST_ASSERT_FALSE(is_held(name));
	fd = claim_here(interface, "clock");
	TEST_ASSERT(fd >= 0);
	snprintf(name, sizeof(name), "endplate/dev/%s.clock", interface);
	TEST_ASSERT_TRUE(is_held(name));
	close(fd);
	TEST_ASSERT_EQUAL(0, errors.count);
}

TEST(the_controller_and_the_spelling_of_the_path_do_not_matter)
{
	const int fd = claim_here("wire:torso", "0EF");
	char other[128];

	TEST_ASSERT_EQUAL(-EBUSY, claim_here("wire:torso@other", "0EF"));
	snprintf(other, sizeof(other), "%s/../%s/.", folder, strrchr(folder, '/') + 1);
	setenv("ENDPLATE_RUN", other, 1);
	TEST_ASSERT_EQUAL(-EBUSY, claim_here("wire:torso", "0EF"));
	close(fd);
}

TEST(other_identifiers_buses_and_robots_are_free)
{
	char other[64];
	int fds[4];

	fds[0] = claim_here("wire:torso", "0EF");
	fds[1] = claim_here("wire:torso", "0EE");
	fds[2] = claim_here("wire:torso2", "0EF");
	snprintf(other, sizeof(other), "%s/other", folder);
	setenv("ENDPLATE_RUN", other, 1);
	fds[3] = claim_here("wire:torso", "0EF");
	for (int i = 0; i < 4; i++) {
		TEST_ASSERT(fds[i] >= 0);
		close(fds[i]);
	}
}

/* Names of more than 107 bytes that differ in the middle alone. */
TEST(long_names_stay_apart)
{
	char run[400];
	int fds[2];

	for (int i = 0; i < 2; i++) {
		memset(run, 'x', sizeof(run));
		run[0] = '/';
		run[200] = (char)('a' + i);
		run[sizeof(run) - 1] = 0;
		setenv("ENDPLATE_RUN", run, 1);
		fds[i] = claim_here("wire:torso", "0EF");
		TEST_ASSERT(fds[i] >= 0);
		TEST_ASSERT_EQUAL(-EBUSY, claim_here("wire:torso", "0EF"));
	}
	close(fds[0]);
	close(fds[1]);
}

TEST(names_have_an_end)
{
	char long_name[1000];

	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = 0;
	TEST_ASSERT_EQUAL(-ENAMETOOLONG, claim_here(long_name, "0EF"));
	TEST_ASSERT_NOT_NULL(strstr(first_line, "the name is too long for a claim"));
}

TEST(a_channel_is_claimed_in_its_folder)
{
	char name[64];
	int fds[2];

	snprintf(name, sizeof(name), "%s-state", interface);
	fds[0] = claim_channel(name, &errors);
	TEST_ASSERT(fds[0] >= 0);
	TEST_ASSERT_EQUAL(-EBUSY, claim_channel(name, &errors));
	TEST_ASSERT_NOT_NULL(strstr(first_line, "-state is taken by"));
	setenv("ACH_DIR", folder, 1);
	fds[1] = claim_channel(name, &errors);
	TEST_ASSERT(fds[1] >= 0);
	TEST_ASSERT_EQUAL(-EBUSY, claim_channel(name, &errors));
	close(fds[0]);
	close(fds[1]);
}

/* ---- holders ---- */

TEST(a_taken_claim_is_refused_with_program_pid_and_user)
{
	const int fd = claim_here("wire:torso", "0EF");

	TEST_ASSERT(fd >= 0);
	for (int i = 0; i < 300; i++) { /* however many were refused before */
		TEST_ASSERT_EQUAL(-EBUSY, claim_here("wire:torso", "0EF"));
		is_taken_by("0EF", "wire:torso", getpid(), geteuid());
	}
	close(fd);
}

TEST(a_claim_has_no_file)
{
	const int fd = claim_here(interface, "0EF");
	char command[128];

	TEST_ASSERT(fd >= 0);
	snprintf(command, sizeof(command), "! find /run /tmp -name '*%s*' 2>/dev/null | grep -q .", interface);
	TEST_ASSERT_EQUAL(0, system(command));
	close(fd);
}

static int claim_and_end(void *gate)
{
	LIB_CHECK(claim_here("wire:torso", "0EF") >= 0);
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2);
	return 0;
}

TEST(a_killed_holder_holds_nothing)
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
}

static int claim_as_other_user(void *gate)
{
	lib_drop((gid_t)-1);
	prctl(PR_SET_NAME, "two\033[2J");
	setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
	LIB_CHECK(claim_here(interface, "0EF") >= 0);
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2);
	return 0;
}

/* Two users had a folder of claims each, and drove the same bus. */
TEST(a_claim_holds_against_other_users)
{
	struct lib_gate *gate = lib_gate_new();
	char line[256];
	pid_t holder;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	holder = lib_child(claim_as_other_user, gate);
	lib_gate_wait(gate, 1);
	TEST_ASSERT_EQUAL(-EBUSY, claim_here(interface, "0EF"));
	snprintf(line, sizeof(line), "0EF of %s is taken by two?[2J, process %d of uid %d", interface, (int)holder,
		 LIB_NOBODY);
	TEST_ASSERT_EQUAL_STRING(line, first_line);
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL(0, lib_join(holder));
	lib_gate_free(gate);
}

int main(void)
{
	char command[128];
	int failures;

	UNITY_BEGIN();
	if (!mkdtemp(folder))
		return 1;
	snprintf(interface, sizeof(interface), "tc%d", (int)getpid());
	testcase_run_all();
	failures = UNITY_END();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	(void)!system(command);
	return failures;
}
