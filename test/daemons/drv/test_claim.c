/* test_claim.c: one driver per device, one writer per channel, and no stranger in between. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "channels/ach/ach_file.h"
#include "daemons/drv/claim.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static char folder[] = "/tmp/test-claim-XXXXXX";
static char channels[64];  /* a folder that every user may write, as /dev/shm is */
static char interface[32]; /* that no other run of this test has */
static char line[ERROR_LINE_MAX], warning[ERROR_LINE_MAX];
static struct error_sink errors, warnings;
static struct claim_set one, two;

void setUp(void)
{
	setenv("ENDPLATE_RUN", folder, 1);
	setenv("ACH_DIR", channels, 1);
	*line = *warning = 0;
	errors = (struct error_sink){ error_keep_last, line, 0 };
	warnings = (struct error_sink){ error_keep_last, warning, 0 };
}

static void clean(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s/.[ef]* %s/.end* %s/x", channels, folder, folder);
	TEST_ASSERT_EQUAL(0, system(command));
}

void tearDown(void)
{
	claim_release(&one);
	claim_release(&two);
	clean();
}

static int take(struct claim_set *set, const char *on, const char *what)
{
	return claim_interface(set, on, what, &errors, &warnings);
}

static int take_channel(struct claim_set *set, const char *name)
{
	return claim_channel(set, name, &errors, &warnings);
}

static const char *file_in(const char *place)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/.endplate-claims-%u", place, (unsigned int)geteuid());
	return path;
}

static void says(const char *words)
{
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, words), line);
}

static void is_taken_by(const char *label, pid_t pid, uid_t uid)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "%s is taken by %s, process %d of uid %u", label,
		 program_invocation_short_name, (int)pid, (unsigned int)uid);
	TEST_ASSERT_EQUAL_STRING(expected, line);
}

/* A socket of that abstract name. */
static int bind_name(const char *name, int backlog)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s", name);
	if (bind(fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) ||
	    (backlog >= 0 && listen(fd, backlog))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- where ---- */

static void is_a_private_file(const char *path, const struct claim_locks *locks)
{
	struct stat st;

	TEST_ASSERT_EQUAL_MESSAGE(0, lstat(path, &st), path);
	TEST_ASSERT_EQUAL_HEX(S_IFREG | 0600, st.st_mode);
	TEST_ASSERT_EQUAL(geteuid(), st.st_uid);
	TEST_ASSERT_EQUAL(0, st.st_size);
	TEST_ASSERT(fcntl(locks->fd, F_GETFD) & FD_CLOEXEC);
}

TEST(claims_of_channels_lie_beside_them_and_those_of_wires_in_run)
{
	TEST_ASSERT_EQUAL(0, take(&one, "wire:torso", "0EF"));
	TEST_ASSERT_EQUAL(0, take_channel(&one, "waist-state"));
	is_a_private_file(file_in(folder), &one.locks[CLAIM_WIRES]);
	is_a_private_file(file_in(channels), &one.locks[CLAIM_CHANNELS]);
	TEST_ASSERT_EQUAL(0, errors.count + warnings.count);
}

TEST(without_ach_dir_a_channel_is_claimed_in_shared_memory)
{
	unsetenv("ACH_DIR");
	TEST_ASSERT_EQUAL(0, take_channel(&one, interface));
	is_a_private_file(file_in("/dev/shm"), &one.locks[CLAIM_CHANNELS]);
	TEST_ASSERT_EQUAL(-EBUSY, take_channel(&two, interface));
}

TEST(the_controller_and_the_spelling_of_the_path_do_not_matter)
{
	char other[128];

	TEST_ASSERT_EQUAL(0, take(&one, "wire:torso", "0EF"));
	TEST_ASSERT_EQUAL(-EBUSY, take(&two, "wire:torso@other", "0EF"));
	snprintf(other, sizeof(other), "%s/../%s/.", folder, strrchr(folder, '/') + 1);
	setenv("ENDPLATE_RUN", other, 1);
	TEST_ASSERT_EQUAL(-EBUSY, take(&two, "wire:torso", "0EF"));
}

TEST(other_identifiers_buses_and_robots_are_free)
{
	char other[64];

	TEST_ASSERT_EQUAL(0, take(&one, "wire:torso", "0EF"));
	TEST_ASSERT_EQUAL(0, take(&two, "wire:torso", "0EE"));
	TEST_ASSERT_EQUAL(0, take(&two, "wire:torso2", "0EF"));
	claim_release(&two);
	snprintf(other, sizeof(other), "%s/x", folder);
	setenv("ENDPLATE_RUN", other, 1);
	TEST_ASSERT_EQUAL(0, take(&two, "wire:torso", "0EF"));
}

TEST(two_robots_of_one_user_with_one_prefix_meet)
{
	char other[64];

	TEST_ASSERT_EQUAL(0, take_channel(&one, "estop"));
	snprintf(other, sizeof(other), "%s/x", folder);
	setenv("ENDPLATE_RUN", other, 1);
	TEST_ASSERT_EQUAL(-EBUSY, take_channel(&two, "estop"));
	is_taken_by("channel estop", getpid(), geteuid());
	TEST_ASSERT_EQUAL(0, take_channel(&two, "two-estop"));
}

TEST(a_list_of_channels_does_not_show_the_file)
{
	DIR *list;

	TEST_ASSERT_EQUAL(0, take_channel(&one, "estop"));
	list = ach_file_list();
	TEST_ASSERT_NOT_NULL(list);
	TEST_ASSERT_NULL(ach_file_next(list));
	closedir(list);
}

/* Names of more than 107 bytes that differ in the middle alone. */
TEST(long_names_stay_apart)
{
	char name[400];

	for (int i = 0; i < 2; i++) {
		memset(name, 'x', sizeof(name));
		name[200] = (char)('a' + i);
		name[sizeof(name) - 1] = 0;
		TEST_ASSERT_EQUAL(0, take(&one, name, "0EF"));
		TEST_ASSERT_EQUAL(-EBUSY, take(&two, name, "0EF"));
	}
}

TEST(names_have_an_end)
{
	char long_name[1000];

	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = 0;
	TEST_ASSERT_EQUAL(-ENAMETOOLONG, take(&one, long_name, "0EF"));
	says("the name is too long for a claim");
}

/* ---- holders ---- */

TEST(a_taken_claim_is_refused_with_program_pid_and_user)
{
	const char *const interfaces[] = { "wire:torso", interface };
	char label[64];

	for (int n = 0; n < 2; n++) {
		TEST_ASSERT_EQUAL(0, take(&one, interfaces[n], "0EF"));
		snprintf(label, sizeof(label), "0EF of %s", interfaces[n]);
		for (int i = 0; i < 100; i++) { /* however many were refused before */
			TEST_ASSERT_EQUAL(-EBUSY, take(&two, interfaces[n], "0EF"));
			is_taken_by(label, getpid(), geteuid());
		}
	}
}

static int hold_and_end(void *gate)
{
	claim_release(&one); /* of the parent, which has no claim yet */
	LIB_CHECK(!take(&one, "wire:torso", "0EF") && !take_channel(&one, "estop") && !take(&one, interface, "0EF"));
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2);
	return 0;
}

static void until_death_is_known(pid_t pid)
{
	struct pollfd death = { .fd = pidfd_open(pid, 0), .events = POLLIN };

	TEST_ASSERT(death.fd >= 0);
	kill(pid, SIGKILL);
	TEST_ASSERT_EQUAL(1, poll(&death, 1, -1));
	close(death.fd);
}

TEST(the_first_try_after_a_death_succeeds)
{
	for (int i = 0; i < LIB_REPEAT(200); i++) {
		struct lib_gate *gate = lib_gate_new();
		const pid_t holder = lib_child(hold_and_end, gate);

		lib_gate_wait(gate, 1);
		if (!i) {
			TEST_ASSERT_EQUAL(-EBUSY, take_channel(&two, "estop"));
			is_taken_by("channel estop", holder, geteuid());
			claim_release(&two);
		}
		until_death_is_known(holder);
		TEST_ASSERT_EQUAL_MESSAGE(0, take(&two, "wire:torso", "0EF"), line);
		TEST_ASSERT_EQUAL_MESSAGE(0, take_channel(&two, "estop"), line);
		TEST_ASSERT_EQUAL_MESSAGE(0, take(&two, interface, "0EF"), line);
		claim_release(&two);
		lib_join(holder);
		lib_gate_free(gate);
	}
}

TEST(a_thousand_promotions_succeed_with_the_first_try)
{
	for (int i = 0; i < 1000; i++) {
		struct claim_set *spare = i % 2 ? &one : &two, *driver = i % 2 ? &two : &one;

		TEST_ASSERT_EQUAL(0, take_channel(spare, "waist-state"));
		TEST_ASSERT_EQUAL(0, take(spare, "wire:torso", "0EF"));
		claim_release(spare);
		TEST_ASSERT_EQUAL(0, take_channel(driver, "waist-state"));
		claim_release(driver);
	}
}

/* ---- a stranger ---- */

static struct lib_gate *gate;

static pid_t stranger(int (*body)(void *arg), void *arg)
{
	pid_t pid;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	gate = lib_gate_new();
	pid = lib_child(body, arg);
	lib_gate_wait(gate, 1);
	return pid;
}

static void stranger_ends(pid_t pid)
{
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL(0, lib_join(pid));
	lib_gate_free(gate);
}

static int stay(void)
{
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2);
	return 0;
}

static int bind_old_names(void *arg)
{
	char name[128];

	(void)arg;
	lib_drop((gid_t)-1);
	snprintf(name, sizeof(name), "endplate/dev/%s/wire/torso.0EF", folder);
	LIB_CHECK(bind_name(name, 0) >= 0);
	snprintf(name, sizeof(name), "endplate/dev/channel:%s/estop", channels);
	LIB_CHECK(bind_name(name, 0) >= 0);
	return stay();
}

TEST(a_stranger_who_binds_the_old_names_is_named_once_and_keeps_nothing)
{
	const pid_t pid = stranger(bind_old_names, NULL);
	char expected[256];

	TEST_ASSERT_EQUAL_MESSAGE(0, take_channel(&one, "estop"), line);
	TEST_ASSERT_EQUAL_MESSAGE(0, take(&one, "wire:torso", "0EF"), line);
	snprintf(expected, sizeof(expected), "channel estop: %s, process %d of uid %d has bound its old name, %s",
		 program_invocation_short_name, (int)pid, LIB_NOBODY,
		 "which holds nothing; if it is a robot, give one of them another ENDPLATE_PREFIX");
	TEST_ASSERT_EQUAL_STRING(expected, warning);
	TEST_ASSERT_EQUAL(1, warnings.count);
	TEST_ASSERT_EQUAL(-EBUSY, take_channel(&two, "estop"));
	is_taken_by("channel estop", getpid(), geteuid());
	stranger_ends(pid);
}

/* A version of Endplate that knows no files. */
TEST(an_old_name_of_the_same_user_is_a_claim)
{
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "endplate/dev/channel:%s/estop", channels);
	fd = bind_name(name, 16);
	TEST_ASSERT_EQUAL(-EBUSY, take_channel(&one, "estop"));
	is_taken_by("channel estop", getpid(), geteuid());
	close(fd);
	TEST_ASSERT_EQUAL(0, take_channel(&one, "estop"));
	fd = bind_name(name, 16);
	TEST_ASSERT_EQUAL_MESSAGE(-1, fd, "such a version is not refused");
}

static int claim_as_other_user(void *arg)
{
	(void)arg;
	lib_drop((gid_t)-1);
	prctl(PR_SET_NAME, "two\033[2J");
	setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
	LIB_CHECK(!take(&one, interface, "0EF"));
	return stay();
}

/* Two users had a folder of claims each, and drove the same bus. */
TEST(a_claim_of_an_interface_holds_against_other_users)
{
	const pid_t pid = stranger(claim_as_other_user, NULL);
	char expected[256];

	TEST_ASSERT_EQUAL(-EBUSY, take(&one, interface, "0EF"));
	snprintf(expected, sizeof(expected), "0EF of %s is taken by two?[2J, process %d of uid %d", interface, (int)pid,
		 LIB_NOBODY);
	TEST_ASSERT_EQUAL_STRING(expected, line);
	stranger_ends(pid);
}

/* He listens with a short queue, which he has filled; or he does not listen. */
static int hold_with_full_queue(void *backlog)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[64];
	int fd;

	lib_drop((gid_t)-1);
	snprintf(name, sizeof(name), "endplate/dev/%s.0EF", interface);
	LIB_CHECK(bind_name(name, *(int *)backlog) >= 0);
	memcpy(address.sun_path + 1, name, strlen(name));
	for (int i = 0; i < 8; i++) {
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)!connect(fd, (struct sockaddr *)&address,
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)));
	}
	return stay();
}

static int try_as_unrelated_user(void *pid)
{
	char expected[128];

	LIB_CHECK(!setgid(LIB_NOBODY - 1) && !setuid(LIB_NOBODY - 1));
	LIB_CHECK(take(&one, interface, "0EF") == -EBUSY);
	(void)pid;
	snprintf(expected, sizeof(expected), "0EF of %s is taken by a process of uid %d", interface, LIB_NOBODY);
	if (strcmp(line, expected) != 0)
		fprintf(stderr, "%s\n", line);
	return strcmp(line, expected) != 0;
}

TEST(a_holder_with_a_full_queue_or_none_is_named)
{
	char expected[128];

	for (int backlog = -1; backlog < 2; backlog++) {
		const pid_t pid = stranger(hold_with_full_queue, &backlog);

		snprintf(expected, sizeof(expected), "0EF of %s", interface);
		for (int i = 0; i < 3; i++) {
			TEST_ASSERT_EQUAL(-EBUSY, take(&one, interface, "0EF"));
			is_taken_by(expected, pid, LIB_NOBODY);
		}
		TEST_ASSERT_EQUAL(0, lib_join(lib_child(try_as_unrelated_user, NULL)));
		stranger_ends(pid);
	}
}

/* ---- files that are not sound ---- */

static void refused(int status, const char *words)
{
	TEST_ASSERT_EQUAL_MESSAGE(status, take_channel(&one, "estop"), line);
	TEST_ASSERT_EQUAL(1, errors.count);
	says(file_in(channels));
	says(words);
	errors.count = 0;
	clean();
}

TEST(an_unsound_file_is_refused_with_its_remedy)
{
	char path[128], other[128], words[64];

	snprintf(words, sizeof(words), "uid %u", (unsigned int)geteuid());
	strcpy(path, file_in(channels));
	snprintf(other, sizeof(other), "%s/.end-other", channels);
	TEST_ASSERT_EQUAL(0, symlink("/etc/passwd", path));
	refused(-ELOOP, "it is a symbolic link");
	TEST_ASSERT_EQUAL(0, symlink("/nowhere/at/all", path));
	refused(-ELOOP, "remove it");
	TEST_ASSERT_EQUAL(0, mkdir(path, 0700));
	refused(-EINVAL, "it is not a regular file with one name: remove it");
	TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
	refused(-EINVAL, "it is not a regular file with one name: remove it");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	TEST_ASSERT_EQUAL(0, link(path, other));
	refused(-EINVAL, "it is not a regular file with one name: remove it");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	chmod(path, 0666);
	refused(-EPERM, "mode 0666 lets other users hold claims");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	chmod(path, 0640);
	refused(-EPERM, "then chmod 600 ");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	chmod(path, 0644);
	refused(-EPERM, words);
	TEST_ASSERT_EQUAL(0, take_channel(&one, "estop"));
}

static int refused_by_a_foreign_file(void *arg)
{
	char expected[256];

	(void)arg;
	lib_drop((gid_t)-1);
	LIB_CHECK(take_channel(&one, "estop") == -EPERM);
	snprintf(expected, sizeof(expected),
		 "%s: it belongs to uid 0, not to uid %d: let root remove it, or set ACH_DIR", file_in(channels),
		 LIB_NOBODY);
	LIB_CHECK(strstr(line, expected));
	return 0;
}

TEST(a_foreign_file_is_refused_and_root_replaces_it)
{
	char path[128];
	struct stat st;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	snprintf(path, sizeof(path), "%s/.endplate-claims-%d", channels, LIB_NOBODY);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(refused_by_a_foreign_file, NULL)));
	clean();
	for (int kind = 0; kind < 4; kind++) { /* a link, a file, a folder, a folder with content */
		TEST_ASSERT_EQUAL(0, kind == 0 ? symlink("/etc/passwd", file_in(channels))
					       : mknod(file_in(channels), S_IFREG | 0600, 0));
		if (kind >= 2)
			TEST_ASSERT_EQUAL(0, unlink(file_in(channels)) || mkdir(file_in(channels), 0700));
		if (kind == 3)
			TEST_ASSERT_EQUAL(0, mkdir(strcat(strcpy(path, file_in(channels)), "/in"), 0700));
		TEST_ASSERT_EQUAL(0, lchown(file_in(channels), LIB_NOBODY, LIB_NOBODY));
		TEST_ASSERT_EQUAL_MESSAGE(0, take_channel(&one, "estop"), line);
		TEST_ASSERT_EQUAL(0, lstat(file_in(channels), &st));
		TEST_ASSERT(S_ISREG(st.st_mode) && !st.st_uid);
		claim_release(&one);
		clean();
	}
}

static int cannot_make_it(void *arg)
{
	(void)arg;
	lib_drop((gid_t)-1);
	LIB_CHECK(take_channel(&one, "estop") == -EACCES);
	LIB_CHECK(strstr(line, "unable to make it: Permission denied"));
	return 0;
}

TEST(a_folder_that_may_not_be_written_is_named)
{
	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	setenv("ACH_DIR", "/", 1);
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(cannot_make_it, NULL)));
	setenv("ACH_DIR", "/nowhere/at/all", 1);
	TEST_ASSERT_EQUAL(-ENOENT, take_channel(&one, "estop"));
	TEST_ASSERT_EQUAL_STRING("folder of channels /nowhere/at/all: No such file or directory", line);
}

static int meets_root(void *arg)
{
	(void)arg;
	lib_drop((gid_t)-1);
	LIB_CHECK(take_channel(&one, "estop") == -EBUSY);
	LIB_CHECK(!take_channel(&one, "other"));
	return 0;
}

/* Root tries a driver of a user's robot by hand. */
TEST(in_a_folder_of_one_user_root_uses_the_file_of_that_user)
{
	char own[64], path[128];
	struct stat st;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	snprintf(own, sizeof(own), "%s/x", folder);
	TEST_ASSERT_EQUAL(0, mkdir(own, 0700));
	TEST_ASSERT_EQUAL(0, chown(own, LIB_NOBODY, LIB_NOBODY));
	setenv("ACH_DIR", own, 1);
	TEST_ASSERT_EQUAL_MESSAGE(0, take_channel(&one, "estop"), line);
	snprintf(path, sizeof(path), "%s/.endplate-claims-%d", own, LIB_NOBODY);
	TEST_ASSERT_EQUAL(0, lstat(path, &st));
	TEST_ASSERT_EQUAL(LIB_NOBODY, st.st_uid);
	setenv("ENDPLATE_RUN", own, 1);
	TEST_ASSERT_EQUAL_MESSAGE(0, take(&one, "wire:torso", "0EF"), line);
	chmod(folder, 0755);
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(meets_root, NULL)));
}

/* ---- a file that was removed ---- */

TEST(claims_of_a_removed_file_are_taken_again)
{
	TEST_ASSERT_EQUAL(0, take_channel(&one, "estop"));
	TEST_ASSERT_EQUAL(0, take_channel(&one, "waist-state"));
	TEST_ASSERT_EQUAL(0, claim_renew(&one, &errors));
	clean();
	TEST_ASSERT_EQUAL(1, claim_renew(&one, &errors));
	TEST_ASSERT_EQUAL(0, claim_renew(&one, &errors));
	is_a_private_file(file_in(channels), &one.locks[CLAIM_CHANNELS]);
	TEST_ASSERT_EQUAL(-EBUSY, claim_file_lock(two.locks[CLAIM_CHANNELS].fd = open(file_in(channels), O_RDWR),
						  claim_file_byte("channel:waist-state")));
	close(two.locks[CLAIM_CHANNELS].fd);
}

TEST(a_claim_that_was_lost_with_its_file_is_reported_once)
{
	struct claim_set none = { 0 };
	int fd;

	TEST_ASSERT_EQUAL(0, take_channel(&one, "estop"));
	clean();
	TEST_ASSERT_EQUAL(0, take_channel(&two, "other"));
	fd = two.locks[CLAIM_CHANNELS].fd;
	TEST_ASSERT_EQUAL(0, claim_file_lock(fd, claim_file_byte("channel:estop")));
	TEST_ASSERT_EQUAL(-EBUSY, claim_renew(&one, &errors));
	says("was removed, and another process has taken a claim of this one");
	TEST_ASSERT_EQUAL(1, claim_renew(&one, &errors));
	TEST_ASSERT_EQUAL(1, errors.count);
	claim_release(&two);
	TEST_ASSERT_EQUAL(1, claim_renew(&one, &errors));
	TEST_ASSERT_EQUAL(0, claim_renew(&one, &errors));
	TEST_ASSERT_EQUAL(0, claim_renew(&none, &errors));
}

TEST(a_folder_that_is_gone_is_waited_for)
{
	char own[64], command[128];

	snprintf(own, sizeof(own), "%s/x", folder);
	TEST_ASSERT_EQUAL(0, mkdir(own, 0700));
	setenv("ACH_DIR", own, 1);
	TEST_ASSERT_EQUAL(0, take_channel(&one, "estop"));
	snprintf(command, sizeof(command), "rm -r %s", own);
	TEST_ASSERT_EQUAL(0, system(command));
	TEST_ASSERT_EQUAL(1, claim_renew(&one, &errors));
	TEST_ASSERT_EQUAL(0, mkdir(own, 0700));
	TEST_ASSERT_EQUAL(1, claim_renew(&one, &errors));
	TEST_ASSERT_EQUAL(0, claim_renew(&one, &errors));
	TEST_ASSERT_EQUAL(-EBUSY, take_channel(&two, "estop"));
}

int main(void)
{
	char command[128];
	int failures;

	UNITY_BEGIN();
	if (!mkdtemp(folder))
		return 1;
	snprintf(channels, sizeof(channels), "%s/channels", folder);
	if (mkdir(channels, 0700) || chmod(channels, 01777) || chmod(folder, 0755))
		return 1;
	snprintf(interface, sizeof(interface), "tc%d", (int)getpid());
	testcase_run_all();
	failures = UNITY_END();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	(void)!system(command);
	return failures;
}
