/* test_graph.c: the robot as a picture, which graphviz reads where it is installed. */
#include "test/lib/testcase.h"

#include "launch/check/check.h"
#include "test/launch/file/launch_lib.h"

static struct launch_lib_lines lines;
static struct launch launch;
static char *text, folder[LAUNCH_LIB_PATH];

void setUp(void)
{
	text = NULL;
	launch_lib_folder(folder);
}

void tearDown(void)
{
	launch_close(&launch);
	free(text);
	launch_lib_remove(folder);
}

static void draw(const char *path, const char *group)
{
	size_t len;
	FILE *to;

	launch_open(&launch, path, launch_lib_start(&lines));
	launch_group(&launch, group, &lines.sink);
	TEST_ASSERT_EQUAL_STRING("", lines.text);
	to = open_memstream(&text, &len);
	graph_print(&launch, to);
	fclose(to);
}

static void has(const char *part)
{
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, part), part);
}

static void has_not(const char *part)
{
	TEST_ASSERT_NULL_MESSAGE(strstr(text, part), part);
}

/* If there is one here. */
static void graphviz_reads_it(void)
{
	char path[LAUNCH_LIB_PATH], command[LAUNCH_LIB_PATH + 64];

	if (system("command -v dot >/dev/null"))
		return;
	launch_lib_write(path, folder, "robot.dot", 0644, text);
	snprintf(command, sizeof(command), "dot -Tsvg -o /dev/null %s 2>&1", path);
	TEST_ASSERT_EQUAL_INT(0, system(command));
}

TEST(the_bench_has_all_its_parts)
{
	draw("launch/waist.launch", NULL);
	TEST_ASSERT_EQUAL_STRING_LEN("digraph \"bench\" {\n", text, 18);
	has("\"process:canwire\" -> \"bus:torso\" [style=dotted");
	has("\"device:waist\" -> \"process:robotsim\" [style=dotted");
	has("\"channel:clock\" -> \"process:clock\" [dir=back]");
	has("\"channel:clock\" -> \"process:waist\" [style=dashed]");
	has("\"channel:waist-ref\" -> \"process:waist\" []");
	has("\"channel:waist-state\" -> \"process:waist\" [dir=back]");
	has("\"channel:estop\" -> \"process:waist\"");
	has("\"process:waist\" -> \"bus:torso\" [dir=both");
	has("\"bus:torso\" -> \"device:waist\" [dir=both");
	has("wire:torso, 1 Mbit/s</font>");
	has_not("device:clock");
	has_not("clock-state");
	has_not("robotsim-state");
	graphviz_reads_it();
}

TEST(only_wanted_daemons_are_drawn)
{
	draw("launch/krang.launch", "noarms");
	has("\"process:waist\"");
	has_not("process:larm");
	has_not("larm-ref");
	graphviz_reads_it();
}

TEST(sensors_have_no_references)
{
	draw("test/launch/good.launch", NULL);
	has("\"channel:imu-state\" -> \"process:imu\" [dir=back]");
	has_not("imu-ref");
	has_not("\"channel:estop\" -> \"process:imu\"");
	/* Its tick is its own. */
	has_not("\"channel:clock\" -> \"process:larm\"");
}

TEST(a_controller_stands_between_channels)
{
	draw("test/launch/mux.launch", NULL);
	has("\"channel:waist.joy-ref\" -> \"process:waist-mux\" []");
	has("\"channel:waist.control-ref\" -> \"process:waist-mux\" []");
	has("\"process:waist-mux\" -> \"channel:waist-ref\" []");
	has("\"channel:waist-ref\" -> \"process:waist\" []");
	has("\"channel:estop\" -> \"process:control\"");
	has_not("device:waist-mux");
	has_not("channel:control-ref");
	graphviz_reads_it();
}

TEST(a_bus_of_can_fd_has_two_bit_rates)
{
	char path[LAUNCH_LIB_PATH];

	launch_lib_write(path, folder, "fd.yaml", 0644,
			 "robot: fd\nbuses:\n  a: {interface: wire:a, bitrate: 500000, data_bitrate: 5000000}\n"
			 "  b: {interface: wire:b, data_bitrate: 2500000}\n"
			 "devices:\n  waist: {driver: pciod, bus: a}\n  arm: {driver: pciod, bus: b}\n");
	launch_lib_write(path, folder, "fd.launch", 0644,
			 "include: fd.yaml\nclock: none\ndaemons:\n  waist:\n  arm:\n");
	draw(path, NULL);
	has("wire:a, 500 kbit/s, data 5 Mbit/s</font>");
	has("wire:b, 1 Mbit/s, data 2500 kbit/s</font>");
	graphviz_reads_it();
}

/* Paths may hold what means something between tags. */
TEST(any_path_may_be_drawn)
{
	char path[LAUNCH_LIB_PATH];

	launch_lib_write(path, folder, "odd.yaml", 0644,
			 "robot: odd\nbuses:\n  a: {interface: \"log:a&b<c>d\", bitrate: 125000}\n"
			 "devices:\n  waist: {driver: pciod, bus: a}\n");
	launch_lib_write(path, folder, "odd.launch", 0644,
			 "include: odd.yaml\nclock: none\ndaemons:\n  waist:\n  x: {program: \"/y/<z>&\\\"q\\\"\"}\n");
	draw(path, NULL);
	has("log:a&amp;b&lt;c&gt;d, 125 kbit/s");
	has("&lt;z&gt;&amp;\"q\"</font>");
	has_not("-> \"channel:clock\"");
	graphviz_reads_it();
}
