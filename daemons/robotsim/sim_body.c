/* sim_body.c: couples simulated units with the body of the robot.
 *
 * On a grid of SIM_BODY_STEP_NS, whoever looks and when: the units go to the end of the step with what the body wrote
 * last, then the body follows with what they have written.  So the same frames at the same times have the same motion.
 */
#include <math.h>

#include "daemons/robotsim/sim.h"
#include "daemons/robotsim/sim_random.h"

#define STEP_S (SIM_BODY_STEP_NS * 1e-9)
#define PUBLISH_NS 1000000
#define DISTURBANCE_S 0.3 /* how long a random push lasts */

static const char *const mode_names[] = { "held", "sitting", "standing", "fallen" };

/* ---- the robot file ---- */

static void add_unit(struct sim_body *b, struct sim_unit *unit)
{
	for (size_t i = 0; i < b->units_n; i++)
		if (b->units[i] == unit)
			return;
	b->units[b->units_n++] = unit;
}

/* Up to max shafts of the device, from its first unit on.  How many. */
static size_t find_shafts(struct sim *sim, const struct robot_device *device, struct sim_shaft **shafts, size_t max)
{
	size_t found = 0;

	for (size_t i = 0; device && i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];
		struct sim_shaft *shaft;

		for (unsigned int n = 0; unit->device == device && unit->kind->shaft && found < max; n++) {
			shaft = unit->kind->shaft(unit->state, n);
			if (!shaft)
				break;
			shafts[found++] = shaft;
			add_unit(&sim->body, unit);
		}
	}
	return found;
}

static struct sim_motion *find_motion(struct sim *sim, const struct robot_device *device)
{
	for (size_t i = 0; device && i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		if (unit->device == device && unit->kind->motion) {
			add_unit(&sim->body, unit);
			return unit->kind->motion(unit->state);
		}
	}
	return NULL;
}

static void lacks(const struct robot *robot, const char *role, const struct robot_device *device, const char *what,
		  struct error_sink *errors)
{
	yaml_error(errors, yaml_find(robot->body.node, role), "the simulated %s of %s has no %s", device->name,
		   device->driver, what);
}

int sim_body_load(struct sim *sim, const struct robot *robot, struct error_sink *errors)
{
	const struct robot_body *from = &robot->body;
	struct sim_body *b = &sim->body;
	struct krang_settings *values = &b->krang.settings;
	struct settings settings = { .rows = krang_rows, .values = values };
	const unsigned int before = errors->count;

	*b = (struct sim_body){ 0 };
	if (!from->node)
		return 0;
	if (strcmp(from->kind, "krang") != 0)
		yaml_error(errors, yaml_find(from->node, "kind"), "there is no body %s; write krang", from->kind);
	else if (!settings_defaults(&settings, errors))
		settings_read(&settings, from->settings, errors);
	if (from->wheels && find_shafts(sim, from->wheels, b->wheels, 2) < 2)
		lacks(robot, "wheels", from->wheels, "two shafts", errors);
	if (from->waist && !find_shafts(sim, from->waist, &b->waist, 1))
		lacks(robot, "waist", from->waist, "shaft", errors);
	else if (from->waist)
		b->waist_unit = b->units[b->units_n - 1];
	b->motion = find_motion(sim, from->imu);
	if (from->imu && !b->motion)
		lacks(robot, "imu", from->imu, "sensor of motion", errors);
	values->seed = vt_clock_seed(values->seed);
	b->is_there = errors->count == before;
	return b->is_there ? 0 : -EINVAL;
}

/* ---- a step ---- */

static double waist_sign(const struct sim_body *b)
{
	return b->krang.settings.waist_reversed ? -1 : 1;
}

/* Angle and rate of the waist, as its unit has them now. */
static void read_waist(const struct sim_body *b, double *rad, double *rad_s)
{
	*rad = b->waist ? waist_sign(b) * b->waist->position_rad : b->krang.settings.waist;
	*rad_s = b->waist ? waist_sign(b) * b->waist->velocity_rad_s : 0;
}

static void write_units(struct sim_body *b)
{
	const struct krang *k = &b->krang;
	const double share = 1 / (double)k->settings.waist_modules;

	for (int right = 0; right < 2; right++)
		if (b->wheels[right]) {
			b->wheels[right]->position_rad = krang_wheel_rad(k, right);
			b->wheels[right]->velocity_rad_s = krang_wheel_rad_s(k, right);
		}
	if (b->waist) {
		b->waist->load_nm = waist_sign(b) * k->waist_load_nm * share;
		b->waist->inertia = k->waist_inertia * share;
	}
	if (b->motion)
		krang_motion(k, b->motion);
}

/* Normal, filtered to last as long as a push does. */
static double next_disturbance(struct sim_body *b)
{
	const double keep = exp(-STEP_S / DISTURBANCE_S);

	b->disturbance *= keep;
	b->disturbance += sqrt(1 - keep * keep) * sim_random_normal(&b->random);
	return b->disturbance * b->krang.settings.disturbance;
}

static double push_n(const struct sim_body *b)
{
	return b->t_ns < b->push_until_ns ? b->push_n : 0;
}

static void publish(const struct sim_body *b)
{
	const struct krang *k = &b->krang;
	struct msg_body body;

	msg_init(&body, b->port->type);
	body.header.flags = MSG_FLAG_SIMULATED;
	body.header.t_sample_ns = b->t_ns;
	body.header.t_publish_ns = clock_now_ns();
	body.mode = k->mode;
	body.falls = k->falls;
	body.starts = b->starts;
	body.pitch = k->pitch_rad;
	body.pitch_rate = k->rate_rad_s;
	body.lean = krang_lean_rad(k);
	body.travel = k->travel_m;
	body.speed = k->speed_m_s;
	body.heading = k->heading_rad;
	body.turn_rate = k->turn_rad_s;
	body.waist_position = k->waist_rad;
	body.waist_velocity = k->waist_rad_s;
	body.waist_load = k->waist_load_nm;
	body.current[0] = b->input.left_a;
	body.current[1] = b->input.right_a;
	body.push = b->input.push_n;
	port_put(b->port, &body);
}

static void keep(const struct sim_body *b)
{
	const struct krang *k = &b->krang;
	const struct sim_place at = { .t_ns = b->t_ns,
				      .travel_m = k->travel_m,
				      .heading_rad = k->heading_rad,
				      .waist_rad = k->waist_rad,
				      .falls = k->falls,
				      .fallen = k->mode == KRANG_FALLEN };

	sim_keep_write(b->keep, &at);
}

static void step(struct sim_body *b)
{
	struct krang_input in = { .waist_rad = b->waist_rad,
				  .waist_rad_s = b->waist_rad_s,
				  .push_n = push_n(b) + next_disturbance(b) };

	b->t_ns += SIM_BODY_STEP_NS;
	for (size_t i = 0; i < b->units_n; i++)
		if (b->units[i]->kind->advance)
			b->units[i]->kind->advance(b->units[i]->state, b->t_ns);
	read_waist(b, &b->waist_rad, &b->waist_rad_s);
	in.waist_rad_s2 = (b->waist_rad_s - in.waist_rad_s) / STEP_S;
	in.left_a = b->wheels[0] ? b->wheels[0]->current_a : 0;
	in.right_a = b->wheels[1] ? b->wheels[1]->current_a : 0;
	krang_step(&b->krang, &in, STEP_S);
	write_units(b);
	b->input = in;
	if (b->keep)
		keep(b);
	if (b->port && b->t_ns % PUBLISH_NS == 0)
		publish(b);
}

int sim_body_publish(struct sim *sim, struct port *port, struct error_sink *errors)
{
	const int status =
		sim->body.is_there ? port_open(port, "body", msg_type_by_number(msg_body_number), 0640, errors) : 0;

	sim->body.port = sim->body.is_there ? port : NULL;
	sim->body.starts = sim->starts;
	return status;
}

static void place(struct sim_body *b)
{
	read_waist(b, &b->waist_rad, &b->waist_rad_s);
	krang_place(&b->krang, (enum krang_start)b->krang.settings.start, b->waist_rad);
	write_units(b);
}

/* After a robotsim that was killed: where that one left it, at rest.  A robot that lay on the floor is put up again. */
static void place_again(struct sim_body *b, const struct sim_place *at)
{
	const struct sim_unit *waist = b->waist_unit;

	b->krang.falls = at->falls;
	if (at->fallen) {
		place(b);
		return;
	}
	if (waist && waist->kind->place)
		waist->kind->place(waist->state, waist_sign(b) * at->waist_rad);
	place(b);
	b->krang.travel_m = at->travel_m;
	b->krang.heading_rad = at->heading_rad;
	write_units(b);
}

static void start_body(struct sim_body *b, int64_t t_ns)
{
	struct sim_place at;

	for (int i = 0; i < 2; i++)
		if (b->wheels[i])
			b->wheels[i]->coupled = b->wheels[i]->driven = true;
	if (b->waist)
		b->waist->coupled = true;
	b->t_ns = t_ns - t_ns % SIM_BODY_STEP_NS; /* whenever it starts, its steps are the same */
	b->random = ((uint64_t)b->krang.settings.seed + 1) * 0x9E3779B97F4A7C15u | 1;
	if (sim_keep_read(b->keep, t_ns, &at))
		place_again(b, &at);
	else
		place(b);
}

static void start_unit(const struct sim_unit *unit, int64_t t_ns)
{
	if (unit && unit->kind->start)
		unit->kind->start(unit->state, t_ns);
}

/* The waist decides how the body sits or stands; the other units find it so. */
void sim_start(struct sim *sim, int64_t t_ns)
{
	struct sim_body *b = &sim->body;

	if (b->is_there) {
		start_unit(b->waist_unit, t_ns);
		start_body(b, t_ns);
	}
	for (size_t i = 0; i < sim->units_n; i++)
		if (!b->is_there || &sim->units[i] != b->waist_unit)
			start_unit(&sim->units[i], t_ns);
}

void sim_body_advance(struct sim *sim, int64_t t_ns)
{
	while (sim->body.is_there && t_ns - sim->body.t_ns >= SIM_BODY_STEP_NS)
		step(&sim->body);
}

/* ---- on command ---- */

void sim_body_push(struct sim *sim, double force_n, int64_t duration_ns)
{
	sim->body.push_n = force_n;
	sim->body.push_until_ns = sim->body.t_ns + duration_ns;
}

bool sim_body_live(const char *key)
{
	return strncmp(key, "waist", 5) != 0 && strcmp(key, "seed") != 0;
}

/* A new start puts the robot there at once. */
void sim_body_changed(struct sim *sim, const char *key)
{
	if (!strcmp(key, "start"))
		place(&sim->body);
}

void sim_body_report(const struct sim *sim, struct rpc_text *to)
{
	const struct sim_body *b = &sim->body;
	const struct krang *k = &b->krang;

	rpc_say(to,
		SIM_BODY " kind krang mode %s pitch %.6f rate %.6f lean %.6f travel %.6f speed %.6f heading %.6f "
			 "turn %.6f waist %.6f load %.3f push %g falls %u starts %u\n",
		mode_names[k->mode], k->pitch_rad, k->rate_rad_s, krang_lean_rad(k), k->travel_m, k->speed_m_s,
		k->heading_rad, k->turn_rad_s, k->waist_rad, k->waist_load_nm, push_n(b), k->falls, sim->starts);
}
