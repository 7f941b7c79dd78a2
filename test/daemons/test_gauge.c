/* test_gauge.c: the codec of the example force gauge says the vectors of its page. */
#include "can/frame_text.h"
#include "daemons/gauge/gauge.h"
#include "test/channels/testcase.h"

#define PAGE "hw-docs/gauge.md"

static struct frame read_frame(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	memset(frame.data + frame.len, 0xA5, sizeof(frame.data) - frame.len); /* not carried: it must not count */
	return frame;
}

static void say_ask(char *said, unsigned int node, unsigned int what, unsigned int index)
{
	struct frame frame;

	memset(&frame, 0x5A, sizeof(frame));
	gauge_encode_ask(node, what, (uint8_t)index, &frame);
	TEST_ASSERT_TRUE(frame_valid(&frame));
	frame_text_write(said, &frame);
}

static void say_reply(char *said, const char *text)
{
	const struct frame frame = read_frame(text);
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

static void say_sample(char *said, const char *text)
{
	const struct frame frame = read_frame(text);
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
	char line[256], word[64], said[256];
	FILE *page = fopen(PAGE, "r");
	unsigned int vectors = 0, node, what, index;
	bool inside = false;

	TEST_ASSERT_NOT_NULL_MESSAGE(page, PAGE ": run from the top of the tree");
	while (fgets(line, sizeof(line), page)) {
		const char *expected = strstr(line, " = ");

		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "```", 3)) {
			inside = !strcmp(line, "```vectors");
			continue;
		}
		if (!inside)
			continue;
		TEST_ASSERT_NOT_NULL_MESSAGE(expected, line);
		if (sscanf(line, "ask %u %u %u", &node, &what, &index) == 3)
			say_ask(said, node, what, index);
		else if (sscanf(line, "reply %63s", word) == 1)
			say_reply(said, word);
		else if (sscanf(line, "sample %63s", word) == 1)
			say_sample(said, word);
		else
			TEST_FAIL_MESSAGE(line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(expected + 3, said, line);
		vectors++;
	}
	fclose(page);
	TEST_ASSERT_EQUAL(18, vectors);
}
