/* test_status_print.c: the output of achctl: tables that fit, the answer of achstart, the screen of top. */
#include <math.h>

#include "test/lib/testcase.h"

#include "launch/achctl/status_print.h"
#include "launch/achctl/table.h"
#include "launch/achctl/top.h"
#include "launch/view/status.h"

/* ---- a sheet of paper ---- */

struct sheet {
	struct paint paint;
	char text[16384];
	char tones[16384];   /* a letter for each byte of text: phgobdk */
	size_t columns[101]; /* up to which each line has been written, by utf8_columns */
};

static void sheet_text(struct paint *p, enum tone tone, const char *text)
{
	struct sheet *s = (struct sheet *)p;
	const size_t at = strlen(s->text), n = strlen(text);
	size_t columns;

	TEST_ASSERT_LESS_THAN_size_t(sizeof(s->text), at + n);
	memcpy(s->text + at, text, n);
	memset(s->tones + at, "phgobdk"[tone], n);
	table_fitting_bytes(text, SIZE_MAX, &columns);
	s->columns[p->lines] += columns;
}

/* The next line begins at p->left, behind what was drawn there. */
static void sheet_end(struct paint *p)
{
	struct sheet *s = (struct sheet *)p;

	strcat(s->text, "\n");
	strcat(s->tones, "p");
	p->lines++;
	TEST_ASSERT_LESS_THAN_size_t(100, p->lines);
	TEST_ASSERT_LESS_OR_EQUAL_size_t(p->left ? p->left : SIZE_MAX, s->columns[p->lines]);
	s->columns[p->lines] = p->left ? p->left : s->columns[p->lines];
}

static struct sheet sheet;

static struct paint *new_sheet(void)
{
	memset(&sheet, 0, sizeof(sheet));
	sheet.paint = (struct paint){ sheet_text, sheet_end, 0, 0 };
	return &sheet.paint;
}

/* The tone of the first letter of the word. */
static char tone_of(const char *word)
{
	const char *at = strstr(sheet.text, word);

	TEST_ASSERT_NOT_NULL_MESSAGE(at, word);
	return sheet.tones[at - sheet.text];
}

static size_t longest_line(void)
{
	size_t longest = 0;

	for (size_t i = 0; i <= sheet.paint.lines; i++)
		longest = sheet.columns[i] > longest ? sheet.columns[i] : longest;
	return longest;
}

/* ---- tables ---- */

static const struct table_column columns[] = { { "NAME", true, 0 }, { "A", false, 2 }, { "LONGER", false, 1 } };
static struct table table;

static void fill_table(size_t rows)
{
	memcpy(table.columns, columns, sizeof(columns));
	table_begin(&table, 3);
	for (size_t i = 0; i < rows; i++) {
		struct table_row *row = table_add(&table);

		table_cell(row, 0, TONE_PLAIN, "row%zu", i);
		table_cell(row, 1, TONE_GOOD, "%zu", i * 1000);
		table_cell(row, 2, TONE_BAD, "x");
	}
}

TEST(test_table_is_aligned)
{
	fill_table(2);
	TEST_ASSERT_EQUAL_size_t(2, table_paint(&table, new_sheet(), 80, SIZE_MAX, 0));
	TEST_ASSERT_EQUAL_STRING("NAME     A  LONGER\n"
				 "row0     0       x\n"
				 "row1  1000       x\n",
				 sheet.text);
	TEST_ASSERT_EQUAL_CHAR('h', tone_of("NAME"));
	TEST_ASSERT_EQUAL_CHAR('g', tone_of("1000"));
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("x"));
}

TEST(test_table_loses_the_least_column_first)
{
	fill_table(2);
	table_paint(&table, new_sheet(), 18, SIZE_MAX, 0);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "LONGER"));
	table_paint(&table, new_sheet(), 17, SIZE_MAX, 0);
	TEST_ASSERT_EQUAL_STRING("NAME     A\nrow0     0\nrow1  1000\n", sheet.text);
	table_paint(&table, new_sheet(), 9, SIZE_MAX, 0);
	TEST_ASSERT_EQUAL_STRING("NAME\nrow0\nrow1\n", sheet.text);
	table_paint(&table, new_sheet(), 3, SIZE_MAX, 0);
	TEST_ASSERT_EQUAL_STRING("NAM\nrow\nrow\n", sheet.text);
}

TEST(test_table_shows_the_bad_ones_if_there_is_no_room)
{
	fill_table(5);
	table.rows[4].rank = 2;
	table.rows[2].rank = 1;
	snprintf(table.rows[4].note, sizeof(table.rows[4].note), "why");
	TEST_ASSERT_EQUAL_size_t(7, table_lines(&table));
	TEST_ASSERT_EQUAL_size_t(2, table_paint(&table, new_sheet(), 4, 3, 0));
	TEST_ASSERT_EQUAL_STRING("NAME\nrow2\nrow4\n", sheet.text);
	TEST_ASSERT_EQUAL_size_t(3, table_paint(&table, new_sheet(), 4, 4, 0));
	TEST_ASSERT_EQUAL_STRING("NAME\nrow0\nrow2\nrow4\n", sheet.text);
	table_paint(&table, new_sheet(), 5, 7, 0);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "row4\n  why\n"));
	table_paint(&table, new_sheet(), 5, 6, 0);
	TEST_ASSERT_NULL(strstr(sheet.text, "why"));
	table_paint(&table, new_sheet(), 4, 2, 3);
	TEST_ASSERT_EQUAL_STRING("NAME\nrow4\n", sheet.text);
	TEST_ASSERT_EQUAL_size_t(0, table_paint(&table, new_sheet(), 4, 0, 0));
}

TEST(test_table_cuts_whole_characters)
{
	size_t n;

	TEST_ASSERT_EQUAL_size_t(3, table_fitting_bytes("a\xc3\xa4z", 2, &n));
	TEST_ASSERT_EQUAL_size_t(2, n);
	TEST_ASSERT_EQUAL_size_t(4, table_fitting_bytes("a\xc3\xa4z", 9, &n));
	TEST_ASSERT_EQUAL_size_t(3, n);
	TEST_ASSERT_EQUAL_size_t(2, table_fitting_bytes("\xff\xff\xff", 2, &n)); /* invalid UTF-8 counts by the byte */
}

TEST(test_table_counts_the_columns_of_wide_characters)
{
	static const struct {
		const char *text;
		size_t width, bytes, columns;
	} cases[] = {
		{ "手が", 4, 6, 4 },
		{ "手が", 3, 3, 2 },
		{ "手", 1, 0, 0 },
		{ "한a", 3, 4, 3 },
		{ "e\xcc\x81"
		  "x",
		  1, 3, 1 }, /* with its accent */
		{ "\xf0\x9f\x98\x80", 1, 0, 0 },
		{ "├●", 2, 6, 2 },
		{ "", 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n;

		TEST_ASSERT_EQUAL_size_t_MESSAGE(cases[i].bytes, table_fitting_bytes(cases[i].text, cases[i].width, &n),
						 cases[i].text);
		TEST_ASSERT_EQUAL_size_t_MESSAGE(cases[i].columns, n, cases[i].text);
	}
}

/* The line of a table with one bar, of that width; NULL: the column is left out. */
static void draw_bar(double at, bool plain, size_t width)
{
	struct table_row *row;

	memcpy(table.columns,
	       ((const struct table_column[]){ { "J", true, 0 }, { "RANGE", true, 1 }, { "S", true, 2 } }),
	       3 * sizeof(*table.columns));
	table_begin(&table, 3);
	table.bar = 1;
	table.plain = plain;
	row = table_add(&table);
	table_cell(row, 0, TONE_PLAIN, "j");
	table_bar(&table, row, TONE_GOOD, at);
	table_cell(row, 2, TONE_PLAIN, "s");
	table_paint(&table, new_sheet(), width, SIZE_MAX, 0);
	table.bar = 0;
}

TEST(test_bar_shows_where_between_its_limits)
{
	static const struct {
		double at;
		size_t width;
		const char *plain, *fine;
	} cases[] = {
		{ 0, 17, "j  [o--------]  s", "j  ├●────────┤  s" },
		{ 1, 17, "j  [--------o]  s", "j  ├────────●┤  s" },
		{ 0.5, 15, "j  [---o---]  s", NULL },
		{ -0.001, 17, "j  <---------]  s", "j  <─────────┤  s" },
		{ 1.001, 17, "j  [--------->  s", "j  ├─────────>  s" },
		{ -INFINITY, 14, "j  <------]  s", NULL },
		{ INFINITY, 14, "j  [------>  s", NULL },
		{ NAN, 17, "j               s", "j               s" },
		{ 0.5, 13, "j  s", "j  s" }, /* no room */
		{ 0.5, 2, "j", "j" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int plain = 0; plain < 2; plain++) {
			const char *expected = plain ? cases[i].plain : cases[i].fine, *line;

			draw_bar(cases[i].at, plain, cases[i].width);
			line = strchr(sheet.text, '\n') + 1;
			if (expected)
				TEST_ASSERT_EQUAL_STRING_LEN(expected, line, strlen(expected));
			TEST_ASSERT_LESS_OR_EQUAL_size_t(17, longest_line());
		}
	draw_bar(0.5, true, 1000); /* as long as a bar is clear */
	TEST_ASSERT_EQUAL_size_t(5 + 42 + 1, longest_line());
	TEST_ASSERT_EQUAL_CHAR('g', tone_of("o"));
	TEST_ASSERT_EQUAL_CHAR('d', tone_of("["));
}

TEST(test_numbers)
{
	static const struct {
		double value;
		const char *uptime, *us, *hz;
	} cases[] = {
		{ 0, "0.0 s", "0 us", "0 Hz" },
		{ 9.94, "9.9 s", "10 us", "9.9 Hz" },
		{ 119, "119 s", "119 us", "119 Hz" },
		{ 120, "2 min", "120 us", "120 Hz" },
		{ 1000, "17 min", "1.0 ms", "1000 Hz" },
		{ 7200, "2 h", "7.2 ms", "7200 Hz" },
		{ 500000, "6 d", "500 ms", "500000 Hz" },
		{ 3e6, "35 d", "3.0 s", "3000000 Hz" },
		{ NAN, "-", "-", "-" },
	};
	char text[STATUS_PRINT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		status_print_uptime(text, cases[i].value);
		TEST_ASSERT_EQUAL_STRING(cases[i].uptime, text);
		status_print_us(text, cases[i].value);
		TEST_ASSERT_EQUAL_STRING(cases[i].us, text);
		status_print_hz(text, cases[i].value);
		TEST_ASSERT_EQUAL_STRING(cases[i].hz, text);
	}
	status_print_us(text, -2500);
	TEST_ASSERT_EQUAL_STRING("-2.5 ms", text);
	status_print_count(text, 99999);
	TEST_ASSERT_EQUAL_STRING("99999", text);
	status_print_count(text, 123456);
	TEST_ASSERT_EQUAL_STRING("123k", text);
	status_print_count(text, INT64_C(12345678));
	TEST_ASSERT_EQUAL_STRING("12M", text);
}

/* ---- the answer of achstart ---- */

static struct status view;

static void read_view(const char *json)
{
	struct error_sink quiet = { 0 };
	struct yaml *doc;

	TEST_ASSERT_EQUAL_INT(0, yaml_open_text(&doc, "answer", json, strlen(json), &quiet));
	status_read(&view, yaml_root(doc));
	yaml_close(doc);
}

#define ROBOT                                                                                                         \
	"\"ok\":true,\"robot\":\"bench\",\"level\":\"run\",\"epoch\":7,\"who\":\"ann\",\"why\":\"armed\",\"pid\":12," \
	"\"uptime_s\":90,\"stopping\":false"
#define WAIST(state, ready, life)                                                                            \
	"{\"name\":\"waist\",\"state\":\"" state "\",\"ready\":" ready                                       \
	",\"pid\":34,\"incarnation\":3,\"uptime_s\":1.5,"                                                    \
	"\"restarts\":2,\"late_p99_us\":45.5,\"life\":" life ",\"age_ms\":3.25,\"rate_hz\":200,\"epoch\":7," \
	"\"level\":\"run\",\"status\":\"module 15 is silent\",\"last_end\":\"signal 9\",\"why\":\"\"}"
#define TORSO(state, more)                                                                                            \
	"{\"name\":\"torso\",\"interface\":\"can7\",\"state\":\"" state "\",\"load\":0.425,\"stale\":1,\"errors\":2," \
	"\"rx_dropped\":5,\"replaced\":3,\"expired\":4" more "}"
#define ANSWER(daemon, bus)                                        \
	"{" ROBOT ",\"daemons\":[" daemon "],\"buses\":[" bus "]," \
	"\"clock\":{\"rate_hz\":1000,\"period_us\":1000,\"late_us\":12,\"cycle\":99},\"channels\":[]}"

TEST(test_view_reads_the_answer)
{
	const struct status_daemon *d;

	read_view(ANSWER(WAIST("ready", "true", "\"active\""), TORSO("error-active", "")));
	TEST_ASSERT_TRUE(view.supervised);
	TEST_ASSERT_EQUAL_STRING("bench", view.robot);
	TEST_ASSERT_EQUAL_STRING("ann", view.who);
	TEST_ASSERT_EQUAL_INT64(7, view.epoch);
	TEST_ASSERT_EQUAL_INT64(12, view.pid);
	TEST_ASSERT_EQUAL_size_t(1, view.daemons_n);
	TEST_ASSERT_NULL(status_find_daemon(&view, "wais"));
	d = status_find_daemon(&view, "waist");
	TEST_ASSERT_NOT_NULL(d);
	TEST_ASSERT_TRUE(d->ready);
	TEST_ASSERT_TRUE(d->wanted); /* unless it says otherwise */
	TEST_ASSERT_EQUAL_INT64(34, d->pid);
	TEST_ASSERT_EQUAL_INT64(3, d->incarnation);
	TEST_ASSERT_EQUAL_DOUBLE(45.5, d->late_p99_us);
	TEST_ASSERT_TRUE(isnan(d->late_max_us)); /* it does not say */
	TEST_ASSERT_EQUAL_STRING("active", d->life);
	TEST_ASSERT_EQUAL_DOUBLE(0.425, view.buses[0].load);
	TEST_ASSERT_EQUAL_INT64(4, view.buses[0].expired);
	TEST_ASSERT_EQUAL_STRING("clock", view.clock.name);
	TEST_ASSERT_EQUAL_DOUBLE(1000, view.clock.rate_hz);
	TEST_ASSERT_TRUE(status_is_fine(&view));
}

TEST(test_view_accepts_invalid_values)
{
	read_view("{}");
	TEST_ASSERT_EQUAL_size_t(0, view.daemons_n);
	read_view("{\"robot\":[1],\"level\":null,\"pid\":\"x\",\"daemons\":{\"a\":3},\"buses\":\"no\",\"clock\":null}");
	TEST_ASSERT_EQUAL_STRING("", view.robot);
	TEST_ASSERT_EQUAL_INT64(0, view.pid);
	TEST_ASSERT_EQUAL_STRING("", view.clock.name);
	read_view("{\"who\":\"\\u001b[2Jx\\u009by\"}");
	TEST_ASSERT_EQUAL_STRING("?[2Jx??y", view.who); /* a terminal would obey either */
}

TEST(test_view_json_reads_back)
{
	static struct status before;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	struct json j;

	read_view(ANSWER(WAIST("ready", "true", "null"), TORSO("error-active", "")));
	before = view;
	j = json_to(to);
	json_object(&j, NULL);
	status_write(&view, &j);
	json_end(&j);
	fclose(to);
	read_view(text);
	free(text);
	TEST_ASSERT_EQUAL_STRING("", view.daemons[0].life);
	TEST_ASSERT_TRUE(isnan(view.daemons[0].late_max_us));
	TEST_ASSERT_EQUAL_STRING(before.daemons[0].status, view.daemons[0].status);
	TEST_ASSERT_EQUAL_INT64(before.daemons[0].restarts, view.daemons[0].restarts);
	TEST_ASSERT_EQUAL_DOUBLE(before.buses[0].load, view.buses[0].load);
	TEST_ASSERT_EQUAL_INT64(before.clock.cycle, view.clock.cycle);
}

TEST(test_view_ranks)
{
	static const struct {
		const char *state, *life;
		bool ready, wanted, freerun;
		enum status_rank rank;
	} cases[] = {
		{ "ready", "active", true, true, false, STATUS_FINE },
		{ "ready", "", true, true, false, STATUS_FINE },
		{ "ready", "fault", true, true, false, STATUS_BAD },
		{ "ready", "active", true, true, true, STATUS_ODD },
		{ "starting", "", false, true, false, STATUS_ODD },
		{ "waiting", "", false, true, false, STATUS_ODD },
		{ "stopped", "", false, true, false, STATUS_ODD },
		{ "stopped", "", false, false, false, STATUS_FINE },
		{ "failed", "", false, true, false, STATUS_BAD },
		{ "backoff", "", false, true, false, STATUS_BAD },
		{ "killed", "", false, true, false, STATUS_BAD },
		{ "silent", "active", false, true, false, STATUS_BAD },
	};
	struct status_bus bus = { .state = "error-active" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct status_daemon d = { .ready = cases[i].ready,
					   .wanted = cases[i].wanted,
					   .freerun = cases[i].freerun };

		strcpy(d.state, cases[i].state);
		strcpy(d.life, cases[i].life);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].rank, status_daemon_rank(&d), cases[i].state);
	}
	TEST_ASSERT_EQUAL_INT(STATUS_FINE, status_bus_rank(&bus));
	bus.stalled = true;
	TEST_ASSERT_EQUAL_INT(STATUS_BAD, status_bus_rank(&bus));
	bus = (struct status_bus){ .state = "passive" };
	TEST_ASSERT_EQUAL_INT(STATUS_ODD, status_bus_rank(&bus));
	bus = (struct status_bus){ .state = "bus-off" };
	TEST_ASSERT_EQUAL_INT(STATUS_BAD, status_bus_rank(&bus));
	bus = (struct status_bus){ .state = "unknown" };
	TEST_ASSERT_EQUAL_INT(STATUS_FINE, status_bus_rank(&bus));
	read_view(ANSWER(WAIST("ready", "true", "null"), TORSO("bus-off", "")));
	TEST_ASSERT_FALSE(status_is_fine(&view));
	read_view(ANSWER(WAIST("starting", "false", "null"), ""));
	TEST_ASSERT_FALSE(status_is_fine(&view));
	read_view("{\"stopping\":true}");
	TEST_ASSERT_FALSE(status_is_fine(&view));
}

TEST(test_show_reports_the_reason)
{
	read_view(ANSWER(WAIST("failed", "false", "\"fault\""), TORSO("error-active", ",\"stalled\":true")));
	status_print_robot(&view, new_sheet(), 80);
	TEST_ASSERT_EQUAL_STRING("bench  run, epoch 7, by ann: armed\nachstart 12, up 90 s, 0 of 1 ready\n",
				 sheet.text);
	TEST_ASSERT_EQUAL_CHAR('g', tone_of("run"));
	status_print_daemons(&view, &table);
	table_paint(&table, new_sheet(), 80, SIZE_MAX, 0);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "\n  module 15 is silent; last: signal 9\n"));
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("failed"));
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("fault"));
	TEST_ASSERT_LESS_OR_EQUAL_size_t(80, longest_line());
	status_print_buses(&view, &table);
	table_paint(&table, new_sheet(), 80, SIZE_MAX, 0);
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("stalled"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "42 %"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, " 7 ")); /* errors and what was dropped */
	TEST_ASSERT_LESS_OR_EQUAL_size_t(80, longest_line());
}

TEST(test_show_names_refused_references)
{
	read_view(ANSWER(WAIST("ready", "true", "\"active\""), ""));
	status_print_daemons(&view, &table);
	TEST_ASSERT_EQUAL_STRING("", table.rows[0].note);
	view.daemons[0].refs_refused = 41;
	STATUS_COPY(view.daemons[0].refusal, "process 4711: valid for 900 ms, at most 25 ms: give it less");
	status_print_daemons(&view, &table);
	table_paint(&table, new_sheet(), 80, SIZE_MAX, 0);
	TEST_ASSERT_NOT_NULL(
		strstr(sheet.text, "\n  41 refused: process 4711: valid for 900 ms, at most 25 ms: give it less\n"));
	TEST_ASSERT_EQUAL_CHAR('o', tone_of("41 refused"));
	TEST_ASSERT_TRUE(status_is_fine(&view));
}

TEST(test_show_clock_names_its_followers)
{
	struct status_daemon *d;

	read_view(ANSWER(WAIST("ready", "true", "\"active\""), ""));
	status_print_clock(&view, new_sheet(), 80, SIZE_MAX);
	TEST_ASSERT_EQUAL_STRING("clock  1000 Hz, late 12 us, cycle 99, locked: waist\n", sheet.text);
	d = &view.daemons[view.daemons_n++];
	*d = view.daemons[0];
	strcpy(d->name, "larm");
	d->freerun = true;
	view.daemons[0].phase_us = 420;
	status_print_clock(&view, new_sheet(), 80, SIZE_MAX);
	TEST_ASSERT_EQUAL_STRING("clock  1000 Hz, late 12 us, cycle 99, free run: larm, locked: waist +420 us\n",
				 sheet.text);
	TEST_ASSERT_EQUAL_CHAR('o', tone_of("larm"));
	view.daemons[0].age_ms = 5000; /* dead: it follows nothing */
	status_print_clock(&view, new_sheet(), 80, SIZE_MAX);
	TEST_ASSERT_NULL(strstr(sheet.text, "waist"));
	*view.clock.name = 0;
	status_print_clock(&view, new_sheet(), 80, SIZE_MAX);
	TEST_ASSERT_EQUAL_STRING("", sheet.text);
}

TEST(test_show_clock_goes_on_in_the_next_line)
{
	read_view(ANSWER(WAIST("ready", "true", "\"active\""), ""));
	view.daemons[0].phase_us = 420;
	for (size_t i = 1; i < 5; i++) {
		view.daemons[i] = view.daemons[0];
		snprintf(view.daemons[i].name, STATUS_NAME_MAX, "driver%zu", i);
	}
	view.daemons_n = 5;
	status_print_clock(&view, new_sheet(), 80, SIZE_MAX);
	TEST_ASSERT_EQUAL_STRING("clock  1000 Hz, late 12 us, cycle 99, locked: waist +420 us driver1 +420 us\n"
				 "  driver2 +420 us driver3 +420 us driver4 +420 us\n",
				 sheet.text);
	status_print_clock(&view, new_sheet(), 80, 1);
	TEST_ASSERT_EQUAL_size_t(1, sheet.paint.lines);
	for (size_t width = 1; width < 100; width++) {
		status_print_clock(&view, new_sheet(), width, 4);
		TEST_ASSERT_LESS_OR_EQUAL_size_t(width, longest_line());
		TEST_ASSERT_LESS_OR_EQUAL_size_t(4, sheet.paint.lines);
	}
}

TEST(test_show_level_that_a_driver_obeys)
{
	read_view(ANSWER(WAIST("ready", "true", "\"active\""), ""));
	strcpy(view.level, "estop");
	status_print_robot(&view, new_sheet(), 80);
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("estop"));
	status_print_daemons(&view, &table);
	table_paint(&table, new_sheet(), 80, SIZE_MAX, 0);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "active run")); /* not what the robot is at */
}

/* ---- top ---- */

TEST(test_show_all_of_the_pace)
{
	struct status v = { .supervised = true, .pid = 1234567, .uptime_s = 12 * 60, .pace = 0.18, .behind_s = 297 };

	status_print_robot(&v, new_sheet(), 90);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, ", 0 of 0 ready, virtual clock, 0.18 x life, 297 s behind\n"));
	STATUS_COPY(v.clock_still, "achtime has ended");
	status_print_robot(&v, new_sheet(), 80);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "\nvirtual clock, 0.18 x life, 297 s behind\n"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "\nthe robot's clock stands still: achtime has ended\n"));
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("the robot's clock"));
	v.pace = 0; /* it stood still while that was measured */
	status_print_robot(&v, new_sheet(), 90);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "virtual clock, 0 x life, 297 s behind\n"));
	v.pace = NAN;
	status_print_robot(&v, new_sheet(), 90);
	TEST_ASSERT_NULL(strstr(sheet.text, "virtual clock"));
}

TEST(test_top_shares_lines)
{
	static const size_t least[] = { 3, 3, 3 };
	size_t fits[] = { 5, 4, 3 }, some[] = { 10, 9, 8 }, few[] = { 10, 9, 8 }, tiny[] = { 10, 9, 8 };

	top_share(fits, least, 3, 12);
	TEST_ASSERT_EQUAL_size_t(5, fits[0]);
	TEST_ASSERT_EQUAL_size_t(3, fits[2]);
	top_share(some, least, 3, 20);
	TEST_ASSERT_EQUAL_size_t(10, some[0]);
	TEST_ASSERT_EQUAL_size_t(7, some[1]);
	TEST_ASSERT_EQUAL_size_t(3, some[2]);
	top_share(few, least, 3, 10);
	TEST_ASSERT_EQUAL_size_t(4, few[0]);
	TEST_ASSERT_EQUAL_size_t(3, few[1]);
	TEST_ASSERT_EQUAL_size_t(3, few[2]);
	top_share(tiny, least, 3, 4);
	TEST_ASSERT_EQUAL_size_t(3, tiny[0]);
	TEST_ASSERT_EQUAL_size_t(1, tiny[1]);
	TEST_ASSERT_EQUAL_size_t(0, tiny[2]);
}

static struct top top;
static struct robot_channel chan_rooms[30];

/* A robot with more than a small screen holds. */
static void big_robot(void)
{
	memset(&top, 0, sizeof(top));
	read_view(ANSWER(WAIST("ready", "true", "\"active\""), TORSO("error-active", "")));
	top.view = view;
	for (size_t i = 1; i < 13; i++) {
		top.view.daemons[i] = view.daemons[0];
		snprintf(top.view.daemons[i].name, STATUS_NAME_MAX, "driver%zu", i);
		top.view.daemons[i].age_ms = 5000; /* so that the clock's line does not name it */
	}
	for (size_t i = 1; i < 8; i++) {
		top.view.buses[i] = view.buses[0];
		snprintf(top.view.buses[i].name, STATUS_NAME_MAX, "bus%zu", i);
	}
	top.view.daemons_n = 13;
	top.view.buses_n = 8;
	strcpy(top.view.daemons[12].state, "failed");
	for (size_t i = 0; i < 30; i++) {
		snprintf(chan_rooms[i].name, sizeof(chan_rooms[i].name), "channel%zu-state", i);
		chan_rooms[i].state = chan_rooms[i].ours = true;
		chan_rooms[i].rate_hz = 200;
		top.channels.at[i] = &chan_rooms[i];
	}
	top.channels.n = 30;
	top.channels.has_balance = top.channels.has_mux = true;
	top.channels.balance = (struct msg_balance_state){
		.mode = MSG_BALANCE_STANDING, .waist = MSG_INPUT_PREDICTED, .pitch = -0.2, .waist_position = 0.3
	};
	strcpy(top.channels.mux.output, "waist");
}

/* Joints of a Hubo, and what has happened. */
static void move_and_report(void)
{
	static struct msg_joint_state state;

	chan_rooms[3].joints = &state;
	memset(&state, 0, sizeof(state));
	state.count = 42;
	for (size_t i = 0; i < 42; i++) {
		snprintf(state.joint[i], MSG_NAME_SIZE, "J%zu", i);
		state.lifecycle[i] = MSG_LIFE_ACTIVE;
		state.temperature[i] = NAN;
		state.velocity[i] = i % 2 ? -1e300 : 0.1;
	}
	state.common.lifecycle = MSG_LIFE_ACTIVE;
	state.status[41] = MSG_JOINT_LIMIT_LOW;
	for (size_t i = 0; i < 70; i++) {
		char line[400];

		snprintf(line, sizeof(line), "2026-11-%02zu 08:00:%02zu.123456 waist %s code: 手 text %zu %0200d",
			 10 + i / 60, i % 60,
			 i % 3	 ? "info"
			 : i % 2 ? "warning"
				 : "fatal",
			 i, 0);
		top_event_add(&top, line, "2026-11-11");
	}
}

TEST(test_top_fits_any_screen)
{
	big_robot();
	move_and_report();
	for (enum top_pane pane = TOP_ALL; pane <= TOP_CHANNELS; pane++)
		for (size_t height = 1; height <= 60; height++)
			for (size_t width = 1; width <= 220; width += 7) {
				top.pane = pane;
				top.from = height;
				snprintf(top.notice, sizeof(top.notice), "%s", height % 2 ? "a notice" : "");
				top_draw(&top, new_sheet(), width, height);
				TEST_ASSERT_LESS_OR_EQUAL_size_t(width, longest_line());
				TEST_ASSERT_EQUAL_size_t(height - 1, sheet.paint.lines); /* the last has no end */
			}
}

static unsigned int characters(const char *of)
{
	unsigned int n = 0;

	for (const char *c = sheet.text; *c; c++)
		n += strchr(of, *c) != NULL;
	return n;
}

TEST(test_picture)
{
	big_robot();
	top_draw(&top, new_sheet(), 100, 50);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "\xE2\xA0"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "standing\n"));
	TEST_ASSERT_EQUAL_CHAR('g', tone_of("standing"));
	TEST_ASSERT_EQUAL_CHAR('o', tone_of("waist    17.2 deg   predicted"));
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("imu    lost"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "waist follows no source"));
	top_draw(&top, new_sheet(), 100, 29); /* no room */
	TEST_ASSERT_NULL(strstr(sheet.text, "standing"));

	top.plain = true;
	strcpy(top.channels.mux.in_charge, "control");
	top.channels.balance.mode = MSG_BALANCE_FALLEN;
	top_draw(&top, new_sheet(), 100, 50);
	TEST_ASSERT_NULL(strstr(sheet.text, "\xE2"));
	TEST_ASSERT_GREATER_THAN(40, characters("#."));
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("FALLEN"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "waist follows control"));
	top.now_ns = 1500000000;
	top_draw(&top, new_sheet(), 100, 50);
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("balance is silent for 1.5 s"));
	top.channels.balance.pitch = NAN; /* nothing was measured yet */
	top_draw(&top, new_sheet(), 100, 50);
	TEST_ASSERT_EQUAL_UINT(0, characters("#"));
}

TEST(test_selected_daemon_is_marked_and_shown)
{
	big_robot();
	top.selected = 12;
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_EQUAL_CHAR('k', tone_of("driver11"));
	top.selected = 99;
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_NULL(strstr(sheet.text, "driver11"));
}

TEST(test_top_at_80_by_24)
{
	const char *last;

	big_robot();
	top_draw(&top, new_sheet(), 80, 24);
	last = strrchr(sheet.text, '\n') + 1;
	TEST_ASSERT_EQUAL_STRING("e E-STOP at once  h hold  d daemons j joints b buses c channels  k kill  q quit",
				 last);
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("E-STOP"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "bench  run"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "clock  1000 Hz"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "of 13"));    /* it says that there are more */
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "driver12")); /* the failed one is seen */
	TEST_ASSERT_NULL(strstr(sheet.text, "driver11"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "BUS 2 of 8"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "CHANNEL (not all)"));
	top.pane = TOP_DAEMONS;
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "driver11"));
	TEST_ASSERT_NULL(strstr(sheet.text, "BUS"));
	top.from = 12;
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_NULL(strstr(sheet.text, "driver11"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "driver12"));
}

TEST(test_top_shows_joints_and_the_last_events)
{
	const char *last;

	big_robot();
	move_and_report();
	top_draw(&top, new_sheet(), 80, 95);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "channel3 J41"));
	TEST_ASSERT_EQUAL_CHAR('o', tone_of("limit-low"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "channel3 J0      0.0 deg"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, " 5.7 deg/s"));
	last = strstr(sheet.text, "08:00:09 waist warning code: 手 text 69");
	TEST_ASSERT_NOT_NULL(last);
	TEST_ASSERT_EQUAL_CHAR('o', sheet.tones[last - sheet.text]);
	TEST_ASSERT_EQUAL_CHAR('b', tone_of("08:00:06 waist fatal code: 手 text 66"));
	TEST_ASSERT_TRUE(strstr(sheet.text, "text 68") < last);

	/* Where there is little room the newest ones are left; joints, too, have a pane of their own. */
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "text 69"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "text 68"));
	TEST_ASSERT_NULL(strstr(sheet.text, "text 67"));
	TEST_ASSERT_NULL(strstr(sheet.text, "channel3 J0"));

	/* Beside the daemons, if the screen is wide. */
	top_draw(&top, new_sheet(), 200, 60);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "channel3 J41"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "08:00:00 waist fatal code: 手 text 60"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "driver11"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "bus7"));
	TEST_ASSERT_NULL(strstr(sheet.text, "not all"));
}

TEST(test_pane_of_joints_scrolls_to_its_end)
{
	big_robot();
	move_and_report();
	top.pane = TOP_JOINTS;
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "JOINT 18 of 42"));
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "channel3 J0"));
	TEST_ASSERT_NULL(strstr(sheet.text, "EVENT"));
	top.from = 200; /* keys went further than there are rows */
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_EQUAL_size_t(41, top.from);
	TEST_ASSERT_NOT_NULL(strstr(sheet.text, "channel3 J41"));
	chan_rooms[3].joints = NULL; /* the device has gone */
	top_draw(&top, new_sheet(), 80, 24);
	TEST_ASSERT_EQUAL_size_t(0, top.from);
	TEST_ASSERT_NULL(strstr(sheet.text, "J41"));
}

TEST(test_event_is_a_line_of_the_log)
{
	static const char *const cases[][2] = {
		{ "2026-11-19 08:00:01.123456 waist error silent: module 15",
		  "08:00:01 waist error silent: module 15" },
		{ "2026-11-18 08:00:01.123456 waist info x: y", "2026-11-18 08:00:01 waist info x: y" },
		{ "2026-11-19 08:00:01.123456 \033[2J\xff", "08:00:01 ?[2J?" },
		{ "2026-11-19 08:00:01.123456 x", "08:00:01 x" },
		{ "2026-11-19 08:00:01.123456 ", NULL },
		{ "garbage", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(&top, 0, sizeof(top));
		top_event_add(&top, cases[i][0], "2026-11-19");
		TEST_ASSERT_EQUAL_UINT64(cases[i][1] != NULL, top.events_n);
		if (cases[i][1])
			TEST_ASSERT_EQUAL_STRING(cases[i][1], top.events[0].text);
	}
}
