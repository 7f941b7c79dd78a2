/* test_scribble.c: whatever a channel's plate and memory contain, no process crashes, aborts or hangs.
 *
 * First files that are not channels, or not whole ones, are opened.  Then random bytes are written over every part of
 * live channels, and over their bells, while other processes use them in every way there is: their calls answer
 * CORRUPT or TIMEOUT, or go on.
 *
 *	SCRIBBLE_SECONDS	how long the second part takes; 12 unless set, 3 with sanitizers
 *	SCRIBBLE_SEED
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "channels/ach/ach_file.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define COUNT 8
#define SIZE 128
#define BYTES (COUNT * SIZE)
#define ROUNDS_MIN 100 /* however slow the machine */
#define SECONDS_DEFAULT LIB_SECONDS(6)

/* ---- a plate and its bytes ---- */

static struct {
	char name[LIB_NAME_LEN], path[256];
	uint8_t whole[sizeof(struct ach_plate)], sound[sizeof(struct ach_plate)]; /* of a sound channel */
	bool taken;
} file;
#define FILE_LEN sizeof file.whole

/* A sound channel with some messages. */
static void file_make(void)
{
	uint8_t message[SIZE];
	ach_channel_t chan;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(file.name, "scribble"), COUNT, SIZE, NULL));
	lib_path(file.path, file.name);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, file.name, NULL));
	for (uint64_t i = 1; i < 12; i++) {
		lib_message_make(message, 40 + i, 1, i);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, message, 40 + i));
	}
	ach_close(&chan);
}

/* The same, and the name now holds an ordinary file that the test may write as it likes. */
static void file_take(void)
{
	int fd;

	file_make();
	fd = open(file.path, O_RDONLY | O_CLOEXEC);
	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL(FILE_LEN, read(fd, file.whole, FILE_LEN));
	close(fd);
	memcpy(file.sound, file.whole, FILE_LEN);
	file.taken = true;
}

static void file_put(const void *bytes, size_t len)
{
	int fd;

	(void)unlink(file.path);
	fd = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL((ssize_t)len, write(fd, bytes, len));
	close(fd);
}

static enum ach_status open_it(void)
{
	ach_channel_t chan;
	enum ach_status r = ach_open(&chan, file.name, NULL);

	if (r == ACH_OK)
		ach_close(&chan);
	return r;
}

TEST(test_sound_copy_opens)
{
	file_take();
	file_put(file.whole, FILE_LEN);
	LIB_ASSERT_STATUS(ACH_OK, open_it()); /* or none of the refusals below would mean anything */
}

TEST(test_truncated)
{
	file_take();
	for (size_t len = 0; len < FILE_LEN; len++) {
		file_put(file.whole, len);
		LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
		LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(file.name, 1, 1, NULL));
	}
}

TEST(test_foreign)
{
	static const char text[] = "This is not a channel, it is a sentence that somebody put here by mistake.\n";
	uint64_t seed = 4711;

	file_take();
	file_put(text, sizeof text);
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	memset(file.whole, 0, FILE_LEN);
	file_put(file.whole, FILE_LEN);
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	memset(file.whole, 0xff, FILE_LEN);
	file_put(file.whole, FILE_LEN);
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	for (size_t i = 0; i < FILE_LEN; i++)
		file.whole[i] = (uint8_t)lib_random(&seed);
	file_put(file.whole, FILE_LEN);
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
}

TEST(test_every_bit_of_the_plate)
{
	file_take();
	for (unsigned bit = 0; bit < FILE_LEN * 8; bit++) {
		char what[40];

		snprintf(what, sizeof what, "bit %u", bit);
		file.whole[bit / 8] ^= (uint8_t)(1u << bit % 8);
		file_put(file.whole, FILE_LEN);
		TEST_ASSERT_EQUAL_STRING_MESSAGE("ACH_BAD_SHM_FILE", ach_result_to_string(open_it()), what);
		file.whole[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* As a forger would: with sums that fit. */
static uint64_t sum_of(const void *bytes, size_t len)
{
	const uint8_t *b = bytes;
	uint64_t sum = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ b[i]) * UINT64_C(1099511628211);
	return sum;
}

static void plate_seal(struct ach_plate *p)
{
	p->geo.sum = sum_of(&p->geo, offsetof(struct ach_geometry, sum));
	p->sum = sum_of(p, offsetof(struct ach_plate, sum));
}

static int use_up(void *arg);

TEST(test_forged_plate)
{
	struct ach_plate sound, forged;
	unsigned accepted = 0, tried = 0;

	file_take();
	memcpy(&sound, file.whole, sizeof sound);
	forged = sound;
	plate_seal(&forged);
	TEST_ASSERT_EQUAL_HEX64_MESSAGE(sound.sum, forged.sum, "this test knows how the sum is made");
	for (size_t at = 0; at < offsetof(struct ach_plate, sum); at += 4) {
		uint32_t was;

		memcpy(&was, (uint8_t *)&sound + at, sizeof was);
		for (unsigned i = 0; i < 12; i++) {
			const uint32_t nasty[] = { 0,	      1,	was + 1,    was - 1,
						   was * 2,   was / 2,	was + 4096, was - 4096,
						   INT32_MAX, 1u << 31, UINT32_MAX, was ^ 0x10000 };

			forged = sound;
			memcpy((uint8_t *)&forged + at, &nasty[i], sizeof was);
			plate_seal(&forged);
			file_put(&forged, sizeof forged);
			tried++;
			/* In a child, because what was accepted must then be usable without a crash. */
			switch (lib_join(lib_child(use_up, NULL))) {
			case ACH_OK:
				accepted++;
				break;
			case ACH_BAD_SHM_FILE:
				break;
			default:
				printf("word %zu = %#x\n", at, nasty[i]);
				TEST_FAIL_MESSAGE("a forged plate is refused or harmless");
			}
		}
	}
	printf("forged plates: %u, of them harmless and accepted: %u\n", tried, accepted);
	TEST_ASSERT_TRUE(accepted < tried / 5);
}

/* Opens, and if that works uses the channel.  What open answered. */
static int use_up(void *arg)
{
	uint8_t buf[4 * BYTES] = { 1 };
	ach_channel_t chan;
	enum ach_status r = ach_open(&chan, file.name, NULL);
	size_t len;

	(void)arg;
	if (r != ACH_OK)
		return r;
	for (int i = 0; i < 50; i++) {
		(void)ach_get(&chan, buf, sizeof buf, &len, NULL, i % 2 ? ACH_O_LAST : 0);
		(void)ach_put(&chan, buf, 1 + (size_t)i * 20);
		(void)ach_get(&chan, buf, sizeof buf, &len, NULL, ACH_O_COPY);
	}
	ach_close(&chan);
	return ACH_OK;
}

static int open_as_reader(void *arg)
{
	(void)arg;
	if (lib_can_drop())
		lib_drop((gid_t)-1);
	return open_it();
}

/* Not regular files.  An open of a FIFO must not wait for its other end: the watchdog sees to that. */
TEST(test_no_files)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char target[300];
	int s;

	file_take();
	TEST_ASSERT_EQUAL(0, unlink(file.path));
	TEST_ASSERT_EQUAL(0, mkdir(file.path, 0777));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(file.name, 1, 1, NULL));
	TEST_ASSERT_EQUAL(0, rmdir(file.path));

	TEST_ASSERT_EQUAL(0, mkfifo(file.path, 0666));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	TEST_ASSERT_EQUAL(0, chmod(file.path, 0444)); /* opened for reading alone it would wait for a writer */
	TEST_ASSERT_EQUAL(ACH_BAD_SHM_FILE, lib_join(lib_child(open_as_reader, NULL)));
	LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(file.name, 1, 1, NULL));
	TEST_ASSERT_EQUAL(0, unlink(file.path));

	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%.100s", file.path);
	TEST_ASSERT_EQUAL(0, bind(s, (struct sockaddr *)&address, sizeof address));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	close(s);
	TEST_ASSERT_EQUAL(0, unlink(file.path));

	TEST_ASSERT_EQUAL(0, symlink("/dev/zero", file.path));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	TEST_ASSERT_EQUAL(0, unlink(file.path));
	TEST_ASSERT_EQUAL(0, symlink("nowhere", file.path));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(file.name, 1, 1, NULL));
	TEST_ASSERT_EQUAL(0, unlink(file.path));
	TEST_ASSERT_EQUAL(0, symlink(file.path, file.path));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	TEST_ASSERT_EQUAL(0, unlink(file.path));

	/* Not even a sound channel is taken through a link: its name would be another. */
	snprintf(target, sizeof target, "%s.real", file.path);
	file_put(file.whole, FILE_LEN);
	TEST_ASSERT_EQUAL(0, rename(file.path, target));
	TEST_ASSERT_EQUAL(0, symlink(target, file.path));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, open_it());
	TEST_ASSERT_EQUAL(0, unlink(file.path));
	TEST_ASSERT_EQUAL(0, unlink(target));
}

static void refuses(int32_t shm, int32_t bell, const char *what)
{
	struct ach_plate p;

	memcpy(&p, file.sound, sizeof p);
	p.shm = shm;
	p.bell = bell;
	plate_seal(&p);
	file_put(&p, sizeof p);
	TEST_ASSERT_EQUAL_STRING_MESSAGE("ACH_BAD_SHM_FILE", ach_result_to_string(open_it()), what);
}

/* Memory of another size would be mapped over what lies behind it; a writer without the bell would leave its readers
 * asleep. */
TEST(test_other_memory)
{
	char name[LIB_NAME_LEN];
	struct ach_plate sound;
	int page = shmget(IPC_PRIVATE, 4096, 0600), large = shmget(IPC_PRIVATE, 64 << 20, 0600);
	struct shmid_ds d;

	file_take();
	memcpy(&sound, file.sound, sizeof sound);
	TEST_ASSERT_TRUE(page >= 0 && large >= 0);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "other"), COUNT, SIZE, NULL));
	refuses(page, sound.bell, "smaller memory");
	refuses(large, sound.bell, "larger memory");
	refuses(INT32_MAX, sound.bell, "no memory");
	refuses(lib_memory(name), sound.bell, "memory of another channel");
	refuses(sound.bell, sound.shm, "swapped");
	refuses(sound.shm, large, "larger bell");
	refuses(sound.shm, INT32_MAX, "no bell");
	if (lib_can_drop()) {
		TEST_ASSERT_EQUAL(0, shmctl(page, IPC_STAT, &d));
		d.shm_perm.uid = LIB_NOBODY;
		TEST_ASSERT_EQUAL(0, shmctl(page, IPC_SET, &d));
		refuses(sound.shm, page, "bell of another user");
	}
	TEST_ASSERT_EQUAL(0, shmctl(sound.bell, IPC_RMID, NULL));
	refuses(sound.shm, sound.bell, "bell removed");
	TEST_ASSERT_EQUAL(0, shmctl(sound.shm, IPC_RMID, NULL));
	refuses(sound.shm, sound.bell, "memory removed");
	shmctl(page, IPC_RMID, NULL);
	shmctl(large, IPC_RMID, NULL);
}

/* ---- scribbling over live channels ---- */

enum user { PUTTER, RESERVER, GETTER, WAITER, FOREVER, POLLER, ANY, USERS };

static struct shared {
	_Atomic unsigned answers[32];
	_Atomic unsigned rounds_used[USERS];
	_Atomic bool stop;
} * shared;

static struct {
	char name[LIB_NAME_LEN];
	uint64_t random;
	pid_t pids[USERS];
	ach_channel_t chan; /* a user's own */
} live;

static volatile uint8_t sink;

/* BUG: a lock word that names a thread which itself waits for us looks like a deadlock to the kernel. */
#define PUT_ANSWERS (ACH_MASK_OK | ACH_MASK_CORRUPT | ACH_MASK_TIMEOUT | ACH_MASK_BUG)
#define GET_ANSWERS (ACH_MASK_OK | ACH_MASK_MISSED_FRAME | ACH_MASK_CORRUPT | ACH_MASK_OVERFLOW)

static enum ach_status allow(enum ach_status r, int mask, const char *call)
{
	shared->answers[(unsigned)r % 32]++;
	if (!ach_status_match(r, mask)) {
		fprintf(stderr, "%s answers %s: %s\n", call, ach_result_to_string(r), ach_errstr());
		LIB_CHECK(!"an answer that scribbles may have");
	}
	return r;
}

static void touch(const uint8_t *bytes, size_t len)
{
	LIB_CHECK(len >= 1 && len <= BYTES);
	for (size_t i = 0; i < len; i++)
		sink ^= bytes[i];
}

static void use_get(ach_channel_t *chan, int options, const struct timespec *deadline, uint64_t n)
{
	static uint8_t buf[BYTES];
	const size_t size = n % 8 == 7 ? 16 : sizeof buf;
	const int none = !(options & ACH_O_WAIT) ? ACH_MASK_EAGAIN : deadline ? ACH_MASK_TIMEOUT : ACH_MASK_CANCELED;
	size_t len = 0;
	enum ach_status r = allow(ach_get(chan, buf, size, &len, deadline, options), GET_ANSWERS | none, "get");

	if (r == ACH_OK || r == ACH_MISSED_FRAME)
		touch(buf, len);
	else if (r == ACH_OVERFLOW)
		LIB_CHECK(len > size && len <= BYTES);
}

static void use_peek(ach_channel_t *chan)
{
	const void *bytes = NULL;
	size_t len = 0;
	enum ach_status r = allow(ach_peek(chan, &bytes, &len, NULL, 0), GET_ANSWERS | ACH_MASK_EAGAIN, "peek");

	if (r != ACH_OK && r != ACH_MISSED_FRAME)
		return;
	touch(bytes, len);
	allow(ach_peek_end(chan), ACH_MASK_OK | ACH_MASK_EAGAIN | ACH_MASK_CORRUPT, "peek_end");
}

static void use_reserve(ach_channel_t *chan, uint64_t n)
{
	void *room;
	size_t max = 1 + n % BYTES;

	if (allow(ach_reserve(chan, max, &room), PUT_ANSWERS, "reserve") != ACH_OK)
		return;
	memset(room, (int)n, max);
	allow(ach_commit(chan, n % 5 ? max : 0), ACH_MASK_OK | ACH_MASK_CORRUPT, "commit");
}

/* For a waiter without a deadline nothing more may come. */
static void stop_waiting(int sig)
{
	(void)sig;
	(void)ach_cancel(&live.chan, NULL);
}

static int user_body(void *arg)
{
	static const uint8_t message[BYTES] = { 1 };
	enum user user = *(enum user *)arg;
	struct timespec put_timeout = lib_rel_ms(3);
	struct pollfd p = { .fd = -1, .events = POLLIN };
	ach_channel_t *const chan = &live.chan, *const chans[] = { chan };
	ach_attr_t attr;

	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &put_timeout);
	/* It may be scribbled on already. */
	if (allow(ach_open(chan, live.name, &attr), ACH_MASK_OK | ACH_MASK_BAD_SHM_FILE, "open") != ACH_OK)
		return 0;
	if (user == POLLER)
		LIB_STATUS(ACH_OK, ach_channel_fd(chan, &p.fd));
	for (uint64_t n = 0; !shared->stop; n++) {
		struct timespec soon = lib_after_ms(CLOCK_MONOTONIC, 1);
		int options = (n & 1 ? ACH_O_LAST : 0) | (n & 2 ? ACH_O_COPY : 0);

		switch (user) {
		case PUTTER:
			allow(ach_put(chan, message, 1 + n * 37 % BYTES), PUT_ANSWERS, "put");
			break;
		case RESERVER:
			use_reserve(chan, n);
			break;
		case GETTER:
			use_get(chan, options, NULL, n);
			use_peek(chan);
			if (n % 64 == 63)
				allow(ach_flush(chan), ACH_MASK_OK | ACH_MASK_CORRUPT, "flush");
			break;
		case ANY:
			allow(ach_wait_any(chans, 1, &soon, NULL), ACH_MASK_OK | ACH_MASK_TIMEOUT, "wait_any");
			use_get(chan, options, NULL, n);
			break;
		case WAITER:
			use_get(chan, options | ACH_O_WAIT, &soon, n);
			break;
		case FOREVER:
			use_get(chan, options | ACH_O_WAIT, NULL, n);
			break;
		default:
			LIB_CHECK(poll(&p, 1, 1) >= 0);
			use_get(chan, options, NULL, n);
		}
		if (n == 10)
			shared->rounds_used[user]++;
		if (n % 256 == 255)
			usleep(200); /* the scribbler must get its turn, also on one processor */
	}
	ach_close(chan);
	return 0;
}

static uint64_t random_below(uint64_t n)
{
	return lib_random(&live.random) % n;
}

static void scribble(volatile uint8_t *m, size_t from, size_t len)
{
	size_t at = from + random_below(len);

	if (random_below(2)) {
		m[at] = (uint8_t)random_below(256);
	} else { /* a small change of a word is more easily believed */
		volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)(m + at / 4 * 4);

		*word += (uint32_t)random_below(9) - 4;
	}
}

static void scribble_lock(struct ach_header *shm)
{
	const uint32_t words[] = {
		1,			     /* a live thread of another process */
		2,			     /* a thread of the kernel */
		(uint32_t)getpid(),	     /* a live thread that does not know of it */
		(uint32_t)live.pids[PUTTER], /* a thread that waits for it, */
		(uint32_t)live.pids[RESERVER],
		(uint32_t)live.pids[GETTER], /* or that never would */
		FUTEX_TID_MASK,		     /* no thread */
		FUTEX_WAITERS,
		FUTEX_OWNER_DIED,
		FUTEX_WAITERS | FUTEX_OWNER_DIED,
		FUTEX_WAITERS | (uint32_t)live.pids[PUTTER],
		FUTEX_OWNER_DIED | (uint32_t)getpid(),
		UINT32_MAX,
		0,
	};

	shm->lock = words[random_below(sizeof words / sizeof *words)];
}

static void scribble_counters(struct ach_header *shm)
{
	_Atomic uint64_t *const words[] = { &shm->commit, &shm->reclaim, &shm->woken };
	_Atomic uint64_t *word = words[random_below(3)];
	const uint64_t values[] = {
		0, 1, *word + 1, *word - 1, *word + COUNT, *word + (UINT64_C(1) << 32), UINT64_MAX
	};

	*word = values[random_below(sizeof values / sizeof *values)];
}

static void scribble_entry(struct ach_header *shm)
{
	struct ach_entry *e = &shm->index[random_below(COUNT * 2)];
	const uint32_t values[] = { 0, 1, COUNT, COUNT + 1, BYTES, BYTES + 1, INT32_MAX, UINT32_MAX };
	uint32_t value = values[random_below(sizeof values / sizeof *values)];

	switch (random_below(5)) {
	case 0:
		e->seq = value;
		break;
	case 1:
		e->pos = random_below(2) ? value : UINT64_MAX - value;
		break;
	case 2:
		e->cum = random_below(2) ? value : UINT64_MAX - value;
		break;
	case 3:
		e->len = value;
		break;
	default:
		e->keep = value;
	}
}

#define KINDS 9
static void scribble_once(unsigned kind, uint8_t *m, size_t len, uint8_t *bell)
{
	struct ach_header *shm = (struct ach_header *)m;
	const size_t index = offsetof(struct ach_header, index);

	switch (kind) {
	case 0:
		scribble(m, 0, len);
		break;
	case 1:
		scribble(m, 0, 4096);
		break;
	case 2:
		scribble(m, sizeof(struct ach_geometry), index - sizeof(struct ach_geometry));
		break;
	case 3:
		scribble(m, index, COUNT * 2 * sizeof(struct ach_entry));
		break;
	case 4:
		scribble(bell, 0, 8);
		break;
	case 5:
		scribble_lock(shm);
		break;
	case 6:
		scribble_counters(shm);
		break;
	case 7:
		scribble_entry(shm);
		break;
	default: /* all at once */
		scribble_once((unsigned)random_below(KINDS - 1), m, len, bell);
	}
}

/* Again and again: the first may come before it has opened the channel. */
static void stop_user(pid_t pid)
{
	siginfo_t ended = { .si_pid = 0 };

	while (!ended.si_pid) {
		TEST_ASSERT_EQUAL(0, kill(pid, SIGUSR1));
		usleep(1000); /* only spares the processor */
		TEST_ASSERT_EQUAL(0, waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT));
	}
}

static void round_of(unsigned kind)
{
	struct sigaction action = { .sa_handler = stop_waiting };

	enum user users[USERS];
	char what[40];
	size_t len;
	uint8_t *m, *bell;

	shared->stop = false;
	TEST_ASSERT_EQUAL(0, sigaction(SIGUSR1, &action, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(live.name, "live"), COUNT, SIZE, NULL));
	m = lib_segment_map(lib_memory(live.name), &len);
	bell = lib_segment_map(lib_bell(live.name), NULL);
	for (int i = 0; i < USERS; i++) {
		users[i] = i;
		live.pids[i] = lib_child(user_body, &users[i]);
	}
	for (int i = 0; i < 40; i++) {
		scribble_once(kind, m, len, bell);
		if (i % 2)
			usleep((useconds_t)random_below(600));
	}
	shared->stop = true;
	stop_user(live.pids[FOREVER]);
	for (int i = 0; i < USERS; i++) {
		int status = lib_join(live.pids[i]);

		live.pids[i] = 0;
		snprintf(what, sizeof what, "kind %u, user %d", kind, i);
		TEST_ASSERT_EQUAL_MESSAGE(0, status, what);
	}
	shmdt(m);
	shmdt(bell);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(live.name));
}

TEST(test_scribbled_while_in_use)
{
	const char *seconds = getenv("SCRIBBLE_SECONDS"), *given = getenv("SCRIBBLE_SEED");
	int64_t until = lib_now_ns(CLOCK_MONOTONIC) + (seconds ? atoi(seconds) : SECONDS_DEFAULT) * INT64_C(1000000000);
	unsigned rounds = 0;

	live.random = given ? strtoull(given, NULL, 0) : (uint64_t)lib_now_ns(CLOCK_REALTIME) | 1;
	printf("SCRIBBLE_SEED=%#jx\n", (uintmax_t)live.random);
	for (; rounds < ROUNDS_MIN || lib_now_ns(CLOCK_MONOTONIC) < until; rounds++) {
		lib_watchdog("scribble", 3 * LIB_HANG_S);
		round_of(rounds % KINDS);
	}
	printf("scribbled: %u rounds;", rounds);
	for (unsigned i = 0; i < 20; i++)
		if (shared->answers[i])
			printf(" %s %u", ach_result_to_string(i), shared->answers[i]);
	printf("\n");
	for (int i = 0; i < USERS; i++)
		TEST_ASSERT_TRUE_MESSAGE(shared->rounds_used[i] > rounds / 4, "every user got something done");
	TEST_ASSERT_TRUE_MESSAGE(shared->answers[ACH_CORRUPT] > 0, "scribbles were noticed");
	TEST_ASSERT_TRUE_MESSAGE(shared->answers[ACH_OK] > 0, "work went on");
	TEST_ASSERT_TRUE_MESSAGE(shared->answers[ACH_TIMEOUT] > 0, "locks of strangers");
}

/* Thread 2, unless it exists, in a container; then a number that no thread can have. */
static uint32_t kernel_thread(void)
{
	char target[16];

	return readlink("/proc/2/exe", target, sizeof target) < 0 && errno == ENOENT ? 2 : FUTEX_TID_MASK;
}

/* Words for which library or kernel has a cure: the put must succeed, at once. */
TEST(test_lock_words_without_an_owner)
{
	const uint32_t words[] = { FUTEX_TID_MASK,
				   kernel_thread(),
				   (uint32_t)getpid(),
				   FUTEX_WAITERS,
				   FUTEX_OWNER_DIED,
				   FUTEX_WAITERS | FUTEX_OWNER_DIED,
				   FUTEX_OWNER_DIED | FUTEX_TID_MASK,
				   UINT32_MAX };
	struct timespec put_timeout = lib_rel_ms(LIB_HANG_S * 1000);
	ach_channel_t chan;
	ach_attr_t attr;

	file_make();
	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &put_timeout);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, file.name, &attr));
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		chan.shm->lock = words[i];
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "x", 1));
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "x", 1));
		TEST_ASSERT_EQUAL_HEX32(0, chan.shm->lock);
	}
	ach_close(&chan);
}

static int sleep_on(void *arg)
{
	(void)arg;
	pause();
	return 0;
}

/* The tid of a live thread that knows nothing of it: TIMEOUT, as long as that thread lives. */
TEST(test_lock_word_of_a_stranger)
{
	struct timespec put_timeout = lib_rel_ms(20);
	ach_channel_t chan;
	ach_attr_t attr;
	pid_t stranger;

	file_make();
	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &put_timeout);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, file.name, &attr));
	stranger = lib_child(sleep_on, NULL);
	chan.shm->lock = (uint32_t)stranger;
	for (int i = 0; i < 10000; i++) /* only the first of them waits, or the watchdog comes */
		LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_put(&chan, "x", 1));
	lib_kill(stranger);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "x", 1));
	ach_close(&chan);
}

void setUp(void)
{
	lib_watchdog("scribble", LIB_HANG_S);
}

void tearDown(void)
{
	alarm(0); /* a leak check at exit may take its time */
	for (int i = 0; i < USERS; i++) {
		if (live.pids[i])
			lib_kill(live.pids[i]);
		live.pids[i] = 0;
	}
	if (file.taken)
		file_put(file.sound, FILE_LEN); /* its memory goes with it */
	if (file.name[0])
		(void)ach_unlink(file.name);
	file.taken = false;
	file.name[0] = 0;
}

void testcase_begin(void)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_CHECK(shared != MAP_FAILED);
	setvbuf(stdout, NULL, _IOLBF, 0);
}
