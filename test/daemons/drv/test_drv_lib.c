/* test_drv_lib.c: the whole loop in one process, on the virtual clock. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/clock_virtual.h"
#include "test/lib/estop_talk.h"
#include "test/lib/request_talk.h"
#include "unity.h"

struct fake fake;
struct drv_lib drv_lib;
struct drv_driver drv_lib_driver;

#define HOOKS_MAX 32
#define MARK "20000080#0000000000000000" /* a bus error: always received, without effect */
static struct {
	unsigned int tick;
	void (*what)(void);
} hooks[HOOKS_MAX];
static unsigned int hooks_n;
static void (*every_tick)(void);

static char log_text[32768];
static unsigned int prefix_number;
static ach_channel_t state_reader, event_reader, reply_reader;
static uint64_t epoch;

/* ---- reading what is published ---- */

static void read_all(ach_channel_t *chan, const char *name, void *into, size_t size, unsigned int max, unsigned int *n)
{
	enum ach_status status;
	size_t len;
	int gone = 0;

	if (chan->handle && ach_unlinked(chan, &gone) == ACH_OK && gone)
		ach_close(chan);
	if (!chan->handle && ach_open(chan, drv_lib_channel(name), NULL) != ACH_OK)
		return;
	while (*n < max) {
		status = ach_get(chan, (char *)into + *n * size, size, &len, NULL, 0);
		if (status == ACH_MISSED_FRAME)
			TEST_FAIL_MESSAGE("the test reads too seldom");
		if (status != ACH_OK)
			break;
		*n += len == size;
	}
	TEST_ASSERT_MESSAGE(*n < max, "more was published than the test has room for");
}

/* That of tick 0, which says no more than that the driver is there, is put apart. */
static void put_first_apart(unsigned int from)
{
	for (unsigned int i = from; i < drv_lib.states_n; i++) {
		if (drv_lib.states[i].common.ticks)
			continue;
		drv_lib.first = drv_lib.states[i];
		drv_lib.firsts_n++;
		drv_lib.states_n--;
		memmove(&drv_lib.states[i], &drv_lib.states[i + 1], (drv_lib.states_n - i) * sizeof(*drv_lib.states));
		i--;
	}
}

static void collect(void)
{
	const unsigned int before = drv_lib.states_n;

	read_all(&state_reader, "arm-state", drv_lib.states, sizeof(*drv_lib.states), 600, &drv_lib.states_n);
	put_first_apart(before);
	read_all(&event_reader, "arm-event", drv_lib.events, sizeof(*drv_lib.events), 300, &drv_lib.events_n);
	read_all(&reply_reader, "arm-rep", drv_lib.replies, sizeof(*drv_lib.replies), 200, &drv_lib.replies_n);
}

/* ---- the driver ---- */

static void note(const struct drv_orders *orders)
{
	const struct msg_joint_ref *ref = orders->ref;
	struct fake_tick *t = &fake.ticks[fake.ticks_n];
	const unsigned int tick = ++fake.ticks_n;

	TEST_ASSERT_MESSAGE(tick < 512, "it goes on for ever");
	*t = (struct fake_tick){ *orders, orders->joint[0], clock_now_ns(), ref ? ref->velocity[0] : 0 };
	collect();
	if (every_tick)
		every_tick();
	for (unsigned int i = 0; i < hooks_n; i++)
		if (hooks[i].tick == tick)
			hooks[i].what();
	if (fake.completes)
		drv_complete(fake.drv);
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send latest = {
		.row = { .id = 0x201, .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS },
		.len = 2,
	};
	static const struct drv_send queue = {
		.row = { .id = 0x202,
			 .class = SLOTS_QUEUE,
			 .key = { 0xff, 0xff },
			 .deadline_ns = 20 * (int64_t)DRV_LIB_MS },
		.len = 8,
		.answered = true,
		.reply_id = 0x182,
		.reply_bytes = 2,
		.reply_within_ns = 10 * (int64_t)DRV_LIB_MS,
	};
	static const struct drv_receive periodic = {
		.id = 0x181, .len_min = 2, .len_max = 2, .period_ns = 10 * (int64_t)DRV_LIB_MS
	};
	static const struct drv_receive reply = { .id = 0x182, .any_len = true };

	(void)self;
	fake.plans++;
	fake.drv = drv;
	if (drv_lib_driver.no_bus)
		return fake.declare ? fake.declare(drv, errors) : 0;
	if (drv_add_send(drv, &latest, errors) != FAKE_LATEST || drv_add_send(drv, &queue, errors) != FAKE_QUEUE ||
	    drv_add_receive(drv, &periodic, errors) != 0 || drv_add_receive(drv, &reply, errors) != 1 ||
	    drv_add_joint(drv, "elbow", errors) != 0)
		return -1;
	return fake.declare ? fake.declare(drv, errors) : 0;
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	(void)self;
	(void)drv;
	note(orders);
	return ++fake.starts < fake.starts_wanted ? DRV_AGAIN : DRV_DONE;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct frame frame = { .id = 0x201, .len = 2, .data = { (uint8_t)orders->tick } };

	(void)self;
	note(orders);
	if (fake.sends)
		TEST_ASSERT_EQUAL(0, drv_send(drv, FAKE_LATEST, &frame));
}

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	(void)self;
	(void)drv;
	if (fake.got_n < 128) {
		fake.rows[fake.got_n] = row;
		fake.got[fake.got_n++] = *got;
	}
	return fake.completing && got->frame.id == fake.completing;
}

static void sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	(void)self;
	(void)drv;
	(void)t_ns;
	fake.sent_row = send;
	if (fake.sent_n < 128)
		fake.sent[fake.sent_n++] = *frame;
}

static void lost(void *self, struct drv *drv, unsigned int send, const struct frame *frame)
{
	(void)self;
	(void)drv;
	fake.lost_row = send;
	if (fake.lost_n < 128)
		fake.lost[fake.lost_n++] = *frame;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	struct msg_joint_state *s = state;

	(void)self;
	(void)drv;
	fake.fills++;
	s->position[0] = fake.position_rad;
	s->velocity[0] = fake.velocity_rad_s;
	s->current[0] = fake.current_a;
	s->age_ns[0] = fake.sample_ns ? now_ns - fake.sample_ns : 0;
	return fake.sample_ns || !fake.got_n ? fake.sample_ns : fake.got[fake.got_n - 1].t_ns;
}

static int request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *asked, int64_t now_ns)
{
	(void)self;
	(void)now_ns;
	if (fake.requests_n < 80) {
		fake.handles[fake.requests_n] = handle;
		fake.requests[fake.requests_n++] = *asked;
	}
	if (fake.why)
		drv_why(drv, "%s", fake.why);
	return fake.answer;
}

static enum drv_step stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	(void)self;
	(void)drv;
	note(orders);
	return ++fake.stops < fake.stops_wanted ? DRV_AGAIN : DRV_DONE;
}

struct faked {
	double gain;
	char note[8];
};

static const struct settings_row settings[] = {
	SETTINGS_REAL("gain", struct faked, gain, "1/s", "1", "0", "10", "of nothing"),
	SETTINGS_TEXT("note", struct faked, note, "", "is empty"),
	SETTINGS_END,
};

static const struct drv_verb verbs[] = {
	{ .verb = MSG_VERB_HOME, .exclusive = true },
	{ .verb = MSG_VERB_ACTIVATE, .exclusive = true },
	{ .verb = MSG_VERB_RESET, .exclusive = true },
	{ .verb = MSG_VERB_CLEAR },
	{ .verb = MSG_VERB_BIAS },
	{ .verb = MSG_VERB_SET },
	{ .verb = MSG_VERB_GET },
	{ 0 },
};

static const struct drv_driver driver = {
	.program = "faked",
	.about = "drives nothing",
	.size = sizeof(struct faked),
	.settings = settings,
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.declare = declare,
	.start = start,
	.tick = tick,
	.rx = rx,
	.sent = sent,
	.lost = lost,
	.fill = fill,
	.verbs = verbs,
	.request = request,
	.stop = stop,
};

/* ---- before and after ---- */

void drv_lib_begin(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&drv_lib, 0, sizeof(drv_lib));
	fake.starts_wanted = fake.stops_wanted = 1;
	fake.completes = true;
	drv_lib_driver = driver;
	hooks_n = 0;
	every_tick = NULL;
	epoch = 0;
	*log_text = 0;
	snprintf(drv_lib.folder, sizeof(drv_lib.folder), "/tmp/test-drv-XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(drv_lib.folder));
	if (!prefix_number)
		(void)unshare(CLONE_NEWNET); /* another test may claim a device on the same interface */
	snprintf(drv_lib.prefix, sizeof(drv_lib.prefix), "t%d-%u-", (int)getpid(), ++prefix_number);
	umask(0077); /* a driver takes no channel that others may read */
	setenv("ENDPLATE_PREFIX", drv_lib.prefix, 1);
	setenv("ENDPLATE_RUN", drv_lib.folder, 1);
	setenv("XDG_RUNTIME_DIR", drv_lib.folder, 1);
	unsetenv("NOTIFY_SOCKET");
	clock_use_virtual(DRV_LIB_START_NS);
	drv_lib_frame(0, MARK);
}

/* ---- what it says and prints ---- */

static int kept_fds[] = { [STDOUT_FILENO] = -1, [STDERR_FILENO] = -1 };

static void redirect(int fd, const char *name)
{
	char path[96];
	int to;

	snprintf(path, sizeof(path), "%s/%s", drv_lib.folder, name);
	to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	TEST_ASSERT(to >= 0);
	fflush(NULL);
	kept_fds[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	dup2(to, fd);
	close(to);
}

static void restore(int fd, char *text, size_t size)
{
	ssize_t n;

	fflush(NULL);
	n = pread(fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = 0;
	dup2(kept_fds[fd], fd);
	close(kept_fds[fd]);
	kept_fds[fd] = -1;
}

/* A test that failed inside the driver did not come back: what it had to say is in the file. */
static void restore_after_failure(void)
{
	if (kept_fds[STDOUT_FILENO] < 0)
		return;
	restore(STDERR_FILENO, drv_lib.said, sizeof(drv_lib.said));
	restore(STDOUT_FILENO, drv_lib.printed, sizeof(drv_lib.printed));
	fputs(drv_lib.printed, stdout);
}

/* ---- a run ---- */

static void close_reader(ach_channel_t *chan)
{
	if (chan->handle)
		ach_close(chan);
	memset(chan, 0, sizeof(*chan));
}

void drv_lib_end(void)
{
	char command[256];

	restore_after_failure();
	close_reader(&state_reader);
	close_reader(&event_reader);
	close_reader(&reply_reader);
	clock_use(&clock_real);
	/* Whatever channels there are. */
	snprintf(command, sizeof(command), "rm -rf %s /dev/shm/ach*-%s*", drv_lib.folder, drv_lib.prefix);
	(void)!system(command);
}

void drv_lib_frame(double ms, const char *frame)
{
	const size_t at = strlen(log_text);

	TEST_ASSERT_MESSAGE(at + 128 < sizeof(log_text), "too many frames");
	snprintf(log_text + at, sizeof(log_text) - at, "(%.6f) can0 %s\n", 1000 + ms / 1000, frame);
}

void drv_lib_at(unsigned int tick_n, void (*what)(void))
{
	TEST_ASSERT(hooks_n < HOOKS_MAX);
	hooks[hooks_n].tick = tick_n;
	hooks[hooks_n++].what = what;
}

void drv_lib_always(void (*what)(void))
{
	every_tick = what;
}

void drv_lib_forget(void)
{
	hooks_n = 0;
	every_tick = NULL;
}

void drv_lib_stop(void)
{
	kill(getpid(), SIGTERM);
}

int drv_lib_main(const char *arguments)
{
	char words[1024], *argv[64] = { (char *)drv_lib_driver.program }, *rest = words;
	int argc = 1, status;

	snprintf(words, sizeof(words), "%s", arguments);
	for (char *word; (word = strsep(&rest, " "));) {
		if (*word)
			argv[argc++] = word;
		for (; (word = strchr(word, '~')); *word = ' ')
			;
	}
	redirect(STDERR_FILENO, "stderr");
	redirect(STDOUT_FILENO, "stdout");
	fake.ticks_n = 0;
	status = drv_main(&drv_lib_driver, argc, argv);
	restore(STDOUT_FILENO, drv_lib.printed, sizeof(drv_lib.printed));
	restore(STDERR_FILENO, drv_lib.said, sizeof(drv_lib.said));
	collect();
	return status;
}

const char *drv_lib_file(const char *name, const char *text)
{
	static char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", drv_lib.folder, name);
	file = fopen(path, "w");
	TEST_ASSERT_NOT_NULL(file);
	fputs(text, file);
	fclose(file);
	return path;
}

const char *drv_lib_log(double ms)
{
	const char *path;

	drv_lib_frame(ms > 0 ? ms : 3600000, MARK);
	path = drv_lib_file("log", log_text);
	*log_text = 0;
	drv_lib_frame(0, MARK);
	return path;
}

int drv_lib_run(double ms, const char *arguments)
{
	char line[1024];

	snprintf(line, sizeof(line), "--name arm --bus table=log:%s --set lock_memory=no %s", drv_lib_log(ms),
		 arguments);
	return drv_lib_main(line);
}

const struct msg_joint_state *drv_lib_last(void)
{
	TEST_ASSERT(drv_lib.states_n >= 2);
	return &drv_lib.states[drv_lib.states_n - 2];
}

unsigned int drv_lib_events(const char *code)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < drv_lib.events_n; i++)
		n += !strcmp(drv_lib.events[i].code, code);
	return n;
}

const struct msg_event *drv_lib_event(const char *code)
{
	for (unsigned int i = drv_lib.events_n; i-- > 0;)
		if (!strcmp(drv_lib.events[i].code, code))
			return &drv_lib.events[i];
	return NULL;
}

bool drv_lib_reported(const char *code)
{
	return drv_lib_event(code);
}

/* ---- channels ---- */

const char *drv_lib_channel(const char *name)
{
	static char full[96];

	snprintf(full, sizeof(full), "%s%s", drv_lib.prefix, name);
	return full;
}

void drv_lib_make(const char *name, size_t count, size_t size)
{
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1); /* a driver refuses those that others may write */
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(drv_lib_channel(name), count, size, &attr));
}

void drv_lib_put(const char *name, const void *msg, size_t len)
{
	ach_channel_t chan;

	if (ach_open(&chan, drv_lib_channel(name), NULL) != ACH_OK) {
		drv_lib_make(name, 64, len);
		TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel(name), NULL));
	}
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, msg, len));
	ach_close(&chan);
}

void drv_lib_get(const char *name, void *msg, enum msg_number number)
{
	const struct msg_type *type = msg_type_by_number(number);
	ach_channel_t chan;
	size_t len;

	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel(name), NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_get(&chan, msg, type->body->size, &len, NULL, 0));
	ach_close(&chan);
	TEST_ASSERT_EQUAL(MSG_FINE, msg_check(msg, len, type, NULL));
}

void drv_lib_remove(const char *name)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(drv_lib_channel(name)));
}

uint64_t drv_lib_seq(const char *name)
{
	ach_channel_t chan;
	char byte[8192];
	uint64_t seq;
	size_t len;

	if (ach_open(&chan, drv_lib_channel(name), NULL) != ACH_OK)
		return 0;
	ach_get(&chan, byte, sizeof(byte), &len, NULL, ACH_O_LAST);
	seq = chan.seq_num;
	ach_close(&chan);
	return seq;
}

void drv_lib_scribble(const char *name)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel(name), NULL));
	/* The newest message was never written. */
	atomic_fetch_add(&chan.handle->shm->commit, 1000);
	ach_close(&chan);
}

void drv_lib_raise(unsigned int channel, enum msg_level level)
{
	estop_talk_raise(channel, level);
}

void drv_lib_arm(void)
{
	estop_talk_lower(MSG_LEVEL_RUN, ++epoch);
}

void drv_lib_estop(void)
{
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
}

void drv_lib_hold(void)
{
	estop_talk_raise_both(MSG_LEVEL_HOLD);
}

struct msg_joint_ref drv_lib_ref(enum msg_mode mode, double value, double ms)
{
	struct msg_joint_ref ref;

	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.for_incarnation = drv_lib.states_n ? drv_lib.states[drv_lib.states_n - 1].header.incarnation : 1;
	ref.header.valid_until_ns = clock_now_ns() + (int64_t)(ms * DRV_LIB_MS);
	ref.count = 1;
	ref.mode[0] = mode;
	ref.position[0] = mode == MSG_MODE_POSITION ? value : 0;
	ref.velocity[0] = mode == MSG_MODE_VELOCITY ? value : 0;
	ref.current[0] = mode == MSG_MODE_CURRENT ? value : 0;
	return ref;
}

void drv_lib_put_ref(enum msg_mode mode, double value, double ms)
{
	struct msg_joint_ref ref = drv_lib_ref(mode, value, ms);

	drv_lib_put("arm-ref", &ref, sizeof(ref));
}

void drv_lib_request(uint64_t id, enum msg_verb verb, const char *key, const char *value)
{
	struct msg_request msg = request_talk(verb, key, value);

	msg.id = id;
	msg.client_pid = 77;
	drv_lib_put("arm-req", &msg, sizeof(msg));
}

unsigned int drv_lib_answers(uint64_t id)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < drv_lib.replies_n; i++)
		n += drv_lib.replies[i].id == id;
	return n;
}

const struct msg_reply *drv_lib_answer(uint64_t id)
{
	const struct msg_reply *last = NULL;

	for (unsigned int i = 0; i < drv_lib.replies_n; i++)
		if (drv_lib.replies[i].id == id)
			last = &drv_lib.replies[i];
	TEST_ASSERT_NOT_NULL_MESSAGE(last, "there is no answer");
	return last;
}
