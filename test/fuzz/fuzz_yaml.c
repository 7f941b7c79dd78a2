/* fuzz_yaml.c: arbitrary bytes as YAML, JSON and a robot file: an answer or error lines, never anything else.
 *
 * Seeds: config/robots, test/config/bad, test/launch/?*.yaml, launch/?*.launch.
 * Longest: 16384 bytes.
 */
#include <stdint.h>
#include <string.h>

#include "config/settings/robot.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Depth and counts are what the tree says. */
static void check_node(const struct yaml_node *node, int depth)
{
	size_t n = 0;
	double real;
	int64_t whole;

	must(depth <= YAML_DEPTH_MAX && node->line >= 1 && node->column >= 1);
	must((node->kind == YAML_TEXT) == (node->text != NULL));
	if (!yaml_int(node, &whole))
		must(!yaml_real(node, &real) || !strncmp(node->text + strspn(node->text, "+-"), "0x", 2));
	for (const struct yaml_node *one = node->first; one; one = one->next, n++) {
		must((node->kind == YAML_MAP) == (one->key != NULL));
		must(!one->key || yaml_find(node, one->key) == one);
		check_node(one, depth + 1);
	}
	must(n == node->count);
}

static void check_robot(const struct robot *robot)
{
	must(text_is_name(robot->name));
	for (size_t i = 0; i < robot->devices_n; i++) {
		const struct robot_device *device = &robot->devices[i];

		must(robot_device(robot, device->name) == device);
		must((device->roles_n > 0) == (device->bus_node != NULL)); /* a controller has no bus */
		for (size_t j = 0; j < device->roles_n; j++)
			must(robot_bus(robot, device->roles[j].bus->name) == device->roles[j].bus);
		must(device->limits.position_n == 2 && device->limits.position[0] <= device->limits.position[1]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error_sink errors = { must_be_line, NULL, 0 };
	struct robot robot;
	struct yaml *doc;
	int err = yaml_open_text(&doc, "fuzz", (const char *)data, size, &errors);

	must((err != 0) == (errors.count != 0) && (err != 0) == (doc == NULL));
	if (err)
		return 0;
	check_node(yaml_root(doc), 0);
	yaml_close(doc);
	err = robot_open_text(&robot, "fuzz", (const char *)data, size, &errors);
	must((err != 0) == (errors.count != 0));
	if (!err)
		check_robot(&robot);
	robot_close(&robot);
	return 0;
}
