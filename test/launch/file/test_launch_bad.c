/* test_launch_bad.c: every launch file in test/launch/bad gives exactly the lines that its first comments expect.
 *
 *	# expect: FILE:LINE: key: what is allowed
 *
 * FILE stands for its own path.
 */
#include <glob.h>

#include "test/lib/testcase.h"

#include "launch/file/launch_file.h"
#include "test/launch/file/launch_lib.h"

#define FILES_MIN 95

static struct launch_lib_lines lines;
static struct launch launch;

/* The lines expected, with the file's path in them. */
static void expectations(const char *text, const char *path, char *expected, size_t size)
{
	const char mark[] = "# expect: ";
	size_t at = strncmp(text, "\xEF\xBB\xBF", 3) ? 0 : 3; /* a byte order mark */

	for (text += at, at = 0, *expected = '\0'; !strncmp(text, mark, strlen(mark));
	     text += strcspn(text, "\n") + 1) {
		const char *line = text + strlen(mark);
		bool own = !strncmp(line, "FILE", 4);
		int len = (int)strcspn(line, "\n");

		at += (size_t)snprintf(expected + at, size - at, "%s%.*s\n", own ? path : "", len - (own ? 4 : 0),
				       line + (own ? 4 : 0));
	}
}

TEST(bad_files_give_the_expected_errors)
{
	static char text[1 << 16], expected[1 << 14];
	glob_t files;

	TEST_ASSERT_EQUAL_INT(0, glob("test/launch/bad/*.launch", 0, NULL, &files));
	TEST_ASSERT_TRUE(files.gl_pathc >= FILES_MIN);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *path = files.gl_pathv[i];

		launch_lib_read(path, text, sizeof(text));
		expectations(text, path, expected, sizeof(expected));
		TEST_ASSERT_TRUE_MESSAGE(*expected, path);
		TEST_ASSERT_TRUE_MESSAGE(launch_open(&launch, path, launch_lib_start(&lines)) < 0, path);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, lines.text, path);
	}
	globfree(&files);
}

/* Most of the files above are this one with something wrong. */
TEST(the_file_behind_them_is_valid)
{
	TEST_ASSERT_EQUAL_INT(0, launch_open(&launch, "test/launch/good.launch", launch_lib_start(&lines)));
	TEST_ASSERT_EQUAL_STRING("", lines.text);
	launch_close(&launch);
}

TEST(a_missing_file_is_an_error)
{
	TEST_ASSERT_TRUE(launch_open(&launch, "test/launch/none.launch", launch_lib_start(&lines)) < 0);
	TEST_ASSERT_EQUAL_STRING("test/launch/none.launch: No such file or directory\n", lines.text);
}
