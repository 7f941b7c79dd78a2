/* test_wire_script.c: scripts and faults as text. */
#include "test/lib/testcase.h"

#include "can/wire/fault.h"
#include "can/wire/script.h"

static char path[] = "/tmp/test_wire_script.XXXXXX";
static char played[1 << 20];
static const char *const buses[] = { "torso", "base" };
static const struct engine_settings settings = { .bitrate = 1000000, .quiet = true, .seed = 1 };

static void write_script(const char *text)
{
	FILE *file = fopen(path, "w");

	TEST_ASSERT_NOT_NULL(file);
	fputs(text, file);
	fclose(file);
}

static void keep(void *to, const char *text)
{
	size_t n = strlen(played);

	(void)to;
	snprintf(played + n, sizeof(played) - n, "%s\n", text);
}

static char lines[1 << 13];

static void keep_error(void *to, const char *text)
{
	size_t n = strlen(lines);

	(void)to;
	snprintf(lines + n, sizeof(lines) - n, "%s\n", text);
}

static struct error_sink *lines_start(void)
{
	static struct error_sink sink;

	lines[0] = 0;
	sink = (struct error_sink){ .line = keep_error };
	return &sink;
}

/* The log of a script, or what is wrong with it; the path becomes X. */
static const char *play(const char *text)
{
	struct script script;
	char *at;

	played[0] = 0;
	write_script(text);
	if (script_open(&script, path, buses, 2, lines_start())) {
		while ((at = strstr(lines, path))) {
			*at = 'X';
			memmove(at + 1, at + strlen(path), strlen(at + strlen(path)) + 1);
		}
		return lines;
	}
	TEST_ASSERT_EQUAL_STRING("", lines);
	TEST_ASSERT_EQUAL_INT(0, script_run(&script, &settings, keep, NULL));
	script_close(&script);
	return played;
}

#define PLAYS(script, log) TEST_ASSERT_EQUAL_STRING(log, play(script))

/* ---- scripts ---- */

TEST(frames_in_order)
{
	PLAYS("# a comment\n"
	      "\n"
	      "0.001000 host 123#DEADBEEF\n"
	      "0.001000 imu 122#   # wins\r\n"
	      "(0.0021) imu 123#R4",
	      "(0.001045) torso 122#\n"
	      "(0.001126) torso 123#DEADBEEF\n"
	      "(0.002144) torso 123#R4\n");
	PLAYS("", "");
}

TEST(faults_and_nodes)
{
	PLAYS("0 host 123#DEADBEEF\n"
	      "0 imu 200#\n"
	      "0.001 fault corrupt 1 at 40 # one bit\n"
	      "0.001 host 123#DEADBEEF\n"
	      "0.002 node imu power off\n"
	      "0.002 host 123#DEADBEEF\n"
	      "0.006 node host reset\n"
	      "0.007 imu 001#\n"
	      "0.008 node host restart\n",
	      "(0.000078) torso 123#DEADBEEF\n"
	      "(0.000129) torso 200#\n"
	      "(0.001141) torso 123#DEADBEEF\n"
	      "# 0.002000 torso imu stopped tx 0 rx 0\n"
	      "# 0.003041 torso host error 20000204#0008000000006700\n"
	      "# 0.003041 torso host warning tx 103 rx 0\n"
	      "# 0.003389 torso host error 20000204#0020000000008700\n"
	      "# 0.003389 torso host passive tx 135 rx 0\n"
	      "# 0.006000 torso host purged 123#DEADBEEF reset\n"
	      "# 0.006000 torso host stopped tx 0 rx 0\n"
	      "# 0.006000 torso host error-active tx 0 rx 0\n"
	      "# 0.007000 torso imu refused 001# Network is down\n"
	      "# 0.008000 torso host line 9: Device or resource busy\n");
}

TEST(nodes_come_and_go)
{
	PLAYS("0 host 123#\n"
	      "0.0005 node imu attach\n"
	      "0.001 node imu detach\n"
	      "0.002 imu 123#\n"
	      "0.002 node host queue 1\n"
	      "0.002 host 123#\n"
	      "0.002 host 124#\n"
	      "0.002 host 125#\n"
	      "0.0021 end\n",
	      "(0.000585) torso 123#\n"
	      "# 0.002000 torso imu refused 123# no such node at this time\n"
	      "# 0.002000 torso host refused 125# No buffer space available\n");
}

TEST(two_buses_in_order_of_time)
{
	PLAYS("0.001 a 123#\n0.001 b 124#01\n"
	      "bus base\n"
	      "0.001 a 123#\n0.001020 b 000#\n"
	      "bus torso\n"
	      "0.002 a 000#\n",
	      "(0.001045) torso 123#\n"
	      "(0.001045) base 123#\n"
	      "(0.001098) base 000#\n"
	      "(0.001102) torso 124#01\n"
	      "(0.002050) torso 000#\n");
}

/* It ends though the babbling does not; and a script is played the same every time. */
TEST(babble_ends_with_the_script)
{
	static const char text[] = "0 a 123#\n0 b 123#00\n"
				   "0 fault babble a 100#0102\n0 fault corrupt 3%\n0 fault drop 10% b\n"
				   "0.001 node b restart-ms 1\n";
	static char first[sizeof(played)];

	strcpy(first, play(text));
	TEST_ASSERT_GREATER_THAN(100000, strlen(first));
	PLAYS(text, first);
}

TEST(each_bad_line_is_reported)
{
	PLAYS("x host 123#\n"
	      "0.1\n"
	      "0.1 host 1#\n"
	      "0.1 host 123##0\n"
	      "0.1 ho*st 123#\n"
	      "0.1 node imu fly\n"
	      "0.1 node imu queue 0\n"
	      "0.1 node imu reset now\n"
	      "0.1 node imu power maybe\n"
	      "0.1 fault droop 1\n"
	      "0.1 fault power off nobody\n"
	      "0.05 host 123#\n"
	      "bus leg\n"
	      "0.123456789x host 123#\n"
	      "(0.1 host 123#\n"
	      "0.2 end\n"
	      "0.3 host 123#\n",
	      "X:1: \"x\" is not a time in seconds such as 0.001000\n"
	      "X:2: nothing behind the time: write TIME NODE FRAME, TIME fault ..., TIME node NODE ... or TIME end\n"
	      "X:3: \"1#\" is not a frame such as 123#DEADBEEF: an identifier has 3 or 8 digits\n"
	      "X:4: \"123##0\" is not a frame such as 123#DEADBEEF: scripts and faults take classic frames only\n"
	      "X:5: \"ho*st\" is not the name of a node: letters, digits, _ . -\n"
	      "X:6: node imu: \"fly\": write attach, detach, up, down, reset, restart, restart-ms N, queue N, "
	      "power off, power on, connect or disconnect\n"
	      "X:7: queue \"0\" is not from 1 to 128\n"
	      "X:8: \"now\" is too much\n"
	      "X:9: power: write power off NODE or power on NODE\n"
	      "X:10: \"droop\" is not a fault; did you mean drop?\n"
	      "X:12: 0.05 lies before the line above it: put lines in order of time\n"
	      "X:13: bus \"leg\" is not among those that run\n"
	      "X:14: \"0.123456789x\" is not a time in seconds such as 0.001000\n"
	      "X:15: \"(0.1\" is not a time in seconds such as 0.001000\n"
	      "X:17: behind the line with end\n"
	      "X:11: there is no node nobody: no other line of this bus names it\n");
}

TEST(too_many_nodes)
{
	char text[33 * 32] = "";

	for (int i = 0; i < 33; i++)
		snprintf(text + strlen(text), 32, "0 n%d 123#\n", i);
	PLAYS(text, "X:33: n32: a bus has at most 32 nodes\n");
}

TEST(files_that_cannot_be_read)
{
	struct script script;
	static char text[1000];

	TEST_ASSERT_LESS_THAN(0, script_open(&script, "/nowhere/x.wire", buses, 1, lines_start()));
	TEST_ASSERT_EQUAL_STRING("unable to open /nowhere/x.wire: No such file or directory\n", lines);
	TEST_ASSERT_LESS_THAN(0, script_open(&script, "/", buses, 1, lines_start()));
	TEST_ASSERT_EQUAL_STRING("unable to read /: Is a directory\n", lines);
	memset(text, 'x', sizeof(text) - 1);
	PLAYS(text, "X:1: a line of more than 510 bytes\n");
}

/* ---- faults ---- */

static const char *wrong(const char *text)
{
	static char why[FAULT_WHY_MAX];
	struct engine_fault f;

	why[0] = 0;
	TEST_ASSERT_EQUAL_INT(-22, fault_read(&f, text, why));
	return why;
}

static struct engine_fault right(const char *text)
{
	char why[FAULT_WHY_MAX] = "";
	struct engine_fault f;

	fault_read(&f, text, why);
	TEST_ASSERT_EQUAL_STRING("", why);
	return f;
}

TEST(faults_are_read)
{
	struct engine_fault f = right("drop 3");

	TEST_ASSERT_EQUAL_INT(ENGINE_DROP, f.kind);
	TEST_ASSERT_EQUAL_UINT32(3, f.next);
	TEST_ASSERT_EQUAL_INT(-1, f.bit);
	f = right(" drop\t2.5%   imu ");
	TEST_ASSERT_EQUAL_UINT32(25000, f.ppm);
	TEST_ASSERT_EQUAL_STRING("imu", f.node);
	TEST_ASSERT_TRUE(right("drop off").off);
	f = right("corrupt 100% at 40 imu");
	TEST_ASSERT_EQUAL_INT(ENGINE_CORRUPT, f.kind);
	TEST_ASSERT_EQUAL_UINT32(1000000, f.ppm);
	TEST_ASSERT_EQUAL_INT(40, f.bit);
	TEST_ASSERT_EQUAL_STRING("imu", f.node);
	f = right("delay imu 5ms");
	TEST_ASSERT_EQUAL_INT(ENGINE_DELAY, f.kind);
	TEST_ASSERT_EQUAL_INT64(5000000, f.ns);
	TEST_ASSERT_EQUAL_INT(ENGINE_HELD, right("stuck 1s").level);
	TEST_ASSERT_EQUAL_INT(ENGINE_DOMINANT, right("stuck dominant 1s").level);
	f = right("stuck recessive 1s");
	TEST_ASSERT_EQUAL_INT(ENGINE_STUCK, f.kind);
	TEST_ASSERT_EQUAL_INT(ENGINE_RECESSIVE, f.level);
	TEST_ASSERT_EQUAL_INT64(1000000000, f.ns);
	TEST_ASSERT_TRUE(right("stuck off").off);
	f = right("babble imu 123#11 2ms");
	TEST_ASSERT_EQUAL_INT(ENGINE_BABBLE, f.kind);
	TEST_ASSERT_EQUAL_HEX32(0x123, f.frame.id);
	TEST_ASSERT_EQUAL_INT64(2000000, f.ns);
	TEST_ASSERT_TRUE(right("babble imu off").off);
	TEST_ASSERT_EQUAL_INT(ENGINE_POWER_OFF, right("power off imu").kind);
	TEST_ASSERT_EQUAL_INT(ENGINE_POWER_ON, right("power on imu").kind);
	TEST_ASSERT_EQUAL_INT(ENGINE_DISCONNECT, right("disconnect imu").kind);
	TEST_ASSERT_EQUAL_INT(ENGINE_CONNECT, right("connect imu").kind);
	TEST_ASSERT_EQUAL_INT(ENGINE_CLASSIC, right("classic imu").kind);
	TEST_ASSERT_FALSE(right("classic imu").off);
	TEST_ASSERT_TRUE(right("classic imu off").off);
	TEST_ASSERT_EQUAL_INT(ENGINE_CLEAR, right("clear").kind);
}

TEST(words_that_are_not_a_fault)
{
	TEST_ASSERT_EQUAL_STRING(
		"\"\" is not a fault: drop, corrupt, delay, stuck, babble, power, disconnect, connect, classic or "
		"clear",
		wrong(""));
	TEST_ASSERT_EQUAL_STRING("\"dorp\" is not a fault; did you mean drop?", wrong("dorp 1"));
	TEST_ASSERT_EQUAL_STRING("drop: \"\": write how many frames (3), which part of them (2.5%), or off",
				 wrong("drop"));
	TEST_ASSERT_EQUAL_STRING("drop: \"0\": write how many frames (3), which part of them (2.5%), or off",
				 wrong("drop 0"));
	TEST_ASSERT_EQUAL_STRING("drop: \"101%\" is not from 0.0001% to 100%", wrong("drop 101%"));
	TEST_ASSERT_EQUAL_STRING("drop: \"c\" is too much", wrong("drop 1 b c"));
	TEST_ASSERT_EQUAL_STRING("corrupt: at \"160\": write a bit from 0, the start bit, to 159",
				 wrong("corrupt 1 at 160"));
	TEST_ASSERT_EQUAL_STRING("delay: which node?", wrong("delay"));
	TEST_ASSERT_EQUAL_STRING("delay: \"\" is not a time such as 5ms", wrong("delay imu"));
	TEST_ASSERT_EQUAL_STRING("stuck: \"0\" is not a time such as 5ms", wrong("stuck 0"));
	TEST_ASSERT_EQUAL_STRING("power: write power off NODE or power on NODE", wrong("power imu"));
	TEST_ASSERT_EQUAL_STRING("connect: \"a/b\" is not the name of a node: letters, digits, _ . -",
				 wrong("connect a/b"));
	TEST_ASSERT_EQUAL_STRING("too many words", wrong("drop 1 2 3 4 5 6 7 8 9 10 11 12"));
	TEST_ASSERT_EQUAL_STRING(
		"babble: \"12\" is not a frame such as 123#DEADBEEF: there is no # after the identifier",
		wrong("babble imu 12"));
}

/* The help names every fault there is. */
TEST(the_help_is_complete)
{
	static const char *const words[] = { "drop",  "corrupt",    "delay",   "stuck",	  "babble",
					     "power", "disconnect", "connect", "classic", "clear" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fault_help, words[i]), words[i]);
}

int main(void)
{
	int fd = mkstemp(path);

	UNITY_BEGIN();
	testcase_run_all();
	close(fd);
	unlink(path);
	return UNITY_END();
}
