/* test_removal.c: what is reported of a channel's file, and what is not. */
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "channels/port/removal.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static char name[LIB_NAME_LEN], path[256], other[300];
static struct removal removal;
static ach_channel_t chan;

void setUp(void)
{
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "removal"), 4, 8, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	lib_path(path, name);
	snprintf(other, sizeof(other), "%s-other", path);
	TEST_ASSERT_EQUAL_INT(0, removal_open(&removal));
	TEST_ASSERT_EQUAL_INT(0, removal_watch(&removal, &chan));
}

void tearDown(void)
{
	removal_close(&removal);
	if (chan.handle)
		ach_close(&chan);
	ach_unlink(name);
	unlink(other);
}

static void remove_it(void)
{
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

static void unlink_it(void)
{
	TEST_ASSERT_EQUAL_INT(0, unlink(path));
}

static void rename_it(void)
{
	TEST_ASSERT_EQUAL_INT(0, rename(path, other));
}

static void replace_it(void)
{
	const int fd = open(other, O_CREAT | O_WRONLY, 0600);

	TEST_ASSERT_TRUE(fd >= 0);
	close(fd);
	TEST_ASSERT_EQUAL_INT(0, rename(other, path));
}

static void truncate_it(void)
{
	TEST_ASSERT_EQUAL_INT(0, truncate(path, 0));
}

static void remake_it(void)
{
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_truncate(&attr, 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 4, 8, &attr));
}

TEST(removed_or_replaced_by_any_means_is_reported_once)
{
	static void (*const means[])(void) = { remove_it, unlink_it, rename_it, replace_it, truncate_it, remake_it };

	for (size_t i = 0; i < sizeof(means) / sizeof(*means); i++) {
		int unlinked = 0;

		TEST_ASSERT_FALSE_MESSAGE(removal_read(&removal), "nothing has happened yet");
		means[i]();
		TEST_ASSERT_TRUE(removal_read(&removal));
		TEST_ASSERT_EQUAL_UINT64(1, removal.events);
		LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&chan, &unlinked));
		TEST_ASSERT_TRUE(unlinked);
		TEST_ASSERT_FALSE(removal_read(&removal));
		tearDown();
		setUp();
	}
}

TEST(use_is_not_reported)
{
	ach_channel_t user;
	char byte = 0;

	LIB_ASSERT_STATUS(ACH_OK, ach_open(&user, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&user, "x", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&user, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&user));
	TEST_ASSERT_FALSE(removal_read(&removal));
	TEST_ASSERT_EQUAL_UINT64(0, removal.events);
}

static bool readable(void)
{
	return poll(&(struct pollfd){ .fd = removal.fd, .events = POLLIN }, 1, 0) > 0;
}

TEST(many_reports_are_taken_in_bounded_steps)
{
	TEST_ASSERT_EQUAL_INT(0, removal_watch(&removal, &chan)); /* once more is harmless */
	for (int i = 0; i < 2000; i++) {			  /* two kinds in turn: equal ones are merged */
		TEST_ASSERT_EQUAL_INT(0, rename(path, other));
		TEST_ASSERT_EQUAL_INT(0, chmod(other, 0600));
		TEST_ASSERT_EQUAL_INT(0, rename(other, path));
	}
	TEST_ASSERT_TRUE(removal_read(&removal));
	TEST_ASSERT_TRUE(readable());
	for (int i = 0; readable(); i++) {
		TEST_ASSERT_TRUE(i < 2000);
		TEST_ASSERT_TRUE(removal_read(&removal));
	}
	TEST_ASSERT_FALSE(removal_read(&removal));
}

TEST(without_inotify_nothing_is_watched)
{
	removal_close(&removal);
	TEST_ASSERT_EQUAL_INT(-EBADF, removal_watch(&removal, &chan));
	TEST_ASSERT_FALSE(removal_read(&removal));
}
