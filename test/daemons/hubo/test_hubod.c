/* test_hubod.c: the safety cases of hubod: all boards of a Hubo2+ on two soft wires, on a virtual clock.
 *
 * The suite of safety_lib.h drives one joint on one bus; here eight of forty move, on boards of both buses, and every
 * reference frame to them is decoded by hand from hw-docs/hubo.md.  Measured positions are those of the last encoder
 * reply on the wire, not those that the driver publishes.
 */
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "can/bus.h"
#include "can/wire/attach.h"
#include "channels/ach.h"
#include "channels/clock.h"
#include "channels/msg/msg.h"
#include "channels/query.h"
#include "config/run.h"
#include "test/can/wire_lib.h"
#include "test/channels/estop_talk.h"
#include "test/channels/lib.h"
#include "test/channels/testcase.h"
#include "test/channels/virtual_lib.h"

#define MS ((int64_t)1000000)
#define PERIOD_NS (5 * MS)
#define PERIOD_S 0.005
#define VALID_NS (20 * MS)
#define REF_EVERY_NS (10 * MS)
#define GIVE_UP_NS (30000 * MS)
#define BOARDS 0x26
#define HAND 0x24 /* fingers RF1 to RF5 */
#define SENT_MAX 60000
#define BUSES 2

/* Joints that move, of the tables of Hubo2+: counts per rad are driven / drive * harmonic * encoder / (2 pi). */
static const struct moved {
	const char *name, *unit;
	unsigned int board, motor;
	double counts_per_rad, velocity_rad_s, acceleration_rad_s2;
} moved[] = {
	{ "RHY", "hubo.JMC0", 0x00, 0, 25 / 10.0 * 100 * 4000 / (2 * M_PI), 2, 20 },
	{ "RHP", "hubo.JMC1", 0x01, 0, 20 / 16.0 * 160 * 4000 / (2 * M_PI), 3, 20 },
	{ "LHP", "hubo.JMC5", 0x05, 0, 20 / 16.0 * 160 * 4000 / (2 * M_PI), 3, 20 },
	{ "WST", "hubo.EJMC3", 0x23, 0, 25 / 10.0 * 100 * 4000 / (2 * M_PI), 1, 4 },
	{ "RSP", "hubo.JMC8", 0x08, 0, 16 / 11.0 * 100 * 4000 / (2 * M_PI), 2, 8 },
	{ "RSR", "hubo.JMC8", 0x08, 1, 100 * 4000 / (2 * M_PI), 2, 8 },
	{ "LSP", "hubo.JMC10", 0x0A, 0, 16 / 11.0 * 100 * 4000 / (2 * M_PI), 2, 8 },
	{ "RWP", "hubo.EJMC0", 0x20, 1, 100 * 4000 / (2 * M_PI), 2, 8 },
};
#define MOVED (sizeof(moved) / sizeof(*moved))
#define RSP 4 /* its board fails, which is that of the next one, too */
#define RSR 5

enum kind { REFERENCE, WRIST, DUTY, SWITCH_ON, HOME };

struct sent { /* a frame that can move something */
	int64_t t_ns;
	enum kind kind;
	unsigned int board;
	int32_t counts[2];   /* of a reference */
	int32_t measured[2]; /* at that time */
	bool pushes;	     /* a duty, or the current of a finger, other than 0 */
};

static struct sent sent[SENT_MAX];
static unsigned int sent_n;
static int32_t measured[BOARDS][2];
static struct msg_joint_state state;
static unsigned int states_n, events_n;
static struct msg_event events[400];
static struct msg_reply reply;

static char prefix[32], file[600], said[8192];
static const char *robot;
static pid_t sim, driver;
static struct bus *ear[BUSES];
static ach_channel_t states_chan, events_chan, refs_chan, requests_chan, replies_chan;
static uint64_t epoch;

/* Processes that each move one limb. */
static struct author {
	const char *limb;
	bool on;
	uint32_t incarnation; /* added to the driver's: not 0 is wrong */
	ach_channel_t refs_chan, states_chan;
	struct msg_joint_state state;
} authors[] = { { .limb = "rarm" }, { .limb = "lleg" } };
#define AUTHORS (sizeof(authors) / sizeof(*authors))
#define RARM 0
#define LLEG 1

static double span_rad;
static bool referring;
static void (*spoil)(struct msg_joint_ref *ref, size_t *len); /* what is wrong with the references; NULL: nothing */
static int64_t ref_ns, walk_ns;

/* ---- the wire ---- */

static int32_t sign_magnitude(const uint8_t *from)
{
	const int32_t magnitude = from[0] | from[1] << 8 | (from[2] & 0x7F) << 16;

	return from[2] & 0x80 ? -magnitude : magnitude;
}

static int32_t twos_complement(const uint8_t *from)
{
	return (int32_t)(from[0] | from[1] << 8 | from[2] << 16 | (uint32_t)from[3] << 24);
}

static void keep(int64_t t_ns, enum kind kind, unsigned int board, const uint8_t *data)
{
	struct sent *s = &sent[sent_n++];

	TEST_ASSERT(sent_n < SENT_MAX);
	*s = (struct sent){ .t_ns = t_ns, .kind = kind, .board = board };
	memcpy(s->measured, measured[board], sizeof(s->measured));
	for (int i = 0; i < 2 && kind == REFERENCE; i++)
		s->counts[i] = sign_magnitude(data + 3 * i);
	for (int i = 3; i < 8 && kind == DUTY; i++)
		s->pushes |= data[2] && data[i] & 0x7F;
	if (kind == WRIST) {
		s->counts[0] = sign_magnitude(data);
		s->pushes = (data[3] | data[4]) & 0x7F;
	}
}

static void hear(const struct bus_frame *got)
{
	const struct frame *f = &got->frame;
	const uint8_t *d = f->data;

	if (f->id >= 0x010 && f->id < 0x010 + BOARDS) {
		const bool wrist = f->id - 0x010 >= HAND; /* of DRC-Hubo */

		TEST_ASSERT_EQUAL(wrist ? 5 : 6, f->len);
		keep(got->t_ns, wrist ? WRIST : REFERENCE, f->id - 0x010, d);
	} else if (f->id >= 0x060 && f->id < 0x060 + BOARDS && f->id != 0x06E && f->len == 8) {
		measured[f->id - 0x060][0] = twos_complement(d);
		measured[f->id - 0x060][1] = twos_complement(d + 4);
	} else if (f->id >= 0x060 + HAND && f->id < 0x060 + BOARDS && f->len == 6) { /* the wrist comes first */
		measured[f->id - 0x060][0] = (int16_t)(d[0] | d[1] << 8);
	} else if (f->id == 0x001 && d[0] < BOARDS) {
		if (d[1] == 0x0D)
			keep(got->t_ns, DUTY, d[0], d);
		else if (d[1] == 0x0E || (d[1] == 0x0B && d[2]))
			keep(got->t_ns, SWITCH_ON, d[0], d);
		else if (d[1] == 0x11)
			keep(got->t_ns, HOME, d[0], d);
	}
}

/* ---- a controller ---- */

static int place(const char *name)
{
	for (unsigned int i = 0; i < state.count; i++)
		if (!strncmp(state.joint[i], name, MSG_NAME_SIZE))
			return (int)i;
	TEST_FAIL_MESSAGE(name);
	return -1;
}

/* Between 0 and -span_rad, where every joint of the table may be. */
static double wanted_rad(int64_t now_ns)
{
	return -span_rad / 2 * (1 - cos(2 * M_PI * (double)(now_ns - walk_ns) / 1.6e9));
}

static bool has(const struct msg_joint_state *s, const struct moved *m, unsigned int *at)
{
	for (*at = 0; *at < s->count; (*at)++)
		if (!strncmp(s->joint[*at], m->name, MSG_NAME_SIZE))
			return true;
	return false;
}

static void refer_limb(struct author *a)
{
	const int64_t now_ns = clock_now_ns();
	struct msg_joint_ref ref;
	unsigned int at;

	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.for_incarnation = a->state.header.incarnation + a->incarnation;
	ref.header.t_publish_ns = now_ns;
	ref.header.valid_until_ns = now_ns + VALID_NS;
	ref.count = a->state.count;
	for (unsigned int i = 0; i < MOVED; i++)
		if (has(&a->state, &moved[i], &at)) {
			ref.mode[at] = MSG_MODE_POSITION;
			ref.position[at] = wanted_rad(now_ns);
		}
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&a->refs_chan, &ref, sizeof(ref)));
}

/* All of it, and a finger that pushes; and the limbs. */
static void refer(void)
{
	const int64_t now_ns = clock_now_ns();
	struct msg_joint_ref ref;
	size_t len = sizeof(ref);

	if (!states_n || now_ns - ref_ns < REF_EVERY_NS)
		return;
	ref_ns = now_ns;
	for (struct author *a = authors; a < authors + AUTHORS; a++)
		if (a->on)
			refer_limb(a);
	if (!referring)
		return;
	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.for_incarnation = state.header.incarnation;
	ref.header.t_publish_ns = now_ns;
	ref.header.valid_until_ns = now_ns + VALID_NS;
	ref.count = state.count;
	for (unsigned int i = 0; i < MOVED; i++) {
		const int at = place(moved[i].name);

		ref.mode[at] = MSG_MODE_POSITION;
		ref.position[at] = wanted_rad(now_ns);
	}
	ref.mode[place("RWR")] = MSG_MODE_POSITION; /* DRC-Hubo has it */
	ref.position[place("RWR")] = ref.position[place("RSP")];
	ref.mode[place("RF1")] = MSG_MODE_CURRENT;
	ref.current[place("RF1")] = 0.5;
	if (spoil)
		spoil(&ref, &len);
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&refs_chan, &ref, len));
}

/* ---- time ---- */

static bool next(ach_channel_t *chan, void *to, size_t size)
{
	size_t len;
	const enum ach_status status = ach_get(chan, to, size, &len, NULL, 0);

	TEST_ASSERT_NOT_EQUAL(ACH_MISSED_FRAME, status);
	return status == ACH_OK && len == size;
}

static void look(void)
{
	static struct bus_frame got[256];

	for (int b = 0, n; b < BUSES; b++)
		while (ear[b] && (n = bus_receive(ear[b], got, 256)) > 0)
			for (int i = 0; i < n; i++)
				hear(&got[i]);
	while (next(&states_chan, &state, sizeof(state)))
		states_n++;
	while (next(&events_chan, &events[events_n], sizeof(*events)))
		TEST_ASSERT(++events_n < sizeof(events) / sizeof(*events));
	next(&replies_chan, &reply, sizeof(reply));
	for (struct author *a = authors; a < authors + AUTHORS; a++)
		while (next(&a->states_chan, &a->state, sizeof(a->state)))
			;
}

static void pass(int ms)
{
	const int64_t until_ns = clock_now_ns() + ms * MS;

	while (clock_now_ns() < until_ns) {
		clock_wait(NULL, 0, clock_now_ns() + MS);
		look();
		refer();
	}
}

/* ---- processes ---- */

static void end(pid_t *pid, int signal)
{
	if (*pid <= 0)
		return;
	virtual_lib_signal(*pid, signal);
	while (waitpid(*pid, NULL, WNOHANG) == 0)
		pass(1);
	*pid = 0;
}

static void drive(void)
{
	char line[700];

	snprintf(line, sizeof(line), "--name hubo --config %s", file);
	driver = wire_lib_launch("hubod", line);
}

static void make(ach_channel_t *chan, const char *suffix, enum msg_number number)
{
	char full[96];

	snprintf(full, sizeof(full), "%shubo-%s", prefix, suffix);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(full, 256, msg_type_by_number(number)->body->size, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(chan, full, NULL));
}

static void begin(const char *settings)
{
	static unsigned int number;
	static const char *const names[BUSES] = { "wire:lower@ear", "wire:upper@ear" };
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	const struct bus_options options = { .later = true };
	char line[700], root[PATH_MAX];
	FILE *to;

	lib_watchdog("hubod", LIB_HANG_S);
	sent_n = states_n = events_n = 0;
	ref_ns = 0; /* each case begins at the same time */
	memset(&state, 0, sizeof(state));
	referring = false;
	spoil = NULL;
	memset(&reply, 0, sizeof(reply));
	snprintf(prefix, sizeof(prefix), "hubod%d-%u-", (int)getpid(), ++number);
	umask(0077);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	virtual_lib_begin(wire_lib_folder());
	wire_lib_start("lower upper");
	snprintf(file, sizeof(file), "%s/robot.yaml", wire_lib_folder());
	TEST_ASSERT_NOT_NULL(getcwd(root, sizeof(root)));
	to = fopen(file, "w");
	TEST_ASSERT_NOT_NULL(to);
	fprintf(to,
		"like: %s/config/robots/bench-%s.yaml\nrobot: lab\ndevices:\n  hubo:\n"
		"    settings: {lock_memory: no, %s}\n"
		"    sim: {position: 0, homed: yes, on: yes}\n",
		root, robot, settings);
	fclose(to);
	make(&states_chan, "state", msg_joint_state_number);
	make(&events_chan, "event", msg_event_number);
	make(&refs_chan, "ref", msg_joint_ref_number);
	make(&requests_chan, "req", msg_request_number);
	make(&replies_chan, "rep", msg_reply_number);
	for (struct author *a = authors; a < authors + AUTHORS; a++) {
		char suffix[MSG_NAME_SIZE];

		a->on = false;
		a->incarnation = 0;
		memset(&a->state, 0, sizeof(a->state));
		snprintf(suffix, sizeof(suffix), "%s-state", a->limb);
		make(&a->states_chan, suffix, msg_joint_state_number);
		snprintf(suffix, sizeof(suffix), "%s-ref", a->limb);
		make(&a->refs_chan, suffix, msg_joint_ref_number);
	}
	for (int b = 0; b < BUSES; b++)
		TEST_ASSERT_EQUAL(0, bus_open(&ear[b], names[b], &options, &errors));
	snprintf(line, sizeof(line), "run %s", file);
	sim = wire_lib_launch("robotsim", line);
	pass(20);
}

static void finish(void)
{
	static const char folder[] = "/dev/shm/achshm-";
	char pattern[128];
	glob_t found;

	if (!*prefix)
		return;
	referring = false;
	end(&driver, SIGKILL);
	end(&sim, SIGKILL);
	wire_lib_end(SIGKILL);
	for (int b = 0; b < BUSES; b++) {
		bus_close(ear[b]);
		ear[b] = NULL;
	}
	ach_close(&states_chan);
	ach_close(&events_chan);
	ach_close(&refs_chan);
	ach_close(&requests_chan);
	ach_close(&replies_chan);
	for (struct author *a = authors; a < authors + AUTHORS; a++) {
		a->on = false;
		ach_close(&a->refs_chan);
		ach_close(&a->states_chan);
	}
	snprintf(pattern, sizeof(pattern), "%s%s*", folder, prefix);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			ach_unlink(found.gl_pathv[i] + strlen(folder));
	globfree(&found);
	virtual_lib_end();
	*prefix = 0;
}

void setUp(void)
{
	span_rad = 0.8;
	robot = "hubo";
}

void tearDown(void)
{
	finish();
}

static void ask_sim(const char *question)
{
	const int64_t by_ns = clock_now_ns() + GIVE_UP_NS;
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct clock_fd answer = { .events = POLLIN };
	int fds[ATTACH_FDS_MAX], fds_n = 0, n;
	char path[RUN_PATH_MAX];

	TEST_ASSERT_EQUAL(0, run_path(path, "robotsim", &errors));
	answer.fd = query_connect_by(path, by_ns);
	TEST_ASSERT(answer.fd >= 0);
	TEST_ASSERT(attach_send(answer.fd, question, strlen(question), NULL, 0) > 0);
	TEST_ASSERT(clock_wait(&answer, 1, by_ns) == 1);
	n = attach_receive(answer.fd, said, sizeof(said) - 1, fds, &fds_n);
	close(answer.fd);
	said[n > 0 ? n : 0] = 0;
	TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE("ok", said, 2, said);
}

static void ask_wire(const char *bus, const char *question)
{
	static char answer[ATTACH_ANSWER_MAX];
	struct error_sink errors = { error_to_stderr, NULL, 0 };

	TEST_ASSERT_EQUAL_MESSAGE(0, attach_question(bus, question, answer, sizeof(answer), &errors), question);
}

/* "WORD VALUE" in the simulator's report of a board. */
static bool sim_says(const char *unit, const char *words)
{
	char question[64], wanted[64];

	snprintf(question, sizeof(question), "report %s", unit);
	snprintf(wanted, sizeof(wanted), " %s ", words);
	ask_sim(question);
	strcat(said, " ");
	return strstr(said, wanted);
}

static unsigned int sim_number(const char *board, const char *word)
{
	char question[64], wanted[64];
	const char *at;

	snprintf(question, sizeof(question), "report hubo.%s", board);
	snprintf(wanted, sizeof(wanted), " %s ", word);
	ask_sim(question);
	at = strstr(said, wanted);
	return at ? (unsigned int)strtoul(at + strlen(wanted), NULL, 10) : 0;
}

static int ask_value(enum msg_verb verb, const char *key, const char *value)
{
	static uint64_t id;
	struct msg_request request;

	msg_init(&request, msg_type_by_number(msg_request_number));
	request.id = ++id;
	request.client_pid = (uint32_t)getpid();
	request.verb = verb;
	snprintf(request.key, sizeof(request.key), "%s", key);
	snprintf(request.value, sizeof(request.value), "%s", value);
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&requests_chan, &request, sizeof(request)));
	for (int i = 0; i < 100 && reply.id != id; i++)
		pass(10);
	TEST_ASSERT_EQUAL(id, reply.id);
	return reply.result;
}

static int ask(enum msg_verb verb, const char *key)
{
	return ask_value(verb, key, "");
}

static unsigned int happened(const char *code)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < events_n; i++)
		n += !strcmp(events[i].code, code);
	return n;
}

static void arm(void)
{
	for (int i = 0; i < 100 && state.common.level != MSG_LEVEL_RUN; i++) {
		if (estop_talk_is_ratified())
			estop_talk_lower(MSG_LEVEL_RUN, ++epoch);
		pass(50);
	}
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, state.common.level);
}

/* ---- what left ---- */

static unsigned int count(enum kind kind, unsigned int board, int64_t from_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sent_n; i++)
		n += sent[i].t_ns > from_ns && sent[i].kind == kind && (board == BOARDS || sent[i].board == board);
	return n;
}

static unsigned int pushing(int64_t from_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sent_n; i++)
		n += sent[i].t_ns > from_ns && sent[i].pushes;
	return n;
}

/* How far its references went, in rad. */
static double way(const struct moved *m, int64_t from_ns)
{
	int32_t least = INT32_MAX, most = INT32_MIN;

	for (unsigned int i = 0; i < sent_n; i++) {
		const int32_t counts = sent[i].counts[m->motor];

		if (sent[i].kind != REFERENCE || sent[i].board != m->board || sent[i].t_ns <= from_ns)
			continue;
		least = counts < least ? counts : least;
		most = counts > most ? counts : most;
	}
	return most < least ? 0 : (most - least) / m->counts_per_rad;
}

/* From one reference to the next no joint goes faster, or changes its speed more, than its limits allow.  After a
 * break, and at first, it begins at rest at what was measured. */
static void check_steps(const struct moved *m)
{
	const double most = m->velocity_rad_s * PERIOD_S * m->counts_per_rad + 2; /* counts are truncated */
	const double change = m->acceleration_rad_s2 * PERIOD_S * PERIOD_S * m->counts_per_rad + 3;
	const struct sent *before = NULL;
	double speed = 0;
	char text[128];

	for (unsigned int i = 0; i < sent_n; i++) {
		const struct sent *s = &sent[i];
		const bool begins = !before || s->t_ns - before->t_ns > PERIOD_NS + MS;
		double step;

		if (s->kind != REFERENCE || s->board != m->board)
			continue;
		step = s->counts[m->motor] - (begins ? s->measured[m->motor] : before->counts[m->motor]);
		snprintf(text, sizeof(text),
			 "%s at %.3f s: %s %.0f counts, before it %.0f, at most %.0f, and %.0f more", m->name,
			 (double)s->t_ns / 1e9, begins ? "begins with" : "goes", step, begins ? 0 : speed, most,
			 change);
		TEST_ASSERT_TRUE_MESSAGE(!before || s->t_ns - before->t_ns > PERIOD_NS - MS, text);
		TEST_ASSERT_TRUE_MESSAGE(fabs(step) <= most, text);
		TEST_ASSERT_TRUE_MESSAGE(fabs(step - (begins ? 0 : speed)) <= change, text);
		speed = step;
		before = s;
	}
	TEST_ASSERT_NOT_NULL(before);
}

static void check_all_steps(void)
{
	for (unsigned int i = 0; i < MOVED; i++)
		check_steps(&moved[i]);
}

/* All but those of one board, or all (MOVED), have moved since then, without a break in their references. */
static void check_moving(unsigned int but, int64_t from_ns)
{
	const unsigned int cycles = (unsigned int)((clock_now_ns() - from_ns) / PERIOD_NS);

	for (unsigned int i = 0; i < MOVED; i++) {
		if (but < MOVED && moved[i].board == moved[but].board)
			continue;
		TEST_ASSERT_TRUE_MESSAGE(way(&moved[i], from_ns) > 0.05, moved[i].name);
		TEST_ASSERT_UINT_WITHIN_MESSAGE(2, cycles, count(REFERENCE, moved[i].board, from_ns), moved[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, state.lifecycle[place(moved[i].name)], moved[i].name);
	}
}

static void check_standing(int64_t from_ns)
{
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_TRUE_MESSAGE(way(&moved[i], from_ns) == 0, moved[i].name);
	TEST_ASSERT_EQUAL(0, pushing(from_ns));
}

static void up(const char *settings)
{
	begin(settings);
	drive();
	pass(1000);
	TEST_ASSERT_NOT_EQUAL(0, states_n);
	TEST_ASSERT_EQUAL(0, count(REFERENCE, BOARDS, 0));
	arm();
	pass(50);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, state.common.lifecycle);
	TEST_ASSERT_GREATER_THAN(0, count(REFERENCE, 0, 0));
}

static void walk(const char *settings)
{
	int64_t from_ns;

	up(settings);
	walk_ns = clock_now_ns();
	referring = true;
	pass(300);
	from_ns = clock_now_ns();
	pass(100);
	check_moving(MOVED, from_ns);
	TEST_ASSERT_GREATER_THAN(0, pushing(from_ns));
	TEST_ASSERT_TRUE(sim_says("hubo.EJMC4", "RF1_does pwm"));
}

/* ---- levels ---- */

TEST(an_estop_lets_no_reference_out_and_is_left_without_a_step)
{
	int64_t from_ns;

	walk("");
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	pass(6); /* the tick that reads it */
	from_ns = clock_now_ns();
	pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, state.common.lifecycle);
	TEST_ASSERT_EQUAL(0, count(REFERENCE, BOARDS, from_ns));
	TEST_ASSERT_EQUAL(0, pushing(from_ns));
	TEST_ASSERT_TRUE(sim_says("hubo.EJMC4", "RF1_does off"));
	from_ns = clock_now_ns();
	arm(); /* the controller still refers, to somewhere else by now */
	pass(600);
	check_moving(MOVED, clock_now_ns() - 400 * MS);
	TEST_ASSERT_GREATER_THAN(0, pushing(from_ns));
	check_all_steps();
}

/* There the position of the wrist and the currents of two fingers are one frame. */
TEST(an_estop_of_drc_hubo_ends_the_currents_of_fingers_and_moves_no_wrist)
{
	int64_t from_ns;
	int32_t last = 0;

	robot = "drc-hubo";
	walk("");
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	pass(6);
	for (unsigned int i = 0; i < sent_n; i++)
		if (sent[i].kind == WRIST && sent[i].board == HAND && sent[i].pushes)
			last = sent[i].counts[0];
	TEST_ASSERT_NOT_EQUAL(0, last);
	from_ns = clock_now_ns();
	pass(600);
	TEST_ASSERT_EQUAL(0, count(REFERENCE, BOARDS, from_ns));
	TEST_ASSERT_EQUAL(0, pushing(from_ns));
	TEST_ASSERT_GREATER_THAN(0, count(WRIST, HAND, from_ns));
	for (unsigned int i = 0; i < sent_n; i++)
		if (sent[i].kind == WRIST && sent[i].board == HAND && sent[i].t_ns > from_ns)
			TEST_ASSERT_EQUAL(last, sent[i].counts[0]);
}

/* Without the setting balance all joints brake within their limits, then stand. */
TEST(hold_brakes_within_the_limits)
{
	int64_t from_ns;

	walk("balance: no");
	estop_talk_raise_both(MSG_LEVEL_HOLD);
	from_ns = clock_now_ns();
	pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, state.common.lifecycle);
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_UINT_WITHIN_MESSAGE(2, 120, count(REFERENCE, moved[i].board, from_ns), moved[i].name);
	check_standing(clock_now_ns() - 100 * MS);
	TEST_ASSERT_EQUAL(0, pushing(from_ns + 10 * MS));
	arm();
	pass(600);
	check_moving(MOVED, clock_now_ns() - 400 * MS);
	check_all_steps();
}

TEST(at_hold_a_robot_that_balances_goes_on)
{
	int64_t from_ns;

	walk("balance: yes");
	estop_talk_raise_both(MSG_LEVEL_HOLD);
	from_ns = clock_now_ns();
	pass(400);
	check_moving(MOVED, from_ns);
	check_all_steps();
}

/* ---- references ---- */

TEST(an_expired_reference_brakes_within_the_limits)
{
	int64_t from_ns;

	walk("");
	referring = false;
	from_ns = clock_now_ns();
	pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, state.common.lifecycle);
	TEST_ASSERT_UINT_WITHIN(2, 120, count(REFERENCE, moved[0].board, from_ns)); /* where it stands */
	check_standing(clock_now_ns() - 100 * MS);
	TEST_ASSERT_EQUAL(0, pushing(from_ns + VALID_NS + 2 * PERIOD_NS));
	check_all_steps();
}

static void nan_position(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->position[place("RSP")] = NAN;
}
static void short_message(struct msg_joint_ref *ref, size_t *len)
{
	(void)ref;
	*len -= 8;
}
static void too_few_joints(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->count--;
}
static void other_driver(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->header.for_incarnation++;
}
static void long_over(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->header.valid_until_ns = ref->header.t_publish_ns - MS;
}
static void without_end(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->header.valid_until_ns = INT64_MAX;
}

TEST(a_bad_reference_is_counted_and_moves_nothing)
{
	static const struct {
		void (*spoil)(struct msg_joint_ref *ref, size_t *len);
		const uint32_t *counter;
		const char *name;
	} cases[] = {
		{ nan_position, &state.common.refs_refused.not_finite, "NaN" },
		{ short_message, &state.common.refs_refused.other_size, "short" },
		{ too_few_joints, &state.common.refs_refused.other_size, "too few joints" },
		{ other_driver, &state.common.refs_refused.other_incarnation, "another incarnation" },
		{ long_over, &state.common.refs_refused.past, "past" },
		{ without_end, &state.common.refs_refused.too_far, "too far" },
	};
	int64_t from_ns;

	up("");
	from_ns = clock_now_ns();
	referring = true;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint32_t before = *cases[i].counter;

		walk_ns = clock_now_ns() - 400 * MS;
		spoil = cases[i].spoil;
		pass(200);
		TEST_ASSERT_UINT_WITHIN_MESSAGE(3, 20, *cases[i].counter - before, cases[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_HOLDING, state.common.lifecycle, cases[i].name);
	}
	check_standing(from_ns);
	TEST_ASSERT_EQUAL(0, state.common.refs_taken);
	spoil = NULL; /* it was the references */
	walk_ns = clock_now_ns();
	pass(600);
	check_moving(MOVED, clock_now_ns() - 400 * MS);
	check_all_steps();
}

/* ---- limbs ---- */

static void check_limbs(bool arm_moves, bool leg_moves)
{
	const int64_t from_ns = clock_now_ns();
	unsigned int at;

	pass(400);
	for (unsigned int i = 0; i < MOVED; i++) {
		const bool moves = (arm_moves && has(&authors[RARM].state, &moved[i], &at)) ||
				   (leg_moves && has(&authors[LLEG].state, &moved[i], &at));

		TEST_ASSERT_TRUE_MESSAGE(moves ? way(&moved[i], from_ns) > 0.05 : way(&moved[i], from_ns) == 0,
					 moved[i].name);
	}
}

TEST(limbs_follow_authors_of_their_own)
{
	int64_t from_ns;

	up("");
	walk_ns = clock_now_ns();
	authors[RARM].on = true;
	pass(300);
	check_limbs(true, false);
	authors[LLEG].on = true;
	pass(300);
	check_limbs(true, true);
	TEST_ASSERT_EQUAL(0, state.common.refs_taken);
	TEST_ASSERT_GREATER_THAN(50, authors[RARM].state.common.refs_taken);
	authors[RARM].on = false; /* its joints brake, and nothing else does */
	pass(500);
	check_limbs(false, true);
	referring = true; /* all joints, and first of all */
	pass(500);
	from_ns = clock_now_ns();
	pass(400);
	check_moving(MOVED, from_ns);
	referring = authors[LLEG].on = false;
	pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, state.common.lifecycle);
	check_limbs(false, false);
	check_all_steps();
}

TEST(a_limb_has_the_state_and_the_counts_of_its_own)
{
	static const char *const names[] = { "RSP", "RSR", "RSY", "REB", "RWY", "RWP" };
	const struct msg_joint_state *s = &authors[RARM].state;

	up("");
	TEST_ASSERT_EQUAL(6, s->count);
	for (unsigned int i = 0; i < 6; i++) {
		TEST_ASSERT_EQUAL_STRING(names[i], s->joint[i]);
		TEST_ASSERT_TRUE(s->position[i] == state.position[place(names[i])]);
		TEST_ASSERT_EQUAL(state.status[place(names[i])], s->status[i]);
	}
	TEST_ASSERT_EQUAL(state.header.incarnation, s->header.incarnation);
	authors[RARM].on = true;
	authors[RARM].incarnation = 1;
	pass(200);
	TEST_ASSERT_UINT_WITHIN(3, 20, s->common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(0, state.common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(0, authors[LLEG].state.common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, state.common.lifecycle);
	authors[RARM].on = false;
	ask_sim("fault hubo.EJMC4 silent"); /* a hand */
	pass(100);
	TEST_ASSERT_TRUE(state.header.flags & MSG_FLAG_PARTIAL || state.status[place("RF1")] & MSG_JOINT_SILENT);
	TEST_ASSERT_FALSE(s->header.flags & MSG_FLAG_PARTIAL);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, s->common.lifecycle);
	ask_wire("wire:upper", "link down host");
	pass(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, s->common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, authors[LLEG].state.common.lifecycle);
}

/* ---- the driver ---- */

TEST(a_restarted_driver_goes_on_from_where_the_joints_are)
{
	walk("");
	for (int i = 0; i < 3; i++) {
		const uint32_t incarnation = state.header.incarnation;
		int64_t from_ns;

		end(&driver, SIGKILL);
		pass(7 + 30 * i);
		from_ns = clock_now_ns();
		drive();
		pass(790);
		TEST_ASSERT_EQUAL(0, count(REFERENCE, BOARDS, from_ns));
		TEST_ASSERT_EQUAL(0, count(DUTY, BOARDS, from_ns));
		pass(710);
		TEST_ASSERT_GREATER_THAN(incarnation, state.header.incarnation);
		check_moving(MOVED, clock_now_ns() - 400 * MS);
		TEST_ASSERT_EQUAL(0, count(HOME, BOARDS, 0));
		pass(37 * i);
	}
	check_all_steps();
	TEST_ASSERT_EQUAL(0, happened("motor"));
}

/* Killed while walking and started again at an e-stop: nothing moves since the time that is returned. */
static int64_t restart_stopped(void)
{
	int64_t from_ns;

	walk("");
	referring = false;
	end(&driver, SIGKILL);
	from_ns = clock_now_ns();
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	drive();
	pass(1500);
	TEST_ASSERT_EQUAL(0, count(REFERENCE, BOARDS, from_ns));
	TEST_ASSERT_EQUAL(0, pushing(from_ns));
	return from_ns;
}

TEST(a_restarted_driver_without_a_controller_stands_and_ends_the_push_of_a_finger)
{
	restart_stopped();
	TEST_ASSERT_TRUE(sim_says("hubo.EJMC4", "RF1_does off"));
}

/* The frame that ends the currents of its fingers has a place for the wrist, which must not move. */
TEST(a_restarted_driver_of_drc_hubo_ends_the_currents_of_fingers_where_the_wrist_is)
{
	int64_t from_ns;

	robot = "drc-hubo";
	from_ns = restart_stopped();
	TEST_ASSERT_EQUAL(10, count(WRIST, HAND, from_ns));
	for (unsigned int i = 0; i < sent_n; i++)
		if (sent[i].kind == WRIST && sent[i].board == HAND && sent[i].t_ns > from_ns)
			TEST_ASSERT_EQUAL(sent[i].measured[0], sent[i].counts[0]);
	TEST_ASSERT_NOT_EQUAL(0, measured[HAND][0]);
}

/* ---- the wire ---- */

/* What a cycle lost is not sent later: the boards interpolate over it. */
TEST(lost_replies_are_counted_and_stop_nothing)
{
	char missed[32];
	int64_t from_ns;

	walk("");
	from_ns = clock_now_ns();
	ask_sim("set hubo.JMC8 lose=1");
	pass(13); /* two cycles or three */
	ask_sim("set hubo.JMC8 lose=0");
	pass(400);
	check_moving(MOVED, from_ns);
	TEST_ASSERT_EQUAL(0, happened("silent"));
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_GET, "JMC8"));
	TEST_ASSERT_TRUE_MESSAGE(!strncmp(reply.value, "missed 2 ", 9) || !strncmp(reply.value, "missed 3 ", 9),
				 reply.value);
	snprintf(missed, sizeof(missed), "%.8s", reply.value + 7);
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_GET, "missed"));
	TEST_ASSERT_EQUAL_INT(atoi(missed), atoi(reply.value));
	check_all_steps();
}

/* A frame in fifty is lost, in either direction.  So slow that two lost references are within what a board accepts from
 * one to the next (input_difference). */
TEST(lost_frames_stop_nothing)
{
	int64_t from_ns;

	span_rad = 0.4;
	walk("");
	ask_wire("wire:lower", "fault drop 2%");
	ask_wire("wire:upper", "fault drop 2%");
	from_ns = clock_now_ns();
	pass(1600);
	ask_wire("wire:lower", "fault drop off");
	ask_wire("wire:upper", "fault drop off");
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_GET, "missed"));
	TEST_ASSERT_GREATER_THAN(0, atoi(reply.value));
	TEST_ASSERT_EQUAL(0, happened("motor"));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, state.common.lifecycle);
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_TRUE_MESSAGE(way(&moved[i], from_ns) > 0.35, moved[i].name);
}

TEST(a_bus_that_stalls_takes_out_its_own_boards)
{
	static const char *const faults[] = { "fault stuck 60s", "link down host" };
	static const char *const ends[] = { "fault stuck off", "link up host" };
	int64_t from_ns;

	walk("");
	for (unsigned int f = 0; f < 2; f++) {
		ask_wire("wire:upper", faults[f]);
		from_ns = clock_now_ns();
		pass(500);
		for (unsigned int i = 0; i < MOVED; i++) {
			const bool lower = moved[i].board < 0x08 || moved[i].board == 0x23;
			const enum msg_life life = state.lifecycle[place(moved[i].name)];

			TEST_ASSERT_EQUAL_MESSAGE(lower ? MSG_LIFE_ACTIVE : MSG_LIFE_FAULT, life, moved[i].name);
			if (lower)
				TEST_ASSERT_UINT_WITHIN_MESSAGE(2, 100, count(REFERENCE, moved[i].board, from_ns),
								moved[i].name);
		}
		if (!f) /* as the link's owner does: what the controller holds is stale */
			ask_wire("wire:upper", "link reset host");
		ask_wire("wire:upper", ends[f]);
		pass(600);
		from_ns = clock_now_ns();
		pass(400);
		check_moving(MOVED, from_ns);
	}
	TEST_ASSERT_EQUAL(0, happened("motor"));
	check_all_steps();
}

/* Boards lock to the arrival of references, and interpolate between them. */
static void check_locked(const char *name)
{
	static const char *const boards[] = { "JMC0",  "JMC1",	"JMC2",	 "JMC3",  "JMC4",  "JMC5",
					      "JMC6",  "JMC7",	"EJMC3", "JMC8",  "JMC9",  "JMC10",
					      "JMC11", "EJMC0", "EJMC1", "EJMC2", "EJMC4", "EJMC5" };
	const unsigned int n = sizeof(boards) / sizeof(*boards);
	unsigned int losses[32], locked = 0;
	int64_t from_ns;

	robot = name;
	walk("");
	for (unsigned int i = 0; i < n; i++)
		losses[i] = sim_number(boards[i], "losses");
	from_ns = clock_now_ns();
	pass(2000);
	check_moving(MOVED, from_ns);
	for (unsigned int i = 0; i < n; i++) {
		if (!sim_number(boards[i], "references")) /* a hand, or inactive */
			continue;
		TEST_ASSERT_EQUAL_MESSAGE(losses[i], sim_number(boards[i], "losses"), said);
		TEST_ASSERT_TRUE_MESSAGE(strstr(said, " lock yes "), said);
		locked++;
	}
	TEST_ASSERT_EQUAL(!strcmp(name, "hubo") ? 15 : 18, locked);
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_GET, "missed"));
	TEST_ASSERT_EQUAL_STRING("0", reply.value);
}

TEST(all_boards_of_hubo_lock_and_none_misses_a_reply)
{
	check_locked("hubo");
}

TEST(all_boards_of_drc_hubo_lock_and_none_misses_a_reply)
{
	check_locked("drc-hubo");
}

/* ---- boards ---- */

TEST(a_dead_board_takes_out_its_own_joints)
{
	static const char *const faults[] = { "silent", "cut" };
	char question[64];
	int64_t from_ns;

	walk("");
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(question, sizeof(question), "fault %s %s", moved[RSP].unit, faults[i]);
		ask_sim(question);
		from_ns = clock_now_ns();
		pass(500);
		check_moving(RSP, from_ns);
		TEST_ASSERT_EQUAL(0, count(REFERENCE, moved[RSP].board, from_ns + 40 * MS));
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.lifecycle[place("RSP")]);
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.lifecycle[place("RSR")]); /* on the same board */
		TEST_ASSERT_TRUE(state.status[place("RSP")] & MSG_JOINT_SILENT);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, state.common.lifecycle);
		TEST_ASSERT_EQUAL(i + 1, happened("silent"));
		strcat(question, " clear");
		ask_sim(question);
		pass(300);
		from_ns = clock_now_ns();
		pass(400);
		check_moving(MOVED, from_ns);
	}
	check_all_steps();
}

/* It pushes on, for it hears: the duty has to be ended. */
TEST(a_hand_that_is_dead_is_ordered_to_stop)
{
	int64_t from_ns;

	walk("");
	ask_sim("fault hubo.EJMC4 silent");
	from_ns = clock_now_ns();
	pass(400);
	check_moving(MOVED, from_ns);
	TEST_ASSERT_EQUAL(0, pushing(from_ns + 40 * MS));
	TEST_ASSERT_TRUE(sim_says("hubo.EJMC4", "RF1_does off"));
}

/* It has forgotten its zero: where its references would bring it is not known. */
static void check_off(int64_t from_ns)
{
	TEST_ASSERT_EQUAL(0, count(REFERENCE, moved[RSP].board, from_ns));
	TEST_ASSERT_EQUAL(0, count(SWITCH_ON, moved[RSP].board, from_ns));
	TEST_ASSERT_TRUE(sim_says(moved[RSP].unit, "RSP_does off"));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.lifecycle[place("RSP")]);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.lifecycle[place("RSR")]);
	TEST_ASSERT_FALSE(state.status[place("RSP")] & (MSG_JOINT_HOMED | MSG_JOINT_ENABLED));
	check_moving(RSP, clock_now_ns() - 400 * MS);
}

static void check_activates(void)
{
	int64_t from_ns;

	TEST_ASSERT_EQUAL_MESSAGE(0, ask(MSG_VERB_ACTIVATE, "RSP"), reply.error);
	pass(200);
	from_ns = clock_now_ns();
	pass(400);
	check_moving(MOVED, from_ns);
	check_all_steps();
}

TEST(a_board_that_lost_its_power_is_moved_only_when_asked)
{
	static const char *const settings[] = { "enable: yes", "enable: no" };

	for (unsigned int i = 0; i < 2; i++) {
		int64_t from_ns;

		if (i)
			finish();
		walk(settings[i]);
		ask_sim("fault hubo.JMC8 power-off");
		pass(200);
		from_ns = clock_now_ns();
		ask_sim("fault hubo.JMC8 power-on");
		pass(1000);
		check_off(from_ns);
		TEST_ASSERT_EQUAL(1, happened("off"));
		check_activates();
	}
}

/* The second one is killed, too, so that what it knew of the first one's board has to outlive both. */
TEST(power_lost_between_two_drivers_is_noticed)
{
	int64_t from_ns;

	walk("enable: yes");
	from_ns = clock_now_ns() + 10 * MS;
	for (int i = 0; i < 2; i++) {
		end(&driver, SIGKILL);
		ask_sim("fault hubo.JMC8 power-off");
		ask_sim("fault hubo.JMC8 power-on");
		pass(200);
		drive();
		pass(1500);
		check_off(from_ns);
	}
	check_activates();
}

/* The other motor of its board brakes within its limits; it gets the position where it is. */
TEST(a_motor_that_tripped_is_not_led_away)
{
	int64_t from_ns;

	walk("");
	ask_sim("fault hubo.JMC8 jam-0");
	pass(100);
	from_ns = clock_now_ns();
	pass(500);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.lifecycle[place("RSP")]);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.lifecycle[place("RSR")]);
	TEST_ASSERT_UINT_WITHIN(2, 100, count(REFERENCE, moved[RSP].board, from_ns));
	for (unsigned int i = 0; i < sent_n; i++)
		if (sent[i].kind == REFERENCE && sent[i].board == moved[RSP].board && sent[i].t_ns > from_ns)
			TEST_ASSERT_EQUAL(sent[i].measured[0], sent[i].counts[0]);
	TEST_ASSERT_TRUE(way(&moved[RSR], clock_now_ns() - 100 * MS) == 0);
	check_steps(&moved[RSR]);
	check_moving(RSP, from_ns);
}

/* ---- parameters ---- */

static void check_parameter(const char *key, const char *value)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, ask(MSG_VERB_GET, key), reply.error);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(value, reply.value, key);
}

/* Values are those of the simulator's page and of the home file: counts are rad * driven / drive * harmonic * encoder /
 * (2 pi).  Currents have the same identifier, and are asked for all the time. */
TEST(parameters_are_read_while_the_robot_moves)
{
	int64_t from_ns;

	walk("");
	from_ns = clock_now_ns();
	check_parameter("RHY.kp", "400");
	check_parameter("RHY.kd", "200");
	check_parameter("RHR.lower", "-180278"); /* of -0.56 rad: both halves in one reply */
	check_parameter("RHR.upper", "119112");	 /* 0.37: halves in two replies */
	check_parameter("LKN.home-offset", "-24446");
	check_parameter("LF5.search-turns", "250"); /* the fifth motor of its board */
	check_parameter("REB.jam-time", "1000");
	check_parameter("WST.rate", "5");
	TEST_ASSERT_EQUAL(-ENOENT, ask(MSG_VERB_GET, "RHY.nothing"));
	TEST_ASSERT_EQUAL(-ENOENT, ask(MSG_VERB_GET, "XYZ.kp"));
	TEST_ASSERT_EQUAL(-ENOENT, ask(MSG_VERB_GET, "NKY.kp")); /* inactive */
	pass(100);
	check_moving(MOVED, from_ns);
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_TRUE_MESSAGE(state.current[place(moved[i].name)] < 2, moved[i].name);
	check_parameter("missed", "0");
}

TEST(a_parameter_of_a_dead_board_is_an_error)
{
	up("");
	ask_sim("fault hubo.JMC8 silent");
	TEST_ASSERT_EQUAL(-EIO, ask(MSG_VERB_GET, "RSP.kp"));
	pass(100);
	TEST_ASSERT_EQUAL(-EIO, ask(MSG_VERB_GET, "RSR.kp"));
	check_parameter("LSP.kp", "400");
}

TEST(commands_go_to_boards_within_their_limits)
{
	static const struct {
		const char *key, *value;
		int armed, disarmed; /* the result */
	} rows[] = {
		{ "RHY.position-gains", "300,1,150", 0, 0 },
		{ "RHY.position-gains", "300,1", -EINVAL, -EINVAL },
		{ "RHY.position-gains", "65536,1,1", -ERANGE, -ERANGE },
		{ "RF3.position-gains", "1,1,1", -EINVAL, -EINVAL }, /* motors 0 and 1 have them */
		{ "rarm.dead-zone", "7", 0, 0 },
		{ "all.beep", "1", 0, 0 },
		{ "all.beep", "256", -ERANGE, -ERANGE },
		{ "RHY.mode", "1", -EBUSY, 0 },
		{ "all.initialize", "", -EBUSY, 0 },
		{ "RHY.encoder-resolution", "4000", -EBUSY, 0 },
		{ "RHY.fet", "1", 0, -EPERM },
		{ "all.control-off", "", 0, 0 },
		{ "RHY.home", "1", -EINVAL, -EINVAL }, /* by its own verb */
		{ "RHY.zero", "0", -EINVAL, -EINVAL },
		{ "RHY.board-number", "1,5", -EINVAL, -EINVAL },
		{ "NKY.beep", "1", -ENOENT, -ENOENT },
		{ ".beep", "1", -ENOENT, -ENOENT },
	};

	up("enable: no");
	for (unsigned int disarmed = 0; disarmed < 2; disarmed++) {
		if (disarmed) {
			check_parameter("RHY.kp", "300");
			check_parameter("RSP.dead-zone", "7");
			check_parameter("RWP.dead-zone", "7");
			check_parameter("LSP.dead-zone", "0");
			estop_talk_raise_both(MSG_LEVEL_ESTOP);
			pass(50);
		}
		for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			TEST_ASSERT_EQUAL_MESSAGE(disarmed ? rows[i].disarmed : rows[i].armed,
						  ask_value(MSG_VERB_SET, rows[i].key, rows[i].value), rows[i].key);
	}
}

TEST(sensors_are_nulled_and_initialized_by_name)
{
	up("");
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_BIAS, "RFFT"));
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_BIAS, "LFFT.tilt"));
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_BIAS, "IMU0"));
	TEST_ASSERT_EQUAL(-ENOENT, ask(MSG_VERB_BIAS, "RHFT.tilt")); /* a hand has none */
	TEST_ASSERT_EQUAL(-ENOENT, ask(MSG_VERB_BIAS, "IMU1"));	     /* inactive */
	TEST_ASSERT_EQUAL(-ENOENT, ask(MSG_VERB_BIAS, "RFFT.force"));
	TEST_ASSERT_EQUAL(0, ask(MSG_VERB_RESET, "LHFT"));
	TEST_ASSERT_EQUAL(-ENOENT, ask(MSG_VERB_RESET, "IMU2"));
	TEST_ASSERT_EQUAL(-EBUSY, ask(MSG_VERB_RESET, "RSP")); /* armed */
	TEST_ASSERT_TRUE(sim_says("hubo.RFFT", "ignored 0") || !strstr(said, "ignored"));
}

TEST(the_home_file_is_written_and_read_back)
{
	up("");
	TEST_ASSERT_EQUAL(-EBUSY, ask_value(MSG_VERB_SET, "home-file", "RHY")); /* armed */
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	pass(50);
	TEST_ASSERT_EQUAL(0, ask_value(MSG_VERB_SET, "RHY.home-search", "5,1,77"));
	check_parameter("RHY.search-turns", "5");
	check_parameter("RHY.home-offset", "77");
	TEST_ASSERT_EQUAL_MESSAGE(0, ask_value(MSG_VERB_SET, "home-file", "RHY"), reply.error);
	TEST_ASSERT_EQUAL_STRING("1 joints written and read back", reply.value);
	check_parameter("RHY.search-turns", "20");
	check_parameter("RHY.home-offset", "-4775"); /* -0.03 rad */
	TEST_ASSERT_EQUAL_MESSAGE(0, ask_value(MSG_VERB_SET, "home-file", "all"), reply.error);
	TEST_ASSERT_EQUAL_STRING("35 joints written and read back", reply.value);
	TEST_ASSERT_EQUAL(-ENOENT, ask_value(MSG_VERB_SET, "home-file", "neck"));
	ask_sim("fault hubo.JMC9 silent");
	TEST_ASSERT_EQUAL(-EIO, ask_value(MSG_VERB_SET, "home-file", "rarm"));
	TEST_ASSERT_EQUAL_STRING_LEN("RSY: ", reply.error, 5);
}

int main(void)
{
	int failed;

	UNITY_BEGIN();
	testcase_run_all();
	failed = UNITY_END();
	wire_lib_clean();
	return failed;
}
