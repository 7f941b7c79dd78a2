/* page_lib.c: the vectors of a page of hw-docs/devices. */
#include "test/daemons/drv/page_lib.h"

#include "can/bus/frame_text.h"
#include "test/lib/testcase.h"

unsigned int page_lib_lines(const char *path, bool (*take)(char *line))
{
	char line[PAGE_LIB_TEXT];
	FILE *page = fopen(path, "r");
	unsigned int vectors = 0;
	bool inside = false;

	TEST_ASSERT_NOT_NULL_MESSAGE(page, path); /* from the top of the tree */
	while (fgets(line, sizeof(line), page)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "```", 3))
			inside = !strcmp(line, "```vectors");
		else if (inside && *line != '#')
			vectors += take(line);
	}
	fclose(page);
	return vectors;
}

static struct {
	const char *word;
	void (*say)(char said[PAGE_LIB_TEXT], char *words);
} each;

static bool take_line(char *line)
{
	char said[PAGE_LIB_TEXT], *expected = strstr(line, " =");
	const size_t len = strlen(each.word);

	if (strncmp(line, each.word, len) != 0 || line[len] != ' ')
		return false;
	TEST_ASSERT_NOT_NULL_MESSAGE(expected, line);
	*expected = 0;
	each.say(said, line + len);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(expected + (expected[2] ? 3 : 2), said, line);
	return true;
}

unsigned int page_lib_each(const char *path, const char *word, void (*say)(char said[PAGE_LIB_TEXT], char *words))
{
	each.word = word;
	each.say = say;
	return page_lib_lines(path, take_line);
}

struct frame page_lib_read(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	memset(frame.data + frame.len, 0xA5, sizeof(frame.data) - frame.len); /* not carried: it must not count */
	return frame;
}

bool page_lib_frame(char **words, struct frame *frame)
{
	char word[64];
	int n;

	if (sscanf(*words, "%63s%n", word, &n) != 1)
		return false;
	*words += n;
	*frame = page_lib_read(word);
	return true;
}
