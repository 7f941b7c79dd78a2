/* page_lib.c: the vectors of a page of hw-docs. */
#include "test/daemons/page_lib.h"

#include "can/frame_text.h"
#include "test/channels/testcase.h"

unsigned int page_lib_each(const char *path, const char *word, void (*say)(char said[PAGE_LIB_TEXT], char *words))
{
	char line[PAGE_LIB_TEXT], said[PAGE_LIB_TEXT];
	FILE *page = fopen(path, "r");
	const size_t len = strlen(word);
	unsigned int vectors = 0;
	bool inside = false;

	TEST_ASSERT_NOT_NULL_MESSAGE(page, path); /* from the top of the tree */
	while (fgets(line, sizeof(line), page)) {
		char *expected = strstr(line, " = ");

		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "```", 3))
			inside = !strcmp(line, "```vectors");
		else if (inside && !strncmp(line, word, len) && line[len] == ' ') {
			TEST_ASSERT_NOT_NULL_MESSAGE(expected, line);
			*expected = 0;
			say(said, line + len);
			TEST_ASSERT_EQUAL_STRING_MESSAGE(expected + 3, said, line);
			vectors++;
		}
	}
	fclose(page);
	return vectors;
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
