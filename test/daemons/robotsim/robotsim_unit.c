/* robotsim_unit.c: simulated devices without buses; see robotsim_unit.h. */
#include <stdarg.h>

#include "can/bus/frame_text.h"
#include "test/daemons/robotsim/robotsim_unit.h"
#include "test/lib/testcase.h"

struct sim sim;
char said[8192];
int64_t now_ns;

static struct robot robot;

void unit_keep_line(void *unused, const char *line)
{
	(void)unused;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

void unit_unload(void)
{
	sim_unload(&sim);
	if (robot.doc)
		robot_close(&robot);
	memset(&robot, 0, sizeof(robot));
}

int unit_load(const char *fmt, ...)
{
	struct error_sink errors = { unit_keep_line, NULL, 0 };
	char text[1024];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	unit_unload();
	*said = 0;
	TEST_ASSERT_LESS_THAN(sizeof(text), n);
	TEST_ASSERT_EQUAL_MESSAGE(0, robot_open_text(&robot, "test.yaml", text, (size_t)n, &errors), said);
	return sim_load(&sim, &robot, &errors);
}

void unit_start(int64_t at_ns)
{
	now_ns = at_ns;
	for (size_t i = 0; i < sim.units_n; i++)
		sim.units[i].kind->start(sim.units[i].state, now_ns);
}

void unit_hear(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	sim.units[0].kind->frame(sim.units[0].state, &frame, now_ns);
}

const char *unit_sends(int64_t until_ns)
{
	const struct sim_kind *kind = sim.units[0].kind;
	void *state = sim.units[0].state;
	struct frame frame;

	*said = 0;
	for (; now_ns < until_ns; now_ns = kind->next_ns(state) < until_ns ? kind->next_ns(state) : until_ns)
		while (kind->send(state, now_ns, &frame)) {
			strcat(said, *said ? " " : "");
			frame_text_write(said + strlen(said), &frame);
		}
	return said;
}

void unit_fault(const char *word, bool clear)
{
	struct rpc_text to = { said, 0, sizeof(said) };

	TEST_ASSERT_EQUAL_MESSAGE(0, sim_fault(&sim.units[0], word, clear, now_ns, &to), said);
}
