/* test_writer.c: items that wait for the disk are written soon, also in a piece that follows a removed one. */
#include <sys/stat.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "channels/rec/rec_rotate.h"
#include "channels/rec/writer.h"
#include "test/lib/lib.h"

#define DIGITS 4
#define ITEMS 100   /* at most, until it is seen that the piece is gone */
#define LOOKS 60000 /* of a millisecond: a thread that hangs */

static char folder[] = "/tmp/test-writer-XXXXXX", whole[64];

void setUp(void)
{
	lib_watchdog("test_writer", LIB_HANG_S);
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(whole, sizeof(whole), "%s/x.rec", folder);
}

void tearDown(void)
{
	char line[64];

	snprintf(line, sizeof(line), "rm -rf %s", folder);
	TEST_ASSERT_EQUAL(0, system(line));
}

static const char *piece(unsigned int number)
{
	static char path[PATH_MAX];

	TEST_ASSERT_EQUAL(0, rec_rotate_path(path, whole, DIGITS, number));
	return path;
}

static size_t begin(void *to, char *bytes, size_t room)
{
	(void)to;
	(void)room;
	*bytes = '<';
	return 1;
}

static size_t end(void *to, uint64_t items, int64_t t_ns, char bytes[WRITER_END_MAX])
{
	(void)to;
	(void)items;
	(void)t_ns;
	*bytes = '>';
	return 1;
}

/* One item, which is in a file when this returns: no other one pushes it there. */
static void put(struct writer *w, uint64_t number)
{
	const struct iovec part = { (char[]){ "item" }, 4 };

	TEST_ASSERT_TRUE(writer_put(w, clock_now_ns(), true, &part, 1));
	for (int i = 0; i < LOOKS && writer_stats(w).items < number; i++)
		usleep(1000);
	TEST_ASSERT_EQUAL_UINT64(number, writer_stats(w).items);
}

TEST(the_first_item_after_a_removed_piece_is_written)
{
	const struct writer_options options = { .path = whole,
						.rotate_bytes = 1000000,
						.digits = DIGITS,
						.memory = 1 << 20,
						.lasting = true,
						.begin = begin,
						.end = end };
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct writer *w;
	uint64_t number = 1;
	struct stat st;

	TEST_ASSERT_EQUAL(0, writer_open(&w, &options, &errors));
	put(w, number);
	TEST_ASSERT_EQUAL(0, unlink(piece(1)));
	while (number < ITEMS && access(piece(2), F_OK))
		put(w, ++number);
	TEST_ASSERT_EQUAL(0, access(piece(2), F_OK));
	TEST_ASSERT_EQUAL(0, writer_finish(w));
	writer_close(w);
	TEST_ASSERT_EQUAL(0, stat(piece(2), &st));
	TEST_ASSERT_EQUAL_INT64(strlen("<item>"), st.st_size);
}
