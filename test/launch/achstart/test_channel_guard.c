/* test_channel_guard.c: which channels achstart makes, and for whom. */
#include <sys/stat.h>

#include "test/lib/testcase.h"

#include "channels/ach/ach_file.h"
#include "launch/achstart/channel_guard.h"
#include "test/launch/file/launch_lib.h"

static struct launch_lib_lines lines;
static struct launch launch;
static struct channel_guard guard;
static char prefix[32];

static void open_launch(const char *file, const char *group)
{
	TEST_ASSERT_EQUAL_INT(0, launch_open(&launch, file, launch_lib_start(&lines)));
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, group, launch_lib_start(&lines)));
	launch.moving = getegid();
	TEST_ASSERT_EQUAL_INT(0, channel_guard_open(&guard, &launch));
}

static void open_guard(const char *group)
{
	open_launch("test/launch/mux.launch", group);
}

void setUp(void)
{
	snprintf(prefix, sizeof(prefix), "p%d-", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
}

void tearDown(void)
{
	channel_guard_sweep(&guard);
	channel_guard_close(&guard);
	launch_close(&launch);
}

static const struct channel_guard_channel *find(const char *name)
{
	char full[PORT_NAME_MAX];

	TEST_ASSERT_EQUAL_INT(0, port_name(full, name));
	for (size_t i = 0; i < guard.n; i++)
		if (!strcmp(guard.channels[i].name, full))
			return &guard.channels[i];
	return NULL;
}

static bool was_made(const char *name)
{
	char path[ACH_FILE_PATH_LEN], full[PORT_NAME_MAX];
	struct stat st;

	TEST_ASSERT_EQUAL_INT(0, port_name(full, name));
	ach_file_channel_path(path, full);
	return !lstat(path, &st) && st.st_gid == launch.moving;
}

static void expect(const char *name, mode_t mode, bool moves)
{
	const struct channel_guard_channel *one = find(name);

	TEST_ASSERT_NOT_NULL_MESSAGE(one, name);
	TEST_ASSERT_EQUAL_HEX_MESSAGE(mode, one->mode, name);
	TEST_ASSERT_EQUAL_MESSAGE(moves, one->moves, name);
}

static void replaced(void *to, const char *why)
{
	(void)to;
	TEST_FAIL_MESSAGE(why);
}

static bool is_there(const char *name)
{
	char path[ACH_FILE_PATH_LEN], full[PORT_NAME_MAX];

	TEST_ASSERT_EQUAL_INT(0, port_name(full, name));
	ach_file_channel_path(path, full);
	return !access(path, F_OK);
}

TEST(state_and_events_of_a_daemon_to_be_kept_outlive_the_robot)
{
	static const struct {
		const char *name;
		bool stays;
	} rows[] = { { "battery-state", true }, { "battery-event", true },   { "battery-req", false },
		     { "battery-rep", false },	{ "achstart-event", false }, { "imu-state", false },
		     { "imu-event", false } };
	const struct msg_type *type = msg_type_by_number(msg_event_number);
	char full[PORT_NAME_MAX];

	open_launch("test/launch/battery.launch", NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_INT(0, port_name(full, rows[i].name));
		TEST_ASSERT_EQUAL(ACH_OK, ach_create(full, 2, type->body->size, NULL));
	}
	channel_guard_sweep(&guard);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].stays, is_there(rows[i].name), rows[i].name);
		port_name(full, rows[i].name);
		ach_unlink(full);
	}
}

TEST(recorders_have_events_only)
{
	open_launch("launch/krang.launch", NULL);
	expect("blackbox-event", 0640, false);
	TEST_ASSERT_NULL(find("blackbox-state"));
	expect("achlogd-event", 0640, false);
	TEST_ASSERT_NULL(find("achlogd-state"));
}

TEST(the_group_moving_writes_sources_and_not_what_a_refmuxd_writes)
{
	open_guard(NULL);
	expect("waist-ref", 0600, false);
	expect("waist.joy-ref", 0660, true);
	expect("waist.control-ref", 0660, true);
	expect("waist-mux-state", 0640, false);
	expect("control-ref", 0660, false); /* a controller is not actuated */
	TEST_ASSERT_EQUAL_INT(0, channel_guard_begin(&guard, replaced, NULL, launch_lib_start(&lines)));
	TEST_ASSERT_TRUE(was_made("waist.joy-ref"));
	TEST_ASSERT_FALSE(was_made("waist-ref"));
	TEST_ASSERT_FALSE(was_made("control-ref"));
}

TEST(further_channels_of_a_driver_are_looked_after_like_its_own)
{
	struct launch_channel further[] = { { "waist-load", NULL, false },
					    { "waist-part-ref", NULL, true },
					    { "waist-state", NULL, false } };
	const struct msg_type *type = msg_type_by_number(msg_event_number);
	char full[PORT_NAME_MAX];
	unsigned int times = 0;

	TEST_ASSERT_EQUAL_INT(0, launch_open(&launch, "test/launch/mux.launch", launch_lib_start(&lines)));
	for (size_t i = 0; i < sizeof(further) / sizeof(*further); i++)
		further[i].daemon = launch_daemon(&launch, "waist");
	launch.channels = further;
	launch.channels_n = sizeof(further) / sizeof(*further);
	launch.moving = getegid();
	TEST_ASSERT_EQUAL_INT(0, channel_guard_open(&guard, &launch));
	expect("waist-load", 0640, false);
	expect("waist-part-ref", 0660, true);
	for (size_t i = 0; i < guard.n; i++)
		times += strstr(guard.channels[i].name, "waist-state") != NULL;
	TEST_ASSERT_EQUAL(1, times);
	TEST_ASSERT_EQUAL_INT(0, channel_guard_begin(&guard, replaced, NULL, launch_lib_start(&lines)));
	TEST_ASSERT_TRUE(was_made("waist-part-ref"));
	TEST_ASSERT_EQUAL_INT(0, port_name(full, "waist-load"));
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(full, 2, type->body->size, NULL));
	channel_guard_sweep(&guard);
	TEST_ASSERT_FALSE(is_there("waist-load"));
	TEST_ASSERT_FALSE(is_there("waist-part-ref"));
}

TEST(without_the_refmuxd_it_writes_the_device)
{
	open_guard("alone");
	expect("waist-ref", 0660, true);
	TEST_ASSERT_NULL(find("waist.joy-ref"));
	TEST_ASSERT_EQUAL_INT(0, channel_guard_begin(&guard, replaced, NULL, launch_lib_start(&lines)));
	TEST_ASSERT_TRUE(was_made("waist-ref"));
}
