/* test_estop.c: the e-stop module on real channels: what it reads, writes, condemns and makes again, also beside
 * other users. */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "channels/estop/estop.h"
#include "config/base/boot_id.h"
#include "test/lib/clock_virtual.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define OPERATORS 4711 /* a group without a name */
#define SOMEONE 4712   /* a user without a name */

static struct estop e;
static char prefix[32];
static struct error_sink quiet;

static void open_as(struct estop *to, bool ratify, const struct estop_kept *predecessor)
{
	const struct estop_options options = { .owner = 0,
					       .make = true,
					       .group = OPERATORS,
					       .ratify = ratify,
					       .name = "waist",
					       .predecessor = predecessor };

	estop_open(to, &options, &quiet);
}

static int open_without_making(struct error_sink *errors)
{
	return estop_open(&e, &(struct estop_options){ .group = OPERATORS }, errors);
}

static void remove_channels(void)
{
	char name[64];

	snprintf(name, sizeof(name), "%sestop", prefix);
	ach_unlink(name);
	snprintf(name, sizeof(name), "%sestop-b", prefix);
	ach_unlink(name);
}

void setUp(void)
{
	snprintf(prefix, sizeof(prefix), "t%d-", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
	remove_channels();
	memset(&e, 0x5A, sizeof(e));
	open_as(&e, true, NULL);
}

void tearDown(void)
{
	estop_close(&e);
	remove_channels();
}

static enum msg_level read_level(void)
{
	return estop_read(&e, clock_now_ns());
}

static enum msg_level turn(void)
{
	const enum msg_level level = read_level();

	estop_maintain(&e, clock_now_ns());
	return level;
}

/* As achstart does for a person who has read everything. */
static uint64_t lower(void)
{
	struct estop_seen seen;
	uint64_t base;

	read_level();
	seen = estop_seen(&e);
	TEST_ASSERT_EQUAL(0, estop_lower(&e, &seen, MSG_LEVEL_RUN, clock_now_ns() + 60000000000, 7, "anna", 1000,
					 "test", &base, &quiet));
	return base;
}

static void armed(void)
{
	const uint64_t base = lower();

	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, turn());
	TEST_ASSERT_EQUAL_UINT64(base, estop_kept(&e).base);
}

static void mend_and_arm(void)
{
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, read_level());
	estop_mend(&e, &quiet);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	armed();
}

/* ---- messages ---- */

static struct msg_estop sound(void)
{
	struct msg_estop msg;

	msg_init(&msg, msg_type_by_number(msg_estop_number));
	msg.kind = MSG_ESTOP_RAISE;
	msg.level = MSG_LEVEL_HOLD;
	msg.chan[0] = e.channel[0].window.id;
	msg.chan[1] = e.channel[1].window.id;
	msg.seen[0] = e.channel[0].window.newest;
	msg.seen[1] = e.channel[1].window.newest;
	return msg;
}

static void spoil_type(struct msg_estop *msg)
{
	msg->header.type = msg_event_number;
}
static void spoil_version(struct msg_estop *msg)
{
	msg->header.version = 1;
}
static void spoil_kind(struct msg_estop *msg)
{
	msg->kind = MSG_ESTOP_LOWER + 1;
}
static void spoil_level(struct msg_estop *msg)
{
	msg->level = MSG_LEVEL_ESTOP + 1;
}
static void spoil_all(struct msg_estop *msg)
{
	memset(msg, 0x5A, sizeof(*msg));
}

static const struct {
	const char *what;
	size_t len;
	void (*spoil)(struct msg_estop *msg);
} garbage[] = {
	{ "a byte", 1, NULL },
	{ "four bytes", 4, NULL },
	{ "a byte less", sizeof(struct msg_estop) - 1, NULL },
	{ "a byte more", sizeof(struct msg_estop) + 1, NULL },
	{ "600 bytes", 600, NULL },
	{ "as long as all together", 64 * sizeof(struct msg_estop), NULL },
	{ "another type", sizeof(struct msg_estop), spoil_type },
	{ "another version", sizeof(struct msg_estop), spoil_version },
	{ "no kind", sizeof(struct msg_estop), spoil_kind },
	{ "no level", sizeof(struct msg_estop), spoil_level },
	{ "nonsense", sizeof(struct msg_estop), spoil_all },
};

static void put_garbage(unsigned int c, size_t i)
{
	static union {
		struct msg_estop msg;
		uint8_t bytes[64 * sizeof(struct msg_estop)];
	} buf;

	buf.msg = sound();
	if (garbage[i].spoil)
		garbage[i].spoil(&buf.msg);
	TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, ach_put(&e.channel[c].chan, &buf, garbage[i].len), garbage[i].what);
}

/* Estop, stepped over once, reported once, and the next lowering is obeyed. */
TEST(test_an_invalid_message_is_estop_until_the_next_lowering)
{
	for (unsigned int c = 0; c < ESTOP_CHANNELS; c++)
		for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
			const uint64_t invalid = e.invalid;

			armed();
			put_garbage(c, i);
			read_level();
			TEST_ASSERT_EQUAL_STRING("", e.who);
			TEST_ASSERT_EQUAL_STRING(e.invalid_why, e.why);
			TEST_ASSERT_EQUAL_INT64(0, e.since_ns);
			for (int k = 0; k < 3; k++)
				TEST_ASSERT_EQUAL_MESSAGE(MSG_LEVEL_ESTOP, turn(), garbage[i].what);
			TEST_ASSERT_EQUAL_UINT64_MESSAGE(invalid + 1, e.invalid, garbage[i].what);
			TEST_ASSERT_NOT_NULL(strstr(e.invalid_why, e.channel[c].name));
			TEST_ASSERT_TRUE_MESSAGE(e.channel[0].open && e.channel[1].open, garbage[i].what);
		}
	armed();
}

/* Also if others before it were overwritten. */
TEST(test_messages_that_are_too_long_are_stepped_over)
{
	static const uint8_t nonsense[600];

	armed();
	for (int i = 0; i < 70; i++)
		ach_put(&e.channel[1].chan, nonsense, sizeof(nonsense));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, read_level());
	TEST_ASSERT_TRUE(e.channel[1].window.readable);
	TEST_ASSERT_EQUAL_UINT64(70, e.channel[1].window.newest);
	TEST_ASSERT_NOT_NULL(strstr(e.invalid_why, "invalid e-stop message of 600 bytes"));
	armed();
}

TEST(test_levels_and_their_authors)
{
	uint64_t boot[2];

	TEST_ASSERT_EQUAL(0, boot_id_read(boot));
	TEST_ASSERT_EQUAL_UINT64_ARRAY(boot, e.boot, 2);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	TEST_ASSERT_EQUAL_STRING("", e.who);
	TEST_ASSERT_EQUAL_STRING("no valid lowering", e.why);
	TEST_ASSERT_EQUAL_INT64(0, e.since_ns);
	armed();
	TEST_ASSERT_EQUAL_STRING("anna", e.who);
	TEST_ASSERT_EQUAL_STRING("test", e.why);
	TEST_ASSERT_EQUAL_UINT64(7, e.epoch);
	TEST_ASSERT_TRUE(e.since_ns > 0);
	TEST_ASSERT_EQUAL(0, estop_raise(&e, MSG_LEVEL_HOLD, "ben", 1001, "a hand", &quiet));
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, turn());
	TEST_ASSERT_EQUAL_STRING("ben", e.who);
	TEST_ASSERT_EQUAL_STRING("a hand", e.why);
	TEST_ASSERT_EQUAL(0, estop_raise(&e, MSG_LEVEL_ESTOP, "carl", 1002, "", &quiet));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	TEST_ASSERT_EQUAL_STRING("carl", e.who);
	TEST_ASSERT_EQUAL(1002, e.rule.because->uid);
	TEST_ASSERT_EQUAL(getpid(), e.rule.because->pid);
	TEST_ASSERT_EQUAL_UINT64(7, e.rule.because->epoch);
	TEST_ASSERT_EQUAL_STRING("", e.channel[0].why);
	TEST_ASSERT_EQUAL_UINT64(7, e.epoch);
}

/* A raise on both leaves nothing to copy. */
TEST(test_a_raise_of_the_robots_user_needs_no_copy)
{
	uint64_t newest;

	armed();
	estop_raise(&e, MSG_LEVEL_HOLD, "ben", 1001, "", &quiet);
	newest = e.channel[0].window.newest;
	turn();
	turn();
	TEST_ASSERT_EQUAL_UINT64(newest, e.channel[0].window.newest);
}

/* What it writes to estop says that estop-b was read, and so it carries what was raised there meanwhile. */
TEST(test_a_raise_carries_what_it_finds)
{
	struct msg_estop msg;

	armed();
	msg = sound();
	msg.level = MSG_LEVEL_ESTOP;
	ach_put(&e.channel[1].chan, &msg, sizeof(msg));
	estop_raise(&e, MSG_LEVEL_HOLD, "ben", 0, "", &quiet);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, e.channel[0].messages[e.channel[0].window.newest % ESTOP_RETAINED].level);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, e.channel[1].messages[e.channel[1].window.newest % ESTOP_RETAINED].level);
}

TEST(test_a_raise_on_estop_b_is_copied_once)
{
	struct msg_estop msg;
	uint64_t newest;

	armed();
	newest = e.channel[0].window.newest;
	msg = sound();
	strcpy(msg.who, "ben");
	strcpy(msg.why, "a hand");
	ach_put(&e.channel[1].chan, &msg, sizeof(msg));
	for (int i = 0; i < 5; i++)
		TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, turn());
	TEST_ASSERT_EQUAL_UINT64(newest + 1, e.channel[0].window.newest);
	TEST_ASSERT_EQUAL_STRING("waist", e.channel[0].messages[(newest + 1) % ESTOP_RETAINED].who);
	TEST_ASSERT_EQUAL_STRING("a hand, ben", e.channel[0].messages[(newest + 1) % ESTOP_RETAINED].why);
	armed();
}

/* achctl looks, and leaves copying to those who may. */
TEST(test_only_a_process_asked_to_copies_a_raise)
{
	struct estop other;
	struct msg_estop msg;
	uint64_t newest;

	armed();
	newest = e.channel[0].window.newest;
	msg = sound();
	ach_put(&e.channel[1].chan, &msg, sizeof(msg));
	open_as(&other, false, NULL);
	for (int i = 0; i < 3; i++) {
		estop_read(&other, clock_now_ns());
		estop_maintain(&other, clock_now_ns());
	}
	TEST_ASSERT_EQUAL_UINT64(newest, other.channel[0].window.newest);
	estop_close(&other);
}

TEST(test_the_last_64_are_held_and_their_texts_end)
{
	const struct estop_window *w = &e.channel[1].window;
	struct msg_estop msg = sound();

	memset(msg.who, 'w', sizeof(msg.who));
	memset(msg.why, 'y', sizeof(msg.why));
	for (unsigned int i = 1; i <= 66; i++) {
		const struct msg_estop *held = &e.channel[1].messages[i % ESTOP_RETAINED];

		ach_put(&e.channel[1].chan, &msg, sizeof(msg));
		read_level();
		TEST_ASSERT_EQUAL_UINT64(i, w->newest);
		TEST_ASSERT_EQUAL_UINT64(i > 64 ? i - 63 : 1, w->oldest);
		TEST_ASSERT_EQUAL(MSG_NAME_SIZE - 1, strlen(held->who));
		TEST_ASSERT_EQUAL(MSG_TEXT_SIZE - 1, strlen(held->why));
	}
	for (int i = 0; i < 70; i++)
		ach_put(&e.channel[1].chan, &msg, sizeof(msg));
	read_level();
	TEST_ASSERT_EQUAL_UINT64(66 + 70 - 63, w->oldest);
}

/* Instead of a channel of the e-stop, which is closed. */
static void replace(unsigned int c, size_t count, size_t size, mode_t mode)
{
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, mode, (gid_t)-1);
	estop_close(&e);
	ach_unlink(e.channel[c].name);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(e.channel[c].name, count, size, &attr));
}

/* A flood is not read to its end at once: until it is, the level is estop. */
TEST(test_more_than_a_look_reads_is_estop)
{
	const struct msg_estop msg = sound();

	replace(1, 500, sizeof(msg), 0600);
	open_as(&e, true, NULL);
	armed();
	for (int i = 0; i < 128; i++)
		ach_put(&e.channel[1].chan, &msg, sizeof(msg));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	TEST_ASSERT_EQUAL_STRING("estop-b cannot be read", e.why);
	mend_and_arm();
	for (int i = 0; i < 127; i++)
		ach_put(&e.channel[1].chan, &msg, sizeof(msg));
	turn();
	TEST_ASSERT_TRUE(e.channel[1].window.readable);
	TEST_ASSERT_EQUAL_UINT64(255 - 63, e.channel[1].window.oldest);
	TEST_ASSERT_EQUAL_UINT64(255, e.channel[1].window.newest);
}

/* ---- what a successor takes over ---- */

TEST(test_a_successor_obeys_what_its_predecessor_obeyed)
{
	struct estop_kept kept;
	struct estop_seen seen;
	uint64_t base;

	read_level();
	seen = estop_seen(&e);
	estop_lower(&e, &seen, MSG_LEVEL_RUN, clock_now_ns() + 1000000000, 1, "anna", 0, "", &base, &quiet);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, read_level());
	kept = estop_kept(&e);
	TEST_ASSERT_EQUAL_UINT64(base, kept.base);
	estop_close(&e);
	open_as(&e, true, &kept);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, estop_read(&e, clock_now_ns() + 5000000000)); /* long after its time */
	estop_close(&e);
	open_as(&e, true, NULL);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, estop_read(&e, clock_now_ns() + 5000000000));
}

#define MARK UINT64_C(1000000) /* of a handle that stays open: no message has such a number */

/* A spare has opened the channels; meanwhile one of them, or none, is replaced. */
TEST(test_a_spare_takes_over_the_channels_of_now)
{
	for (unsigned int replaced = 0; replaced <= ESTOP_CHANNELS; replaced++) {
		struct estop spare;
		struct estop_options options;
		struct estop_kept kept;

		open_as(&spare, true, NULL);
		options = spare.options;
		armed();
		if (replaced < ESTOP_CHANNELS) {
			ach_unlink(e.channel[replaced].name);
			estop_close(&e);
			open_as(&e, true, NULL);
			armed();
		}
		kept = estop_kept(&e);
		options.predecessor = &kept;
		for (unsigned int c = 0; c < ESTOP_CHANNELS; c++)
			spare.channel[c].chan.seq_num = MARK;
		TEST_ASSERT_EQUAL(0, estop_take_over(&spare, &options, &quiet));
		for (unsigned int c = 0; c < ESTOP_CHANNELS; c++) { /* the others are not opened again */
			TEST_ASSERT_EQUAL_UINT64(c == replaced ? 0 : MARK, spare.channel[c].chan.seq_num);
			spare.channel[c].chan.seq_num = 0;
		}
		TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, estop_read(&spare, clock_now_ns()));
		for (unsigned int c = 0; c < ESTOP_CHANNELS; c++)
			TEST_ASSERT_EQUAL_UINT64(e.channel[c].chan.handle->id, spare.channel[c].chan.handle->id);
		estop_close(&spare);
	}
}

TEST(test_a_suspended_machine_is_unsure)
{
	armed();
	e.suspended_ns -= 1000000000;
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	armed();
	clock_use_virtual(clock_now_ns()); /* suspended for 0 ns */
	e.suspended_ns = -50000000;
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, turn());
	e.suspended_ns--;
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	clock_use(&clock_real);
}

/* ---- channels that cannot be trusted ---- */

TEST(test_a_removed_channel)
{
	for (unsigned int c = 0; c < ESTOP_CHANNELS; c++) {
		armed();
		ach_unlink(e.channel[c].name);
		TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, turn()); /* found after this look */
		mend_and_arm();
	}
}

/* A lowering before a reader has found the new channel has no effect for that reader. */
TEST(test_a_lowering_on_a_replaced_channel_is_void)
{
	struct estop other;
	struct estop_seen seen;
	uint64_t base;

	armed();
	ach_unlink(e.channel[0].name);
	turn();
	open_as(&other, true, NULL);
	estop_read(&other, clock_now_ns());
	seen = estop_seen(&other);
	estop_lower(&other, &seen, MSG_LEVEL_RUN, clock_now_ns() + 60000000000, 9, "anna", 0, "", &base, &quiet);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, estop_read(&other, clock_now_ns())); /* it knows of no trouble */
	estop_close(&other);
	for (int i = 0; i < 4; i++) {
		e.channel[0].retry_ns = 0;
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	}
	armed();
}

/* Found removed, it is opened at once: the lowering there is void all the same. */
TEST(test_a_channel_replaced_between_two_looks)
{
	struct estop other;
	struct estop_seen seen;
	uint64_t base;

	armed();
	ach_unlink(e.channel[0].name);
	open_as(&other, true, NULL);
	estop_read(&other, clock_now_ns());
	seen = estop_seen(&other);
	estop_lower(&other, &seen, MSG_LEVEL_RUN, clock_now_ns() + 60000000000, 9, "anna", 0, "", &base, &quiet);
	estop_close(&other);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, turn());
	TEST_ASSERT_TRUE(e.channel[0].open);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	armed();
}

TEST(test_a_channel_is_not_opened_in_every_turn)
{
	const int64_t now_ns = clock_now_ns();

	armed();
	TEST_ASSERT_EQUAL(ACH_OK, ach_condemn(&e.channel[1].chan));
	read_level();
	estop_maintain(&e, now_ns);
	TEST_ASSERT_TRUE(e.channel[1].open);
	read_level();
	TEST_ASSERT_FALSE(e.channel[1].open);
	estop_maintain(&e, now_ns + ESTOP_READ_NS - 1);
	TEST_ASSERT_FALSE(e.channel[1].open);
	TEST_ASSERT_EQUAL_STRING("ACH_CORRUPT: the channel was condemned", e.channel[1].why);
	estop_maintain(&e, now_ns + ESTOP_READ_NS);
	TEST_ASSERT_TRUE(e.channel[1].open);
	TEST_ASSERT_EQUAL_STRING("", e.channel[1].why);
}

static unsigned int stats;

/* In place of the C library's. */
int stat(const char *path, struct stat *st)
{
	stats++;
	return fstatat(AT_FDCWD, path, st, 0);
}

/* Level and files looked at in one turn. */
static enum msg_level turn_at(int64_t now_ns, unsigned int *looked)
{
	const enum msg_level level = estop_read(&e, now_ns);

	stats = 0;
	estop_maintain(&e, now_ns);
	*looked = stats;
	return level;
}

static void open_watched(struct removal *removal, bool inotify)
{
	const struct estop_options options = {
		.make = true, .group = OPERATORS, .ratify = true, .name = "waist", .removal = removal
	};

	TEST_ASSERT_EQUAL(0, removal_open(removal));
	if (!inotify)
		removal_close(removal);
	estop_close(&e);
	estop_open(&e, &options, &quiet);
}

TEST(test_files_of_watched_channels_are_not_looked_at_in_every_turn)
{
	static const struct {
		int64_t after_ns;
		unsigned int looked, looked_unwatched;
	} turns[] = {
		{ 0, 2, 2 }, /* one may have been removed before it was watched */
		{ 1000000, 0, 2 }, { ESTOP_FILE_NS - 1, 0, 2 }, { ESTOP_FILE_NS, 2, 2 }, { ESTOP_FILE_NS + 1, 0, 2 },
	};
	struct removal removal;
	unsigned int looked;

	for (int inotify = 0; inotify < 2; inotify++) {
		const int64_t now_ns = clock_now_ns();

		open_watched(&removal, inotify);
		for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
			turn_at(now_ns + turns[i].after_ns, &looked);
			TEST_ASSERT_EQUAL(inotify ? turns[i].looked : turns[i].looked_unwatched, looked);
		}
		removal_close(&removal);
	}
}

/* Readers still have it open, and find it removed: a raise does not fail for it. */
TEST(test_a_channel_whose_file_was_overwritten_is_removed_by_a_raise)
{
	static const char nonsense[200] = "nonsense";
	const struct estop_options options = { .group = OPERATORS, .ratify = true, .name = "waist" };
	char path[256];
	FILE *f;

	f = fopen(lib_path(path, e.channel[0].name), "w");
	TEST_ASSERT_NOT_NULL(f);
	fwrite(nonsense, sizeof(nonsense), 1, f);
	fclose(f);
	estop_close(&e);
	estop_open(&e, &options, &quiet);
	TEST_ASSERT_FALSE(e.channel[0].open);
	TEST_ASSERT_TRUE(e.channel[1].open);
	TEST_ASSERT_EQUAL(0, access(path, F_OK));
	TEST_ASSERT_EQUAL(0, estop_raise(&e, MSG_LEVEL_ESTOP, "ann", 0, "smoke", &quiet));
	TEST_ASSERT_NOT_EQUAL(0, access(path, F_OK));
}

/* Between the opening and the watch it may have been removed again: it is looked at once, whatever is due. */
TEST(test_a_channel_that_was_opened_again_is_looked_at)
{
	const int64_t now_ns = clock_now_ns();
	struct removal removal;
	unsigned int looked;

	open_watched(&removal, true);
	turn_at(now_ns, &looked);
	turn_at(now_ns, &looked);
	TEST_ASSERT_EQUAL(0, looked);
	estop_channel_close(&e.channel[1], ACH_ENOENT, "for a moment");
	TEST_ASSERT_EQUAL(ACH_OK, estop_channel_open(&e, 1, &e.channel[1]));
	turn_at(now_ns, &looked);
	TEST_ASSERT_EQUAL(1, looked);
	removal_close(&removal);
}

TEST(test_a_watched_channel_that_was_removed_is_found_in_the_same_turn)
{
	struct removal removal;
	unsigned int looked;
	char path[256];

	open_watched(&removal, true);
	for (unsigned int c = 0; c < ESTOP_CHANNELS; c++) {
		const int64_t now_ns = clock_now_ns();

		armed();
		turn_at(now_ns, &looked);
		removal_read(&removal);
		turn_at(now_ns, &looked);
		TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, turn_at(now_ns, &looked));
		TEST_ASSERT_EQUAL(0, looked);
		TEST_ASSERT_EQUAL(0, unlink(lib_path(path, e.channel[c].name)));
		TEST_ASSERT_TRUE(removal_read(&removal));
		turn_at(now_ns, &looked);
		TEST_ASSERT_TRUE(looked >= 2);
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn_at(now_ns, &looked));
		mend_and_arm();
	}
	removal_close(&removal);
}

static int lowest_fd(void)
{
	const int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

TEST(test_a_closed_channel_is_closed)
{
	int before;

	estop_close(&e);
	before = lowest_fd();
	open_as(&e, true, NULL);
	TEST_ASSERT_NOT_EQUAL(before, lowest_fd());
	estop_close(&e);
	TEST_ASSERT_EQUAL(before, lowest_fd());
	TEST_ASSERT_TRUE(!e.channel[0].chan.handle && !e.channel[1].chan.handle);
}

TEST(test_a_condemned_channel)
{
	for (unsigned int c = 0; c < ESTOP_CHANNELS; c++) {
		armed();
		TEST_ASSERT_EQUAL(ACH_OK, ach_condemn(&e.channel[c].chan));
		mend_and_arm();
	}
}

TEST(test_a_writer_stopped_inside_put_prevents_no_raise)
{
	struct estop other;
	pid_t pid;

	armed();
	pid = lib_inside_put(e.channel[1].name, sizeof(struct msg_estop));
	open_as(&other, false, NULL);
	estop_read(&other, clock_now_ns());
	TEST_ASSERT_EQUAL(0, estop_raise(&other, MSG_LEVEL_HOLD, "ben", 0, "", &quiet));
	estop_close(&other);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, read_level()); /* estop-b is condemned */
	TEST_ASSERT_FALSE(e.channel[1].open);
	lib_kill(pid);
	mend_and_arm();
}

TEST(test_a_channel_that_goes_back_is_condemned)
{
	struct estop other;

	armed();
	estop_raise(&e, MSG_LEVEL_HOLD, "ben", 0, "", &quiet);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, turn());
	open_as(&other, true, NULL);
	atomic_fetch_sub(&e.channel[1].chan.handle->shm->commit, 1); /* as an operator could */
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	read_level();
	TEST_ASSERT_EQUAL_STRING("estop-b cannot be read",
				 e.channel[0].messages[e.channel[0].window.newest % ESTOP_RETAINED].why);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, estop_read(&other, clock_now_ns()));
	TEST_ASSERT_FALSE(other.channel[1].chan.handle->shm->condemned);
	estop_maintain(&other, clock_now_ns());
	TEST_ASSERT_TRUE(other.channel[1].chan.handle->shm->condemned);
	estop_close(&other);
	mend_and_arm();
}

/* Condemned is as good as raised. */
TEST(test_raising_on_channels_that_are_condemned)
{
	struct error_sink errors = { 0 };

	armed();
	for (unsigned int c = 0; c < ESTOP_CHANNELS; c++)
		TEST_ASSERT_EQUAL(ACH_OK, ach_condemn(&e.channel[c].chan));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, read_level());
	TEST_ASSERT_FALSE(e.channel[0].open || e.channel[1].open);
	TEST_ASSERT_EQUAL_UINT64(0, estop_seen(&e).seq[0]);
	TEST_ASSERT_EQUAL_UINT64(0, estop_seen(&e).id[0]);
	TEST_ASSERT_EQUAL(0, estop_raise(&e, MSG_LEVEL_ESTOP, "ben", 0, "", &errors));
	TEST_ASSERT_EQUAL(0, errors.count);
}

/* Readers that opened it before find that it was removed. */
TEST(test_raising_beside_an_overwritten_channel)
{
	struct estop other;
	int unlinked = 0;
	char path[40];

	armed();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e.channel[1].chan.handle->file);
	TEST_ASSERT_EQUAL(0, truncate(path, 0));
	open_as(&other, false, NULL);
	TEST_ASSERT_EQUAL(ACH_BAD_SHM_FILE, other.channel[1].status);
	TEST_ASSERT_EQUAL(0, estop_raise(&other, MSG_LEVEL_HOLD, "ben", 0, "", &quiet));
	estop_close(&other);
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlinked(&e.channel[1].chan, &unlinked));
	TEST_ASSERT_TRUE(unlinked);
}

/* ---- opening ---- */

TEST(test_a_channel_that_is_too_small_is_refused_and_replaced)
{
	for (unsigned int c = 0; c < ESTOP_CHANNELS; c++) {
		struct error_sink errors = { 0 };

		replace(c, 64, sizeof(struct msg_estop) - 1, 0600);
		TEST_ASSERT_EQUAL(-EIO, open_without_making(&errors));
		TEST_ASSERT_EQUAL(1, errors.count);
		TEST_ASSERT_FALSE(e.channel[c].open);
		TEST_ASSERT_EQUAL_STRING("ACH_BAD_SHM_FILE: it is too small for e-stop messages", e.channel[c].why);
		TEST_ASSERT_EQUAL(1, estop_mend(&e, &quiet));
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
		armed();
	}
}

TEST(test_channels_that_are_missing)
{
	struct error_sink errors = { 0 };
	struct estop other;
	struct estop_seen seen;
	int unlinked = 0;
	char why[128];
	uint64_t base;

	estop_close(&e);
	TEST_ASSERT_EQUAL_STRING("ACH_CLOSED", e.channel[0].why);
	remove_channels();
	TEST_ASSERT_EQUAL(-ENOENT, open_without_making(&errors));
	TEST_ASSERT_EQUAL(2, errors.count);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, e.level);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, read_level());
	snprintf(why, sizeof(why), "%s", e.channel[1].why);
	open_as(&other, false, NULL); /* makes them, unknown to the first */
	TEST_ASSERT_EQUAL(-EIO, estop_raise(&e, MSG_LEVEL_ESTOP, "ben", 0, "", &errors));
	TEST_ASSERT_EQUAL(4, errors.count);
	TEST_ASSERT_EQUAL_STRING(why, e.channel[1].why);
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlinked(&other.channel[1].chan, &unlinked));
	TEST_ASSERT_FALSE(unlinked);
	estop_close(&other);
	seen = estop_seen(&e);
	TEST_ASSERT_EQUAL(-EIO, estop_lower(&e, &seen, MSG_LEVEL_RUN, INT64_MAX, 1, "ben", 0, "", &base, &errors));
	TEST_ASSERT_EQUAL(5, errors.count);
	ach_unlink(e.channel[1].name);
	TEST_ASSERT_EQUAL(2, estop_mend(&e, &errors));
	TEST_ASSERT_EQUAL(5, errors.count);
	TEST_ASSERT_EQUAL(0, estop_mend(&e, &errors));
}

TEST(test_a_name_that_is_too_long)
{
	char longer[60], line[ERROR_LINE_MAX];
	struct error_sink errors = { error_keep_last, line, 0 };

	estop_close(&e);
	memset(longer, 'x', sizeof(longer));
	longer[57] = 0; /* and estop-b is one too many */
	setenv("ENDPLATE_PREFIX", longer, 1);
	TEST_ASSERT_EQUAL(-EINVAL, open_without_making(&errors));
	TEST_ASSERT_EQUAL_STRING("estop-b: the channel's name is longer than 63 bytes", line);
}

static void test_how_channels_are_made_and_opened(void)
{
	const mode_t modes[ESTOP_CHANNELS] = { 0640, 0660 };
	const struct estop_options alone = { .make = true, .group = (gid_t)-1 };

	for (unsigned int c = 0; c < ESTOP_CHANNELS; c++) {
		struct shmid_ds d;

		TEST_ASSERT_EQUAL(2000000, e.channel[c].chan.handle->put_timeout_ns);
		TEST_ASSERT_EQUAL(64, e.channel[c].chan.handle->count);
		TEST_ASSERT_EQUAL(0, shmctl(e.channel[c].chan.handle->shm_id, IPC_STAT, &d));
		TEST_ASSERT_EQUAL(OPERATORS, d.shm_perm.gid);
		TEST_ASSERT_EQUAL(modes[c], d.shm_perm.mode & 0777);
		estop_close(&e);
		remove_channels();
		TEST_ASSERT_EQUAL(0, estop_open(&e, &alone, &quiet));
		TEST_ASSERT_EQUAL(0, shmctl(e.channel[c].chan.handle->shm_id, IPC_STAT, &d));
		TEST_ASSERT_EQUAL(0600, d.shm_perm.mode & 0777);
		replace(c, 64, sizeof(struct msg_estop), modes[c] | 1);
		TEST_ASSERT_EQUAL(-EACCES, open_without_making(&quiet));
		estop_close(&e);
		remove_channels();
		open_as(&e, true, NULL);
	}
}

/* ---- other users ---- */

static struct estop mine; /* of another process */

static int as_someone(int (*does)(void), gid_t group)
{
	int result;

	TEST_ASSERT_FALSE(setgroups(0, NULL) || setegid(group) || seteuid(SOMEONE));
	result = does();
	estop_close(&mine);
	TEST_ASSERT_FALSE(seteuid(0) || setegid(0));
	return result;
}

/* Looks, tries to lower in every way, and raises. */
static int be_an_operator(void)
{
	struct error_sink errors = { 0 };
	struct estop_seen seen;
	uint64_t base;

	open_as(&mine, false, NULL);
	if (!mine.channel[0].open || !mine.channel[1].open)
		return 1;
	if (estop_read(&mine, clock_now_ns()) != MSG_LEVEL_RUN)
		return 2;
	if (mine.channel[0].chan.handle->writable)
		return 3;
	seen = estop_seen(&mine);
	if (!estop_lower(&mine, &seen, MSG_LEVEL_RUN, INT64_MAX, 99, "me", 0, "", &base, &quiet))
		return 4;
	if (strncmp(mine.channel[0].why, "ACH_EACCES: ", 12))
		return 7;
	if (ach_condemn(&mine.channel[0].chan) == ACH_OK)
		return 5;
	if (estop_raise(&mine, MSG_LEVEL_HOLD, "operator", SOMEONE, "", &errors))
		return 6;
	return errors.count ? 8 : 0;
}

static void test_an_operator_looks_and_raises_and_does_not_lower(void)
{
	armed();
	TEST_ASSERT_EQUAL(0, as_someone(be_an_operator, OPERATORS));
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, turn());
	TEST_ASSERT_EQUAL_STRING("operator", e.who);
}

static int forge_on_estop_b(void)
{
	struct msg_estop msg;

	open_as(&mine, false, NULL);
	estop_read(&mine, clock_now_ns());
	msg = mine.channel[0].messages[mine.channel[0].window.newest % ESTOP_RETAINED];
	msg.seen[0] = mine.channel[1].window.newest;
	return ach_put(&mine.channel[1].chan, &msg, sizeof(msg)) != ACH_OK;
}

static void test_a_lowering_that_an_operator_forges_is_a_raise(void)
{
	armed();
	TEST_ASSERT_EQUAL(0, as_someone(forge_on_estop_b, OPERATORS));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	armed();
}

static int be_a_stranger(void)
{
	struct error_sink errors = { 0 };

	open_as(&mine, false, NULL);
	if (mine.channel[0].open || mine.channel[1].open)
		return 1;
	estop_read(&mine, clock_now_ns());
	if (!estop_raise(&mine, MSG_LEVEL_ESTOP, "me", 0, "", &errors))
		return 2;
	return errors.count == 1 ? 0 : 3;
}

static void test_a_stranger_does_neither(void)
{
	armed();
	TEST_ASSERT_EQUAL(0, as_someone(be_a_stranger, SOMEONE));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, turn());
}

static int come_first(void)
{
	const struct estop_options options = { .owner = SOMEONE, .make = true, .group = (gid_t)-1, .name = "me" };

	return estop_open(&mine, &options, &quiet) ? 1 : 0;
}

/* A stranger who makes the channels first prevents a start, until the robot's owner, root here, replaces them. */
static void test_a_strangers_channels_are_refused_and_replaced(void)
{
	estop_close(&e);
	remove_channels();
	TEST_ASSERT_EQUAL(0, as_someone(come_first, SOMEONE));
	open_as(&e, true, NULL);
	TEST_ASSERT_FALSE(e.channel[0].open || e.channel[1].open);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.channel[0].why, "belongs to uid 4712"), e.channel[0].why);
	TEST_ASSERT_EQUAL(2, estop_mend(&e, &quiet));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, turn());
	armed();
}

/* He may not make channels of a group that he is not in, and nothing of the robot's is removed for it. */
static int make_without_the_group(void)
{
	struct error_sink errors = { 0 };
	const struct estop_options options = { .owner = SOMEONE, .make = true, .group = OPERATORS, .name = "me" };

	if (estop_open(&mine, &options, &errors) != -EACCES || errors.count != 2)
		return 1;
	return estop_mend(&mine, &errors) || errors.count != 4 ? 2 : 0;
}

static void test_a_group_of_others(void)
{
	estop_close(&e);
	remove_channels();
	TEST_ASSERT_EQUAL(0, as_someone(make_without_the_group, SOMEONE));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(mine.channel[0].why, "no channel of that group"), mine.channel[0].why);
}

int main(void)
{
	UNITY_BEGIN();
	testcase_run_all();
	if (!geteuid()) {
		RUN_TEST(test_how_channels_are_made_and_opened);
		RUN_TEST(test_a_group_of_others);
		RUN_TEST(test_an_operator_looks_and_raises_and_does_not_lower);
		RUN_TEST(test_a_lowering_that_an_operator_forges_is_a_raise);
		RUN_TEST(test_a_stranger_does_neither);
		RUN_TEST(test_a_strangers_channels_are_refused_and_replaced);
	}
	return UNITY_END();
}
