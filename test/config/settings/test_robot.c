/* test_robot.c: the robot file, right ones. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/lib/testcase.h"

#include "config/settings/robot.h"
#include "test/config/settings/lines.h"
#include "test/config/settings/sample.h"

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
			    "  larm1: {interface: can1, bitrate: 500000, data_bitrate: 2000000, restart_ms: 0}\n"
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
			    "body: {kind: krang, wheels: both, imu: imu, settings: {start: held}}\n";

TEST(limits_may_carry_their_unit)
{
	const struct robot_limits *limits;

	open_text("robot: r\nbuses: {b: {interface: can0, bitrate: 500 kbit/s}}\n"
		  "devices:\n  waist:\n    driver: pciod\n    bus: b\n    limits:\n"
		  "      position: [-165 deg, 0 deg]\n      velocity: 25 deg/s\n      current: 8000 mA\n"
		  "      joints: {15: {acceleration: 100 deg/s^2}}\n");
	TEST_ASSERT_EQUAL_INT64(500000, robot_bus(&robot, "b")->bitrate);
	limits = robot_limits(robot_device(&robot, "waist"), "15");
	TEST_ASSERT_TRUE(limits->position[0] == -165 * M_PI / 180 && limits->position[1] == 0);
	TEST_ASSERT_TRUE(limits->velocity == 25 * M_PI / 180 && limits->acceleration == 100 * M_PI / 180);
	TEST_ASSERT_TRUE(limits->current == 8);
}

static const char *doubts(const char *limits)
{
	char text[512];
	struct error_sink *warnings;

	robot_close(&robot);
	snprintf(text, sizeof(text),
		 "robot: r\nbuses: {b: {interface: can0}}\ndevices:\n  waist:\n    driver: pciod\n    bus: b\n"
		 "    limits: {%s}\n",
		 limits);
	open_text(text);
	warnings = lines_start();
	robot_doubts(&robot.devices[0], warnings);
	return lines;
}

TEST(limits_that_seem_to_be_in_degrees_are_doubted)
{
	TEST_ASSERT_EQUAL_STRING("r:7: velocity: waist: 25 rad/s is 4 turns a second; if degrees are meant, write "
				 "25 deg/s, else 25 rad/s\n",
				 doubts("position: [-2.88, 0], velocity: 25, acceleration: 1.74"));
	TEST_ASSERT_EQUAL_STRING("r:7: acceleration: waist: 100 rad/s^2 is from rest to a turn a second in 63 ms; if "
				 "degrees are meant, write 100 deg/s^2, else 100 rad/s^2\n",
				 doubts("position: [-2.88, 0], velocity: 0.43, acceleration: 100"));
	TEST_ASSERT_EQUAL_STRING("r:7: position: waist: from -26 to 0 turns; if degrees are meant, write [-165 deg, "
				 "0 deg], else [-165 rad, 0 rad]\n",
				 doubts("position: [-165, 0]"));
	/* Inherited by a joint with a range; a line for each place in the file. */
	TEST_ASSERT_EQUAL_STRING("r:7: velocity: waist: 25 rad/s is 4 turns a second; if degrees are meant, write "
				 "25 deg/s, else 25 rad/s\n",
				 doubts("velocity: 25, joints: {1: {position: [-1, 1]}, 2: {position: [-1, 1]}}"));
	TEST_ASSERT_EQUAL_STRING("r:7: velocity: waist: 30 rad/s is 5 turns a second; if degrees are meant, write "
				 "30 deg/s, else 30 rad/s\n",
				 doubts("velocity: 1, joints: {1: {position: [-1, 1], velocity: 30}, 2: {}}"));
}

TEST(wheels_and_limits_with_a_unit_are_not_doubted)
{
	TEST_ASSERT_EQUAL_STRING("", doubts("velocity: 26, acceleration: 1000"));
	TEST_ASSERT_EQUAL_STRING("", doubts("position: [-6.5, 6.5], velocity: 10, acceleration: 50"));
	TEST_ASSERT_EQUAL_STRING("",
				 doubts("position: [-165 rad, 0 rad], velocity: 25 rad/s, acceleration: 100 rad/s^2"));
	TEST_ASSERT_EQUAL_STRING("", doubts("velocity: 25, joints: {1: {position: [-1, 1], velocity: 2}}"));
	TEST_ASSERT_EQUAL_STRING("", doubts(""));
}

TEST(robot_files_of_the_tree_are_not_doubted)
{
	glob_t files;

	TEST_ASSERT_EQUAL_INT(0, glob("config/robots/*.yaml", 0, NULL, &files));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct error_sink *errors = lines_start();

		robot_close(&robot);
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, robot_open(&robot, files.gl_pathv[i], errors), files.gl_pathv[i]);
		for (size_t d = 0; d < robot.devices_n; d++)
			robot_doubts(&robot.devices[d], errors);
		TEST_ASSERT_EQUAL_STRING("", lines);
	}
	globfree(&files);
}

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
	TEST_ASSERT_EQUAL_INT64(2000000, robot_bus(&robot, "larm1")->data_bitrate);
	TEST_ASSERT_EQUAL_INT64(0, bus->data_bitrate);
	bus = robot_bus(&robot, "base");
	TEST_ASSERT_EQUAL_STRING("log:run 1.log", bus->interface);
	TEST_ASSERT_EQUAL_STRING("080#", bus->clock);
	TEST_ASSERT_EQUAL_INT64(5, bus->clock_divider);
	TEST_ASSERT_EQUAL_INT64(100, bus->restart_ms);
	TEST_ASSERT_EQUAL_STRING("100#0F", robot_bus(&robot, "torso")->clock);
	TEST_ASSERT_NULL(robot_bus(&robot, "none"));
	TEST_ASSERT_EQUAL_STRING("krang", robot.body.kind);
	TEST_ASSERT_EQUAL_PTR(robot_device(&robot, "both"), robot.body.wheels);
	TEST_ASSERT_EQUAL_PTR(robot_device(&robot, "imu"), robot.body.imu);
	TEST_ASSERT_NULL(robot.body.waist);
	TEST_ASSERT_EQUAL_STRING("held", yaml_find(robot.body.settings, "start")->text);
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
	TEST_ASSERT_NULL(robot.body.node);
}

TEST(a_controller_has_no_bus_and_does_not_move_unless_it_says_so)
{
	open_text("robot: r\nbuses:\ndevices:\n"
		  "  a: {driver: refmuxd}\n"
		  "  b: {driver: balanced, actuated: yes}\n");
	TEST_ASSERT_EQUAL_size_t(0, robot.devices[0].roles_n);
	TEST_ASSERT_FALSE(robot.devices[0].actuated);
	TEST_ASSERT_EQUAL_size_t(0, robot.devices[1].roles_n);
	TEST_ASSERT_TRUE(robot.devices[1].actuated);
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

TEST(wrong_bodies)
{
	static const struct {
		const char *body, *line;
	} bad[] = {
		{ "{}", "r:4: body: kind is missing" },
		{ "krang", "r:4: body: text where a mapping" },
		{ "{kind: krang, wheels: arms}", "r:4: wheels: there is no device \"arms\"; did you mean arm?" },
		{ "{kind: krang, waist: other}", "r:4: waist: there is no device \"other\" under devices" },
		{ "{kind: krang, whels: arm}", "r:4: whels: unknown key of a body; did you mean wheels?" },
		{ "{kind: a b}", "r:4: kind: \"a b\" is not a name" },
	};
	char text[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text),
			 "robot: r\nbuses: {a: {interface: can0}}\ndevices: {arm: {driver: d, bus: a}}\nbody: %s\n",
			 bad[i].body);
		TEST_ASSERT_EQUAL_INT(-EINVAL, robot_open_text(&robot, "r", text, strlen(text), lines_start()));
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(lines, bad[i].line), lines);
	}
}

/* ---- like another robot ---- */

static char like_folder[64];

static const char *like_file(const char *name, const char *text)
{
	static char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", like_folder, name);
	file = fopen(path, "w");
	TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
	fputs(text, file);
	fclose(file);
	return path;
}

static void like_begin(void)
{
	const char *place = getenv("TMPDIR");

	snprintf(like_folder, sizeof(like_folder), "%s/like.XXXXXX", place ? place : "/tmp");
	TEST_ASSERT_NOT_NULL(mkdtemp(like_folder));
	like_file("krang.yaml", krang);
}

static void like_end(void)
{
	static const char *const names[] = { "krang.yaml", "bench.yaml", "third.yaml" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", like_folder, names[i]);
		unlink(path);
	}
	rmdir(like_folder);
}

TEST(a_robot_says_only_in_what_it_differs)
{
	like_begin();
	like_file("bench.yaml", "like: krang.yaml\n"
				"robot: bench\n"
				"buses: {larm0: {interface: wire:larm0}, more: {interface: wire:more}}\n"
				"devices:\n"
				"  larm: {bus: [more], settings: {tick: 20ms}, limits: {joints: {4: {current: 5}}}}\n");
	TEST_ASSERT_EQUAL_INT(0, robot_open(&robot, like_file("third.yaml", "like: bench.yaml\nrobot: third\n"),
					    lines_start()));
	TEST_ASSERT_EQUAL_STRING("", lines);
	like_end();
	TEST_ASSERT_EQUAL_STRING("third", robot.name);
	TEST_ASSERT_EQUAL_size_t(5, robot.buses_n);
	TEST_ASSERT_EQUAL_STRING("wire:larm0", robot_bus(&robot, "larm0")->interface);
	TEST_ASSERT_EQUAL_INT64(8, robot_bus(&robot, "larm0")->in_flight);
	TEST_ASSERT_EQUAL_STRING("can1", robot_bus(&robot, "larm1")->interface);
	TEST_ASSERT_EQUAL_size_t(3, robot.devices_n);

	const struct robot_device *larm = robot_device(&robot, "larm");

	TEST_ASSERT_EQUAL_size_t(1, larm->roles_n); /* a list in place of a mapping */
	TEST_ASSERT_EQUAL_STRING("larm0:4-7", yaml_find(larm->settings, "modules")->text);
	TEST_ASSERT_EQUAL_STRING("20ms", yaml_find(larm->settings, "tick")->text);
	TEST_ASSERT_EQUAL_DOUBLE(5, robot_limits(larm, "4")->current);
	TEST_ASSERT_EQUAL_DOUBLE(-2, robot_limits(larm, "4")->position[0]);
	TEST_ASSERT_EQUAL_DOUBLE(0.2, robot_limits(larm, "5")->velocity);
	TEST_ASSERT_NOT_NULL(robot.body.node);
}

TEST(like_what_is_not_there)
{
	static const struct {
		const char *first, *text, *line;
	} bad[] = {
		{ "like: none.yaml\n", "", "bench.yaml:1: like: none.yaml: No such file or directory\n" },
		{ "like:\n", "", "bench.yaml:1: like: the name of a file is missing\n" },
		{ "like: [krang.yaml]\n", "", "bench.yaml:1: like: the name of a file is missing\n" },
		{ "like: bench.yaml\n", "", "bench.yaml:1: like: more than 4 files, each like the next\n" },
		{ "like: third.yaml\n", "- a\n", "bench.yaml:1: like: third.yaml is not a mapping\n" },
		{ "like: third.yaml\n", "a: b: c\n", "third.yaml:1: " },
		{ "like: krang.yaml\nbuses: {larm0: {bitrat: 5}}\n", "", "bench.yaml:2: bitrat: unknown key" },
		{ "like: krang.yaml\nbuses: {larm0: {bitrate: 5}}\n", "", "bench.yaml:2: bitrate: 5 is below" },
		{ "like: krang.yaml\nbuses: {larm0: {data_bitrate: 500000}}\n", "",
		  "bench.yaml:2: data_bitrate: it is lower than the bit rate, 1000000: write that or more, or 0" },
		{ "like: krang.yaml\ndevices: {imu: {bus: none}}\n", "", "bench.yaml:2: bus: there is no bus" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int err;

		like_begin();
		like_file("third.yaml", bad[i].text);
		err = robot_open(&robot, like_file("bench.yaml", bad[i].first), lines_start());
		like_end();
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(lines, bad[i].line), lines);
		TEST_ASSERT_TRUE(err < 0);
		TEST_ASSERT_NULL(robot.doc);
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
		/* ROBOT.yaml describes ROBOT; on the bench there is the waist alone, too. */
		snprintf(expected, sizeof(expected), "config/robots/%s.yaml", robot.name);
		if (strcmp(path, "config/robots/waist.yaml") != 0)
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
	const struct settings_row *const tables[] = { robot_rows,	 robot_bus_rows,    robot_device_rows,
						      robot_limits_rows, robot_joints_rows, robot_body_rows };
	char *page = slurp("config/settings/robot.5"), item[64];

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
	char *page = slurp("config/settings/robot.5");
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
