/* test_hubo_table.c: Hubo's tables: what is in the shipped ones, and which line each mistake gives. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/lib/testcase.h"

#include "config/base/read_files.h"
#include "daemons/hubo/hubo_table.h"
#include "test/config/settings/lines.h"

static struct hubo_table table;

static void open_robot(const char *name)
{
	char joints[64], sensors[64], homes[64];
	int err;

	snprintf(joints, sizeof(joints), "config/hubo/%s.joints", name);
	snprintf(sensors, sizeof(sensors), "config/hubo/%s.sensors", name);
	snprintf(homes, sizeof(homes), "config/hubo/%s.home", name);
	err = hubo_table_read(&table, joints, sensors, homes, lines_start());
	TEST_ASSERT_EQUAL_STRING("", lines);
	TEST_ASSERT_EQUAL_INT(0, err);
}

static const struct hubo_joint *joint(const char *name)
{
	const int at = hubo_joint_find(name);

	TEST_ASSERT_TRUE_MESSAGE(at != HUBO_NONE, name);
	return &table.joints[at];
}

TEST(names_are_upstreams_numbers)
{
	static const struct {
		int joint;
		const char *name;
		enum hubo_limb limb;
	} rows[] = {
		{ 0, "WST", HUBO_WAIST },  { 1, "NKY", HUBO_NECK },   { 3, "NK2", HUBO_NECK },
		{ 4, "LSP", HUBO_LARM },   { 9, "LWR", HUBO_LARM },   { 10, "LWP", HUBO_LARM },
		{ 11, "RSP", HUBO_RARM },  { 17, "RWP", HUBO_RARM },  { 19, "LHY", HUBO_LLEG },
		{ 24, "LAR", HUBO_LLEG },  { 26, "RHY", HUBO_RLEG },  { 31, "RAR", HUBO_RLEG },
		{ 32, "RF1", HUBO_RHAND }, { 36, "RF5", HUBO_RHAND }, { 37, "LF1", HUBO_LHAND },
		{ 41, "LF5", HUBO_LHAND },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_STRING(rows[i].name, hubo_joint_name(rows[i].joint));
		TEST_ASSERT_EQUAL_INT(rows[i].joint, hubo_joint_find(rows[i].name));
		TEST_ASSERT_EQUAL_INT_MESSAGE(rows[i].limb, hubo_joint_limb(rows[i].joint), rows[i].name);
	}
	TEST_ASSERT_NULL(hubo_joint_name(18));
	TEST_ASSERT_NULL(hubo_joint_name(25));
	TEST_ASSERT_EQUAL_INT(HUBO_NONE, hubo_joint_find("NKP"));
	TEST_ASSERT_EQUAL_STRING("waist", hubo_limb_names[HUBO_WAIST]);
	TEST_ASSERT_EQUAL_STRING("IMU2", hubo_sensor_names[HUBO_IMU2]);
}

static int active_joints(void)
{
	int n = 0;

	for (int i = 0; i < HUBO_JOINTS; i++)
		n += table.joints[i].active;
	return n;
}

static void expect_board(int at, const char *name, int number, int bus, int motors, const char *first)
{
	const struct hubo_board *b = &table.boards[at];

	TEST_ASSERT_EQUAL_STRING(name, b->name);
	TEST_ASSERT_EQUAL_HEX(number, b->number);
	TEST_ASSERT_EQUAL_INT(bus, b->bus);
	TEST_ASSERT_EQUAL_INT(motors, b->motors);
	TEST_ASSERT_EQUAL_INT(hubo_joint_find(first), b->joint[0]);
}

TEST(hubo2plus)
{
	const struct hubo_joint *j;

	open_robot("hubo2plus");
	TEST_ASSERT_EQUAL_INT(35, active_joints());
	TEST_ASSERT_EQUAL_INT(18, table.boards_n);
	expect_board(0, "JMC0", 0x00, 0, 2, "RHY");
	expect_board(2, "JMC2", 0x02, 0, 1, "RKN");
	expect_board(8, "EJMC3", 0x23, 0, 1, "WST");
	expect_board(9, "JMC8", 0x08, 1, 2, "RSP");
	expect_board(17, "EJMC5", 0x25, 1, 5, "LF1");
	TEST_ASSERT_EQUAL_INT(hubo_joint_find("RHR"), table.boards[0].joint[1]);
	TEST_ASSERT_EQUAL_INT(HUBO_NONE, table.boards[2].joint[1]);
	TEST_ASSERT_EQUAL_INT(hubo_joint_find("LF5"), table.boards[17].joint[4]);
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (table.joints[i].line)
			TEST_ASSERT_EQUAL_INT(i, table.boards[table.joints[i].board].joint[table.joints[i].motor]);
	TEST_ASSERT_FALSE(joint("NKY")->active);
	TEST_ASSERT_FALSE(table.boards[joint("NKY")->board].active);
	TEST_ASSERT_TRUE(table.boards[joint("RHY")->board].active);
	TEST_ASSERT_EQUAL_UINT(0, joint("RWR")->line);

	/* Counts per rad by hand: driven / drive x harmonic x encoder / 2 pi. */
	TEST_ASSERT_FLOAT_WITHIN(0.1, 159154.94, joint("RHY")->counts_per_rad);
	TEST_ASSERT_FLOAT_WITHIN(0.1, 321925.26, joint("RHR")->counts_per_rad);
	TEST_ASSERT_FLOAT_WITHIN(0.1, 127323.95, joint("RHP")->counts_per_rad);
	TEST_ASSERT_FLOAT_WITHIN(0.1, 101859.16, joint("RKN")->counts_per_rad);
	TEST_ASSERT_FLOAT_WITHIN(0.1, 92599.24, joint("LSP")->counts_per_rad);
	TEST_ASSERT_FLOAT_WITHIN(0.1, 63661.98, joint("LSR")->counts_per_rad);
	TEST_ASSERT_FLOAT_WITHIN(0.1, 5215.19, joint("RF3")->counts_per_rad);

	j = joint("RKN");
	TEST_ASSERT_EQUAL_INT(-24446, j->home.offset); /* -0.24 rad */
	TEST_ASSERT_EQUAL_INT(-78432, j->home.lower);
	TEST_ASSERT_EQUAL_INT(276038, j->home.upper);
	TEST_ASSERT_EQUAL_UINT(1, j->home.direction);
	TEST_ASSERT_EQUAL_UINT(60, j->home.search);
	for (int i = 0; i < HUBO_JOINTS; i++)
		TEST_ASSERT_EQUAL_INT(!!table.joints[i].line, !!table.joints[i].home.line);

	TEST_ASSERT_EQUAL_INT(1, table.sensors[HUBO_RFFT].number);
	TEST_ASSERT_EQUAL_INT(0, table.sensors[HUBO_RFFT].bus);
	TEST_ASSERT_EQUAL_INT(7, table.sensors[HUBO_LHFT].number);
	TEST_ASSERT_EQUAL_INT(1, table.sensors[HUBO_LHFT].bus);
	TEST_ASSERT_TRUE(table.sensors[HUBO_IMU0].active);
	TEST_ASSERT_FALSE(table.sensors[HUBO_IMU1].active);
}

TEST(drc_hubo)
{
	open_robot("drc-hubo");
	TEST_ASSERT_EQUAL_INT(34, active_joints());
	TEST_ASSERT_TRUE(joint("NKY")->active);
	TEST_ASSERT_FLOAT_WITHIN(0.1, 195883.01, joint("RKN")->counts_per_rad);
	TEST_ASSERT_EQUAL_INT(3, table.boards[joint("RWR")->board].motors);
	TEST_ASSERT_EQUAL_INT(2, joint("RF2")->motor);
	TEST_ASSERT_EQUAL_UINT(0, joint("RF3")->line);
	TEST_ASSERT_EQUAL_INT(-1, table.sensors[HUBO_RFFT].sign[0]);
	TEST_ASSERT_EQUAL_INT(-1, table.sensors[HUBO_RFFT].sign[1]);
	TEST_ASSERT_EQUAL_INT(1, table.sensors[HUBO_RFFT].sign[2]);
	TEST_ASSERT_TRUE(joint("RSP")->kp == 80 && joint("RSP")->pwm_max == 8);
	TEST_ASSERT_TRUE(joint("RHY")->kp == 0 && joint("RHY")->pwm_max == 0);
}

/* ---- what is wrong ---- */

#define RHY "RHY 0 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n"
#define RHR "RHR 1 0 324 1024 160 4000 1 JMC0 1 0 2 0 0 0 0\n"
#define COLUMNS "name motNo refEnc drive driven harm enc dir jmc active can numMot kp kd maxPWM zeroed"
#define HOME_COLUMNS "JointName HomeOffset LowerLimit UpperLimit SearchDirection SearchLimit Type"
#define NO_BOARD "is not a joint board; write JMC0 to JMC11 or EJMC0 to EJMC5\n"

struct bad {
	const char *text, *expected;
};

static void check(const struct bad *bad, size_t n,
		  int (*parse)(struct hubo_table *, const char *, const char *, struct error_sink *),
		  const char *joints)
{
	for (size_t i = 0; i < n; i++) {
		struct error_sink *errors = lines_start();
		int err;

		memset(&table, 0, sizeof(table));
		if (joints)
			TEST_ASSERT_EQUAL_INT(0, hubo_table_joints(&table, "j", joints, errors));
		err = parse(&table, "t", bad[i].text, errors);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(bad[i].expected, lines, bad[i].text);
		TEST_ASSERT_EQUAL_INT(*bad[i].expected ? -EINVAL : 0, err);
	}
}

TEST(joints)
{
	static const struct bad bad[] = {
		{ RHY, "" },
		{ "# all\n\n  \t" RHY "# more\r\n" RHR, "" },
		{ "RHY 0 0 10 25 100 4000 -1 EJMC5 0 1 2 1.5 .5 100 2 # last", "" },
		{ "", "t:1: no joint in this file\n" },
		{ "# RHY\n", "t:1: no joint in this file\n" },
		{ "\nRHY 0 0\n", "t:2: 3 columns, not 16; write " COLUMNS "\n" },
		{ "RHY 0 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0 9\n", "t:1: 17 columns, not 16; write " COLUMNS "\n" },
		{ "RHY 0 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 # 0\n", "t:1: 15 columns, not 16; write " COLUMNS "\n" },
		{ "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3\n", "t:1: 23 columns, not 16; write " COLUMNS "\n" },
		{ "NKP 0 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n",
		  "t:1: \"NKP\" is not a joint of Hubo; did you mean NKY?\n" },
		{ "knee 0 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n", "t:1: \"knee\" is not a joint of Hubo\n" },
		{ RHY "# again\n" RHY, "t:3: RHY: already defined in line 1\n" },
		{ RHY "RHR 0 0 324 1024 160 4000 1 JMC0 1 0 2 0 0 0 0\n",
		  "t:2: motNo: motor 0 of JMC0 is that of RHY\n" },
		{ "RHY 2 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n",
		  "t:1: motNo: motor 2 on a board of 2 motors; they are counted from 0\n" },
		{ "RHY 5 0 10 25 100 4000 1 JMC0 1 0 5 0 0 0 0\n", "t:1: motNo: 5 is not between 0 and 4\n" },
		{ "RHY x 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n", "t:1: motNo: \"x\" is not a whole number\n" },
		{ "RHY 0.5 0 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n", "t:1: motNo: \"0.5\" is not a whole number\n" },
		{ "RHY 0 0 0 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n", "t:1: drive: 0 is not between 1 and 10000\n" },
		{ "RHY 0 0 10 25 100 65536 1 JMC0 1 0 2 0 0 0 0\n", "t:1: enc: 65536 is not between 1 and 65535\n" },
		{ "RHY 0 0 10 25 100 4000 0 JMC0 1 0 2 0 0 0 0\n", "t:1: dir: 0 is not a direction; write 1 or -1\n" },
		{ "RHY 0 0 10 25 100 4000 1 JMC12 1 0 2 0 0 0 0\n", "t:1: jmc: \"JMC12\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 JMC14 1 0 2 0 0 0 0\n", "t:1: jmc: \"JMC14\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 EJMC6 1 0 2 0 0 0 0\n", "t:1: jmc: \"EJMC6\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 JMC 1 0 2 0 0 0 0\n", "t:1: jmc: \"JMC\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 JMC-1 1 0 2 0 0 0 0\n", "t:1: jmc: \"JMC-1\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 JMC0x 1 0 2 0 0 0 0\n", "t:1: jmc: \"JMC0x\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 JNC0 1 0 2 0 0 0 0\n", "t:1: jmc: \"JNC0\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 E 1 0 2 0 0 0 0\n", "t:1: jmc: \"E\" " NO_BOARD },
		{ "RHY 0 0 10 25 100 4000 1 JMC0 2 0 2 0 0 0 0\n", "t:1: active: 2 is not between 0 and 1\n" },
		{ "RHY 0 0 10 25 100 4000 1 JMC0 1 2 2 0 0 0 0\n", "t:1: can: 2 is not between 0 and 1\n" },
		{ "RHY 0 0 10 25 100 4000 1 JMC0 1 0 4 0 0 0 0\n",
		  "t:1: numMot: no board has 4 motors; write 1, 2, 3 or 5\n" },
		{ "RHY 0 0 10 25 100 4000 1 JMC0 1 0 2 - 0 0 0\n", "t:1: kp: \"-\" is not a number\n" },
		{ "RHY 0 0 10 25 100 4000 1 JMC0 1 0 2 0 0 101 0\n", "t:1: maxPWM: 101 is not between 0 and 100\n" },
		{ RHY "RHR 1 0 324 1024 160 4000 1 JMC0 1 1 2 0 0 0 0\n",
		  "t:2: JMC0: on bus 1 with 2 motors, but on bus 0 with 2 motors further up\n" },
		{ RHY "RHR 1 0 324 1024 160 4000 1 JMC0 1 0 3 0 0 0 0\n",
		  "t:2: JMC0: on bus 0 with 3 motors, but on bus 0 with 2 motors further up\n" },
		/* All mistakes of a line, and of a file. */
		{ "KN 3 0 10 25 100 4000 0 JMC99 1 0 2 0 0 0 0\nRHY\n",
		  "t:1: \"KN\" is not a joint of Hubo; did you mean LKN?\nt:1: jmc: \"JMC99\" " NO_BOARD
		  "t:1: dir: 0 is not a direction; write 1 or -1\n"
		  "t:1: motNo: motor 3 on a board of 2 motors; they are counted from 0\n"
		  "t:2: 1 columns, not 16; write " COLUMNS "\n" },
		{ "RHY a b 10 25 100 4000 1 JMC0 1 0 2 0 0 0 0\n",
		  "t:1: motNo: \"a\" is not a whole number\nt:1: refEnc: \"b\" is not a whole number\n" },
	};

	check(bad, sizeof(bad) / sizeof(*bad), hubo_table_joints, NULL);
}

/* Boards are sorted, and joints find theirs, in whatever order the lines stand. */
TEST(boards_are_sorted)
{
	static const char text[] = "LSP 0 0 11 16 100 4000 1 JMC10 1 1 2 0 0 0 0\n"
				   "WST 0 0 10 25 100 4000 1 EJMC3 0 0 1 0 0 0 1\n" RHR
				   "RSP 0 0 11 16 100 4000 1 JMC8 1 1 2 0 0 0 0\n" RHY;

	memset(&table, 0, sizeof(table));
	TEST_ASSERT_EQUAL_INT(0, hubo_table_joints(&table, "t", text, lines_start()));
	TEST_ASSERT_EQUAL_INT(4, table.boards_n);
	expect_board(0, "JMC0", 0x00, 0, 2, "RHY");
	expect_board(1, "EJMC3", 0x23, 0, 1, "WST");
	expect_board(2, "JMC8", 0x08, 1, 2, "RSP");
	expect_board(3, "JMC10", 0x0A, 1, 2, "LSP");
	TEST_ASSERT_EQUAL_INT(0, joint("RHR")->board);
	TEST_ASSERT_EQUAL_INT(1, joint("WST")->board);
	TEST_ASSERT_EQUAL_INT(2, joint("RSP")->board);
	TEST_ASSERT_EQUAL_INT(3, joint("LSP")->board);
	TEST_ASSERT_EQUAL_UINT(3, joint("RHR")->line);
	TEST_ASSERT_FALSE(table.boards[1].active);
	TEST_ASSERT_TRUE(joint("WST")->zeroed);
	TEST_ASSERT_FALSE(joint("RHR")->zeroed);
	TEST_ASSERT_EQUAL_INT(1, joint("RHR")->direction);
}

TEST(sensors)
{
	static const struct bad bad[] = {
		{ "", "" },
		{ "RFFT 0 1 1 -1 1 1\nIMU0 0 1 3 0 0 0\n", "" },
		{ "RFFT 0 1 1 -1 1\n",
		  "t:1: 6 columns, not 7; write Name CAN active BoardNumber x-axis y-axis z-axis\n" },
		{ "RFTF 0 1 1 1 1 1\n", "t:1: \"RFTF\" is not a sensor of Hubo; did you mean RFFT?\n" },
		{ "camera 0 1 1 1 1 1\n", "t:1: \"camera\" is not a sensor of Hubo\n" },
		{ "RFFT 0 1 1 1 1 1\nRFFT 0 1 2 1 1 1\n", "t:2: RFFT: already defined in line 1\n" },
		{ "RFFT 0 1 1 1 1 1\nLFFT 0 1 1 1 1 1\n", "t:2: BoardNumber: 1 is that of RFFT\n" },
		{ "RFFT 0 1 8 1 1 1\n", "t:1: BoardNumber: 8 is not between 1 and 7\n" },
		{ "RFFT 0 1 0 1 1 1\n", "t:1: BoardNumber: 0 is not between 1 and 7\n" },
		{ "RFFT 2 1 1 1 1 1\n", "t:1: CAN: 2 is not between 0 and 1\n" },
		{ "LFFT 0 1 1 1 0 1\n", "t:1: y-axis: 0 is not a sign; write 1 or -1\n" },
		{ "LFFT 0 1 1 1 1 up\n", "t:1: z-axis: \"up\" is not a whole number\n" },
	};

	check(bad, sizeof(bad) / sizeof(*bad), hubo_table_sensors, NULL);
}

TEST(homes)
{
	static const struct bad bad[] = {
		{ HOME_COLUMNS "\nRHY -4364 -379999 250001 0 20 raw\n", "" },
		{ "RHY 1 2 3\n", "t:1: 4 columns, not 7; write " HOME_COLUMNS "\n" },
		{ "RHZ 0 -1 1 0 20 rad\n", "t:1: \"RHZ\" is not a joint of Hubo; did you mean RHY?\n" },
		{ "LHY 0 -1 1 0 20 rad\n", "t:1: LHY is not in the joint table; remove this line or add the joint\n" },
		{ "RHY 0 -1 1 0 20 rad\nRHY 0 -1 1 0 20 rad\n", "t:2: RHY: already defined in line 1\n" },
		{ "RHY 0 -1 1 0 20 deg\n", "t:1: Type: \"deg\" is not a unit; write raw (encoder counts) or rad\n" },
		{ "RHY 0 1 1 0 20 rad\n", "t:1: LowerLimit 1 is not below UpperLimit 1\n" },
		{ "RHY 0 -1 20000 0 20 rad\n", "t:1: UpperLimit: 20000 is more than an encoder counts\n" },
		{ "RHY 0 -1 1 2 20 rad\n", "t:1: SearchDirection: 2 is not between 0 and 1\n" },
		{ "RHY 0 -1 1 0 256 rad\n", "t:1: SearchLimit: 256 is not between 1 and 255\n" },
		{ "RHY 3e9 -1 1 0 20 raw\n", "t:1: HomeOffset: 3e9 is not between -2147483648 and 2147483647\n" },
	};

	check(bad, sizeof(bad) / sizeof(*bad), hubo_table_homes, RHY);
	check(bad, 1, hubo_table_homes, RHY);
	TEST_ASSERT_EQUAL_INT(-4364, joint("RHY")->home.offset);
	TEST_ASSERT_EQUAL_INT(-379999, joint("RHY")->home.lower);
	TEST_ASSERT_EQUAL_INT(250001, joint("RHY")->home.upper);
	TEST_ASSERT_EQUAL_UINT(2, joint("RHY")->home.line);
}

/* ---- files ---- */

TEST(files)
{
	char path[] = "/tmp/hubo_table.XXXXXX", expected[128];
	const int fd = mkstemp(path);

	TEST_ASSERT_EQUAL_INT(-ENOENT, hubo_table_read(&table, "/none/such", NULL, "", lines_start()));
	TEST_ASSERT_EQUAL_STRING("/none/such: No such file or directory\n", lines);
	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL_INT(5, write(fd, "RHY\0\n", 5));
	TEST_ASSERT_EQUAL_INT(-EINVAL, hubo_table_read(&table, path, NULL, NULL, lines_start()));
	snprintf(expected, sizeof(expected), "%s:1: not a text file: it has a zero byte\n", path);
	TEST_ASSERT_EQUAL_STRING(expected, lines);
	TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, 65537));
	TEST_ASSERT_EQUAL_INT(-EFBIG, hubo_table_read(&table, path, NULL, NULL, lines_start()));
	snprintf(expected, sizeof(expected), "%s:1: larger than 65536 bytes\n", path);
	TEST_ASSERT_EQUAL_STRING(expected, lines);
	TEST_ASSERT_EQUAL_INT(-EISDIR, hubo_table_read(&table, "/tmp", NULL, NULL, lines_start()));
	TEST_ASSERT_EQUAL_STRING("/tmp: Is a directory\n", lines);
	close(fd);
	unlink(path);
}

TEST(paths_are_relative_to_the_robot_file)
{
	static const struct {
		const char *robot, *name, *path;
	} rows[] = {
		{ "config/robots/hubo.yaml", "../hubo/a.joints", "config/robots/../hubo/a.joints" },
		{ "hubo.yaml", "a.joints", "a.joints" },
		{ NULL, "a.joints", "a.joints" },
		{ "/etc/hubo.yaml", "/usr/a.joints", "/usr/a.joints" },
	};
	char path[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_INT(0, read_files_path(path, sizeof(path), rows[i].robot, rows[i].name));
		TEST_ASSERT_EQUAL_STRING(rows[i].path, path);
	}
	TEST_ASSERT_EQUAL_INT(0, read_files_path(path, 4, NULL, "abc"));
	TEST_ASSERT_EQUAL_INT(-ENAMETOOLONG, read_files_path(path, 3, NULL, "abc"));
}

TEST(tables_are_beside_the_file_that_names_them)
{
	static const char text[] = "like: config/robots/hubo.yaml\ndevices: {hubo: {settings: {home: mine.home}}}\n";
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	const struct robot_device *device;
	struct robot robot;
	char path[96];

	TEST_ASSERT_EQUAL_INT(0, robot_open_text(&robot, "lab.yaml", text, strlen(text), &errors));
	device = robot_device(&robot, "hubo");
	TEST_ASSERT_EQUAL_INT(0, hubo_table_path_of(path, sizeof(path), device, "joints", "../hubo/hubo2plus.joints"));
	TEST_ASSERT_EQUAL_STRING("config/robots/../hubo/hubo2plus.joints", path);
	TEST_ASSERT_EQUAL_INT(0, hubo_table_path_of(path, sizeof(path), device, "home", "mine.home"));
	TEST_ASSERT_EQUAL_STRING("mine.home", path);
	TEST_ASSERT_EQUAL_INT(0, hubo_table_path_of(path, sizeof(path), device, "joints", "given.joints"));
	TEST_ASSERT_EQUAL_STRING("given.joints", path);
	TEST_ASSERT_EQUAL_INT(0, hubo_table_path_of(path, sizeof(path), NULL, "joints", "given.joints"));
	TEST_ASSERT_EQUAL_STRING("given.joints", path);
	robot_close(&robot);
}
