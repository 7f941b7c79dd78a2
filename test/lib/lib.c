/* lib.c: what the tests of channels share; see lib.h. */
#define _GNU_SOURCE
#include "test/lib/lib.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* ---- names ---- */

static struct {
	pid_t owner;
	size_t n;
	char (*names)[LIB_NAME_LEN];
} made;

static void unlink_made(void)
{
	if (made.owner != getpid())
		return; /* a child that called exit */
	for (size_t i = 0; i < made.n; i++)
		(void)ach_unlink(made.names[i]);
	free(made.names);
	made.names = NULL;
	made.n = 0;
}

const char *lib_name(char buf[LIB_NAME_LEN], const char *what)
{
	static unsigned number;
	void *more;

	snprintf(buf, LIB_NAME_LEN, "t-%.24s-%ld-%u", what, (long)getpid(), number++);
	if (made.owner != getpid()) {
		made.owner = getpid();
		made.names = NULL;
		made.n = 0;
		atexit(unlink_made);
	}
	more = realloc(made.names, (made.n + 1) * sizeof *made.names);
	LIB_CHECK(more != NULL);
	made.names = more;
	memcpy(made.names[made.n++], buf, LIB_NAME_LEN);
	return buf;
}

const char *lib_path(char buf[256], const char *name)
{
	ach_file_channel_path(buf, name);
	return buf;
}

static struct ach_plate plate_of(const char *name)
{
	struct ach_plate plate = { .shm = -1, .bell = -1 };
	char path[256];
	int fd = open(lib_path(path, name), O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, &plate, sizeof plate) != sizeof plate)
		plate.shm = plate.bell = -1;
	if (fd >= 0)
		close(fd);
	return plate;
}

int lib_memory(const char *name)
{
	return plate_of(name).shm;
}

int lib_bell(const char *name)
{
	return plate_of(name).bell;
}

static struct shmid_ds segment(int id)
{
	struct shmid_ds d;

	LIB_CHECK(shmctl(id, IPC_STAT, &d) == 0);
	return d;
}

mode_t lib_mode(const char *name)
{
	return segment(lib_memory(name)).shm_perm.mode & 0777;
}

bool lib_segment_exists(int id)
{
	struct shmid_ds d;

	return shmctl(id, IPC_STAT, &d) == 0 && !(d.shm_perm.mode & SHM_DEST);
}

void lib_segment_chmod(int id, mode_t mode)
{
	struct shmid_ds d = segment(id);

	d.shm_perm.mode = mode;
	LIB_CHECK(shmctl(id, IPC_SET, &d) == 0);
}

void *lib_segment_map(int id, size_t *len)
{
	void *m = shmat(id, NULL, 0);

	LIB_CHECK(m != (void *)-1);
	if (len)
		*len = segment(id).shm_segsz;
	return m;
}

int lib_segments(const char *name)
{
	char path[256];
	struct shmid_ds d;
	int n = 0, last = shmctl(0, SHM_INFO, &d);

	lib_path(path, name);
	for (int i = 0; i <= last; i++) {
		int id = shmctl(i, SHM_STAT, &d);
		struct ach_header *m;

		if (id < 0 || ((uint32_t)d.shm_perm.__key & ACH_MEMORY_KEY_MASK) != ACH_MEMORY_KEY ||
		    d.shm_segsz <= 4096)
			continue;
		m = shmat(id, NULL, SHM_RDONLY);
		if (m == (void *)-1)
			continue;
		n += m->geo.magic == ACH_MAGIC && !strncmp(m->path, path, sizeof m->path);
		shmdt(m);
	}
	return n;
}

int lib_left(const char *name)
{
	const char *dir = ach_file_dir();
	DIR *folder = opendir(dir);
	struct dirent *entry;
	int n = lib_segments(name);

	LIB_CHECK(folder != NULL);
	while ((entry = readdir(folder))) {
		const char *at = strstr(entry->d_name, name);

		n += at && (!at[strlen(name)] || at[strlen(name)] == '-');
	}
	closedir(folder);
	return n;
}

void lib_unlink_all(const char *prefix)
{
	static const char folder[] = "/dev/shm/achshm-";
	char pattern[128];
	glob_t found;

	LIB_CHECK(*prefix); /* else those of other programs, too */
	snprintf(pattern, sizeof(pattern), "%s%s*", folder, prefix);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			ach_unlink(found.gl_pathv[i] + strlen(folder));
	globfree(&found);
}

/* ---- time ---- */

struct timespec lib_rel_ms(int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	return t;
}

struct timespec lib_after_ms(clockid_t clock, int64_t ms)
{
	int64_t ns = lib_now_ns(clock) + ms * 1000000;
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	return t;
}

struct timespec lib_hang(void)
{
	return lib_after_ms(CLOCK_MONOTONIC, LIB_HANG_S * 1000);
}

int64_t lib_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- hang detection ---- */

static const char *watched;

static void hung(int sig)
{
	static const char text[] = ": hangs\n";

	(void)sig;
	if (write(STDERR_FILENO, watched, strlen(watched)) < 0 || write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(LIB_FAILED);
	_exit(LIB_FAILED);
}

void lib_watchdog(const char *what, unsigned seconds)
{
	watched = what;
	signal(SIGALRM, hung);
	alarm(seconds);
}

/* ---- checks outside the test's own thread ---- */

static void give_up(void)
{
	fflush(NULL);
	unlink_made();
	_exit(LIB_FAILED);
}

void lib_check(bool ok, const char *cond, const char *file, int line)
{
	if (ok)
		return;
	fprintf(stderr, "%s:%d: %s: not so: %s (errno %d)\n", file, line, watched ? watched : "?", cond, errno);
	give_up();
}

void lib_status(enum ach_status expected, enum ach_status got, const char *call, const char *file, int line)
{
	if (got == expected)
		return;
	fprintf(stderr, "%s:%d: %s: %s: %s instead of %s (%s)\n", file, line, watched ? watched : "?", call,
		ach_result_to_string(got), ach_result_to_string(expected), ach_errstr());
	give_up();
}

/* ---- other processes ---- */

static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);			    /* relatives look into our /proc/PID/syscall: */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* Yama would only let parents */
}

#ifdef __SANITIZE_ADDRESS__
static bool sleeps(const char *task)
{
	char path[sizeof "/proc/self/task//stat" + NAME_MAX], state = '?';
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%s/stat", task);
	f = fopen(path, "re");
	if (!f)
		return true; /* it has ended */
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(f);
	return state == 'S';
}

/* AddressSanitizer allocates where a thread begins, and fork copies the lock it holds meanwhile: the child's first
 * allocation would wait for ever.  A sleeping thread does not hold it.  Gives up on threads that never sleep. */
static void wait_until_threads_sleep(void)
{
	char self[16];
	bool all = false;

	snprintf(self, sizeof self, "%d", (int)gettid());
	for (int tries = 0; !all && tries < 1000; tries++) {
		DIR *dir = opendir("/proc/self/task");

		LIB_CHECK(dir);
		all = true;
		for (struct dirent *e = readdir(dir); e; e = readdir(dir))
			all &= e->d_name[0] == '.' || !strcmp(e->d_name, self) || sleeps(e->d_name);
		closedir(dir);
		if (!all)
			usleep(1000);
	}
}
#else
static void wait_until_threads_sleep(void)
{
}
#endif

pid_t lib_child(int (*body)(void *arg), void *arg)
{
	pid_t parent = getpid(), pid;

	wait_until_threads_sleep();
	fflush(NULL); /* or the child would print it again */
	pid = fork();
	LIB_CHECK(pid >= 0);
	if (pid)
		return pid;
	die_with_parent();
	if (getppid() != parent)
		_exit(LIB_FAILED);
	lib_watchdog(watched ? watched : "child", LIB_HANG_S);
	int status = body(arg);
	fflush(NULL);
	_exit(status);
}

/* waitid that gives up on a hanging child: the watchdog of the child or ours ends it. */
static siginfo_t wait_for(pid_t pid, int what)
{
	siginfo_t info = { 0 };
	int r;

	while ((r = waitid(P_PID, (id_t)pid, &info, what)) && errno == EINTR)
		;
	LIB_CHECK(r == 0);
	return info;
}

int lib_join(pid_t pid)
{
	siginfo_t info = wait_for(pid, WEXITED);

	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

void lib_kill(pid_t pid)
{
	LIB_CHECK(kill(pid, SIGKILL) == 0);
	wait_for(pid, WEXITED);
}

void lib_stop(pid_t pid)
{
	LIB_CHECK(kill(pid, SIGSTOP) == 0);
	LIB_CHECK(wait_for(pid, WEXITED | WSTOPPED).si_code == CLD_STOPPED);
}

void lib_until_stopped(pid_t pid)
{
	LIB_CHECK(wait_for(pid, WEXITED | WSTOPPED).si_code == CLD_STOPPED);
}

struct put {
	const char *channel;
	size_t size;
};

static int stop_inside_put(void *arg)
{
	const struct put *put = arg;
	ach_channel_t chan;
	void *room;

	LIB_STATUS(ACH_OK, ach_open(&chan, put->channel, NULL));
	LIB_STATUS(ACH_OK, ach_reserve(&chan, put->size, &room));
	raise(SIGSTOP);
	return 0;
}

pid_t lib_inside_put(const char *channel, size_t size)
{
	const pid_t pid = lib_child(stop_inside_put, &(struct put){ channel, size });

	lib_until_stopped(pid);
	return pid;
}

void lib_until_ended(pid_t pid)
{
	wait_for(pid, WEXITED | WNOWAIT);
}

static ssize_t read_proc(pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	return n;
}

char lib_run_state(pid_t tid)
{
	char text[512], *end;

	read_proc(tid, "stat", text, sizeof text);
	end = strrchr(text, ')'); /* of its name */
	return end && end[1] ? end[2] : 0;
}

void lib_until_asleep(pid_t tid)
{
	static const long waits[] = { SYS_futex,    SYS_futex_waitv, SYS_ppoll,
				      SYS_pselect6, SYS_epoll_pwait, SYS_epoll_pwait2 };
	int64_t hang = lib_now_ns(CLOCK_MONOTONIC) + LIB_HANG_S * INT64_C(1000000000);
	char text[256];

	for (; lib_now_ns(CLOCK_MONOTONIC) < hang; usleep(200)) { /* spares the processor: a return ends the loop */
		/* First: if it has been woken and not run yet, the file below still has the call. */
		const char state = lib_run_state(tid);

		LIB_CHECK(read_proc(tid, "syscall", text, sizeof text) > 0); /* or it has ended */
		if (state != 'S')
			continue;
		/* "running", "-1 ..." outside a system call, else its number first */
		for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
			char *end;

			if (strtol(text, &end, 10) == waits[i] && end != text)
				return;
		}
#ifdef SYS_poll /* x86-64 keeps the old calls and the C library uses them */
		if (strtol(text, NULL, 10) == SYS_poll || strtol(text, NULL, 10) == SYS_epoll_wait)
			return;
#endif
	}
	LIB_CHECK(!"it goes to sleep");
}

void lib_use_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	LIB_CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
}

void lib_drop(gid_t group)
{
	gid_t groups[] = { group };

	LIB_CHECK(setgroups(group == (gid_t)-1 ? 0 : 1, groups) == 0);
	LIB_CHECK(setresgid(LIB_NOBODY, LIB_NOBODY, LIB_NOBODY) == 0);
	LIB_CHECK(setresuid(LIB_NOBODY, LIB_NOBODY, LIB_NOBODY) == 0);
	die_with_parent(); /* a change of user forgets that */
}

bool lib_can_drop(void)
{
	return geteuid() == 0;
}

void lib_nobody_begin(void)
{
	if (getuid())
		return;
	LIB_CHECK(setegid(LIB_NOBODY) == 0 && seteuid(LIB_NOBODY) == 0);
}

void lib_nobody_end(void)
{
	if (getuid())
		return;
	LIB_CHECK(seteuid(0) == 0 && setegid(0) == 0);
	die_with_parent();
}

/* ---- gate ---- */

struct lib_gate *lib_gate_new(void)
{
	void *page = mmap(NULL, sizeof(struct lib_gate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	LIB_CHECK(page != MAP_FAILED);
	return page;
}

void lib_gate_free(struct lib_gate *gate)
{
	munmap(gate, sizeof *gate);
}

void lib_gate_set(struct lib_gate *gate, int value)
{
	__atomic_store_n(&gate->value, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, &gate->value, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

int lib_gate_get(struct lib_gate *gate)
{
	return __atomic_load_n(&gate->value, __ATOMIC_ACQUIRE);
}

void lib_gate_wait(struct lib_gate *gate, int value)
{
	int64_t hang = lib_now_ns(CLOCK_MONOTONIC) + LIB_HANG_S * INT64_C(1000000000);
	struct timespec slice = lib_rel_ms(1000);
	int now;

	while ((now = lib_gate_get(gate)) < value) {
		LIB_CHECK(lib_now_ns(CLOCK_MONOTONIC) < hang);
		syscall(SYS_futex, &gate->value, FUTEX_WAIT, now, &slice, NULL, 0);
	}
}

/* ---- messages ---- */

static uint64_t checksum(const uint8_t *p, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

void lib_message_make(void *buf, size_t len, uint32_t writer, uint64_t number)
{
	struct lib_message head = { .writer = writer, .len = (uint32_t)len, .number = number };
	uint64_t state = number * 2654435761u + writer + 1;
	uint8_t *bytes = buf;

	LIB_CHECK(len >= LIB_MESSAGE_MIN);
	for (size_t i = LIB_MESSAGE_MIN; i < len; i++) {
		if (i % 8 == 0)
			lib_random(&state);
		bytes[i] = (uint8_t)(state >> i % 8 * 8);
	}
	memcpy(bytes, &head, LIB_MESSAGE_MIN);
	head.check = checksum(bytes + sizeof head.check, len - sizeof head.check);
	memcpy(bytes, &head.check, sizeof head.check);
}

bool lib_message_good(const void *buf, size_t len)
{
	struct lib_message head;

	if (len < LIB_MESSAGE_MIN)
		return false;
	memcpy(&head, buf, LIB_MESSAGE_MIN);
	return head.len == len &&
	       head.check == checksum((const uint8_t *)buf + sizeof head.check, len - sizeof head.check);
}

uint64_t lib_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}
