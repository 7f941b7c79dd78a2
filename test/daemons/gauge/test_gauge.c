/* test_gauge.c: the codec of the example force gauge says the vectors of its page. */
#include "can/bus/frame_text.h"
#include "daemons/gauge/gauge.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define PAGE "hw-docs/devices/gauge.md"

static void say_ask(char said[PAGE_LIB_TEXT], char *words)
{
	unsigned int node, what, index;
	struct frame frame;

	TEST_ASSERT_EQUAL(3, sscanf(words, "%u %u %u", &node, &what, &index));
	memset(&frame, 0x5A, sizeof(frame));
	gauge_encode_ask(node, what, (uint8_t)index, &frame);
	TEST_ASSERT_TRUE(frame_valid(&frame));
	frame_text_write(said, &frame);
}

static void say_reply(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 1);
	struct gauge_reply got = { .what = 99 };
	const int status = gauge_decode_reply(&got, &frame);

	if (status == -EMSGSIZE) {
		TEST_ASSERT_EQUAL(99, got.what); /* left alone */
		strcpy(said, "EMSGSIZE");
		return;
	}
	TEST_ASSERT_EQUAL(frame.data[0], got.what);
	TEST_ASSERT_EQUAL(frame.data[1], got.index);
	if (status == -EREMOTEIO) {
		TEST_ASSERT_EQUAL(0, got.value);
		sprintf(said, "EREMOTEIO %u", got.error);
		return;
	}
	TEST_ASSERT_EQUAL(0, status);
	TEST_ASSERT_EQUAL(0, got.error);
	sprintf(said, "what %u index %u value %d", got.what, got.index, got.value);
}

static void say_sample(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 1);
	struct gauge_sample got = { .t_ns = 7, .saturated = 99 };
	const int status = gauge_decode_sample(&got, &frame, 123);

	if (status == -EMSGSIZE) {
		TEST_ASSERT_EQUAL(7, got.t_ns);
		strcpy(said, "EMSGSIZE");
		return;
	}
	TEST_ASSERT_EQUAL(0, status);
	TEST_ASSERT_EQUAL(123, got.t_ns);
	sprintf(said, "%d %d %d saturated %u number %u", got.counts[0], got.counts[1], got.counts[2], got.saturated,
		got.number);
}

TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(18, page_lib_each(PAGE, "ask", say_ask) + page_lib_each(PAGE, "reply", say_reply) +
				      page_lib_each(PAGE, "sample", say_sample));
}
