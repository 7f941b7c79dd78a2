/* hubod_rig.c: hubod with all boards of a Hubo on two soft wires. */
#include "test/daemons/hubo/hubod_rig.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "can/bus/bus.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/can/bus/wire_lib.h"
#include "test/lib/estop_talk.h"
#include "test/lib/lib.h"
#include "test/lib/request_talk.h"
#include "test/lib/sim_talk.h"
#include "test/lib/testcase.h"
#include "test/lib/virtual_lib.h"

#define PERIOD_S 0.005
#define REF_EVERY_NS (10 * MS)
#define BUSES 2

/* Of the tables of Hubo2+: counts per rad are driven / drive * harmonic * encoder / (2 pi). */
const struct moved rig_moved[MOVED] = {
	[RHY] = { "RHY", "hubo.JMC0", 0x00, 0, 25 / 10.0 * 100 * 4000 / (2 * M_PI), 2, 20 },
	[RHP] = { "RHP", "hubo.JMC1", 0x01, 0, 20 / 16.0 * 160 * 4000 / (2 * M_PI), 3, 20 },
	[LHP] = { "LHP", "hubo.JMC5", 0x05, 0, 20 / 16.0 * 160 * 4000 / (2 * M_PI), 3, 20 },
	[WST] = { "WST", "hubo.EJMC3", 0x23, 0, 25 / 10.0 * 100 * 4000 / (2 * M_PI), 1, 4 },
	[RSP] = { "RSP", "hubo.JMC8", 0x08, 0, 16 / 11.0 * 100 * 4000 / (2 * M_PI), 2, 8 },
	[RSR] = { "RSR", "hubo.JMC8", 0x08, 1, 100 * 4000 / (2 * M_PI), 2, 8 },
	[LSP] = { "LSP", "hubo.JMC10", 0x0A, 0, 16 / 11.0 * 100 * 4000 / (2 * M_PI), 2, 8 },
	[RWP] = { "RWP", "hubo.EJMC0", 0x20, 1, 100 * 4000 / (2 * M_PI), 2, 8 },
};
struct hubod_rig hubod_rig = { .authors = { [RARM] = { .limb = "rarm" }, [LLEG] = { .limb = "lleg" } } };

static char prefix[32], file[600];
static pid_t sim;
static struct bus *ear[BUSES];
static ach_channel_t states_chan, events_chan, refs_chan, requests_chan, replies_chan, params_chan;
static uint64_t epoch;
static int64_t ref_ns;

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
	struct sent *s = &hubod_rig.sent[hubod_rig.sent_n++];

	TEST_ASSERT(hubod_rig.sent_n < RIG_SENT_MAX);
	*s = (struct sent){ .t_ns = t_ns, .kind = kind, .board = board };
	memcpy(s->measured, hubod_rig.measured[board], sizeof(s->measured));
	for (int i = 0; i < 2 && kind == REFERENCE; i++)
		s->counts[i] = sign_magnitude(data + 3 * i);
	for (int i = 0; i < 2 && kind == DUTY && data[2] == 3; i++) {
		s->counts[i] = (data[3 + 2 * i] & 0xF0) << 4 | data[4 + 2 * i];
		s->counts[i] *= data[3 + 2 * i] & 1 ? 1 : -1; /* clockwise, which counts up */
	}
	for (int i = 3; i < 8 && kind == DUTY && data[2] != 3; i++)
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
		hubod_rig.measured[f->id - 0x060][0] = twos_complement(d);
		hubod_rig.measured[f->id - 0x060][1] = twos_complement(d + 4);
	} else if (f->id >= 0x060 + HAND && f->id < 0x060 + BOARDS && f->len == 6) { /* the wrist comes first */
		hubod_rig.measured[f->id - 0x060][0] = (int16_t)(d[0] | d[1] << 8);
	} else if (f->id == 0x001 && d[0] < BOARDS) {
		if (d[1] == 0x0D)
			keep(got->t_ns, DUTY, d[0], d);
		else if (d[1] == 0x0E || (d[1] == 0x0B && d[2]))
			keep(got->t_ns, SWITCH_ON, d[0], d);
		else if (d[1] == 0x0F)
			keep(got->t_ns, CONTROL_OFF, d[0], d);
		else if (d[1] == 0x11)
			keep(got->t_ns, HOME, d[0], d);
		else if (d[1] == 0x24)
			hubod_rig.parameters_asked++;
	}
}

/* ---- a controller ---- */

int rig_place(const char *name)
{
	for (unsigned int i = 0; i < hubod_rig.state.count; i++)
		if (!strncmp(hubod_rig.state.joint[i], name, MSG_NAME_SIZE))
			return (int)i;
	TEST_FAIL_MESSAGE(name);
	return -1;
}

/* Between 0 and -span_rad, where every joint of the table may be. */
static double wanted_rad(int64_t now_ns)
{
	return -hubod_rig.span_rad / 2 * (1 - cos(2 * M_PI * (double)(now_ns - hubod_rig.walk_ns) / 1.6e9));
}

bool rig_has(const struct msg_joint_state *s, const struct moved *m, unsigned int *at)
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
		if (rig_has(&a->state, &rig_moved[i], &at)) {
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

	if (!hubod_rig.states_n || now_ns - ref_ns < REF_EVERY_NS)
		return;
	ref_ns = now_ns;
	for (struct author *a = hubod_rig.authors; a < hubod_rig.authors + AUTHORS; a++)
		if (a->on)
			refer_limb(a);
	if (!hubod_rig.referring)
		return;
	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.for_incarnation = hubod_rig.state.header.incarnation;
	ref.header.t_publish_ns = now_ns;
	ref.header.valid_until_ns = now_ns + VALID_NS;
	ref.count = hubod_rig.state.count;
	for (unsigned int i = 0; i < MOVED; i++) {
		const int at = rig_place(rig_moved[i].name);

		ref.mode[at] = MSG_MODE_POSITION;
		ref.position[at] = wanted_rad(now_ns);
	}
	ref.mode[rig_place("RWR")] = MSG_MODE_POSITION; /* DRC-Hubo has it */
	ref.position[rig_place("RWR")] = ref.position[rig_place("RSP")];
	ref.mode[rig_place("RF1")] = MSG_MODE_CURRENT;
	ref.current[rig_place("RF1")] = 0.5;
	if (hubod_rig.soft) {
		ref.mode[rig_place(hubod_rig.soft)] = MSG_MODE_COMPLIANT;
		ref.position[rig_place(hubod_rig.soft)] = hubod_rig.soft_rad;
	}
	if (hubod_rig.spoil)
		hubod_rig.spoil(&ref, &len);
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

static void collect(void)
{
	static struct bus_frame got[256];

	for (int b = 0, n; b < BUSES; b++)
		while (ear[b] && (n = bus_receive(ear[b], got, 256)) > 0)
			for (int i = 0; i < n; i++)
				hear(&got[i]);
	while (next(&states_chan, &hubod_rig.state, sizeof(hubod_rig.state)))
		hubod_rig.states_n++;
	while (next(&events_chan, &hubod_rig.events[hubod_rig.events_n], sizeof(*hubod_rig.events)))
		TEST_ASSERT(++hubod_rig.events_n < RIG_EVENTS_MAX);
	next(&replies_chan, &hubod_rig.reply, sizeof(hubod_rig.reply));
	while (next(&params_chan, &hubod_rig.param, sizeof(hubod_rig.param)))
		hubod_rig.params_n++;
	for (struct author *a = hubod_rig.authors; a < hubod_rig.authors + AUTHORS; a++)
		while (next(&a->states_chan, &a->state, sizeof(a->state)))
			;
}

void rig_pass(int ms)
{
	const int64_t until_ns = clock_now_ns() + ms * MS;

	while (clock_now_ns() < until_ns) {
		clock_wait(NULL, 0, clock_now_ns() + MS);
		collect();
		refer();
	}
}

/* ---- processes ---- */

void rig_end(pid_t *pid, int signal)
{
	if (*pid <= 0)
		return;
	virtual_lib_signal(*pid, signal);
	while (waitpid(*pid, NULL, WNOHANG) == 0)
		rig_pass(1);
	*pid = 0;
}

void hubod_rig_drive(void)
{
	char line[700];

	snprintf(line, sizeof(line), "--name hubo --config %s", file);
	hubod_rig.driver = wire_lib_launch("hubod", line);
}

static void make(ach_channel_t *chan, const char *suffix, enum msg_number number)
{
	char full[96];

	snprintf(full, sizeof(full), "%shubo-%s", prefix, suffix);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(full, 256, msg_type_by_number(number)->body->size, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(chan, full, NULL));
}

void rig_begin(const char *settings)
{
	static unsigned int number;
	static const char *const names[BUSES] = { "wire:lower@ear", "wire:upper@ear" };
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	const struct bus_options options = { .later = true };
	char line[700], root[PATH_MAX];
	FILE *to;

	lib_watchdog("hubod", LIB_HANG_S);
	hubod_rig.sent_n = hubod_rig.states_n = hubod_rig.events_n = 0;
	hubod_rig.params_n = hubod_rig.parameters_asked = 0;
	ref_ns = 0; /* each case begins at the same time */
	memset(&hubod_rig.state, 0, sizeof(hubod_rig.state));
	hubod_rig.referring = false;
	hubod_rig.spoil = NULL;
	memset(&hubod_rig.reply, 0, sizeof(hubod_rig.reply));
	snprintf(prefix, sizeof(prefix), "hubod%d-%u-", (int)getpid(), ++number);
	umask(0077);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	wire_lib_plain = true;
	virtual_lib_begin(wire_lib_folder());
	wire_lib_start("lower upper");
	snprintf(file, sizeof(file), "%s/robot.yaml", wire_lib_folder());
	TEST_ASSERT_NOT_NULL(getcwd(root, sizeof(root)));
	to = fopen(file, "w");
	TEST_ASSERT_NOT_NULL(to);
	fprintf(to,
		"like: %s/config/robots/bench-%s.yaml\nrobot: lab\ndevices:\n  hubo:\n"
		"    settings: {lock_memory: no, %s}\n"
		"    sim: {position: 0, homed: %s, on: yes%s}\n",
		root, hubod_rig.robot, settings, hubod_rig.unhomed ? "no" : "yes", hubod_rig.sim_more);
	fclose(to);
	make(&states_chan, "state", msg_joint_state_number);
	make(&events_chan, "event", msg_event_number);
	make(&refs_chan, "ref", msg_joint_ref_number);
	make(&requests_chan, "req", msg_request_number);
	make(&replies_chan, "rep", msg_reply_number);
	make(&params_chan, "board-param", msg_board_param_number);
	for (struct author *a = hubod_rig.authors; a < hubod_rig.authors + AUTHORS; a++) {
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
	rig_pass(20);
}

void rig_finish(void)
{
	if (!*prefix)
		return;
	hubod_rig.referring = false;
	rig_end(&hubod_rig.driver, SIGKILL);
	rig_end(&sim, SIGKILL);
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
	ach_close(&params_chan);
	for (struct author *a = hubod_rig.authors; a < hubod_rig.authors + AUTHORS; a++) {
		a->on = false;
		ach_close(&a->refs_chan);
		ach_close(&a->states_chan);
	}
	lib_unlink_all(prefix);
	virtual_lib_end();
	*prefix = 0;
}

void rig_set_up(void)
{
	hubod_rig.span_rad = 0.8;
	hubod_rig.robot = "hubo";
	hubod_rig.soft = NULL;
	hubod_rig.soft_rad = 0;
	hubod_rig.sim_more = "";
	hubod_rig.unhomed = false;
}

static void step_on(void)
{
	rig_pass(1);
}

void rig_ask_sim(const char *question)
{
	sim_talk(question, hubod_rig.said, sizeof(hubod_rig.said), step_on);
}

bool rig_sim_says(const char *unit, const char *words)
{
	char question[64], wanted[64];

	snprintf(question, sizeof(question), "report %s", unit);
	snprintf(wanted, sizeof(wanted), " %s ", words);
	rig_ask_sim(question);
	strcat(hubod_rig.said, " ");
	return strstr(hubod_rig.said, wanted);
}

unsigned int rig_sim_number(const char *board, const char *word)
{
	char question[64], wanted[64];
	const char *at;

	snprintf(question, sizeof(question), "report hubo.%s", board);
	snprintf(wanted, sizeof(wanted), " %s ", word);
	rig_ask_sim(question);
	at = strstr(hubod_rig.said, wanted);
	return at ? (unsigned int)strtoul(at + strlen(wanted), NULL, 10) : 0;
}

void rig_put_request(const struct msg_request *request)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&requests_chan, request, sizeof(*request)));
}

uint64_t rig_request(enum msg_verb verb, const char *key, const char *value)
{
	const struct msg_request request = request_talk(verb, key, value);

	rig_put_request(&request);
	return request.id;
}

int rig_result(uint64_t id, int ms)
{
	for (int i = 0; i < ms / 10 && hubod_rig.reply.id != id; i++)
		rig_pass(10);
	TEST_ASSERT_EQUAL(id, hubod_rig.reply.id);
	return hubod_rig.reply.result;
}

int rig_ask_value(enum msg_verb verb, const char *key, const char *value)
{
	return rig_result(rig_request(verb, key, value), 1000);
}

int rig_ask(enum msg_verb verb, const char *key)
{
	return rig_ask_value(verb, key, "");
}

unsigned int rig_happened(const char *code)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < hubod_rig.events_n; i++)
		n += !strcmp(hubod_rig.events[i].code, code);
	return n;
}

void rig_arm(void)
{
	for (int i = 0; i < 100 && hubod_rig.state.common.level != MSG_LEVEL_RUN; i++) {
		if (estop_talk_is_ratified())
			estop_talk_lower(MSG_LEVEL_RUN, ++epoch);
		rig_pass(50);
	}
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, hubod_rig.state.common.level);
}

/* ---- what left ---- */

unsigned int rig_count(enum kind kind, unsigned int board, int64_t from_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < hubod_rig.sent_n; i++)
		n += hubod_rig.sent[i].t_ns > from_ns && hubod_rig.sent[i].kind == kind &&
		     (board == BOARDS || hubod_rig.sent[i].board == board);
	return n;
}

unsigned int rig_pushing(int64_t from_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < hubod_rig.sent_n; i++)
		n += hubod_rig.sent[i].t_ns > from_ns && hubod_rig.sent[i].pushes;
	return n;
}

double rig_way(const struct moved *m, int64_t from_ns)
{
	int32_t least = INT32_MAX, most = INT32_MIN;

	for (unsigned int i = 0; i < hubod_rig.sent_n; i++) {
		const int32_t counts = hubod_rig.sent[i].counts[m->motor];

		if (hubod_rig.sent[i].kind != REFERENCE || hubod_rig.sent[i].board != m->board ||
		    hubod_rig.sent[i].t_ns <= from_ns)
			continue;
		least = counts < least ? counts : least;
		most = counts > most ? counts : most;
	}
	return most < least ? 0 : (most - least) / m->counts_per_rad;
}

void rig_check_steps(const struct moved *m)
{
	const double most = m->velocity_rad_s * PERIOD_S * m->counts_per_rad + 2; /* counts are truncated */
	const double change = m->acceleration_rad_s2 * PERIOD_S * PERIOD_S * m->counts_per_rad + 3;
	const struct sent *before = NULL;
	unsigned int soft = 0; /* references since it was compliant that follow what is measured */
	double speed = 0;
	char text[128];
	bool seen = false;

	for (unsigned int i = 0; i < hubod_rig.sent_n; i++) {
		const struct sent *s = &hubod_rig.sent[i];
		const bool begins = !before || s->t_ns - before->t_ns > PERIOD_NS + MS;
		double step;

		if (s->kind == DUTY && s->board == m->board) {
			before = NULL;
			soft = 3;
		}
		if (s->kind != REFERENCE || s->board != m->board)
			continue;
		step = s->counts[m->motor] - (begins ? s->measured[m->motor] : before->counts[m->motor]);
		snprintf(text, sizeof(text),
			 "%s at %.3f s: %s %.0f counts, before it %.0f, at most %.0f, and %.0f more", m->name,
			 (double)s->t_ns / 1e9, begins ? "begins with" : "goes", step, begins ? 0 : speed, most,
			 change);
		TEST_ASSERT_TRUE_MESSAGE(!before || s->t_ns - before->t_ns > PERIOD_NS - MS, text);
		TEST_ASSERT_TRUE_MESSAGE(fabs(step) <= most, text);
		TEST_ASSERT_TRUE_MESSAGE(soft || fabs(step - (begins ? 0 : speed)) <= change, text);
		speed = step;
		soft -= soft > 0;
		seen = true;
		before = s;
	}
	TEST_ASSERT_TRUE(seen);
}

void rig_check_all_steps(void)
{
	for (unsigned int i = 0; i < MOVED; i++)
		rig_check_steps(&rig_moved[i]);
}

void rig_check_moving(unsigned int but, int64_t from_ns)
{
	const unsigned int cycles = (unsigned int)((clock_now_ns() - from_ns) / PERIOD_NS);

	for (unsigned int i = 0; i < MOVED; i++) {
		if (but < MOVED && rig_moved[i].board == rig_moved[but].board)
			continue;
		TEST_ASSERT_TRUE_MESSAGE(rig_way(&rig_moved[i], from_ns) > 0.05, rig_moved[i].name);
		TEST_ASSERT_UINT_WITHIN_MESSAGE(2, cycles, rig_count(REFERENCE, rig_moved[i].board, from_ns),
						rig_moved[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, hubod_rig.state.lifecycle[rig_place(rig_moved[i].name)],
					  rig_moved[i].name);
	}
}

void rig_check_standing(int64_t from_ns)
{
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_TRUE_MESSAGE(rig_way(&rig_moved[i], from_ns) == 0, rig_moved[i].name);
	TEST_ASSERT_EQUAL(0, rig_pushing(from_ns));
}

void rig_up(const char *settings)
{
	rig_begin(settings);
	hubod_rig_drive();
	rig_pass(750);
	TEST_ASSERT_NOT_EQUAL(0, hubod_rig.states_n);
	TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, BOARDS, 0));
	rig_arm();
	for (int i = 0; i < 50 && !rig_count(REFERENCE, 0, 0); i++)
		rig_pass(10); /* until its boards are locked */
	rig_pass(50);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
	TEST_ASSERT_GREATER_THAN(0, rig_count(REFERENCE, 0, 0));
}

void rig_walk(const char *settings)
{
	int64_t from_ns;

	rig_up(settings);
	hubod_rig.walk_ns = clock_now_ns();
	hubod_rig.referring = true;
	rig_pass(300);
	from_ns = clock_now_ns();
	rig_pass(100);
	rig_check_moving(MOVED, from_ns);
	TEST_ASSERT_GREATER_THAN(0, rig_pushing(from_ns));
	TEST_ASSERT_TRUE(rig_sim_says("hubo.EJMC4", "RF1_does pwm"));
}

void rig_check_parameter(const char *key, const char *value)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_ask(MSG_VERB_GET, key), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(value, hubod_rig.reply.value, key);
}
