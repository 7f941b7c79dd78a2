/* test_achlogd_restart.c: achlogd goes on recording a robot when achstart, or achlogd itself, is killed.
 *
 * The robot is on the virtual clock; the thread of achlogd that writes is not.  Before achlogd is killed the test
 * waits, while the clock stands still, until what achlogd has read is on the disk.  What comes after that is still in
 * the channel when its successor looks there.
 */
#include <fcntl.h>
#include <signal.h>

#include "test/lib/testcase.h"

#include "channels/rec/rec_rotate.h"
#include "channels/rec/reclog.h"
#include "channels/rec/writer.h"
#include "test/launch/achstart/rig.h"

#define DIGITS 8	/* of the number of a piece */
#define UNWRITTEN_MS 50 /* ten states; the channel holds 64 */
#define LOOKS 6000	/* 10 ms each: a thread that hangs */

void tearDown(void)
{
	rig_close();
}

/* ---- what the pieces hold ---- */

struct held {
	uint64_t messages; /* of waist-state */
	uint64_t number;   /* of the last of them, in the channel */
	uint64_t sequence; /* the driver's */
	uint64_t wrong;	   /* number of the first that does not follow the one before it; 0: none */
	size_t pieces;
};

static void hold(struct held *held, const struct reclog_record *r)
{
	struct msg_header header; /* a body has any address */

	memcpy(&header, r->body, sizeof(header));
	if (held->messages++ && r->number != held->number + 1 && !held->wrong)
		held->wrong = r->number;
	held->number = r->number;
	held->sequence = header.sequence;
}

static void read_piece(struct held *held, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reclog_reader reader;
	struct reclog_channel what;
	struct reclog_record r;
	enum reclog_found found;
	int waist = -1;

	TEST_ASSERT_TRUE_MESSAGE(fd >= 0, path);
	reclog_open(&reader, fd);
	while ((found = reclog_read(&reader, &r)) == RECLOG_FOUND_RECORD) {
		if (r.kind == RECLOG_CHANNEL && !reclog_channel_read(&what, &r) && strstr(what.name, "-waist-state"))
			waist = r.channel;
		if (r.kind == RECLOG_MESSAGE && r.channel == waist)
			hold(held, &r);
	}
	reclog_close(&reader);
	close(fd);
	TEST_ASSERT_TRUE_MESSAGE(found == RECLOG_FOUND_EOF || found == RECLOG_FOUND_CUT, path);
}

static struct held read_all(void)
{
	char whole[600], path[PATH_MAX];
	struct held held = { 0 };
	struct rec_piece *pieces;

	snprintf(whole, sizeof(whole), "%s/log/record/achlogd.rec", rig.run);
	held.pieces = writer_pieces(whole, &pieces);
	for (size_t i = 0; i < held.pieces; i++) {
		TEST_ASSERT_EQUAL(0, rec_rotate_path(path, whole, DIGITS, pieces[i].number));
		read_piece(&held, path);
	}
	free(pieces);
	return held;
}

/* ---- time ---- */

static void pass(int ms)
{
	for (; ms > 0; ms--)
		rig_turn();
}

/* All that was published before is read in the next millisecond, and written while the clock stands still. */
static void until_written(void)
{
	const uint64_t sequence = rig_waist().header.sequence;

	rig_turn();
	for (int i = 0; i < LOOKS && read_all().sequence < sequence; i++)
		usleep(10000);
	TEST_ASSERT_TRUE(read_all().sequence >= sequence);
}

TEST(killed_or_left_alone_by_achstart_it_holds_each_message_once)
{
	struct held held;
	uint64_t sequence;
	char text[1024];
	pid_t pid;

	snprintf(text, sizeof(text), "%s  achlogd: {program: %s, alive: watchdog, args: [\"*-event\", \"*-state\"]}\n",
		 RIG_BENCH, rig_program("achlogd"));
	rig_open(text);
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_ready("achlogd"));
	pid = rig_pid("achlogd");
	rig_kill();
	pass(UNWRITTEN_MS);
	rig_start();
	RIG_UNTIL(rig_events("achlogd", "adopted") == 1 && rig_all_ready());
	RIG_ASSERT(rig_pid("achlogd") == pid);
	until_written();
	pass(UNWRITTEN_MS);
	rig_signal("achlogd", SIGKILL);
	RIG_UNTIL(rig_events("achlogd", "ready") == 2);
	pass(UNWRITTEN_MS);
	sequence = rig_waist().header.sequence;
	RIG_ASSERT(!rig_stop());
	RIG_ASSERT(strstr(rig_said(), "achstart[achlogd]: exit status 0"));
	held = read_all();
	TEST_ASSERT_EQUAL_UINT64(0, held.wrong);
	TEST_ASSERT_GREATER_OR_EQUAL_UINT64(sequence, held.sequence);
	TEST_ASSERT_GREATER_OR_EQUAL_UINT64(3 * UNWRITTEN_MS / 5, held.messages);
	TEST_ASSERT_EQUAL(2, held.pieces);
}
