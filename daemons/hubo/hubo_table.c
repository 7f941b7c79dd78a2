/* hubo_table.c: reads Hubo's joint table, sensor table and home file. */
#include "daemons/hubo/hubo_table.h"

#include <math.h>

#define WORDS_MAX 20
#define WORD_MAX 32
#define FILE_SIZE_MAX 65536
#define JMC_LAST 11 /* JMC12 and JMC13 do not exist; JMC14 is the power board */
#define EJMC_FIRST 0x20
#define EJMC_LAST 5

/* ---- names ---- */

/* Names of hubo-ach's joint numbers; where there is none the place is unused. */
static const char *const joint_names[HUBO_JOINTS] = {
	"WST", "NKY", "NK1", "NK2", "LSP", "LSR", "LSY", "LEB", "LWY", "LWR", "LWP", "RSP", "RSR", "RSY",
	"REB", "RWY", "RWR", "RWP", NULL,  "LHY", "LHR", "LHP", "LKN", "LAP", "LAR", NULL,  "RHY", "RHR",
	"RHP", "RKN", "RAP", "RAR", "RF1", "RF2", "RF3", "RF4", "RF5", "LF1", "LF2", "LF3", "LF4", "LF5",
};

const char *const hubo_limb_names[HUBO_LIMBS + 1] = { "larm",  "rarm", "lleg",	"rleg", "lhand",
						      "rhand", "neck", "waist", NULL };
const char *const hubo_sensor_names[HUBO_SENSORS + 1] = {
	"RHFT", "LHFT", "RFFT", "LFFT", "IMU0", "IMU1", "IMU2", NULL
};

const char *hubo_joint_name(int joint)
{
	return joint_names[joint];
}

int hubo_joint_find(const char *name)
{
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (joint_names[i] && !strcmp(joint_names[i], name))
			return i;
	return HUBO_NONE;
}

enum hubo_limb hubo_joint_limb(int joint)
{
	static const struct {
		int first;
		enum hubo_limb limb;
	} parts[] = {
		{ 37, HUBO_LHAND }, { 32, HUBO_RHAND }, { 25, HUBO_RLEG }, { 18, HUBO_LLEG },
		{ 11, HUBO_RARM },  { 4, HUBO_LARM },	{ 1, HUBO_NECK },  { 0, HUBO_WAIST },
	};
	size_t i = 0;

	while (joint < parts[i].first)
		i++;
	return parts[i].limb;
}

/* ---- lines ---- */

struct hubo_table_line {
	struct hubo_table *table;
	const char *file;
	unsigned int number;
	char words[WORDS_MAX][WORD_MAX];
	size_t words_n;
	struct error_sink *errors;
};

#define refuse(at, ...) error_at((at)->errors, (at)->file, (at)->number, __VA_ARGS__)

struct column {
	const char *name;
	double min, max;
	enum {
		WORD,
		WHOLE,
		FLAG,
		COUNT,
		REAL
	} kind; /* in the row: nothing, int, bool, and two doubles; COUNT is whole */
	size_t at;
};
#define COLUMNS(columns) columns, sizeof(columns) / sizeof(*(columns))

static void store(void *at, int kind, double value)
{
	if (kind == WHOLE)
		*(int *)at = (int)value;
	else if (kind == FLAG)
		*(bool *)at = value != 0;
	else
		*(double *)at = value;
}

/* The numbers of the line into its row; says what is wrong and returns false. */
static bool read_row(struct hubo_table_line *line, const struct column *columns, size_t columns_n, void *row)
{
	const unsigned int before = line->errors->count;
	char quoted[TEXT_QUOTED_MAX];

	if (line->words_n != columns_n) {
		char all[160];
		struct text_out out = text_out(all, sizeof(all));

		for (size_t i = 0; i < columns_n; i++)
			text_add(&out, "%s%s", i ? " " : "", columns[i].name);
		refuse(line, "%zu columns, not %zu; write %s", line->words_n, columns_n, all);
		return false;
	}
	for (size_t i = 0; i < columns_n; i++) {
		const struct column *c = &columns[i];
		const char *word = line->words[i];
		double value;

		if (c->kind == WORD)
			continue;
		if (text_real(word, &value) || (c->kind != REAL && value != trunc(value)))
			refuse(line, "%s: %s is not a %s", c->name, text_quote(quoted, word),
			       c->kind == REAL ? "number" : "whole number");
		else if (value < c->min || value > c->max)
			refuse(line, "%s: %s is not between %.10g and %.10g", c->name, word, c->min, c->max);
		else
			store((char *)row + c->at, c->kind, value);
	}
	return line->errors->count == before;
}

/* Splits the text into lines and calls row for each that is not empty. */
static int rows(struct hubo_table *table, const char *name, const char *text, struct error_sink *errors,
		void (*row)(struct hubo_table_line *line))
{
	struct hubo_table_line line = { .table = table, .file = name, .errors = errors };
	const unsigned int before = errors->count;

	while (*text) {
		const char *end = text + strcspn(text, "\n");
		const char *stop = text + strcspn(text, "#\n");

		line.number++;
		for (line.words_n = 0; text < stop; line.words_n++) {
			size_t len;

			text += strspn(text, " \t\r");
			len = strcspn(text, " \t\r#\n");
			if (!len)
				break;
			if (line.words_n < WORDS_MAX)
				snprintf(line.words[line.words_n], WORD_MAX, "%.*s", (int)len, text);
			text += len;
		}
		if (line.words_n)
			row(&line);
		text = end + (*end == '\n');
	}
	return errors->count == before ? 0 : -EINVAL;
}

/* The place of the first word among the names, or HUBO_NONE with a line. */
static int named(struct hubo_table_line *line, const char *const *names, int n, const char *what)
{
	const char *word = line->words[0], *best = NULL;
	char quoted[TEXT_QUOTED_MAX];

	for (int i = 0; i < n; i++) {
		if (names[i] && !strcmp(names[i], word))
			return i;
		if (names[i])
			nearest_try(word, names[i], &best);
	}
	refuse(line, "%s is not a %s of Hubo%s%s%s", text_quote(quoted, word), what, best ? "; did you mean " : "",
	       best ? best : "", best ? "?" : "");
	return HUBO_NONE;
}

/* ---- joints ---- */

struct joint_line {
	struct hubo_joint joint;
	int reference_encoder, bus, motors;
};

#define BOARD 8 /* column */
#define AT(member) offsetof(struct joint_line, member)
static const struct column joint_columns[] = {
	{ "name", 0, 0, WORD, 0 },
	{ "motNo", 0, HUBO_MOTORS_MAX - 1, WHOLE, AT(joint.motor) },
	{ "refEnc", 0, INT32_MAX, WHOLE, AT(reference_encoder) },
	{ "drive", 1, 10000, COUNT, AT(joint.drive) },
	{ "driven", 1, 10000, COUNT, AT(joint.driven) },
	{ "harm", 1, 10000, COUNT, AT(joint.harmonic) },
	{ "enc", 1, 65535, COUNT, AT(joint.encoder) },
	{ "dir", -1, 1, WHOLE, AT(joint.direction) },
	[BOARD] = { "jmc", 0, 0, WORD, 0 },
	{ "active", 0, 1, FLAG, AT(joint.active) },
	{ "can", 0, HUBO_BUSES - 1, WHOLE, AT(bus) },
	{ "numMot", 1, HUBO_MOTORS_MAX, WHOLE, AT(motors) },
	{ "kp", 0, 10000, REAL, AT(joint.kp) },
	{ "kd", 0, 10000, REAL, AT(joint.kd) },
	{ "maxPWM", 0, 100, REAL, AT(joint.pwm_max) },
	{ "zeroed", 0, 2, FLAG, AT(joint.zeroed) },
};
#undef AT

/* JMC3 or EJMC0: its number; HUBO_NONE with a line for anything else. */
static int board_number(struct hubo_table_line *line)
{
	const char *word = line->words[BOARD];
	const bool extra = *word == 'E';
	const char *digits = word + extra + strlen("JMC");
	char quoted[TEXT_QUOTED_MAX];
	int64_t number = HUBO_NONE;

	if (strncmp(word + extra, "JMC", strlen("JMC")) || strspn(digits, "0123456789") != strlen(digits) ||
	    text_int(digits, &number) || number > (extra ? EJMC_LAST : JMC_LAST)) {
		refuse(line, "jmc: %s is not a joint board; write JMC0 to JMC%d or EJMC0 to EJMC%d",
		       text_quote(quoted, word), JMC_LAST, EJMC_LAST);
		return HUBO_NONE;
	}
	return (int)number + (extra ? EJMC_FIRST : 0);
}

/* The board, made if this is its first joint; NULL with a line if its other joints say something else of it. */
static struct hubo_board *board_of(struct hubo_table_line *line, int number, int bus, int motors)
{
	struct hubo_table *t = line->table;
	int at = 0;

	for (int i = 0; i < t->boards_n; i++) {
		struct hubo_board *b = &t->boards[i];

		if (b->number != number)
			continue;
		if (b->bus == bus && b->motors == motors)
			return b;
		refuse(line, "%s: on bus %d with %d motors, but on bus %d with %d motors further up", b->name, bus,
		       motors, b->bus, b->motors);
		return NULL;
	}
	while (at < t->boards_n &&
	       (t->boards[at].bus < bus || (t->boards[at].bus == bus && t->boards[at].number < number)))
		at++;
	memmove(&t->boards[at + 1], &t->boards[at], (size_t)(t->boards_n++ - at) * sizeof(*t->boards));
	for (int i = 0; i < HUBO_JOINTS; i++)
		t->joints[i].board += t->joints[i].line && t->joints[i].board >= at;
	t->boards[at] = (struct hubo_board){ .number = number, .bus = bus, .motors = motors };
	snprintf(t->boards[at].name, sizeof(t->boards[at].name), number < EJMC_FIRST ? "JMC%d" : "EJMC%d",
		 number & 0x0F);
	for (int i = 0; i < HUBO_MOTORS_MAX; i++)
		t->boards[at].joint[i] = HUBO_NONE;
	return &t->boards[at];
}

static void joint_row(struct hubo_table_line *line)
{
	struct joint_line row = { .joint.line = line->number };
	struct hubo_joint *j = &row.joint;
	struct hubo_table *t = line->table;
	const unsigned int before = line->errors->count;
	struct hubo_board *board;
	int joint, number;

	if (!read_row(line, COLUMNS(joint_columns), &row))
		return;
	joint = named(line, joint_names, HUBO_JOINTS, "joint");
	number = board_number(line);
	if (joint != HUBO_NONE && t->joints[joint].line)
		refuse(line, "%s: already defined in line %u", line->words[0], t->joints[joint].line);
	if (!j->direction)
		refuse(line, "dir: 0 is not a direction; write 1 or -1");
	if (row.motors == 4)
		refuse(line, "numMot: no board has 4 motors; write 1, 2, 3 or 5");
	else if (j->motor >= row.motors)
		refuse(line, "motNo: motor %d on a board of %d motors; they are counted from 0", j->motor, row.motors);
	if (line->errors->count != before)
		return;
	board = board_of(line, number, row.bus, row.motors);
	if (!board)
		return;
	if (board->joint[j->motor] != HUBO_NONE) {
		refuse(line, "motNo: motor %d of %s is that of %s", j->motor, board->name,
		       joint_names[board->joint[j->motor]]);
		return;
	}
	board->joint[j->motor] = joint;
	board->active |= j->active;
	j->board = (int)(board - t->boards);
	j->counts_per_rad = j->driven / j->drive * j->harmonic * j->encoder / (2 * M_PI);
	t->joints[joint] = *j;
}

int hubo_table_joints(struct hubo_table *table, const char *name, const char *text, struct error_sink *errors)
{
	if (rows(table, name, text, errors, joint_row))
		return -EINVAL;
	return table->boards_n ? 0 : error_refuse(errors, -EINVAL, "%s:1: no joint in this file", name);
}

/* ---- sensors ---- */

#define SENSOR_X 4 /* column */
#define AT(member) offsetof(struct hubo_sensor, member)
static const struct column sensor_columns[] = {
	{ "Name", 0, 0, WORD, 0 },
	{ "CAN", 0, HUBO_BUSES - 1, WHOLE, AT(bus) },
	{ "active", 0, 1, FLAG, AT(active) },
	{ "BoardNumber", 1, HUBO_SENSORS, WHOLE, AT(number) },
	[SENSOR_X] = { "x-axis", -1, 1, WHOLE, AT(sign[0]) },
	{ "y-axis", -1, 1, WHOLE, AT(sign[1]) },
	{ "z-axis", -1, 1, WHOLE, AT(sign[2]) },
};
#undef AT

static void sensor_row(struct hubo_table_line *line)
{
	struct hubo_sensor row = { .line = line->number }, *sensors = line->table->sensors;
	const unsigned int before = line->errors->count;
	int at;

	if (!read_row(line, COLUMNS(sensor_columns), &row))
		return;
	at = named(line, hubo_sensor_names, HUBO_SENSORS, "sensor");
	if (at == HUBO_NONE)
		return;
	if (sensors[at].line)
		refuse(line, "%s: already defined in line %u", line->words[0], sensors[at].line);
	for (int i = 0; i < HUBO_SENSORS; i++)
		if (i != at && sensors[i].line && sensors[i].number == row.number)
			refuse(line, "BoardNumber: %d is that of %s", sensors[i].number, hubo_sensor_names[i]);
	for (int i = 0; i < 3 && at < HUBO_IMU0; i++)
		if (!row.sign[i])
			refuse(line, "%s: 0 is not a sign; write 1 or -1", sensor_columns[SENSOR_X + i].name);
	if (line->errors->count == before)
		sensors[at] = row;
}

int hubo_table_sensors(struct hubo_table *table, const char *name, const char *text, struct error_sink *errors)
{
	return rows(table, name, text, errors, sensor_row);
}

/* ---- homes ---- */

/* Columns, and with them the places of counts. */
enum { HOME_OFFSET = 1, HOME_LOWER, HOME_UPPER, HOME_TYPE = 6 };

struct home_line {
	struct hubo_home home;
	double counts[HOME_UPPER + 1];
};

#define AT(member) offsetof(struct home_line, member)
static const struct column home_columns[] = {
	{ "JointName", 0, 0, WORD, 0 },
	[HOME_OFFSET] = { "HomeOffset", INT32_MIN, INT32_MAX, REAL, AT(counts[HOME_OFFSET]) },
	[HOME_LOWER] = { "LowerLimit", INT32_MIN, INT32_MAX, REAL, AT(counts[HOME_LOWER]) },
	[HOME_UPPER] = { "UpperLimit", INT32_MIN, INT32_MAX, REAL, AT(counts[HOME_UPPER]) },
	{ "SearchDirection", 0, 1, WHOLE, AT(home.direction) },
	{ "SearchLimit", 1, 255, WHOLE, AT(home.search) },
	[HOME_TYPE] = { "Type", 0, 0, WORD, 0 },
};
#undef AT

static void home_row(struct hubo_table_line *line)
{
	struct home_line row = { .home.line = line->number };
	const unsigned int before = line->errors->count;
	char quoted[TEXT_QUOTED_MAX];
	struct hubo_joint *j;
	double scale = 1;
	int joint;

	/* Upstream writes its column names into the file without a comment sign. */
	if (!strcmp(line->words[0], home_columns[0].name))
		return;
	if (!read_row(line, COLUMNS(home_columns), &row))
		return;
	joint = named(line, joint_names, HUBO_JOINTS, "joint");
	if (joint == HUBO_NONE)
		return;
	j = &line->table->joints[joint];
	if (!j->line)
		refuse(line, "%s is not in the joint table; remove this line or add the joint", line->words[0]);
	if (j->home.line)
		refuse(line, "%s: already defined in line %u", line->words[0], j->home.line);
	if (!strcmp(line->words[HOME_TYPE], "rad"))
		scale = j->counts_per_rad;
	else if (strcmp(line->words[HOME_TYPE], "raw"))
		refuse(line, "Type: %s is not a unit; write raw (encoder counts) or rad",
		       text_quote(quoted, line->words[HOME_TYPE]));
	for (int i = HOME_OFFSET; i <= HOME_UPPER && line->errors->count == before; i++) {
		row.counts[i] = round(row.counts[i] * scale);
		if (fabs(row.counts[i]) > INT32_MAX)
			refuse(line, "%s: %s is more than an encoder counts", home_columns[i].name, line->words[i]);
	}
	if (row.counts[HOME_LOWER] >= row.counts[HOME_UPPER])
		refuse(line, "LowerLimit %s is not below UpperLimit %s", line->words[HOME_LOWER],
		       line->words[HOME_UPPER]);
	if (line->errors->count != before)
		return;
	row.home.offset = (int32_t)row.counts[HOME_OFFSET];
	row.home.lower = (int32_t)row.counts[HOME_LOWER];
	row.home.upper = (int32_t)row.counts[HOME_UPPER];
	j->home = row.home;
}

int hubo_table_homes(struct hubo_table *table, const char *name, const char *text, struct error_sink *errors)
{
	return rows(table, name, text, errors, home_row);
}

/* ---- files ---- */

static int read_file(struct hubo_table *table, const char *path, struct error_sink *errors,
		     int (*parse)(struct hubo_table *, const char *, const char *, struct error_sink *))
{
	char *text;
	size_t len;
	int err;

	if (!path || !*path)
		return 0;
	err = read_files_take(path, FILE_SIZE_MAX, &text, &len, errors);
	if (err)
		return err;
	if (memchr(text, '\0', len))
		err = error_refuse(errors, -EINVAL, "%s:1: not a text file: it has a zero byte", path);
	else
		err = parse(table, path, text, errors);
	free(text);
	return err;
}

int hubo_table_read(struct hubo_table *table, const char *joints, const char *sensors, const char *homes,
		    struct error_sink *errors)
{
	int err;

	memset(table, 0, sizeof(*table));
	err = read_file(table, joints, errors, hubo_table_joints);
	if (!err)
		err = read_file(table, sensors, errors, hubo_table_sensors);
	if (!err)
		err = read_file(table, homes, errors, hubo_table_homes);
	return err;
}

int hubo_table_path_of(char *path, size_t size, const struct robot_device *device, const char *key, const char *name)
{
	const struct yaml_node *node = device ? yaml_find(device->settings, key) : NULL;
	const bool in_file = node && node->text && !strcmp(node->text, name);

	return read_files_path(path, size, in_file ? node->file : NULL, name);
}
