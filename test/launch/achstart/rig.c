/* rig.c: a whole robot for a test. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unity.h"

#include "channels/clock/clock.h"
#include "daemons/drv/standby.h"
#include "launch/view/robot_channels.h"
#include "test/launch/achstart/rig.h"
#include "test/launch/file/launch_lib.h"
#include "test/lib/virtual_lib.h"

#define PATIENCE_NS 90000000000
#define TEXT_MAX (1 << 22)
#define ARGUMENTS_MAX 16

const char *const rig_names[RIG_NAMES] = { "canwire", "robotsim", "clock", "waist" };
struct rig rig;
bool rig_in_real_time;
static struct estop estop;
static struct robot_channels channels;
static bool estop_opened;
static int guard_pipe = -1;
static pid_t guard_pid;
static int64_t wait_until_ns;
void rig_wire_forget(void); /* rig_wire.c */
void rig_wire_turn(void);

/* ---- files ---- */

static const char *read_file(const char *path, size_t *len)
{
	static char text[TEXT_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	*len = n > 0 ? (size_t)n : 0;
	text[*len] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

static const char *in_folder(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", rig.folder, name);
	return path;
}

const char *rig_said(void)
{
	return read_file(in_folder("said"), &(size_t){ 0 });
}

const char *rig_output(void)
{
	return read_file(in_folder("output"), &(size_t){ 0 });
}

static const char *events_log(void)
{
	return read_file(in_folder("run/log/events.log"), &(size_t){ 0 });
}

const char *rig_program(const char *name)
{
	static char path[512], found[PATH_MAX];
	const char *build = getenv("BUILD");

	snprintf(path, sizeof(path), "%s/%s", build ? build : "build", name);
	return realpath(path, found) ? found : path;
}

/* ---- cleaning up ---- */

/* Every process that has our folder in its environment; one that is about to become a daemon, too. */
static void each_process(void (*call)(int pid, void *to), void *to)
{
	char path[300], wanted[600];
	const struct dirent *entry;
	DIR *dir = opendir("/proc");

	snprintf(wanted, sizeof(wanted), "ENDPLATE_RUN=%s", rig.run);
	while (dir && (entry = readdir(dir))) {
		const int pid = atoi(entry->d_name);
		size_t len;
		const char *all;

		if (pid <= 0 || pid == getpid() || pid == guard_pid || pid == getppid())
			continue;
		snprintf(path, sizeof(path), "/proc/%s/environ", entry->d_name);
		all = read_file(path, &len);
		for (const char *one = all; one < all + len; one += strlen(one) + 1)
			if (!strcmp(one, wanted) && folder_started(pid)) {
				call(pid, to);
				break;
			}
	}
	if (dir)
		closedir(dir);
}

struct search {
	const char *name;
	pid_t daemon, found;
};

static void find_spare(int pid, void *to)
{
	struct search *search = to;
	bool spare = false, of_it = false;
	char path[64], daemon[64];
	const char *all;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	snprintf(daemon, sizeof(daemon), "ENDPLATE_DAEMON=%s", search->name);
	all = read_file(path, &len);
	for (const char *one = all; one < all + len; one += strlen(one) + 1) {
		spare |= !strncmp(one, STANDBY, strlen(STANDBY));
		of_it |= !strcmp(one, daemon);
	}
	if (spare && of_it && pid != search->daemon)
		search->found = pid;
}

unsigned int rig_children(int pids[RIG_CHILDREN_MAX])
{
	unsigned int n = 0;
	char path[64];
	FILE *from;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)rig.achstart, (int)rig.achstart);
	from = fopen(path, "re");
	while (from && n < RIG_CHILDREN_MAX && fscanf(from, "%d", &pids[n]) == 1)
		n++;
	if (from)
		fclose(from);
	return n;
}

/* To ask all processes of this machine each millisecond would be most of the work of a test. */
pid_t rig_spare(const char *name)
{
	struct search search = { .name = name, .daemon = rig_pid(name) };
	int pids[RIG_CHILDREN_MAX];

	if (!rig.achstart)
		each_process(find_spare, &search);
	else
		for (unsigned int i = rig_children(pids); i-- > 0;)
			find_spare(pids[i], &search);
	return search.found;
}

static void kill_one(int pid, void *to)
{
	(void)to;
	kill(pid, SIGKILL);
}

static void remove_channels(const char *folder, const char *part)
{
	static const char plate[] = "achshm-";
	const struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, part) && (strncmp(entry->d_name, plate, strlen(plate)) != 0 ||
						    ach_unlink(entry->d_name + strlen(plate)) != ACH_OK))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void clean(void)
{
	/* One that was about to be started when achstart died is there a moment later. */
	for (int i = 0; i < 3; i++) {
		each_process(kill_one, NULL);
		clock_wait(NULL, 0, clock_now_ns() + 10000000);
	}
	remove_channels("/dev/shm", rig.prefix);
	launch_lib_remove(rig.folder);
}

/* Daemons outlive achstart, and so they would outlive a test that is killed. */
static void start_guard(void)
{
	int ends[2];
	char byte;

	TEST_ASSERT_EQUAL(0, pipe2(ends, O_CLOEXEC));
	guard_pid = fork();
	TEST_ASSERT_NOT_EQUAL(-1, guard_pid);
	if (!guard_pid) {
		setsid();
		signal(SIGTERM, SIG_IGN);
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			_exit(0);
		if (rig.achstart > 0)
			kill(rig.achstart, SIGKILL);
		clean();
		_exit(0);
	}
	close(ends[0]);
	guard_pipe = ends[1];
}

static void end_guard(void)
{
	if (guard_pipe < 0)
		return;
	if (write(guard_pipe, "x", 1) == 1)
		waitpid(guard_pid, NULL, 0);
	close(guard_pipe);
	guard_pipe = -1;
}

/* ---- opening ---- */

static void replace(char *text, size_t size, const char *word, const char *by)
{
	char *at, rest[8192];

	while ((at = strstr(text, word))) {
		snprintf(rest, sizeof(rest), "%s", at + strlen(word));
		snprintf(at, size - (size_t)(at - text), "%s%s", by, rest);
	}
}

void rig_open(const char *launch_text)
{
	static unsigned int opened;
	char text[8192], path[LAUNCH_LIB_PATH], bench[PATH_MAX];
	const char *seed = getenv("ROBOT_SEED");

	memset(&rig, 0, sizeof(rig));
	launch_lib_folder(path);
	snprintf(rig.folder, sizeof(rig.folder), "%s", path);
	snprintf(rig.run, sizeof(rig.run), "%s/run", rig.folder);
	snprintf(rig.prefix, sizeof(rig.prefix), "rob%d.%u-", (int)getpid(), opened++);
	snprintf(rig.launch, sizeof(rig.launch), "launch/waist.launch");
	rig.seed = seed ? (uint32_t)strtoul(seed, NULL, 10) : (uint32_t)clock_now_ns();
	setenv("ENDPLATE_RUN", rig.run, 1);
	setenv("ENDPLATE_PREFIX", rig.prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	start_guard();
	if (!rig_in_real_time)
		virtual_lib_begin_last(rig.folder);
	if (!launch_text)
		return;
	snprintf(text, sizeof(text), "%s", launch_text);
	TEST_ASSERT_NOT_NULL(realpath("config/robots/waist.yaml", bench));
	replace(text, sizeof(text), "@BENCH@", bench);
	replace(text, sizeof(text), "@FAKE@", rig_program("test/launch/fake/fake"));
	replace(text, sizeof(text), "@FOLDER@", rig.folder);
	snprintf(rig.launch, sizeof(rig.launch), "%s", launch_lib_write(path, rig.folder, "test.launch", 0644, text));
}

void rig_close(void)
{
	rig_wire_forget();
	if (estop_opened)
		estop_close(&estop);
	estop_opened = false;
	robot_channels_close(&channels);
	memset(&channels, 0, sizeof(channels));
	if (rig.achstart > 0)
		rig_kill();
	clean();
	virtual_lib_end();
	rig_in_real_time = false;
	end_guard();
}

/* ---- achstart ---- */

void rig_start_as(char *const *argv)
{
	char *real[ARGUMENTS_MAX] = { argv[0], (char *)"--real" };
	const pid_t parent = getpid();

	for (int i = 1; argv[i] && i < ARGUMENTS_MAX - 2; i++)
		real[i + 1] = argv[i];
	rig.achstart = virtual_lib_fork_achstart();
	TEST_ASSERT_NOT_EQUAL(-1, rig.achstart);
	if (rig.achstart)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(open(in_folder("said"), O_WRONLY | O_CREAT | O_APPEND, 0644), STDERR_FILENO);
	execv(argv[0], rig_in_real_time ? real : argv);
	_exit(127);
}

void rig_start(void)
{
	char program[PATH_MAX];
	char *argv[] = { program, rig.launch, NULL };

	snprintf(program, sizeof(program), "%s", rig_program("achstart"));
	rig_start_as(argv);
}

void rig_kill(void)
{
	if (!rig.achstart) /* for kill(2) that would be every process here */
		return;
	virtual_lib_signal(rig.achstart, SIGKILL);
	waitpid(rig.achstart, NULL, 0);
	rig.achstart = 0;
}

int rig_wait(void)
{
	int status = 0;

	RIG_UNTIL(waitpid(rig.achstart, &status, WNOHANG) == rig.achstart);
	rig.achstart = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int rig_stop(void)
{
	virtual_lib_signal(rig.achstart, SIGTERM);
	return rig_wait();
}

/* ---- waiting ---- */

void rig_turn(void)
{
	rig_wire_turn();
	clock_wait(NULL, 0, clock_now_ns() + 1000000);
}

void rig_wait_begin(void)
{
	wait_until_ns = clock_now_ns() + PATIENCE_NS;
}

void rig_wait_on(const char *condition, int line)
{
	if (rig.achstart > 0 && !folder_started(rig.achstart) && !strstr(condition, "waitpid"))
		rig_fail(line, "achstart has ended; never: %s", condition);
	if (clock_now_ns() > wait_until_ns)
		rig_fail(line, "never: %s", condition);
	rig_turn();
}

uint32_t rig_random(uint32_t below)
{
	static uint32_t from, state;

	if (from != rig.seed)
		from = state = rig.seed;
	state = state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)state * below) >> 32);
}

/* ---- daemons ---- */

bool rig_state(const char *name, struct folder_state *state)
{
	return !folder_state_read(name, state);
}

pid_t rig_pid(const char *name)
{
	struct folder_state state;

	return rig_state(name, &state) && folder_runs(&state) ? state.pid : 0;
}

void rig_signal(const char *name, int number)
{
	const pid_t pid = rig_pid(name);

	if (pid > 0)
		virtual_lib_signal(pid, number);
}

bool rig_ready(const char *name)
{
	struct folder_state state;

	return rig_state(name, &state) && state.ready && folder_runs(&state);
}

bool rig_all_ready(void)
{
	for (int i = 0; i < RIG_NAMES; i++)
		if (!rig_ready(rig_names[i]))
			return false;
	return true;
}

uint32_t rig_incarnation(const char *name)
{
	struct folder_state state = { 0 };
	struct daemon_state published;
	uint32_t incarnation = 0;

	if (strcmp(name, "clock") != 0 && strcmp(name, "waist") != 0)
		return rig_state(name, &state) ? state.incarnation : 0;
	daemon_state_init(&published, strcmp(name, "clock") ? "waist-state" : "clock");
	daemon_state_update(&published, clock_now_ns());
	if (published.there)
		incarnation = published.header.incarnation;
	daemon_state_close(&published);
	return incarnation;
}

/* ---- events ---- */

/* "DATE TIME SOURCE SEVERITY CODE: TEXT" */
static bool line_is(const char *line, const char *source, const char *code, const char *words)
{
	char from[64], severity[32], what[64];
	const char *end = strchrnul(line, '\n'), *found;

	if (sscanf(line, "%*s %*s %63s %31s %63[^:]", from, severity, what) != 3 || strcmp(from, source) != 0 ||
	    strcmp(what, code) != 0)
		return false;
	found = words ? strstr(line, words) : line;
	return found && found < end;
}

unsigned int rig_events(const char *source, const char *code)
{
	unsigned int n = 0;

	for (const char *line = events_log(); *line; line = strchrnul(line, '\n') + !!*strchrnul(line, '\n'))
		n += line_is(line, source, code, NULL);
	return n;
}

bool rig_reported(const char *source, const char *code, const char *words)
{
	for (const char *line = events_log(); *line; line = strchrnul(line, '\n') + !!*strchrnul(line, '\n'))
		if (line_is(line, source, code, words))
			return true;
	return false;
}

void rig_fail(int line, const char *fmt, ...)
{
	char text[512];
	const char *log;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log = events_log();
	printf("seed %u; the last of events.log:\n%s", rig.seed, strlen(log) > 6000 ? log + strlen(log) - 6000 : log);
	log = rig_said();
	printf("achstart said at last:\n%s\n", strlen(log) > 1500 ? log + strlen(log) - 1500 : log);
	fflush(stdout);
	UNITY_TEST_FAIL((UNITY_UINT)line, text);
}

/* ---- the level ---- */

enum msg_level rig_level(uint64_t *epoch)
{
	if (!estop_opened)
		robot_level_open(&estop, false, &(struct error_sink){ 0 });
	estop_opened = true;
	channels.scan_ns = 0; /* channels come and go */
	robot_channels_read(&channels);
	robot_level_read(&estop, &channels, clock_now_ns());
	if (epoch)
		*epoch = estop.epoch;
	return estop.level;
}

bool rig_armed(void)
{
	return rig_all_ready() && rig_level(NULL) == MSG_LEVEL_RUN && rig_events("achstart", "armed");
}

/* ---- what is left ---- */

static unsigned int add_line(char *text, size_t size, const char *what, const char *name)
{
	const size_t len = strlen(text);

	snprintf(text + len, size - len, "%s %s\n", what, name);
	return 1;
}

struct left {
	char *text;
	size_t size;
	unsigned int n;
};

static void count_one(int pid, void *to)
{
	struct left *left = to;
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	left->n += add_line(left->text, left->size, "process", number);
}

static unsigned int left_files(const char *folder, const char *part, char *text, size_t size)
{
	const struct dirent *entry;
	unsigned int n = 0;
	struct stat st;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || (part && !strstr(entry->d_name, part)))
			continue;
		if (!part && !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    (S_ISDIR(st.st_mode) || strstr(entry->d_name, ".log") || !strcmp(entry->d_name, "epoch")))
			continue;
		n += add_line(text, size, folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

unsigned int rig_left(char *text, size_t size)
{
	static const char *const folders[] = { "run", "run/state", "run/log", "run/wire" };
	struct left left = { text, size, 0 };
	unsigned int n;

	*text = 0;
	each_process(count_one, &left);
	n = left.n;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		n += left_files(in_folder(folders[i]), NULL, text, size);
	return n + left_files("/dev/shm", rig.prefix, text, size);
}
