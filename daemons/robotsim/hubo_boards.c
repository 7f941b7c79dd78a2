/* hubo_boards.c: the boards of Hubo's tables, as a robot file names them. */
#include "daemons/robotsim/hubo_boards.h"

#include <limits.h>
#include <math.h>

#include "daemons/hubo/hubod_settings.h"
#include "daemons/robotsim/jmc_board.h"

#define SWITCH_TURNS 0.3 /* from the index to the switch, in the search direction */

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct jmc_board, __VA_ARGS__)
const struct settings_row hubo_boards_rows[] = {
	ROW(INT, "number", settings.number, "", NULL, "0", "0x25",
	    "its board number; by default that of the joint table"),
	ROW(DURATION, "reply_delay", settings.reply_ns, "150us", "0s", "1s", "from a request to its reply"),
	ROW(DURATION, "reply_jitter", settings.jitter_ns, "0s", "0s", "1s", "longest random delay in addition"),
	ROW(REAL, "lose", base.lose, "1", "0", "0", "1", "share of the replies that are never sent"),
	ROW(REAL, "bandwidth", settings.pll.bandwidth_hz, "Hz", "2", "0.01", "20",
	    "of the loop that locks to references"),
	ROW(REAL, "damping", settings.pll.damping, "1", "1", "0.1", "10", "of that loop"),
	ROW(REAL, "lock_range", settings.pll.range, "1", "0.1", "0.001", "0.4",
	    "share of the period by which it follows"),
	ROW(REAL, "sample", settings.pll.sample, "1", "0.1", "0", "0.5", "share of the period from reference to tick"),
	ROW(INT, "lock_after", settings.pll.lock_after, "", "5", "1", "1000", "references in time, in a row"),
	ROW(INT, "unlock_after", settings.pll.unlock_after, "", "5", "1", "1000", "references missing, in a row"),
	ROW(REAL, "hold_after", settings.pll.hold_after, "1", "1.5", "1", "100", "periods without a reference"),
	ROW(INT, "sub_steps", settings.sub_steps, "", "5", "1", "50", "set-points from one reference to the next"),
	ROW(WORD, "second_slot", settings.second_slot, jmc_second_slots, "zero",
	    "of a reply, on a board with one motor"),
	ROW(INT, "home_ok", settings.home_ok, "", "6", "0", "15", "home flag of a joint that was homed"),
	ROW(INT, "home_runs", settings.home_runs, "", "1", "0", "15", "home flag of a joint that is being homed"),
	ROW(INT, "home_failed", settings.home_failed, "", "3", "0", "15", "home flag of a joint whose homing failed"),
	ROW(INT, "big_error", settings.big_error, "counts", "4000", "1", "65535",
	    "from the set-point; then a motor is switched off"),
	ROW(INT, "input_difference", settings.input_difference, "counts", "2000", "1", "65535",
	    "between two references; then a motor is switched off"),
	ROW(WORD, "clockwise", settings.clockwise_down, jmc_ways, "up", "where counts go when a motor turns clockwise"),
	ROW(REAL, "velocity", settings.velocity, "rad/s", "7", "0.1", "100", "the greatest of a joint"),
	ROW(REAL, "acceleration", settings.acceleration, "rad/s^2", "200", "0.1", "10000", "the greatest of a joint"),
	ROW(REAL, "margin", settings.margin_rad, "rad", "0.1", "0", "10",
	    "from the limits of the home file to the ends"),
	ROW(REAL, "idle", settings.idle_a, "A", "0.3", "0", "10", "current of a motor that is on"),
	ROW(REAL, "gravity", settings.gravity_a, "A", "0.5", "0", "10", "more with the sine of its angle"),
	ROW(REAL, "weight", settings.weight_nm, "N m", "0", "-100", "100",
	    "torque of the weight of a limb that is level; it hangs at 0 rad"),
	ROW(REAL, "ambient", settings.ambient_c, "C", "30", "-40", "100", "temperature of a board without current"),
	ROW(REAL, "heat", settings.heat, "C/A^2", "15", "0", "1000", "how much warmer currents make it in the end"),
	ROW(DURATION, "warms_in", settings.warms_ns, "10min", "10ms", "10h", "time constant of that"),
	ROW(REAL, "position", settings.position_rad, "rad", "0.1", "-10", "10", "where every joint stands at first"),
	ROW(DURATION, "boot", settings.boot_ns, "100ms", "0s", "1min", "from power-on until it hears"),
	ROW(BOOL, "power", settings.power, "yes", "it is switched on"),
	ROW(BOOL, "on", settings.on, "no", "at first its bridges and position control are on"),
	ROW(BOOL, "homed", settings.homed, "no", "at first its joints are homed"),
	ROW(BOOL, "pwm_is_control", settings.pwm_is_control, "yes", "in open loop its status says that control is on"),
	ROW(INT, "seed", settings.seed, "", "1", "0", "0xFFFFFFFF", "seed of the random numbers"),
	SETTINGS_END,
};

/* ---- the robot file ---- */

static enum jmc_layout layout(const struct hubo_board *board)
{
	const int joint = board->joint[0];

	if (board->motors <= 2)
		return JMC_JOINTS;
	if (board->motors == 5)
		return JMC_HAND;
	return joint != HUBO_NONE && hubo_joint_limb(joint) == HUBO_NECK ? JMC_NECK : JMC_WRIST;
}

/* As the home file has it; fingers have no switch, and are driven against their end. */
static void set_home(struct jmc_motor_params *p, const struct hubo_joint *joint, bool finger)
{
	p->home_mode = finger ? JMC_HOME_BY_JAM : JMC_HOME_BY_INDEX;
	if (!joint->home.line)
		return;
	p->home_direction = (uint8_t)joint->home.direction;
	p->home_search = (uint16_t)joint->home.search;
	p->home_offset = joint->home.offset;
	p->lower = joint->home.lower;
	p->upper = joint->home.upper;
	p->limits[0] = p->limits[1] = 1;
}

/* A place on the board without a joint has a motor that turns nothing. */
static void set_motor(struct jmc_board *b, unsigned int i, const struct hubo_joint *joint, bool finger)
{
	const struct jmc_settings *s = &b->settings;
	struct jmc_motor_params *p = &b->flash.motor[i];
	const double scale = joint ? joint->counts_per_rad : 1000, turn = joint ? joint->encoder : 1000;
	struct jmc_motor_model *m = &b->model[i];
	int side;

	p->encoder = (uint16_t)turn & 0x3FFF;
	if (joint)
		set_home(p, joint, finger);
	/* The place that a search finds is the offset from 0.  An end is on that side of the joint's range. */
	side = finger ? (-p->home_offset > (p->lower + p->upper) / 2 ? 1 : -1)
		      : (s->clockwise_down ? -1 : 1) * (p->home_direction ? -1 : 1);
	*m = (struct jmc_motor_model){
		.counts_per_rad = scale,
		.counts_per_turn = turn,
		.clockwise = p->home_direction ? -side : side,
		.velocity = s->velocity,
		.acceleration = s->acceleration,
		.ends = { -INFINITY, INFINITY },
		.switch_counts = -p->home_offset + side * SWITCH_TURNS * turn,
		.switch_side = side,
		.index_counts = -p->home_offset,
		.idle_a = s->idle_a,
		.gravity_a = s->gravity_a,
		.weight_nm = finger ? 0 : s->weight_nm,
	};
	if (p->limits[0]) {
		m->ends[0] = p->lower - s->margin_rad * scale;
		m->ends[1] = p->upper + s->margin_rad * scale;
		if (finger)
			m->ends[side > 0] = -p->home_offset;
	}
}

struct sim_unit *hubo_boards_add(struct sim *sim, const struct robot_device *device, const char *name, int bus,
				 size_t size, struct error_sink *errors)
{
	/* Commands and requests; references of any board, since its number may change. */
	static const struct bus_filter filters[] = {
		{ 0x000, 0x7FC | FRAME_EXT | FRAME_RTR },
		{ 0x010, 0x7F0 | FRAME_EXT | FRAME_RTR },
		{ 0x020, 0x7F0 | FRAME_EXT | FRAME_RTR },
		{ 0x030, 0x7F8 | FRAME_EXT | FRAME_RTR },
	};
	struct sim_unit *unit;

	if ((size_t)bus >= device->roles_n) {
		yaml_error(errors, device->node, "%s is on the second bus: write bus: [LOWER, UPPER]", name);
		return NULL;
	}
	unit = sim_add(sim, device, name, size, errors);
	if (!unit)
		return NULL;
	unit->on = device->roles[bus].bus;
	memcpy(unit->filters, filters, sizeof(filters));
	unit->filters_n = sizeof(filters) / sizeof(*filters);
	return sim_share_ear(sim, unit, errors) ? NULL : unit;
}

static int add(struct sim *sim, const struct robot_device *device, const struct hubo_table *table,
	       const struct hubo_board *from, const struct jmc_board *settings, struct error_sink *errors)
{
	struct sim_unit *unit = hubo_boards_add(sim, device, from->name, from->bus, sizeof(*settings), errors);
	struct jmc_board *b;

	if (!unit)
		return -EINVAL;
	b = unit->state;
	*b = *settings;
	b->settings.number = from->number;
	unit->sends = 0x060 + (uint32_t)from->number;
	b->layout = layout(from);
	b->motors_n = (unsigned int)from->motors;
	jmc_params_defaults(&b->flash);
	b->flash.max_error = (uint16_t)b->settings.big_error;
	b->flash.input_difference = (uint16_t)b->settings.input_difference;
	for (unsigned int i = 0; i < b->motors_n; i++) {
		const int joint = from->joint[i];

		const enum hubo_limb limb = joint == HUBO_NONE ? HUBO_LIMBS : hubo_joint_limb(joint);

		b->joint[i] = joint == HUBO_NONE ? NULL : hubo_joint_name(joint);
		set_motor(b, i, joint == HUBO_NONE ? NULL : &table->joints[joint],
			  limb == HUBO_LHAND || limb == HUBO_RHAND);
	}
	return 0;
}

static int load_boards(struct sim *sim, const struct robot_device *device, const struct hubo_table *table,
		       struct error_sink *errors)
{
	static struct jmc_board board;
	struct hubo_sensor_unit sensor = { 0 };
	struct settings sensors = { .rows = hubo_sensor_rows, .values = &sensor };
	struct settings boards = { .rows = hubo_boards_rows, .values = &board, .next = &sensors };
	int r = 0;

	board = (struct jmc_board){ 0 };
	if (settings_defaults(&boards, errors) || settings_read(&boards, device->sim, errors))
		return -EINVAL;
	if (settings_given(&boards, "number"))
		return yaml_error(errors, device->sim, "number: is set of one board while it runs: robotsim set");
	for (int i = 0; !r && i < table->boards_n; i++)
		r = add(sim, device, table, &table->boards[i], &board, errors);
	return r ? r : hubo_sensor_load(sim, device, table, &sensor, errors);
}

int hubo_boards_load(struct sim *sim, const struct robot_device *device, const void *of_driver,
		     struct error_sink *errors)
{
	const struct hubod_settings *driver = of_driver;
	static struct hubo_table table;
	char joints[PATH_MAX], sensors[PATH_MAX], homes[PATH_MAX];

	table = (struct hubo_table){ 0 };
	if (hubo_table_path_of(joints, sizeof(joints), device, "joints", driver->joints) ||
	    hubo_table_path_of(sensors, sizeof(sensors), device, "sensors", driver->sensors) ||
	    hubo_table_path_of(homes, sizeof(homes), device, "home", driver->home))
		return yaml_error(errors, device->node, "the path of a table is too long");
	if (hubo_table_read(&table, joints, sensors, homes, errors))
		return -EINVAL;
	return load_boards(sim, device, &table, errors);
}
