/* test_robotsim_load.c: which modules there are by the robot file, what it may say about them, and commands to them. */
#include "test/lib/testcase.h"

#include "daemons/robotsim/pcube.h"
#include "daemons/robotsim/sim.h"
#include "test/daemons/robotsim/robotsim_unit.h"

static struct robot robot;
static struct clock_set *set;
static bool robot_is_open;
static char folder[] = "/tmp/robotsim.XXXXXX";

void setUp(void)
{
	robot_is_open = false;
}

void tearDown(void)
{
	sim_close(&sim);
	clock_set_close(set);
	set = NULL;
	sim_unload(&sim);
	if (robot_is_open)
		robot_close(&robot);
}

/* A robot with two buses and one device; how sim_load takes it, and what it said. */
static int load_settings(const char *settings, const char *rest)
{
	struct error_sink errors = { unit_keep_line, NULL, 0 };
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "robot: test\n"
			 "buses:\n"
			 "  larm0: {interface: wire:larm0, bitrate: 1000000}\n"
			 "  larm1: {interface: wire:larm1, bitrate: 1000000}\n"
			 "devices:\n"
			 "  ft: {driver: sonard, bus: larm0}\n"
			 "  larm: {driver: pciod, bus: {upper: larm0, lower: larm1}, settings: {%s}, %s}\n",
			 settings, rest);

	tearDown();
	said[0] = 0;
	robot_is_open = false;
	if (robot_open_text(&robot, "test.yaml", text, (size_t)n, &errors))
		TEST_FAIL_MESSAGE(said);
	robot_is_open = true;
	return sim_load(&sim, &robot, &errors);
}

static int load(const char *modules, const char *rest)
{
	char settings[256];

	snprintf(settings, sizeof(settings), "modules: \"%s\"", modules);
	return load_settings(settings, rest);
}

static void loads(const char *modules, const char *rest)
{
	int r = load(modules, rest);

	TEST_ASSERT_EQUAL_MESSAGE(0, r, said);
	TEST_ASSERT_EQUAL_STRING("", said);
}

static void refused(const char *modules, const char *rest, const char *why)
{
	TEST_ASSERT_NOT_EQUAL_MESSAGE(0, load(modules, rest), why);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, why), said);
	TEST_ASSERT_EQUAL_MESSAGE('\n', said[strcspn(said, "\n")], said);
	TEST_ASSERT_EQUAL_STRING_MESSAGE("", said + strcspn(said, "\n") + 1, "more than one line");
	TEST_ASSERT_EQUAL(0, sim.units_n);
}

static const struct pcube_settings *of(const char *name)
{
	struct rpc_text answer = { said, 0, sizeof(said) };
	struct sim_unit *unit = sim_find(&sim, name, &answer);

	TEST_ASSERT_NOT_NULL_MESSAGE(unit, name);
	return &((struct pcube *)unit->state)->settings;
}

/* ---- which there are ---- */

TEST(test_modules)
{
	loads("upper:4-7,lower:8,lower:10", "sim: {}");
	TEST_ASSERT_EQUAL(6, sim.units_n);
	TEST_ASSERT_EQUAL_STRING("larm.4", sim.units[0].name);
	TEST_ASSERT_EQUAL_STRING("larm0", sim.units[3].on->name);
	TEST_ASSERT_EQUAL_STRING("larm.8", sim.units[4].name);
	TEST_ASSERT_EQUAL_STRING("larm1", sim.units[4].on->name);
	TEST_ASSERT_EQUAL_STRING("larm.10", sim.units[5].name);
	TEST_ASSERT_EQUAL_STRING("larm1", sim.units[5].on->name);
	TEST_ASSERT_EQUAL_HEX32(0x0CA, sim.units[5].filters[0].id);
	TEST_ASSERT_EQUAL_HEX32(0x0EA, sim.units[5].filters[1].id);
	TEST_ASSERT_EQUAL_HEX32(0x100, sim.units[5].filters[2].id);
	TEST_ASSERT_EQUAL(3, sim.units[5].filters_n);
	TEST_ASSERT_EQUAL_HEX32(0x0AA, sim.units[5].sends);
	loads("larm1:4", "sim: {}"); /* by the name of the bus, too */
	TEST_ASSERT_EQUAL_STRING("larm1", sim.units[0].on->name);
}

TEST(test_one_number_on_two_buses)
{
	loads("upper:4-5,lower:4", "sim: {modules: {larm1.4: {type: PRL60}}}");
	TEST_ASSERT_EQUAL_STRING("larm.larm0.4", sim.units[0].name);
	TEST_ASSERT_EQUAL_STRING("larm.5", sim.units[1].name);
	TEST_ASSERT_EQUAL_STRING("larm.larm1.4", sim.units[2].name);
	TEST_ASSERT_EQUAL_STRING("PRL60", pcube_types[of("larm.larm1.4")->type].name);
	TEST_ASSERT_EQUAL_STRING("PRL120", pcube_types[of("larm.larm0.4")->type].name);
}

/* In the words of pciod, whose list it is. */
TEST(test_lists_that_make_no_sense)
{
	static const struct {
		const char *list, *why;
	} rows[] = {
		{ "", "test.yaml:7: modules: \"\" is not modules such as 15, 4-7 or larm0:4-7,larm1:8-10" },
		{ "4", "test.yaml:7: modules: \"4\": on which bus? write larm0:4; there are larm0, larm1" },
		{ "upper:4,5", "modules: \"5\": on which bus?" },
		{ "upper:0", "modules have the numbers 1 to 31" },
		{ "upper:7-4", "the lower number comes first" },
		{ "middle:4", "this device has no such bus" },
		{ "upper:four", "is not a module" },
		{ "upper:4,upper:4", "module 4 of larm0 is there twice" },
		{ "upper:1-31,lower:1-31", "more than 48" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		refused(rows[i].list, "sim: {}", rows[i].why);
}

TEST(test_no_modules)
{
	struct error_sink errors = { unit_keep_line, NULL, 0 };
	static const char text[] = "robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
				   "devices: {a: {driver: pciod, bus: b}}\n",
			  other[] = "robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
				    "devices: {a: {driver: sonard, bus: b}}\n",
			  list[] = "robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
				   "devices: {a: {driver: pciod, bus: b, settings: {modules: [1]}}}\n",
			  log[] = "robot: test\nbuses: {b: {interface: 'log:x', bitrate: 1000000}}\n"
				  "devices: {a: {driver: pciod, bus: b, settings: {modules: 1}}}\n";

	said[0] = 0;
	TEST_ASSERT_EQUAL(0, robot_open_text(&robot, "t.yaml", text, strlen(text), &errors));
	TEST_ASSERT_NOT_EQUAL(0, sim_load(&sim, &robot, &errors));
	robot_close(&robot);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "t.yaml:3: a: modules is missing: "), said);
	TEST_ASSERT_EQUAL(0, robot_open_text(&robot, "t.yaml", other, strlen(other), &errors));
	TEST_ASSERT_NOT_EQUAL(0, sim_load(&sim, &robot, &errors));
	robot_close(&robot);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "nothing to play"), said);
	TEST_ASSERT_EQUAL(0, robot_open_text(&robot, "t.yaml", list, strlen(list), &errors));
	TEST_ASSERT_NOT_EQUAL(0, sim_load(&sim, &robot, &errors));
	robot_close(&robot);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "modules: a list is not text"), said);
	TEST_ASSERT_EQUAL_MESSAGE(0, robot_open_text(&robot, "t.yaml", log, strlen(log), &errors), said);
	TEST_ASSERT_NOT_EQUAL(0, sim_load(&sim, &robot, &errors));
	robot_close(&robot);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "a log is not a bus"), said);
}

/* ---- settings ---- */

TEST(test_settings)
{
	loads("upper:4-6",
	      "limits: {position: [-2.88, 0]}, sim: {type: PRL80, reply_delay: 1ms, modules: {5: {type: PRL60, "
	      "position: -1}, 6: {limits: [-1, 1], ends: [-1.5, 1.5]}}}");
	TEST_ASSERT_EQUAL_STRING("PRL80", pcube_types[of("larm.4")->type].name);
	TEST_ASSERT_EQUAL_STRING("PRL60", pcube_types[of("larm.5")->type].name);
	TEST_ASSERT_EQUAL_INT64(1000000, of("larm.5")->reply_delay_ns);
	TEST_ASSERT_EQUAL_DOUBLE(-1.44, of("larm.4")->position); /* 0 is at its limit: the middle */
	TEST_ASSERT_EQUAL_DOUBLE(0, of("larm.4")->home);
	TEST_ASSERT_EQUAL_DOUBLE(-2.88, of("larm.4")->limits[0]);
	TEST_ASSERT_EQUAL_DOUBLE(0.1, of("larm.4")->ends[1]);
	TEST_ASSERT_EQUAL_DOUBLE(-1, of("larm.5")->position);
	TEST_ASSERT_EQUAL_DOUBLE(0, of("larm.6")->position);
	TEST_ASSERT_EQUAL_DOUBLE(1.5, of("larm.6")->ends[1]);
	TEST_ASSERT_EQUAL_INT64(1006, of("larm.6")->serial);
	TEST_ASSERT_EQUAL_DOUBLE(1.2, of("larm.4")->inertia);
	TEST_ASSERT_EQUAL_DOUBLE(0.03 * 4.5, of("larm.5")->friction);
	loads("upper:4", "limits: {joints: {4: {position: [-1, 1]}}}, sim: {inertia: 7, friction: 0}");
	TEST_ASSERT_EQUAL_DOUBLE(-1, of("larm.4")->limits[0]);
	TEST_ASSERT_EQUAL_DOUBLE(7, of("larm.4")->inertia);
	TEST_ASSERT_EQUAL_DOUBLE(0, of("larm.4")->friction);
	loads("upper:4", "sim: {limits: [1, 2]}");
	TEST_ASSERT_EQUAL_DOUBLE(1.5, of("larm.4")->position);
	loads("upper:4", "actuated: yes");
	TEST_ASSERT_EQUAL_DOUBLE(-6.5, of("larm.4")->limits[0]);
}

TEST(test_settings_that_make_no_sense)
{
	refused("upper:4", "sim: {tpe: PRL80}", "tpe: unknown setting; did you mean type?");
	refused("upper:4", "sim: {type: PRL81}", "PRL81");
	refused("upper:4", "sim: {lose: 2}", "above the maximum 1");
	refused("upper:4", "sim: {limits: [1, -1]}", "the lower one first");
	refused("upper:4", "sim: {limits: [1, 1]}", "the lower one first");
	refused("upper:4", "sim: {ends: [1]}", "the lower one first");
	refused("upper:4", "sim: {position: 7}", "beyond the ends of the joint");
	refused("upper:4", "sim: {modules: {4: {lose: x}}}", "lose");
	refused("upper:4", "sim: {modules: {4: {modules: {}}}}", "modules");
	refused("upper:4", "sim: {modules: {5: {type: PRL60}}}", "larm has no such module");
	refused("upper:4", "sim: {modules: [4]}", "larm has no such module");
}

/* Those of the driver, by its own table and that of the loop. */
TEST(test_settings_of_the_driver)
{
	static const struct {
		const char *settings, *rest;
		int64_t watchdog_ns, done;
	} rows[] = {
		{ "modules: upper:4", "sim: {}", 50000000, 0x64 },
		{ "modules: upper:4, module_watchdog: 200ms", "sim: {}", 200000000, 0x64 },
		{ "modules: upper:4, module_watchdog: 200ms", "sim: {watchdog: 2s}", 2000000000, 0x64 },
		{ "modules: upper:4, ack_ok: 7, tick: clock/5, safe: zero-velocity", "sim: {}", 50000000, 7 },
	};
	static const char *const wrong[][2] = {
		{ "modles: upper:4, modules: upper:4", "modles: unknown setting; did you mean modules?" },
		{ "modules: upper:4, module_watchdog: 1ms", "module_watchdog: 1ms is below the minimum 20ms" },
		{ "modules: upper:4, on_fault: run", "on_fault: \"run\" is not one of halt, hold" },
		{ "modules: upper:4, tick: fast", "tick: \"fast\" is not a tick such as 5ms" },
		{ "modules: upper:4, safe: run", "safe: \"run\" is not one of hold, zero-velocity, zero-current" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(0, load_settings(rows[i].settings, rows[i].rest), said);
		TEST_ASSERT_EQUAL_INT64(rows[i].watchdog_ns, of("larm.4")->watchdog_ns);
		TEST_ASSERT_EQUAL_INT64(rows[i].done, of("larm.4")->done);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		TEST_ASSERT_NOT_EQUAL(0, load_settings(wrong[i][0], "sim: {}"));
		TEST_ASSERT_EQUAL_STRING_LEN("test.yaml:7: ", said, 13);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, wrong[i][1]), said);
		TEST_ASSERT_EQUAL(0, sim.units_n);
	}
}

/* ---- commands ---- */

static const char *command(const char *line, int64_t t_ns)
{
	struct rpc_text answer = { said, 0, sizeof(said) };
	char question[256];

	said[0] = 0;
	snprintf(question, sizeof(question), "%s", line);
	sim_control_answer(&sim, question, &answer, t_ns);
	return said;
}

static struct pcube *module(void)
{
	return sim.units[0].state;
}

static void open_one(void)
{
	struct error_sink errors = { unit_keep_line, NULL, 0 };

	loads("upper:4", "sim: {type: PRL80, home: 1}");
	TEST_ASSERT_EQUAL(0, clock_set_open(&set));
	TEST_ASSERT_EQUAL(0, sim_open(&sim, set, &errors));
}

TEST(test_fault)
{
	open_one();
	for (unsigned int bit = 0; bit < 28; bit++) {
		const char *name = pcube_state_names[bit];
		char line[64];

		snprintf(line, sizeof(line), "fault larm.4 %s", name);
		if (!strncmp(name, "ramp", 4) || !strncmp(name, "step", 4) || !strcmp(name, "moving")) {
			TEST_ASSERT_NOT_NULL(strstr(command(line, 0), "error "));
			continue;
		}
		TEST_ASSERT_EQUAL_STRING_MESSAGE("ok", command(line, 0), line);
		TEST_ASSERT_TRUE_MESSAGE(pcube_state(module()) & 1u << bit, line);
		strcat(line, " clear");
		TEST_ASSERT_EQUAL_STRING_MESSAGE("ok", command(line, 0), line);
		TEST_ASSERT_FALSE_MESSAGE(pcube_state(module()) & 1u << bit & ~(PCUBE_BRAKE | PCUBE_HOMED), line);
	}
	TEST_ASSERT_EQUAL_STRING("error tow-eror: no such fault; did you mean tow-error?",
				 command("fault larm.4 tow-eror", 0));
	TEST_ASSERT_EQUAL_STRING("error larm.5: nothing of that name is played here; did you mean larm.4?",
				 command("fault larm.5 tow-error", 0));
	TEST_ASSERT_NOT_NULL(strstr(command("fault larm.4", 0), "error which fault?"));
	TEST_ASSERT_NOT_NULL(strstr(command("fault larm.4 silent now", 0), "error which fault?"));
	TEST_ASSERT_NOT_NULL(strstr(command("", 0), "error "));
	TEST_ASSERT_NOT_NULL(strstr(command("flaut larm.4", 0), "error "));
}

TEST(test_other_faults)
{
	open_one();
	command("fault larm.4 silent", 0);
	TEST_ASSERT_TRUE(module()->silent);
	command("fault larm.4 silent clear", 0);
	TEST_ASSERT_FALSE(module()->silent);
	command("fault larm.4 jammed", 0);
	TEST_ASSERT_TRUE(module()->jammed);
	command("fault larm.4 supply-low", 0);
	TEST_ASSERT_TRUE(pcube_state(module()) & PCUBE_VOLTAGE);
	TEST_ASSERT_NOT_NULL(sim.units[0].line.bus);
	command("fault larm.4 power-off", 0);
	TEST_ASSERT_FALSE(module()->power);
	TEST_ASSERT_NULL(sim.units[0].line.bus); /* no acknowledgement */
	command("fault larm.4 power-on", 0);
	TEST_ASSERT_TRUE(module()->power);
	TEST_ASSERT_NOT_NULL(sim.units[0].line.bus);
	command("fault larm.4 power-off", 0);
	command("fault larm.4 power-off clear", 0);
	TEST_ASSERT_TRUE(module()->power);
	command("fault larm.4 cut", 0);
	TEST_ASSERT_NULL(sim.units[0].line.bus);
	TEST_ASSERT_TRUE(module()->power);
	command("fault larm.4 cut clear", 0);
	TEST_ASSERT_NOT_NULL(sim.units[0].line.bus);
}

TEST(test_push)
{
	open_one();
	TEST_ASSERT_EQUAL_STRING("ok", command("push larm.4 -5.5 100ms", 0));
	TEST_ASSERT_EQUAL_DOUBLE(-5.5, module()->push_nm);
	TEST_ASSERT_EQUAL_INT64(module()->t_ns + 100000000, module()->push_until_ns);
	TEST_ASSERT_NOT_NULL(strstr(command("push larm.4 5", 0), "error push larm.4: a torque in N m and a duration"));
	TEST_ASSERT_NOT_NULL(strstr(command("push larm.4 x 1s", 0), "error push"));
	TEST_ASSERT_NOT_NULL(strstr(command("push larm.4 5 1", 0), "error push"));
}

TEST(test_set)
{
	open_one();
	TEST_ASSERT_EQUAL_STRING("ok", command("set larm.4 reply_delay=5ms", 0));
	TEST_ASSERT_EQUAL_INT64(5000000, module()->settings.reply_delay_ns);
	TEST_ASSERT_NOT_NULL(strstr(command("set larm.4 type=PRL60", 0), "error type: is set in the robot file"));
	TEST_ASSERT_NOT_NULL(strstr(command("set larm.4 lose=7", 0), "error set: lose: 7 is above"));
	TEST_ASSERT_NOT_NULL(strstr(command("set larm.4", 0), "error "));
}

static const char *set_first(const char *values)
{
	char line[200];

	snprintf(line, sizeof(line), "set %s %s", sim.units[0].name, values);
	return command(line, 0);
}

TEST(set_takes_the_list_that_its_message_shows)
{
	static const char text[] = "robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
				   "devices: {ft: {driver: ftd, bus: b}}\n";
	struct error_sink errors = { unit_keep_line, NULL, 0 };

	said[0] = 0;
	TEST_ASSERT_EQUAL_MESSAGE(0, robot_open_text(&robot, "t.yaml", text, strlen(text), &errors), said);
	robot_is_open = true;
	TEST_ASSERT_EQUAL_MESSAGE(0, sim_load(&sim, &robot, &errors), said);
	TEST_ASSERT_EQUAL_STRING("error set: force: \"x\" is not a list of numbers such as [0.5, 1]",
				 set_first("force=x"));
	TEST_ASSERT_EQUAL_STRING("ok", set_first("force=[0.5, 1]"));
	TEST_ASSERT_EQUAL_STRING("ok", set_first("force=[ 500 mN ,  1 N, -2] torque=1, 2"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(set_first("force=[0.5, 1"), "is not a list of numbers"), said);
	TEST_ASSERT_EQUAL_STRING("error set: \"[0.5, 1]\" is not KEY=VALUE", set_first("[0.5, 1]"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(set_first("colour=red"), "error set: colour: unknown setting; there are "),
				     said);
}

TEST(test_report)
{
	open_one();
	TEST_ASSERT_NOT_NULL(strstr(command("report", 0), "ok larm.4 bus larm0 controller absent type PRL80 power on "
							  "position 0.000000 velocity 0.000000 current 0.0000 state "
							  "0x00008202 words homed,brake,ramp-end config "
							  "0x00000118 watchdog_us off in 0 "));
	TEST_ASSERT_EQUAL_STRING(said, command("report larm.4", 0));
	TEST_ASSERT_EQUAL_STRING_LEN("error larm.9", command("report larm.9", 0), 12);
	command("fault larm.4 power-off", 0);
	TEST_ASSERT_NOT_NULL(strstr(command("report", 0), "controller off type PRL80 power off"));
}

int main(void)
{
	int status;

	if (!mkdtemp(folder))
		return 1;
	setenv("ENDPLATE_RUN", folder, 1);
	UNITY_BEGIN();
	testcase_run_all();
	status = UNITY_END();
	rmdir(folder);
	return status;
}
