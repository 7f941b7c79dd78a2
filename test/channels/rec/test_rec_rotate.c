/* Pieces of a file: their names, and which of them go, as tables. */
#include <errno.h>
#include <string.h>

#include "channels/rec/rec_rotate.h"
#include "test/lib/testcase.h"

void setUp(void)
{
}

void tearDown(void)
{
}

TEST(names_have_a_number_before_the_ending)
{
	static const struct {
		const char *whole, *piece, *hidden, *folder;
		unsigned int digits, number;
	} rows[] = {
		{ "drive.log", "drive-0007.log", ".drive.log.new", ".", 0, 7 },
		{ "drive.log", "drive-12345.log", ".drive.log.new", ".", 4, 12345 },
		{ "/a.b/drive", "/a.b/drive-00000042", "/a.b/.drive.new", "/a.b/", 8, 42 },
		{ "x/.rec", "x/.rec-0001", "x/..rec.new", "x/", 4, 1 },
		{ "a.b.rec", "a.b-99999999.rec", ".a.b.rec.new", ".", 4, 99999999 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char path[PATH_MAX];
		const char *slash = strrchr(rows[i].piece, '/');

		TEST_ASSERT_EQUAL_INT(0, rec_rotate_path(path, rows[i].whole, rows[i].digits, rows[i].number));
		TEST_ASSERT_EQUAL_STRING(rows[i].piece, path);
		TEST_ASSERT_EQUAL_UINT(rows[i].number,
				       rec_rotate_number(rows[i].whole, slash ? slash + 1 : rows[i].piece));
		TEST_ASSERT_EQUAL_INT(0, rec_rotate_hidden_path(path, rows[i].whole));
		TEST_ASSERT_EQUAL_STRING(rows[i].hidden, path);
		TEST_ASSERT_EQUAL_UINT(0, rec_rotate_number(rows[i].whole,
							    path + (slash ? slash + 1 - rows[i].piece : 0)));
		rec_rotate_folder(path, rows[i].whole);
		TEST_ASSERT_EQUAL_STRING(rows[i].folder, path);
	}
}

TEST(other_files_are_not_pieces)
{
	static const char *const others[] = {
		"drive.log",
		"drive-.log",
		"drive-123.log",
		"drive-0001.lo",
		"drive-0001.log2",
		"drive-0001",
		"drive-000x.log",
		"drive-0000.log",
		"drives-0001.log",
		"driv-0001.log",
		"drive_0001.log",
		"xdrive-0001.log",
		"drive-100000000.log",
		"drive-0001-0001.log",
		"drive--0001.log",
		"drive- 001.log",
		"drive-000:.log",
		"drive-4294967297.log",
		"",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		TEST_ASSERT_EQUAL_UINT_MESSAGE(0, rec_rotate_number("/var/log/drive.log", others[i]), others[i]);
}

TEST(a_path_that_is_too_long_is_refused)
{
	char whole[PATH_MAX], path[PATH_MAX];

	memset(whole, 'a', sizeof(whole));
	whole[PATH_MAX - 1 - 5] = '\0'; /* "-0001", or "." and ".new", and the zero fit exactly */
	TEST_ASSERT_EQUAL_INT(0, rec_rotate_path(path, whole, 4, 1));
	TEST_ASSERT_EQUAL_INT(0, rec_rotate_hidden_path(path, whole));
	whole[PATH_MAX - 1 - 5] = 'a';
	whole[PATH_MAX - 5] = '\0';
	TEST_ASSERT_EQUAL_INT(-ENAMETOOLONG, rec_rotate_path(path, whole, 4, 1));
	TEST_ASSERT_EQUAL_INT(-ENAMETOOLONG, rec_rotate_hidden_path(path, whole));
}

TEST(the_oldest_is_the_one_with_the_lowest_number)
{
	struct rec_piece pieces[] = { { 12, 1 }, { 3, 2 }, { 99999999, 3 }, { 7, 4 }, { 10000, 5 } };
	static const unsigned int sorted[] = { 3, 7, 12, 10000, 99999999 };
	static const int64_t bytes[] = { 2, 4, 1, 5, 3 };

	rec_rotate_sort(pieces, 5);
	for (size_t i = 0; i < 5; i++) {
		TEST_ASSERT_EQUAL_UINT(sorted[i], pieces[i].number);
		TEST_ASSERT_EQUAL_INT64(bytes[i], pieces[i].bytes);
	}
	rec_rotate_sort(NULL, 0);
}

TEST(pieces_go_until_the_next_one_fits)
{
	static const struct {
		int64_t bytes[5];
		size_t n;
		int64_t keep, total, next;
		size_t gone;
	} rows[] = {
		{ { 0 }, 0, 0, 0, 10, 0 },
		{ { 0 }, 0, 1, 5, 10, 0 }, /* nothing is left to be removed */
		{ { 10, 10, 10 }, 3, 0, 0, 10, 0 },
		{ { 10, 10, 10 }, 3, 4, 0, 10, 0 },
		{ { 10, 10, 10 }, 3, 3, 0, 10, 1 },
		{ { 10, 10, 10 }, 3, 2, 0, 10, 2 },
		{ { 10, 10, 10 }, 3, 1, 0, 10, 3 },
		{ { 10, 10, 10 }, 3, 0, 40, 10, 0 },
		{ { 10, 10, 10 }, 3, 0, 39, 10, 1 },
		{ { 10, 10, 10 }, 3, 0, 30, 10, 1 },
		{ { 10, 10, 10 }, 3, 0, 29, 10, 2 },
		{ { 10, 10, 10 }, 3, 0, 10, 10, 3 },
		{ { 10, 10, 10 }, 3, 0, 5, 10, 3 },
		{ { 1, 1, 100, 1, 1 }, 5, 0, 50, 10, 3 }, /* the oldest first, although they are small */
		{ { 100, 1, 1, 1, 1 }, 5, 0, 50, 10, 1 },
		{ { 0, 0, 0, 0, 50 }, 5, 0, 50, 1, 5 },
		{ { 10, 10, 10 }, 3, 3, 29, 10, 2 }, /* both bounds hold */
		{ { 10, 10, 10 }, 3, 2, 40, 10, 2 },
		{ { INT64_C(5000000000), INT64_C(5000000000) }, 2, 0, INT64_C(10000000000), 1, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rec_piece pieces[5];
		char row[16];

		snprintf(row, sizeof(row), "row %zu", i);
		for (size_t k = 0; k < rows[i].n; k++)
			pieces[k] = (struct rec_piece){ (unsigned int)k + 1, rows[i].bytes[k] };
		TEST_ASSERT_EQUAL_size_t_MESSAGE(
			rows[i].gone, rec_rotate_over(pieces, rows[i].n, rows[i].keep, rows[i].total, rows[i].next),
			row);
	}
}
