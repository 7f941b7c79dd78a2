/* test_robot.c: the robot file, right ones. */
#include <glob.h>
#include <math.h>

#include "test/channels/testcase.h"

#include "config/robot.h"
#include "test/config/lines.h"
#include "test/config/sample.h"

static struct robot robot;

void setUp(void)
{
	memset(&robot, 0, sizeof(robot));
}

void tearDown(void)
{
	robot_close(&robot);
}

static void open_text(const char *text)
{
	int err = robot_open_text(&robot, "r", text, strlen(text), lines_start());

	TEST_ASSERT_EQUAL_STRING("", lines);
	TEST_ASSERT_EQUAL_INT(0, err);
}

static const char krang[] = "robot: krang\n"
			    "buses:\n"
			    "  larm0: {interface: can0, sample_point: 0.75, in_flight: 8}\n"
			    "  larm1: {interface: can1, bitrate: 500000, restart_ms: 0}\n"
			    "  base: {interface: log:run 1.log, clock: 080#, clock_divider: 5, restart_ms: 100}\n"
			    "  torso: {interface: wire:torso, clock: '100#0F'}\n"
			    "devices:\n"
			    "  larm:\n"
			    "    driver: pciod\n"
			    "    bus: {upper: larm0, lower: larm1}\n"
			    "    settings: {modules: larm0:4-7, tick: 10ms}\n"
			    "    limits:\n"
			    "      velocity: 0.4\n"
			    "      joints:\n"
			    "        4: {position: [-2, 2], current: 8}\n"
			    "        5: {velocity: 0.2}\n"
			    "  both:\n"
			    "    driver: ftd\n"
			    "    bus: [larm1, base]\n"
			    "    actuated: no\n"
			    "    ids: {base: 0x20, more: [0, 0x1FFFFFFF]}\n"
			    "    sim: {mass: 0.2}\n"
			    "  imu: {driver: imud, bus: base, actuated: no, limits: , settings: ~}\n"
			    "sim: {body: krang}\n";

TEST(buses)
{
	const struct robot_bus *bus;

	open_text(krang);
	TEST_ASSERT_EQUAL_STRING("krang", robot.name);
	TEST_ASSERT_EQUAL_UINT(4, robot.buses_n);
	bus = robot_bus(&robot, "larm0");
	TEST_ASSERT_EQUAL_STRING("can0", bus->interface);
	TEST_ASSERT_EQUAL_INT64(1000000, bus->bitrate);
	TEST_ASSERT_TRUE(bus->sample_point == 0.75);
	TEST_ASSERT_EQUAL_INT64(0, bus->restart_ms);
	TEST_ASSERT_EQUAL_STRING("", bus->clock);
	TEST_ASSERT_EQUAL_INT64(1, bus->clock_divider);
	TEST_ASSERT_EQUAL_INT64(8, bus->in_flight);
	TEST_ASSERT_EQUAL_INT64(2, robot_bus(&robot, "larm1")->in_flight);
	TEST_ASSERT_EQUAL_UINT(3, bus->node->line);
	TEST_ASSERT_EQUAL_INT64(500000, robot_bus(&robot, "larm1")->bitrate);
	bus = robot_bus(&robot, "base");
	TEST_ASSERT_EQUAL_STRING("log:run 1.log", bus->interface);
	TEST_ASSERT_EQUAL_STRING("080#", bus->clock);
	TEST_ASSERT_EQUAL_INT64(5, bus->clock_divider);
	TEST_ASSERT_EQUAL_INT64(100, bus->restart_ms);
	TEST_ASSERT_EQUAL_STRING("100#0F", robot_bus(&robot, "torso")->clock);
	TEST_ASSERT_NULL(robot_bus(&robot, "none"));
	TEST_ASSERT_EQUAL_STRING("krang", yaml_find(robot.sim, "body")->text);
}

TEST(devices)
{
	const struct robot_device *larm, *both, *imu;

	open_text(krang);
	TEST_ASSERT_EQUAL_UINT(3, robot.devices_n);
	larm = robot_device(&robot, "larm");
	TEST_ASSERT_EQUAL_STRING("pciod", larm->driver);
	TEST_ASSERT_TRUE(larm->actuated);
	TEST_ASSERT_EQUAL_UINT(2, larm->roles_n);
	TEST_ASSERT_EQUAL_STRING("lower", larm->roles[1].role);
	TEST_ASSERT_EQUAL_STRING("larm1", larm->roles[1].bus->name);
	TEST_ASSERT_NULL(larm->sim);
	TEST_ASSERT_EQUAL_INT(0, settings_read(sample_start(), larm->settings, lines_start()));
	TEST_ASSERT_EQUAL_INT64(10000000, sample_loop.tick_ns);
	both = robot_device(&robot, "both");
	TEST_ASSERT_FALSE(both->actuated);
	TEST_ASSERT_EQUAL_UINT(2, both->roles_n);
	TEST_ASSERT_EQUAL_STRING("base", both->roles[1].bus->name);
	TEST_ASSERT_EQUAL_STRING("", both->roles[1].role);
	TEST_ASSERT_EQUAL_STRING("0x20", yaml_find(both->ids, "base")->text);
	TEST_ASSERT_EQUAL_STRING("0.2", yaml_find(both->sim, "mass")->text);
	imu = robot_device(&robot, "imu");
	TEST_ASSERT_EQUAL_STRING("base", imu->roles[0].bus->name);
	TEST_ASSERT_NULL(imu->settings);
	TEST_ASSERT_NULL(imu->limits_node);
	TEST_ASSERT_NULL(robot_device(&robot, "waist"));
}

TEST(limits)
{
	const struct robot_limits *of;

	open_text(krang);
	of = robot_limits(robot_device(&robot, "larm"), "4");
	TEST_ASSERT_TRUE(of->position[0] == -2 && of->position[1] == 2);
	TEST_ASSERT_TRUE(of->velocity == 0.4); /* the device's */
	TEST_ASSERT_TRUE(of->current == 8);
	TEST_ASSERT_TRUE(isinf(of->acceleration) && isinf(of->step));
	of = robot_limits(robot_device(&robot, "larm"), "5");
	TEST_ASSERT_TRUE(of->position[0] == -INFINITY && of->position[1] == INFINITY);
	TEST_ASSERT_TRUE(of->velocity == 0.2);
	of = robot_limits(robot_device(&robot, "larm"), "6");
	TEST_ASSERT_TRUE(of->velocity == 0.4 && isinf(of->current));
	of = robot_limits(robot_device(&robot, "imu"), "x");
	TEST_ASSERT_TRUE(isinf(of->velocity));
}

TEST(little_is_enough)
{
	open_text("{robot: r, buses: {}, devices: {}}");
	TEST_ASSERT_EQUAL_UINT(0, robot.buses_n);
	robot_close(&robot);
	open_text("robot: r\nbuses:\ndevices:\n");
	TEST_ASSERT_EQUAL_UINT(0, robot.devices_n);
	TEST_ASSERT_NULL(robot.sim);
}

TEST(bounds)
{
	open_text("robot: abcdefghijklmnopqrstuvw\n"
		  "buses: {abcdefghijklmnopqrstuvw: {interface: can0}}\n"
		  "devices: {ABCDEFGHIJKLMNOPQRSTUVW: {driver: d, bus: abcdefghijklmnopqrstuvw,"
		  " limits: {position: [1, 1], velocity: 0}}}\n");
	TEST_ASSERT_EQUAL_STRING("abcdefghijklmnopqrstuvw", robot.name);
	TEST_ASSERT_NOT_NULL(robot_bus(&robot, "abcdefghijklmnopqrstuvw"));
	TEST_ASSERT_NOT_NULL(robot_device(&robot, "ABCDEFGHIJKLMNOPQRSTUVW"));
}

TEST(clock_frames)
{
	static const char *const good[] = {
		"none", "080#", "7FF#", "1FFFFFFF#0011223344556677", "00000080#", "100#0f"
	};
	static const char *const bad[] = { "",
					   "80#",
					   "800#",
					   "080",
					   "080#0",
					   "080##1",
					   "080#R",
					   "NONE",
					   "080# ",
					   "20000000#",
					   "08X#0F",
					   "0080#01",
					   "080#001122334455667788" };
	char text[256];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		snprintf(text, sizeof(text), "{robot: r, buses: {a: {interface: can0, clock: '%s'}}, devices: {}}",
			 good[i]);
		open_text(text);
		robot_close(&robot);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "{robot: r, buses: {a: {interface: can0, clock: '%s'}}, devices: {}}",
			 bad[i]);
		TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, robot_open_text(&robot, "r", text, strlen(text), lines_start()),
					      bad[i]);
		TEST_ASSERT_NOT_NULL(strstr(lines, "is not none or a frame such as 080#\n"));
		TEST_ASSERT_NULL(robot.doc);
	}
}

TEST(interfaces)
{
	static const char *const good[] = { "can0", "vcan10", "wire:torso", "log:/var/a b.log", "abcdefghijklmno" };
	static const char *const bad[] = {
		"", "wire:", "log:", "usb:1", "can 0", "a/b", "abcdefghijklmnop", "wire:a b"
	};
	char text[256];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		snprintf(text, sizeof(text), "{robot: r, buses: {a: {interface: '%s'}}, devices: {}}", good[i]);
		open_text(text);
		robot_close(&robot);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "{robot: r, buses: {a: {interface: '%s'}}, devices: {}}", bad[i]);
		TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, robot_open_text(&robot, "r", text, strlen(text), lines_start()),
					      bad[i]);
		TEST_ASSERT_NOT_NULL(strstr(lines, "is not an interface such as can0, wire:NAME or log:FILE\n"));
	}
}

TEST(absent_file)
{
	TEST_ASSERT_EQUAL_INT(-ENOENT, robot_open(&robot, "test/config/none.yaml", lines_start()));
	TEST_ASSERT_EQUAL_STRING("test/config/none.yaml: No such file or directory\n", lines);
	TEST_ASSERT_NULL(robot.doc);
}

/* ---- what is shipped ---- */

TEST(shipped_robots_are_right)
{
	glob_t files;

	TEST_ASSERT_EQUAL_INT(0, glob("config/robots/*.yaml", 0, NULL, &files));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *path = files.gl_pathv[i];
		char expected[64];
		int err = robot_open(&robot, path, lines_start());

		TEST_ASSERT_EQUAL_STRING("", lines);
		TEST_ASSERT_EQUAL_INT(0, err);
		/* ROBOT.yaml describes ROBOT. */
		snprintf(expected, sizeof(expected), "config/robots/%s.yaml", robot.name);
		TEST_ASSERT_EQUAL_STRING(path, expected);
		robot_close(&robot);
	}
	globfree(&files);
}

static char *slurp(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
	TEST_ASSERT_TRUE(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

TEST(page_has_every_key)
{
	const struct settings_row *const tables[] = { robot_rows, robot_bus_rows, robot_device_rows, robot_limits_rows,
						      robot_joints_rows };
	char *page = slurp("config/robot.5"), item[64];

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct settings_row *row = tables[i]; row->key; row++) {
			snprintf(item, sizeof(item), "\n.It Cm %s", row->key);
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(page, item), row->key);
		}
	}
	free(page);
}

TEST(example_of_the_page_is_right)
{
	char *page = slurp("config/robot.5");
	char *example = strstr(page, ".Sh EXAMPLES"), *end;

	TEST_ASSERT_NOT_NULL(example);
	example = strstr(example, "\n.Bd -literal");
	TEST_ASSERT_NOT_NULL(example);
	example = strchr(example + 1, '\n') + 1;
	end = strstr(example, "\n.Ed");
	TEST_ASSERT_NOT_NULL(end);
	end[1] = '\0';
	open_text(example);
	TEST_ASSERT_TRUE(robot.devices_n > 0);
	free(page);
}
