/* test_launch_check.c: achstart --check with the programs themselves: what would surely fail is found before. */
#include <sys/wait.h>

#include "test/lib/testcase.h"

#include "test/launch/achstart/rig.h"
#include "test/launch/file/launch_lib.h"

#define BUS "robot: bench\nbuses:\n  torso: {interface: wire:torso}\ndevices:\n"
#define CLOCK "  clock: {driver: hubo-daemon, bus: torso, actuated: no}\n"
#define WAIST(name, number, type)                                                                        \
	"  " name ": {driver: pciod, bus: torso, settings: {modules: torso:" number ", tick: clock/5}, " \
	"limits: {velocity: 0.4, acceleration: 1.7}, sim: {type: " type "}}\n"

static char said[8192];

void setUp(void)
{
	rig_in_real_time = true;
	rig_open(NULL);
}

void tearDown(void)
{
	rig_close();
}

/* Its exit status. */
static int checked(const char *robot, const char *launch)
{
	char path[LAUNCH_LIB_PATH], line[1400];
	size_t len;
	FILE *from;

	launch_lib_write(path, rig.folder, "x.yaml", 0644, robot);
	launch_lib_write(path, rig.folder, "x.launch", 0644, launch);
	snprintf(line, sizeof(line), "%s --check %s 2>&1 >/dev/null", rig_program("achstart"), path);
	from = popen(line, "r");
	TEST_ASSERT_NOT_NULL(from);
	len = fread(said, 1, sizeof(said) - 1, from);
	said[len] = 0;
	return WEXITSTATUS(pclose(from));
}

static void says(const char *words)
{
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, words), said);
}

TEST(a_valid_robot_passes)
{
	TEST_ASSERT_EQUAL_INT(0, checked(BUS CLOCK WAIST("waist", "15", "PRL120"),
					 "include: x.yaml\ndaemons: {canwire: , robotsim: , clock: , waist: }\n"));
	TEST_ASSERT_EQUAL_STRING("", said);
}

TEST(a_device_without_a_simulation_is_an_error)
{
	TEST_ASSERT_EQUAL_INT(100, checked(BUS CLOCK WAIST("waist", "15", "PRL121"),
					   "include: x.yaml\ndaemons: {canwire: , robotsim: , clock: , waist: }\n"));
	says("x.yaml:6: type: \"PRL121\" is not one of PRL120");
}

TEST(two_drivers_with_one_claim_are_an_error)
{
	TEST_ASSERT_EQUAL_INT(100,
			      checked(BUS CLOCK WAIST("waist", "15", "PRL120") WAIST("neck", "16", "PRL120"),
				      "include: x.yaml\ndaemons: {canwire: , robotsim: , clock: , waist: , neck: }\n"));
	says("x.launch:2: neck: bus torso: waist (line 2) and neck (line 2) both need its pcio");
}

/* It is not served by the robot that is checked, and so it may be gone when that is started. */
TEST(a_wire_of_another_process_is_a_warning)
{
	const char *robot = BUS CLOCK WAIST("waist", "15", "PRL120"),
		   *launch = "include: x.yaml\ndaemons: {clock: , waist: }\n";

	TEST_ASSERT_EQUAL_INT(111, checked(robot, launch));
	says("wire:torso: no such wire");
	rig_start();
	RIG_UNTIL(rig_ready("canwire"));
	TEST_ASSERT_EQUAL_INT(0, checked(robot, launch));
	says("x.launch:2: clock: bus torso: no canwire among the daemons serves wire:torso");
	RIG_ASSERT(!rig_stop());
}

/* Without --check the same is refused, and nothing is started. */
TEST(a_start_refuses_the_same)
{
	static const struct {
		const char *robot, *says;
	} cases[] = {
		{ BUS CLOCK WAIST("waist", "15", "PRL120") WAIST("neck", "16", "PRL120"),
		  "x.launch:2: neck: bus torso: waist (line 2) and neck (line 2) both need its pcio" },
		{ "robot: bench\nbuses:\n  torso: {interface: wire:torso, bitrate: 10000}\ndevices:\n" CLOCK WAIST(
			  "waist", "15", "PRL120") WAIST("neck", "16", "PRL120"),
		  "x.launch:2: waist: bus torso: a load of " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[LAUNCH_LIB_PATH], program[600];
		struct folder_state state;

		launch_lib_write(path, rig.folder, "x.yaml", 0644, cases[i].robot);
		launch_lib_write(path, rig.folder, "x.launch", 0644,
				 "include: x.yaml\ndaemons: {canwire: , robotsim: , clock: , waist: , neck: }\n");
		snprintf(program, sizeof(program), "%s", rig_program("achstart"));
		rig_start_as((char *[]){ program, path, NULL });
		TEST_ASSERT_EQUAL_INT(100, rig_wait());
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(rig_said(), cases[i].says), rig_said());
		TEST_ASSERT_FALSE(rig_state("canwire", &state));
	}
}
