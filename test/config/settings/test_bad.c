/* test_bad.c: every robot file in test/config/bad gives exactly the lines that its first comments expect.
 *
 *	# expect: FILE:LINE: key: what is allowed
 *
 * FILE stands for its own name.  The settings of each device are read with the sample driver's table.
 */
#include <glob.h>

#include "test/lib/testcase.h"

#include "config/settings/robot.h"
#include "test/config/settings/lines.h"
#include "test/config/settings/sample.h"

#define FOLDER "test/config/bad/"
#define FILES_MIN 25

static size_t slurp(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return len;
}

/* The lines expected, with the file's name in them. */
static void expectations(const char *text, const char *name, char *expected, size_t size)
{
	const char mark[] = "# expect: FILE";
	size_t at = 0;

	for (*expected = '\0'; !strncmp(text, mark, strlen(mark)); text += strcspn(text, "\n") + 1) {
		int len = (int)strcspn(text, "\r\n");

		at += (size_t)snprintf(expected + at, size - at, "%s%.*s\n", name, len - (int)strlen(mark),
				       text + strlen(mark));
	}
}

static void read_it(const char *name, const char *text, size_t len)
{
	struct settings *settings = sample_start();
	struct error_sink *errors = lines_start();
	struct robot robot;

	if (robot_open_text(&robot, name, text, len, errors))
		return;
	for (size_t i = 0; i < robot.devices_n; i++) {
		const struct yaml_node *node = robot.devices[i].settings;
		char where[ERROR_LINE_MAX];

		if (!node)
			continue;
		settings_read(settings, node, errors);
		snprintf(where, sizeof(where), "%s:%u: settings", node->file, node->line);
		settings_missing(settings, where, errors);
	}
	robot_close(&robot);
}

TEST(errors_of_bad_files_are_reported)
{
	static char text[1 << 16], expected[1 << 14];
	glob_t files;

	TEST_ASSERT_EQUAL_INT_MESSAGE(0, glob(FOLDER "*.yaml", 0, NULL, &files), "no files in " FOLDER);
	TEST_ASSERT_TRUE(files.gl_pathc >= FILES_MIN);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *path = files.gl_pathv[i], *name = path + strlen(FOLDER);
		size_t len = slurp(path, text, sizeof(text));

		expectations(text, name, expected, sizeof(expected));
		TEST_ASSERT_TRUE_MESSAGE(*expected, path);
		read_it(name, text, len);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, lines, path);
	}
	globfree(&files);
}

/* Each of the files above is wrong in one place; this is what they are made of. */
TEST(the_file_behind_them_is_right)
{
	static char text[1 << 14];
	size_t len = slurp("test/config/settings/good.yaml", text, sizeof(text));

	read_it("good.yaml", text, len);
	TEST_ASSERT_EQUAL_STRING("", lines);
}
