/* test_check.c: the checks before a start; drivers are small scripts. */
#include <signal.h>
#include <sys/wait.h>

#include "test/lib/testcase.h"

#include "can/bus/bits.h"
#include "launch/check/check.h"
#include "launch/check/check_run.h"
#include "test/launch/file/launch_lib.h"
#include "test/lib/lib.h"

#define FRAMES(...) "echo '{\"driver\": \"x\", \"name\": \"x\", \"frames\": [" __VA_ARGS__ "]}'\n"
#define TX(bus, id, len, rest)                                                             \
	"{\"bus\":\"" bus "\",\"id\":\"" id "\",\"ext\":false,\"dir\":\"tx\",\"len\":" len \
	",\"class\":\"queue\"," rest "}"
#define RX(bus, id, len, rest) \
	"{\"bus\":\"" bus "\",\"id\":\"" id "\",\"dir\":\"rx\",\"len\":" len ",\"class\":null,\"key\":null," rest "}"
#define PERIOD(us) "\"period_us\":" us
#define SHARED "\"shared\":true,"
#define REPLY(id) ",\"reply\":{\"id\":\"" id "\",\"key\":\"FF\",\"within_us\":null}"

static struct launch_lib_lines errors, warnings;
static struct launch launch;
static struct check check;
static char folder[LAUNCH_LIB_PATH], path_before[8192];

/* A driver runs the script NAME--check or NAME--frames beside it. */
static const char fake[] = "#!/bin/sh\n"
			   "# @(#)endplate-driver\n"
			   "for last; do :; done\n"
			   "folder=$(dirname \"$0\")\n"
			   ". \"$folder/$2$last\"\n";
static const char fake_sim[] = "#!/bin/sh\n"
			       "for last; do :; done\n"
			       ". \"$(dirname \"$0\")/robotsim$last\"\n";

static void says(const char *name, const char *option, const char *script)
{
	char file[64], path[LAUNCH_LIB_PATH];

	snprintf(file, sizeof(file), "%s%s", name, option);
	launch_lib_write(path, folder, file, 0644, script);
}

static void prints_frames(const char *name, const char *rows)
{
	char script[1024];

	snprintf(script, sizeof(script), "echo '{\"frames\": [%s]}'\n", rows);
	says(name, "--frames", script);
}

void setUp(void)
{
	static const char *const programs[] = { "pciod", "hubo-daemon", "imud", "canwire" };
	static const char *const names[] = { "clock", "waist", "larm", "imu" };
	char path[LAUNCH_LIB_PATH], search[16384];

	launch_lib_folder(folder);
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		launch_lib_write(path, folder, programs[i], 0755, fake);
	launch_lib_write(path, folder, "robotsim", 0755, fake_sim);
	says("robotsim", "--check", "");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		says(names[i], "--check", "");
		says(names[i], "--frames", FRAMES());
	}
	snprintf(path_before, sizeof(path_before), "%s", getenv("PATH"));
	snprintf(search, sizeof(search), "%s:%s", folder, path_before);
	setenv("PATH", search, 1);
	check = (struct check){ 0 };
	launch_open(&launch, "test/launch/good.launch", launch_lib_start(&errors));
	TEST_ASSERT_EQUAL_STRING("", errors.text);
}

void tearDown(void)
{
	check_frames_free(&check.frames);
	launch_close(&launch);
	launch_lib_remove(folder);
	setenv("PATH", path_before, 1);
}

#define GOOD "test/launch/good.launch:"
#define AT_ROBOTSIM GOOD "7: robotsim: "
#define AT_CLOCK GOOD "8: clock: "
#define AT_WAIST GOOD "9: waist: "
#define AT_LARM GOOD "10: larm: "
#define AT_IMU GOOD "11: imu: "

static void check_now(void)
{
	check_frames_free(&check.frames);
	check_robot(&check, &launch, CHECK_WITHIN_NS, launch_lib_start(&errors), launch_lib_start(&warnings));
}

static void checked(const char *expected_errors, const char *expected_warnings)
{
	check_now();
	TEST_ASSERT_EQUAL_STRING(expected_errors, errors.text);
	TEST_ASSERT_EQUAL_STRING(expected_warnings, warnings.text);
}

static void reopen(const char *text)
{
	char path[LAUNCH_LIB_PATH], file[LAUNCH_LIB_PATH], whole[1024];

	launch_close(&launch);
	TEST_ASSERT_NOT_NULL(getcwd(path, sizeof(path)));
	snprintf(whole, sizeof(whole), "include: %.200s/test/launch/%s", path, text);
	launch_open(&launch, launch_lib_write(file, folder, "x.launch", 0644, whole), launch_lib_start(&errors));
	TEST_ASSERT_EQUAL_STRING("", errors.text);
}

/* ---- drivers ---- */

TEST(a_valid_robot_passes)
{
	checked("", "");
}

TEST(limits_that_seem_to_be_in_degrees_are_a_note)
{
	char robot[LAUNCH_LIB_PATH];

	launch_close(&launch);
	launch_lib_write(
		robot, folder, "r.yaml", 0644,
		"robot: r\nbuses: {b: {interface: wire:b}}\ndevices:\n  waist:\n    driver: pciod\n    bus: b\n"
		"    limits: {position: [-165, 0], velocity: 25 deg/s, acceleration: 1.74}\n");
	launch_open(&launch,
		    launch_lib_write(robot, folder, "x.launch", 0644,
				     "include: r.yaml\nclock: none\ndaemons: {canwire: , waist: }\n"),
		    launch_lib_start(&errors));
	TEST_ASSERT_EQUAL_STRING("", errors.text);
	check_now();
	TEST_ASSERT_EQUAL_STRING("", errors.text);
	TEST_ASSERT_NOT_NULL_MESSAGE(
		strstr(warnings.text, "r.yaml:7: position: waist: from -26 to 0 turns; if degrees"), warnings.text);
	TEST_ASSERT_EQUAL_UINT(1, warnings.sink.count);
	TEST_ASSERT_EQUAL_UINT(1, check.notes);
}

TEST(a_refusal_is_reported_once)
{
	says("waist", "--check",
	     "echo 'pciod[waist]: fatal: x.yaml:9: tick: wrong' >&2; echo >&2; echo 'more' >&2; exit 100");
	says("waist", "--frames", "echo 'the same again' >&2; exit 100");
	checked(AT_WAIST "x.yaml:9: tick: wrong\n" AT_WAIST "more\n", "");
}

TEST(exit_status_111_is_a_warning)
{
	says("waist", "--check", "echo 'pciod[waist]: fatal: no bus' >&2; exit 111");
	says("imu", "--check", "exit 111");
	checked("", AT_IMU "imud --check ended with status 111 and printed nothing\n" AT_WAIST "no bus\n");
}

TEST(a_failing_driver_is_an_error)
{
	says("clock", "--check", "exit 3");
	says("waist", "--check", "kill -SEGV $$");
	says("larm", "--frames", "echo hello");
	says("imu", "--frames", "exit 100");
	checked(AT_CLOCK "hubo-daemon --check ended with status 3 and printed nothing\n" AT_WAIST
			 "pciod --check was killed by signal 11 (Segmentation fault)\n" AT_LARM
			 "pciod --frames:1: no list \"frames\"\n" AT_IMU
			 "imud --frames ended with status 100 and printed nothing\n",
		"");
}

TEST(a_driver_that_hangs_is_killed)
{
	says("waist", "--check", "sleep 1000");
	says("larm", "--check", "while :; do :; done");
	check_robot(&check, &launch, 300000000, launch_lib_start(&errors), launch_lib_start(&warnings));
	/* On a machine that is busy enough others may hang, too. */
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(errors.text, "waist: pciod --check did not end within 300ms\n"),
				     errors.text);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(errors.text, "larm: pciod --check did not end within 300ms\n"),
				     errors.text);
}

TEST(drivers_get_their_own_arguments_and_environment)
{
	const char *only =
		"test \"$LAB\" = yes && test \"$1 $2 $3 $4 $5\" = '--name waist --robot lab --config' || exit 100\n";
	char frames[512];

	reopen("lab.yaml\nclock: none\ndaemons:\n  canwire:\n  waist: {environment: {LAB: yes}}\n");
	snprintf(frames, sizeof(frames), "%s%s", only, FRAMES());
	says("waist", "--check", only);
	says("waist", "--frames", frames);
	checked("", "");
}

TEST(only_wanted_drivers_are_run)
{
	says("larm", "--check", "exit 100");
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, "noarms", launch_lib_start(&errors)));
	checked("", "");
}

/* It is run once, not with --frames: there is no script for that. */
TEST(a_refusal_of_the_simulator_is_reported)
{
	says("robotsim", "--check",
	     "test \"$1\" = run || exit 3; echo \"robotsim: fatal: $(basename \"$2\"):9: type: wrong\" >&2; exit 100");
	checked(AT_ROBOTSIM "lab.yaml:9: type: wrong\n", "");
}

TEST(one_cause_is_reported_once)
{
#define REFUSES(who) "echo '" who ": fatal: lab.yaml:9: tick: wrong' >&2; exit 100"
#define MODULE(rest)                                                                               \
	"echo '{\"frames\": [" TX("torso", "0EF", "8", PERIOD("null")) "," TX("torso", "0CF", "8", \
									      PERIOD("null")) "]" rest "}'\n"
#define PCIO ",\"claims\":[{\"bus\":\"torso\",\"what\":\"pcio\"}]"
	static const struct {
		const char *cause, *option, *robotsim, *larm, *waist, *expected;
	} cases[] = {
		{ "the simulator and a driver find it", "--check", REFUSES("robotsim"), "", REFUSES("pciod[waist]"),
		  AT_WAIST "lab.yaml:9: tick: wrong\n" },
		{ "two drivers find it", "--check", "", REFUSES("pciod[larm]"), REFUSES("pciod[waist]"),
		  AT_LARM "lab.yaml:9: tick: wrong\n" },
		{ "two drivers share a module", "--frames", "", MODULE(""), MODULE(""),
		  AT_WAIST "bus torso: identifiers 0EF and others are sent by larm (line 10) and by waist (line 9): "
			   "give one of them other ids, or another bus\n" },
		{ "two drivers share a module and claim its kind", "--frames", "", MODULE(PCIO), MODULE(PCIO),
		  AT_WAIST "bus torso: larm (line 10) and waist (line 9) both need its pcio, which only one of them "
			   "can have: make them one device, or give one another bus\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		says("larm", "--check", "");
		says("waist", "--check", "");
		says("robotsim", cases[i].option, cases[i].robotsim);
		says("larm", cases[i].option, cases[i].larm);
		says("waist", cases[i].option, cases[i].waist);
		says("robotsim", "--check", strcmp(cases[i].option, "--check") ? "" : cases[i].robotsim);
		check_now();
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].expected, errors.text, cases[i].cause);
	}
}

/* ---- programs, cores, interfaces ---- */

TEST(missing_programs_are_errors)
{
	char path[LAUNCH_LIB_PATH], expected[4096];

	reopen("lab.yaml\nclock: none\n"
	       "daemons:\n  canwire:\n  a: {program: endplate-no-such}\n  b: {program: ./none}\n"
	       "  c: {program: ./flat}\n");
	launch_lib_write(path, folder, "flat", 0644, "");
	snprintf(expected, sizeof(expected),
		 "%s/x.launch:5: a: the program endplate-no-such is neither beside achstart nor in $PATH: build or "
		 "install it, or correct its name\n"
		 "%s/x.launch:6: b: the program %s/./none: No such file or directory\n"
		 "%s/x.launch:7: c: the program %s/./flat: Permission denied\n",
		 folder, folder, folder, folder, folder);
	checked(expected, "");
}

/* The text with the folder for each @. */
static void with_folder(char *to, size_t size, const char *text)
{
	size_t at = 0;

	for (; *text && at < size; text++)
		at += (size_t)(*text == '@' ? snprintf(to + at, size - at, "%s", folder)
					    : snprintf(to + at, size - at, "%c", *text));
}

/* It would leave a file behind if it were run. */
TEST(a_program_that_is_not_a_driver_is_not_run)
{
	static const struct {
		const char *driver, *daemons, *expected;
	} cases[] = {
		{ "cleaner", "  a:\n",
		  "@/x.launch:4: a: cleaner (@/cleaner) is not an Endplate driver: correct driver: of device a in "
		  "the robot file\n" },
		{ "cleaner", "  a:\n  b:\n",
		  "@/x.launch:4: a: cleaner (@/cleaner), also of b (line 5) is not an Endplate driver: correct "
		  "driver: of device a in the robot file\n" },
		{ "absent", "  a:\n  b:\n",
		  "@/x.launch:4: a: the program absent, also of b (line 5) is neither beside achstart nor in $PATH: "
		  "build or install it, or correct its name; if it is in another folder, give object: its .so\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[LAUNCH_LIB_PATH], text[512], expected[2048];

		launch_lib_write(path, folder, "cleaner", 0755, "#!/bin/sh\n>\"$(dirname \"$0\")/ran\"\n");
		snprintf(text, sizeof(text),
			 "robot: x\nbuses: {t: {interface: log:/x}}\ndevices:\n  a: {driver: %s, bus: t}\n"
			 "  b: {driver: %s, bus: t}\n",
			 cases[i].driver, cases[i].driver);
		launch_lib_write(path, folder, "x.yaml", 0644, text);
		snprintf(text, sizeof(text), "include: x.yaml\nclock: none\ndaemons:\n%s", cases[i].daemons);
		launch_close(&launch);
		launch_open(&launch, launch_lib_write(path, folder, "x.launch", 0644, text), launch_lib_start(&errors));
		check_now();
		with_folder(expected, sizeof(expected), cases[i].expected);
		TEST_ASSERT_EQUAL_STRING(expected, errors.text);
		with_folder(path, sizeof(path), "@/ran");
		TEST_ASSERT_TRUE(access(path, F_OK));
	}
}

TEST(missing_cores_are_errors)
{
	reopen("lab.yaml\nclock: none\ndaemons:\n  canwire: {core: 1023}\n  waist: {core: 0}\n");
	check_now();
	TEST_ASSERT_EQUAL_UINT(1, errors.sink.count);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(errors.text, "x.launch:4: core: this machine has "), errors.text);
}

TEST(a_wire_without_a_server_is_a_warning)
{
	char run[LAUNCH_LIB_PATH];
	const char *before = getenv("ENDPLATE_RUN");

	snprintf(run, sizeof(run), "%s", before ? before : "");
	setenv("ENDPLATE_RUN", folder, 1);
	reopen("lab.yaml\nclock: none\ndaemons:\n  waist:\n");
	check_now();
	if (before)
		setenv("ENDPLATE_RUN", run, 1);
	else
		unsetenv("ENDPLATE_RUN");
	TEST_ASSERT_EQUAL_STRING("", errors.text);
	TEST_ASSERT_EQUAL_UINT(1, warnings.sink.count);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(warnings.text, "torso"), warnings.text);
}

TEST(an_interface_that_is_missing_is_a_warning)
{
	char path[LAUNCH_LIB_PATH];

	launch_lib_write(path, folder, "real.yaml", 0644,
			 "robot: real\nbuses:\n  a: {interface: can971}\n  b: {interface: log:/x}\n"
			 "devices:\n  waist: {driver: pciod, bus: [a, b]}\n");
	launch_close(&launch);
	launch_open(&launch,
		    launch_lib_write(path, folder, "x.launch", 0644,
				     "include: real.yaml\nclock: none\ndaemons:\n  waist:\n"),
		    launch_lib_start(&errors));
	check_now();
	TEST_ASSERT_EQUAL_STRING("", errors.text);
	TEST_ASSERT_EQUAL_UINT(1, warnings.sink.count);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(warnings.text, "can971"), warnings.text);
}

TEST(a_link_is_wanted_as_the_robot_file_says)
{
	const struct robot_bus bus = {
		.bitrate = 500000, .data_bitrate = 2000000, .sample_point = 0.875, .restart_ms = 20
	};
	const struct link_settings want = check_link_settings(&bus);

	TEST_ASSERT_EQUAL_UINT32(500000, want.bitrate);
	TEST_ASSERT_EQUAL_UINT32(2000000, want.data_bitrate);
	TEST_ASSERT_EQUAL_UINT32(875, want.sample_point_pm);
	TEST_ASSERT_EQUAL_UINT32(20, want.restart_ms);
	TEST_ASSERT_EQUAL_UINT32(0, want.queue);
}

TEST(links_with_other_values_are_reported)
{
	struct link_info info = { .up = true, .kind = "vcan", .now = { .bitrate = 1000000 } };
	const struct robot_bus *spare, *wire;
	struct robot_bus quick;

	reopen("mixed.yaml\nclock: none\nlinks: no\narm: auto\ndaemons:\n  clock:\n");
	spare = robot_bus(&launch.robot, "spare");
	wire = robot_bus(&launch.robot, "torso");
	launch_lib_start(&errors);
	launch_lib_start(&warnings);
	check_link(&launch, spare, &info, &errors.sink, &warnings.sink);
	strcpy(info.kind, "can");
	check_link(&launch, wire, &info, &errors.sink, &warnings.sink);
	TEST_ASSERT_EQUAL_STRING("", errors.text);
	TEST_ASSERT_EQUAL_STRING("", warnings.text);
	/* It is only called vcan. */
	check_link(&launch, spare, &info, &errors.sink, &warnings.sink);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(errors.text, "x.launch:4: arm: vcan0 of bus spare is not virtual"),
				     errors.text);
	TEST_ASSERT_EQUAL_STRING("", warnings.text);
	launch.arm = LAUNCH_ARM_NO;
	launch_lib_start(&errors);
	info.now.bitrate = 500000;
	check_link(&launch, spare, &info, &errors.sink, &warnings.sink);
	TEST_ASSERT_EQUAL_STRING(
		"bus spare: vcan0 is up with bit rate 500000, not 1000000: ip link set vcan0 down, and "
		"achstart brings it up as it should be\n",
		warnings.text);
	launch_lib_start(&warnings);
	info = (struct link_info){ .up = true, .virtual = true, .classic = true, .kind = "vcan" };
	check_link(&launch, spare, &info, &errors.sink, &warnings.sink);
	TEST_ASSERT_EQUAL_STRING("", warnings.text);
	quick = *spare;
	quick.data_bitrate = 5000000;
	check_link(&launch, &quick, &info, &errors.sink, &warnings.sink);
	TEST_ASSERT_EQUAL_STRING("bus spare: vcan0 is up with mtu 16, not 72: it carries no CAN FD frame: ip link set "
				 "vcan0 down, and achstart brings it up as it should be\n",
				 warnings.text);
	launch_lib_start(&warnings);
	info.up = false;
	check_link(&launch, spare, &info, &errors.sink, &warnings.sink);
	TEST_ASSERT_EQUAL_STRING("bus spare: vcan0 is down, and links: no leaves it so\n", warnings.text);
	launch_lib_start(&warnings);
	launch.links = true;
	check_link(&launch, spare, &info, &errors.sink, &warnings.sink);
	TEST_ASSERT_EQUAL_STRING("", warnings.text);
	TEST_ASSERT_EQUAL_STRING("", errors.text);
}

/* ---- clashes ---- */

#define SENT(id, a, b) \
	"bus torso: identifier " id " is sent by " a " and by " b ": give one of them other ids, or another bus\n"

/* Without a period, on the bus torso. */
#define SENDS(id) TX("torso", id, "8", PERIOD("null"))
#define SHARES(id) TX("torso", id, "8", SHARED PERIOD("null"))
#define TAKES(id) RX("torso", id, "8", PERIOD("null"))
#define LISTENS(id) RX("torso", id, "8", SHARED PERIOD("null"))
#define ASKS(id) TX("torso", id, "1", PERIOD("5000") REPLY(id)) "," TAKES(id)

TEST(identifiers_in_conflict_are_errors)
{
	static const struct {
		const char *property, *clock, *waist, *larm, *imu, *expected;
	} cases[] = {
		{ "two drivers must not send one identifier", "", SENDS("0EF") "," SENDS("0EF"),
		  SENDS("0EF") "," TX("arm", "0EE", "8", PERIOD("null")), SENDS("0EE"),
		  AT_WAIST SENT("0EF", "larm (line 10)", "waist (line 9)") },
		{ "identifiers may be shared", "", SHARES("100"), SHARES("100"), "", "" },
		{ "identifiers may be shared if all say so", "", SHARES("100"), SHARES("100"), SENDS("100"),
		  AT_IMU SENT("100", "larm (line 10)", "imu (line 11)")
			  AT_WAIST SENT("100", "imu (line 11)", "waist (line 9)") },
		{ "devices send the frames that drivers take; the SYNC of the clock is the encoder of a Hubo board",
		  SENDS("080") "," TAKES("080"), TAKES("040"), "", TAKES("040"),
		  AT_CLOCK SENT("080", "clock (line 8)", "the device of clock (line 8)")
			  AT_WAIST SENT("040", "the device of imu (line 11)", "the device of waist (line 9)") },
		{ "a device may answer with the identifier of the request, as a force sensor does", "", "", "",
		  ASKS("040"), "" },
		{ "another device may not", "", TAKES("040"), "", ASKS("040"),
		  AT_WAIST SENT("040", "imu (line 11)", "the device of waist (line 9)") },
		{ "listeners declare the identifier shared", SENDS("080"), LISTENS("080"), "", LISTENS("080"), "" },
		{ "a driver that takes it is not a listener", SENDS("080"), TAKES("080"), "", LISTENS("080"),
		  AT_WAIST SENT("080", "clock (line 8)", "the device of waist (line 9)") },
		{ "long identifiers are others", "", SENDS("0EF"), SENDS("000000EF"), "", "" },
		{ "long identifiers clash, too", "", SENDS("0EF"), SENDS("000000EF"), SENDS("000000EF"),
		  AT_IMU SENT("000000EF", "larm (line 10)", "imu (line 11)") },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		prints_frames("clock", cases[i].clock);
		prints_frames("waist", cases[i].waist);
		prints_frames("larm", cases[i].larm);
		prints_frames("imu", cases[i].imu);
		check_now();
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].expected, errors.text, cases[i].property);
		TEST_ASSERT_EQUAL_STRING_MESSAGE("", warnings.text, cases[i].property);
	}
}

#define CLAIMS(...) "echo '{\"frames\": [], \"claims\": [" __VA_ARGS__ "]}'\n"
#define CLAIM(bus, what) "{\"bus\":\"" bus "\",\"what\":\"" what "\"}"

TEST(two_drivers_must_not_make_one_claim)
{
	says("waist", "--frames", CLAIMS(CLAIM("torso", "pcio")));
	says("larm", "--frames", CLAIMS(CLAIM("arm", "pcio")));
	says("clock", "--frames", CLAIMS(CLAIM("torso", "clock") "," CLAIM("arm", "clock")));
	checked("", "");
	says("larm", "--frames", CLAIMS(CLAIM("arm", "pcio") "," CLAIM("torso", "pcio")));
	checked(AT_WAIST "bus torso: larm (line 10) and waist (line 9) both need its pcio, which only one of "
			 "them can have: make them one device, or give one another bus\n",
		"");
	says("larm", "--frames", CLAIMS(CLAIM("here", "pcio")));
	says("waist", "--frames", CLAIMS("{\"bus\":\"torso\"}"));
	checked(AT_LARM "pciod --frames:1: claims: bus is not one of its buses\n" AT_WAIST
			"pciod --frames:1: claims: what is not a name\n",
		"");
}

TEST(two_controllers_must_not_write_one_channel)
{
	says("waist", "--frames", CLAIMS("{\"bus\":null,\"what\":\"neck-ref\"}"));
	says("larm", "--frames", CLAIMS("{\"bus\":null,\"what\":\"head-ref\"}"));
	checked("", "");
	says("larm", "--frames", CLAIMS("{\"bus\":null,\"what\":\"neck-ref\"}"));
	checked(AT_WAIST "larm (line 10) and waist (line 9) both write neck-ref, which only one of them may: correct "
			 "their settings in the robot file, or take one out\n",
		"");
	says("larm", "--frames", CLAIMS("{\"bus\":null,\"what\":\"\"}"));
	checked(AT_LARM "pciod --frames:1: claims: what is not a name\n", "");
}

TEST(invalid_frames_are_errors)
{
	static const struct {
		const char *row, *what;
	} wrong[] = {
		{ TX("arm", "0EF", "8", PERIOD("null")), "bus is not one of its buses" },
		{ TX("torso", "EF", "8", PERIOD("null")), "id is not three or eight digits such as 0EF" },
		{ TX("torso", "20000000", "8", PERIOD("null")), "id is not three or eight digits such as 0EF" },
		{ "{\"bus\":\"torso\",\"id\":\"0EF\",\"dir\":\"up\",\"len\":8}", "dir is not tx or rx" },
		{ "{\"bus\":\"torso\",\"id\":\"0EF\",\"len\":8}", "dir is not tx or rx" },
		{ TX("torso", "0EF", "9", PERIOD("null")), "len is not 0 to 8" },
		{ "{\"bus\":\"torso\",\"id\":\"0EF\",\"dir\":\"tx\"}", "len is not 0 to 8" },
		{ TX("torso", "0EF", "8", PERIOD("0")), "period_us is neither null nor above 0" },
		{ TX("torso", "0EF", "8", PERIOD("soon")), "period_us is neither null nor above 0" },
		{ TX("torso", "0EF", "8", "\"shared\":\"x\""), "shared is not true or false" },
		{ TX("torso", "0EF", "8", PERIOD("null") REPLY("X")), "reply has no id of three or eight digits" },
		{ "7", "bus is not one of its buses" },
		{ "{\"bus\":[],\"id\":\"0EF\",\"dir\":\"tx\",\"len\":8}", "bus is not one of its buses" },
		{ "{\"bus\":\"torso\",\"dir\":\"tx\",\"len\":8}", "id is not three or eight digits such as 0EF" },
		{ "{\"bus\":\"torso\",\"id\":[],\"dir\":\"tx\",\"len\":8}",
		  "id is not three or eight digits such as 0EF" },
		{ TX("torso", "1234567890123456", "8", PERIOD("null")), "id is not three or eight digits such as 0EF" },
		{ TX("torso", "0EF", "\"x\"", PERIOD("null")), "len is not 0 to 8" },
		{ TX("torso", "0EF", "-1", PERIOD("null")), "len is not 0 to 8" },
	};
	const struct launch_daemon *waist = launch_daemon(&launch, "waist");

	check_frames_begin(&check.frames, &launch);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[1024], expected[256];

		snprintf(text, sizeof(text), "{\"frames\": [\n%s]}", wrong[i].row);
		snprintf(expected, sizeof(expected), AT_WAIST "pciod --frames:2: frames: %s\n", wrong[i].what);
		TEST_ASSERT_EQUAL_INT(-EINVAL, check_frames_read(&check.frames, waist, text, strlen(text),
								 launch_lib_start(&errors)));
		TEST_ASSERT_EQUAL_STRING(expected, errors.text);
	}
	TEST_ASSERT_EQUAL_INT(-EINVAL, check_frames_read(&check.frames, waist, "{", 1, launch_lib_start(&errors)));
	TEST_ASSERT_EQUAL_UINT(0, check.frames.traffic.rows_n);
}

TEST(further_channels_are_read)
{
	static const char good[] = "{\"frames\": [], \"channels\": [{\"name\":\"waist-load\",\"dir\":\"out\"},"
				   "{\"name\":\"waist-part-ref\",\"dir\":\"in\"}]}";
	static const struct {
		const char *row, *what;
	} wrong[] = {
		{ "{\"name\":\"\",\"dir\":\"in\"}", "name is not that of a channel" },
		{ "{\"dir\":\"in\"}", "name is not that of a channel" },
		{ "{\"name\":[],\"dir\":\"in\"}", "name is not that of a channel" },
		{ "{\"name\":\"a123456789012345678901234567890123456789012345678901234567890123\",\"dir\":\"in\"}",
		  "name is not that of a channel" },
		{ "{\"name\":\"waist-load\",\"dir\":\"up\"}", "dir is not in or out" },
		{ "{\"name\":\"waist-load\"}", "dir is not in or out" },
	};
	const struct launch_daemon *waist = launch_daemon(&launch, "waist");

	check_frames_begin(&check.frames, &launch);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[512], expected[256];

		snprintf(text, sizeof(text), "{\"frames\": [], \"channels\": [\n%s]}", wrong[i].row);
		snprintf(expected, sizeof(expected), AT_WAIST "pciod --frames:2: channels: %s\n", wrong[i].what);
		TEST_ASSERT_EQUAL_INT(-EINVAL, check_frames_read(&check.frames, waist, text, strlen(text),
								 launch_lib_start(&errors)));
		TEST_ASSERT_EQUAL_STRING(expected, errors.text);
	}
	TEST_ASSERT_EQUAL_UINT(0, check.frames.channels_n);
	TEST_ASSERT_EQUAL_INT(0,
			      check_frames_read(&check.frames, waist, good, strlen(good), launch_lib_start(&errors)));
	TEST_ASSERT_EQUAL_UINT(2, check.frames.channels_n);
	TEST_ASSERT_EQUAL_STRING("waist-load", check.frames.channels[0].name);
	TEST_ASSERT_FALSE(check.frames.channels[0].reads);
	TEST_ASSERT_EQUAL_STRING("waist-part-ref", check.frames.channels[1].name);
	TEST_ASSERT_TRUE(check.frames.channels[1].reads);
	TEST_ASSERT_TRUE(check.frames.channels[1].daemon == waist);
	while (check.frames.channels_n < CHECK_CHANNELS_MAX)
		TEST_ASSERT_EQUAL_INT(0, check_frames_read(&check.frames, waist, good, strlen(good),
							   launch_lib_start(&errors)));
	TEST_ASSERT_EQUAL_INT(-EINVAL,
			      check_frames_read(&check.frames, waist, good, strlen(good), launch_lib_start(&errors)));
}

/* ---- load ---- */

static double load_of(const char *bus)
{
	return check.frames.traffic.buses[robot_bus(&launch.robot, bus) - launch.robot.buses].load_most;
}

TEST(load_is_the_worst_that_frames_can_take)
{
	const double eight = bits_worst(false, false, 8), two = bits_worst(false, false, 2);

	says("waist", "--frames",
	     FRAMES(TX("torso", "0CF", "2", PERIOD("5000") REPLY("0AF")) "," /* and its answer, of eight bytes */
		    RX("torso", "0AF", "8", PERIOD("7000")) "," TX("torso", "0EF", "8", PERIOD("null")) "," TX(
			    "torso", "0DF", "2",
			    PERIOD("1e+04") REPLY("0BF")) /* an answer without a row: eight bytes */));
	says("imu", "--frames",
	     FRAMES(TX("torso", "041", "2",
		       PERIOD("5000") REPLY("040")) "," /* what it answers with comes by itself, too */
		    RX("torso", "040", "4", PERIOD("2000")) "," RX("torso", "040", "8", PERIOD("2000")) "," TX(
			    "torso", "00000041", "8", PERIOD("10000"))));
	checked("", "");
	TEST_ASSERT_DOUBLE_WITHIN(1e-9,
				  ((two + eight) * 200 + (two + eight) * 100 + (two + eight) * 200 + eight * 1000 +
				   bits_worst(true, false, 8) * 100.0) /
					  1e6,
				  load_of("torso"));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 400 + 200 + 400 + 1000 + 100, check.frames.traffic.buses[0].hz);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, load_of("arm"));
}

TEST(a_bus_that_is_too_full_is_refused)
{
	/* 135 bits each, so 6666 a second are 90 % of 1 Mbit/s. */
	TEST_ASSERT_EQUAL_UINT(135, bits_worst(false, false, 8));
	says("waist", "--frames", FRAMES(TX("torso", "0EF", "8", PERIOD("300"))));
	says("imu", "--frames", FRAMES(RX("torso", "040", "8", PERIOD("300"))));
	checked("", "");
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.9, load_of("torso"));
	says("imu", "--frames", FRAMES(RX("torso", "040", "8", PERIOD("299"))));
	checked(AT_IMU "bus torso: a load of 90.2 % at 1000000 bit/s, imu (line 11) 45 %, waist (line 9) 45 %, is "
		       "above 90 %: use a longer tick, or another bus\n",
		"");
}

/* Three frames of 135 us: the last may have to wait for both others. */
#define DEADLINE(us) ",\"deadline_us\":" us
static void say_late(const char *deadline)
{
	char rows[512];

	snprintf(rows, sizeof(rows), "%s,%s,%s%s}", TX("torso", "0EF", "8", PERIOD("1000")),
		 TX("torso", "0EE", "8", PERIOD("1000")),
		 "{\"bus\":\"torso\",\"id\":\"100\",\"dir\":\"tx\",\"len\":8,\"period_us\":1000,\"deadline_us\":",
		 deadline);
	prints_frames("waist", rows);
}

TEST(a_frame_that_may_be_late_is_refused_with_a_change_that_helps)
{
	say_late("405");
	checked("", "");
	say_late("404");
	checked(AT_WAIST
		"bus torso: frame 100 may take 0.405 ms, and has to be sent within 0.404 ms: give waist another "
		"bus, or write overload: report\n",
		"");
	says("waist", "--frames",
	     "echo '{\"tick_us\": 1000, \"frames\": [" TX("torso", "0EF", "8", PERIOD("1000") DEADLINE("1000")) "," TX(
		     "torso", "0EE", "8", PERIOD("250") DEADLINE("250")) "]}'\n");
	checked(AT_WAIST "bus torso: frame 0EE may take 0.675 ms, and has to be sent within 0.250 ms: it fits with a "
			 "tick of 4 ms for waist instead of 1 ms, or write overload: report\n",
		"");
}

TEST(with_overload_report_a_late_frame_is_a_note)
{
	say_late("300");
	launch.overload = LAUNCH_OVERLOAD_REPORT;
	checked("", AT_WAIST "bus torso: frame 100 may take 0.405 ms, and has to be sent within 0.300 ms: give waist "
			     "another bus, or write overload: report\n");
	TEST_ASSERT_EQUAL_UINT(1, check.notes);
}

TEST(bounds_are_for_the_environment_of_drivers)
{
	say_late("1000");
	checked("", "");
	check_frames_bounds(&check.frames, &launch);
	TEST_ASSERT_EQUAL_STRING("ENDPLATE_BOUNDS=torso:0EE=405000 torso:0EF=405000 torso:100=405000",
				 launch_daemon(&launch, "waist")->bounds);
	TEST_ASSERT_EQUAL_STRING("ENDPLATE_BOUNDS=", launch_daemon(&launch, "imu")->bounds);
}

TEST(the_report_is_for_people)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	says("waist", "--frames", FRAMES(TX("torso", "0EF", "8", PERIOD("1000"))));
	checked("", "");
	launch.robot.buses[1].data_bitrate = 5000000;
	check_print(&check, &launch, to);
	fclose(to);
	TEST_ASSERT_EQUAL_STRING("DAEMON           PROGRAM          PRIORITY  CORE  NEEDS\n"
				 "canwire          canwire                60     -  -\n"
				 "robotsim         robotsim                -     -  canwire\n"
				 "clock            hubo-daemon            50     -  canwire, robotsim\n"
				 "larm             pciod                   -     -  canwire, robotsim\n"
				 "imu              imud                    -     -  canwire, robotsim\n"
				 "waist            pciod                   -     -  canwire, robotsim, imu\n"
				 "\n"
				 "BUS              INTERFACE           BIT/S     DATA  LOAD  FRAMES/S\n"
				 "torso            wire:torso        1000000        -  14 %  1000\n"
				 "arm              wire:arm          1000000  5000000   0 %  0\n",
				 text);
	free(text);
}

/* ---- running programs ---- */

static struct check_run ran(const char *script, int64_t within_ns)
{
	static char sh[] = "sh", c[] = "-c", set[] = "SET=here", *environment[] = { set, NULL };
	char *argv[] = { sh, c, NULL, NULL };
	char *copy = strdup(script);
	struct check_run run = { .path = "/bin/sh", .argv = argv, .environment = environment };

	argv[2] = copy;
	check_run(&run, 1, within_ns);
	free(copy);
	run.argv = NULL;
	return run;
}

TEST(output_is_kept)
{
	struct check_run run = ran("cat; echo out $SET; echo say >&2; exit 7", INT64_C(60000000000));

	TEST_ASSERT_EQUAL_INT(0, run.err);
	TEST_ASSERT_EQUAL_INT(7 << 8, run.status);
	TEST_ASSERT_EQUAL_STRING("out here\n", run.out);
	TEST_ASSERT_EQUAL_UINT(9, run.out_len);
	TEST_ASSERT_EQUAL_STRING("say\n", run.say);
	check_run_free(&run, 1);
}

TEST(too_much_output_ends_a_program)
{
	struct check_run run = ran("exec yes", INT64_C(60000000000));

	TEST_ASSERT_EQUAL_INT(0, run.err);
	TEST_ASSERT_EQUAL_INT(SIGXFSZ, WTERMSIG(run.status));
	TEST_ASSERT_EQUAL_UINT(CHECK_RUN_SIZE_MAX, run.out_len);
	check_run_free(&run, 1);
}

/* Gone, or a zombie. */
static bool is_dead(int pid)
{
	const char state = lib_run_state(pid);

	return !state || strchr("ZX", state);
}

TEST(a_late_program_is_killed_with_its_children)
{
	struct check_run run = ran("sleep 1000 & echo $!; wait", 200000000);
	int child;

	TEST_ASSERT_EQUAL_INT(-ETIME, run.err);
	child = atoi(run.out);
	/* On a busy machine it may not have started its child. */
	while (child > 0 && !is_dead(child))
		usleep(1000);
	check_run_free(&run, 1);
	/* Children that it leaves behind, too. */
	run = ran("sleep 1000 & echo $!", INT64_C(60000000000));
	TEST_ASSERT_EQUAL_INT(0, run.err);
	TEST_ASSERT_EQUAL_INT(0, run.status);
	child = atoi(run.out);
	TEST_ASSERT_TRUE(child > 0);
	while (!is_dead(child))
		usleep(1000);
	check_run_free(&run, 1);
}

TEST(more_than_fit_at_once_are_run_in_turn)
{
	static char sh[] = "sh", c[] = "-c", script[] = "echo $NUMBER", *argv[] = { sh, c, script, NULL };
	struct check_run runs[3 * CHECK_RUN_AT_ONCE + 1] = { 0 };
	char set[3 * CHECK_RUN_AT_ONCE + 1][32], *environment[3 * CHECK_RUN_AT_ONCE + 1][2];
	const size_t n = sizeof(runs) / sizeof(*runs);

	for (size_t i = 0; i < n; i++) {
		snprintf(set[i], sizeof(set[i]), "NUMBER=%zu", i);
		environment[i][0] = set[i];
		environment[i][1] = NULL;
		runs[i] = (struct check_run){ .path = "/bin/sh", .argv = argv, .environment = environment[i] };
	}
	check_run(runs, n, INT64_C(60000000000));
	for (size_t i = 0; i < n; i++) {
		char expected[16];

		snprintf(expected, sizeof(expected), "%zu\n", i);
		TEST_ASSERT_EQUAL_INT(0, runs[i].err);
		TEST_ASSERT_EQUAL_STRING(expected, runs[i].out);
	}
	check_run_free(runs, n);
}

TEST(a_program_that_cannot_be_run_says_why)
{
	static char name[] = "flat", *argv[] = { name, NULL };
	char path[LAUNCH_LIB_PATH], expected[LAUNCH_LIB_PATH + 64];
	struct check_run run = { .path = path, .argv = argv };

	launch_lib_write(path, folder, "flat", 0755, "\1\2\3");
	check_run(&run, 1, INT64_C(60000000000));
	TEST_ASSERT_EQUAL_INT(127 << 8, run.status);
	snprintf(expected, sizeof(expected), "unable to run %s: Exec format error\n", path);
	TEST_ASSERT_EQUAL_STRING(expected, run.say);
	check_run_free(&run, 1);
	check_run(NULL, 0, 0);
}
