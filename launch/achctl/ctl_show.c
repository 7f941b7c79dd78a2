/* ctl_show.c: achctl show: what devices have, as their drivers say: joints, limits, modes, rates. */
#include <math.h>

#include "channels/clock/clock.h"
#include "channels/msg/ref.h"
#include "launch/achctl/ctl.h"
#include "launch/achctl/status_print.h"
#include "launch/view/robot_channels.h"

#define SILENT_MS 1000
#define WIDTH 80

struct device {
	char name[ACH_CHAN_NAME_MAX];
	struct msg_device_info info;
	const struct robot_channel *state, *event; /* NULL: there is none */
};

static struct shown {
	struct robot_channels channels;
	struct device *devices;
	size_t n;
} shown;

/* ---- reading ---- */

static void take(void *to, const struct robot_channel *one, const struct msg_type *type, const void *msg)
{
	struct shown *s = to;
	const size_t len = lines_before(one->name, "-info");
	struct device *more, *d;

	if (type->number != msg_device_info_number || !len)
		return;
	more = realloc(s->devices, (s->n + 1) * sizeof(*more));
	if (!more)
		return;
	s->devices = more;
	d = &s->devices[s->n++];
	*d = (struct device){ 0 };
	snprintf(d->name, sizeof(d->name), "%.*s", (int)len, one->name);
	memcpy(&d->info, msg, sizeof(d->info));
	if (d->info.count > MSG_JOINTS)
		d->info.count = MSG_JOINTS;
	d->info.driver[MSG_NAME_SIZE - 1] = d->info.state_type[MSG_NAME_SIZE - 1] =
		d->info.ref_type[MSG_NAME_SIZE - 1] = 0;
	utf8_clean(d->info.driver);
	utf8_clean(d->info.state_type);
	utf8_clean(d->info.ref_type);
	for (uint32_t i = 0; i < d->info.count; i++) {
		d->info.joint[i][MSG_NAME_SIZE - 1] = 0;
		utf8_clean(d->info.joint[i]);
	}
}

static const struct robot_channel *channel_of(const struct shown *s, const char *device, const char *suffix)
{
	char name[ACH_CHAN_NAME_MAX + 8];

	snprintf(name, sizeof(name), "%s%s", device, suffix);
	for (size_t i = 0; i < s->channels.n; i++)
		if (!strcmp(s->channels.at[i]->name, name))
			return s->channels.at[i];
	return NULL;
}

static void read_all(struct shown *s)
{
	s->channels.each = take;
	s->channels.to = s;
	robot_channels_read(&s->channels);
	for (struct device *d = s->devices; d < s->devices + s->n; d++) {
		d->state = channel_of(s, d->name, "-state");
		if (!d->state && !strcmp(d->info.state_type, "clock")) /* of the whole robot */
			d->state = channel_of(s, "clock", "");
		d->event = channel_of(s, d->name, "-event");
	}
}

/* ---- words ---- */

static double silent_ms(const struct device *d)
{
	return d->state && d->state->state ? robot_channel_age_ms(d->state) : (double)INFINITY;
}

static const char *life_of(const struct device *d)
{
	return silent_ms(d) < SILENT_MS ? msg_life_word(d->state->common.lifecycle) : "silent";
}

static double rate_hz(const struct device *d)
{
	return d->info.period_ns > 0 ? 1e9 / (double)d->info.period_ns : (double)NAN;
}

static const char *modes_text(char *text, size_t size, uint32_t modes)
{
	static const char *const words[] = { MSG_WORDS_MODE(MSG_WORD) };
	struct text_out o = text_out(text, size);

	snprintf(text, size, "-");
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (modes >> i & 1)
			text_add(&o, "%s%s", o.len ? " " : "", words[i]);
	return text;
}

/* The same for all joints that there are; 0: they differ. */
static uint32_t common_modes(const struct msg_device_info *info)
{
	uint32_t modes = 0;

	for (uint32_t i = 0; i < info->count; i++) {
		if (info->modes[i] && modes && info->modes[i] != modes)
			return 0;
		modes |= info->modes[i];
	}
	return modes;
}

static void limit_cell(struct table_row *row, size_t column, double value)
{
	table_cell(row, column, TONE_PLAIN, isfinite(value) ? "%.4g" : "-", value);
}

/* ---- one device ---- */

static void fill_joints(struct table *table, const struct msg_device_info *info)
{
	static const struct table_column columns[] = {
		{ "JOINT", true, 0 },	      { "POSITION rad", true, 9 },  { "VEL. rad/s", false, 8 },
		{ "ACC. rad/s^2", false, 7 }, { "JERK rad/s^3", false, 5 }, { "CURR. A", false, 6 },
		{ "MODES", true, 4 },
	};
	const size_t n = sizeof(columns) / sizeof(*columns) - (common_modes(info) != 0);
	char text[TABLE_CELL_MAX];

	memcpy(table->columns, columns, sizeof(columns));
	table_begin(table, n);
	for (uint32_t i = 0; i < info->count; i++) {
		struct table_row *row = table_add(table);

		table_cell(row, 0, TONE_PLAIN, "%s", info->joint[i]);
		if (isfinite(info->position_min[i]) || isfinite(info->position_max[i]))
			table_cell(row, 1, TONE_PLAIN, "%.4g to %.4g", info->position_min[i], info->position_max[i]);
		else
			table_cell(row, 1, TONE_PLAIN, "-");
		limit_cell(row, 2, info->velocity[i]);
		limit_cell(row, 3, info->acceleration[i]);
		limit_cell(row, 4, info->jerk[i]);
		limit_cell(row, 5, info->current[i]);
		if (n > 6)
			table_cell(row, 6, TONE_PLAIN, "%s", modes_text(text, sizeof(text), info->modes[i]));
	}
}

static void print_refused(const struct device *d)
{
	const uint64_t n = ref_refused(&d->state->common.refs_refused);
	char text[MSG_TEXT_SIZE] = "";

	if (d->event && d->event->refused_by == d->state->header.incarnation)
		snprintf(text, sizeof(text), "%s", d->event->refusal);
	utf8_clean(text);
	if (n)
		printf("it has refused %llu references%s%s\n", (unsigned long long)n, *text ? "; the last: " : "",
		       text);
}

static void print_device(const struct device *d)
{
	static struct table table;
	const struct msg_device_info *info = &d->info;
	struct status_print_stream stream;
	char text[64];

	printf("%s: %s, %s", d->name, info->driver, life_of(d));
	if (silent_ms(d) < SILENT_MS)
		printf(", level %s", msg_level_word(d->state->common.level));
	else
		printf(": its driver does not run; this is what it said last");
	printf("\n%.4g ticks a second; its state is a %s\n", rate_hz(d), info->state_type);
	if (*info->ref_type)
		printf("takes a %s that is valid for at most %.4g ms", info->ref_type,
		       (double)info->valid_max_ns / 1e6);
	else
		printf("takes no references");
	if (common_modes(info))
		printf("; modes: %s", modes_text(text, sizeof(text), common_modes(info)));
	putchar('\n');
	if (d->state && d->state->state)
		print_refused(d);
	if (!info->count)
		return;
	fill_joints(&table, info);
	putchar('\n');
	status_print_stream(&stream, stdout, ctl_colour(stdout));
	table_paint(&table, &stream.paint, WIDTH, SIZE_MAX, 0);
}

/* ---- all of them ---- */

static void print_devices(const struct shown *s)
{
	static const struct table_column columns[] = {
		{ "DEVICE", true, 0 },	{ "DRIVER", true, 5 }, { "LIFE", true, 9 },  { "RATE", false, 6 },
		{ "JOINTS", false, 8 }, { "STATE", true, 3 },  { "TAKES", true, 7 }, { "VALID", false, 4 },
	};
	static struct table table;
	struct status_print_stream stream;
	char text[STATUS_PRINT_MAX];

	memcpy(table.columns, columns, sizeof(columns));
	table_begin(&table, sizeof(columns) / sizeof(*columns));
	for (const struct device *d = s->devices; d < s->devices + s->n; d++) {
		struct table_row *row = table_add(&table);

		if (!row)
			break;
		status_print_hz(text, rate_hz(d));
		table_cell(row, 0, TONE_PLAIN, "%s", d->name);
		table_cell(row, 1, TONE_PLAIN, "%s", d->info.driver);
		table_cell(row, 2, silent_ms(d) < SILENT_MS ? TONE_PLAIN : TONE_BAD, "%s", life_of(d));
		table_cell(row, 3, TONE_PLAIN, "%s", text);
		table_cell(row, 4, TONE_PLAIN, "%u", d->info.count);
		table_cell(row, 5, TONE_PLAIN, "%s", d->info.state_type);
		table_cell(row, 6, TONE_PLAIN, "%s", *d->info.ref_type ? d->info.ref_type : "-");
		if (*d->info.ref_type)
			table_cell(row, 7, TONE_PLAIN, "%.4g ms", (double)d->info.valid_max_ns / 1e6);
		else
			table_cell(row, 7, TONE_PLAIN, "-");
	}
	status_print_stream(&stream, stdout, ctl_colour(stdout));
	table_paint(&table, &stream.paint, WIDTH, SIZE_MAX, 0);
}

static void print_json(struct json *j, const struct shown *s, const char *only)
{
	json_array(j, "devices");
	for (const struct device *d = s->devices; d < s->devices + s->n; d++) {
		if (only && strcmp(d->name, only) != 0)
			continue;
		json_object(j, NULL);
		json_text(j, "name", d->name);
		json_text(j, "life", life_of(d));
		msg_json(j, "info", msg_type_by_number(msg_device_info_number), &d->info);
		json_end(j);
	}
	json_end(j);
}

static int show(const struct ctl_line *line, const struct shown *s)
{
	const char *only = line->argc ? line->argv[0] : NULL, *near = NULL;
	const struct device *one = NULL;
	struct json j;

	if (!s->n)
		return ctl_fail(line, EXIT_RETRY, "no driver has published what its device has: does the robot run?");
	for (size_t i = 0; i < s->n && only; i++) {
		nearest_try(only, s->devices[i].name, &near);
		one = strcmp(s->devices[i].name, only) ? one : &s->devices[i];
	}
	if (only && !one)
		return ctl_fail(line, CTL_NO, "%s: no driver of that name has published%s%s%s (achctl show lists them)",
				only, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	if (ctl_json(line, &j)) {
		print_json(&j, s, only);
		return ctl_json_end(&j);
	}
	if (one)
		print_device(one);
	else
		print_devices(s);
	return 0;
}

int ctl_show(const struct ctl_line *line)
{
	int status;

	read_all(&shown);
	status = show(line, &shown);
	robot_channels_close(&shown.channels);
	free(shown.devices);
	return status;
}
