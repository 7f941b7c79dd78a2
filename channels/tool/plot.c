/* plot.c: ach plot: fields of the messages as curves, live, in the terminal; elsewhere as columns of numbers. */
#include <math.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/tool/plot_draw.h"
#include "channels/tool/tool.h"

#define PLOT_FRAME_NS (1000000000 / 15)
#define PLOT_LATE_NS 1000000000 /* a stamp this far off is another clock's, such as that of a recording */

struct plot {
	int64_t for_ns, count;
	const char *robot;

	int paths_n;
	char **paths;
	const struct msg_type *type; /* NULL: no message has come yet */
	struct msg_place place[PLOT_CURVES];
	struct plot_picture picture;
	struct plot_curve curves[PLOT_CURVES];
	struct follow f;
	bool terminal, waits;
	uint64_t missed, refused;
	int64_t newest_ns; /* when the newest was read */
	/* for the rate: messages in the second that runs, and what the last one gave */
	uint64_t second_n;
	int64_t second_ns;
	double rate_hz;
};

static const struct settings_row rows[] = {
	SETTINGS_TIME("window", struct plot, picture.window_ns, "s", "10s", "1ns", NULL, "seconds in view",
		      .value = "S"),
	SETTINGS_TIME("for", struct plot, for_ns, "s", NULL, "1ns", NULL,
		      "end after that many seconds; else q or ^C ends it", .value = "S"),
	SETTINGS_INT("count", struct plot, count, "", NULL, "1", NULL, "end after that many messages", .value = "N"),
	SETTINGS_BOOL("ascii", struct plot, picture.ascii, "no", "for terminals without braille"),
	TOOL_ROBOT(struct plot),
	SETTINGS_END,
};

/* ---- fields ---- */

static int add_curve(struct plot *plot, const struct msg_place *place, const char *path, size_t element)
{
	struct plot_curve *c = &plot->picture.curves[plot->picture.n];
	struct msg_place *own = &plot->place[plot->picture.n];

	if (plot->picture.n == PLOT_CURVES)
		return tool_fail("more than %d curves; name single elements, such as %s[0]", PLOT_CURVES, path);
	*own = *place;
	own->offset += element * place->field->size;
	own->elements = 1;
	own->used = MSG_ALL;
	c->unit = place->field->unit;
	c->value = NAN;
	if (place->elements > 1)
		snprintf(c->label, sizeof(c->label), "%s[%zu]", path, element);
	else
		snprintf(c->label, sizeof(c->label), "%s", path);
	plot->picture.n++;
	return 0;
}

static int find_field(struct plot *plot, const char *path, const void *msg)
{
	struct msg_place place;
	char error[256];
	double value;

	if (msg_find(plot->type, path, &place, error, sizeof(error)))
		return tool_fail("%s: %s (ach echo --last %s shows all)", plot->f.name, error, plot->f.name);
	if (msg_value(msg, &place, 0, &value))
		return tool_fail("%s: %s is not a number, so there is nothing to draw", plot->f.name, path);
	if (!msg_elements(msg, &place))
		return tool_fail("%s: %s has no elements", plot->f.name, path);
	for (size_t i = 0; i < msg_elements(msg, &place); i++)
		if (add_curve(plot, &place, path, i))
			return EXIT_RETRY;
	return 0;
}

/* The first message says what the others are expected to be. */
static int begin(struct plot *plot, const struct follow *f)
{
	enum msg_refusal why = msg_check(f->bytes, f->len, NULL, &plot->type);
	char text[256];

	if (why != MSG_FINE) {
		msg_refusal_text(text, sizeof(text), why, f->bytes, f->len, NULL);
		return tool_fail("%s: %s; only messages of Endplate's have fields", f->name, text);
	}
	for (int i = 0; i < plot->paths_n; i++)
		if (find_field(plot, plot->paths[i], f->bytes))
			return EXIT_RETRY;
	return 0;
}

/* ---- messages ---- */

static void legend_value(struct plot_curve *c, const struct msg_field *field, const uint8_t *at)
{
	if (field->kind == MSG_word || field->kind == MSG_flags)
		msg_element_text(c->now, sizeof(c->now), field, at);
	else
		snprintf(c->now, sizeof(c->now), "%.5g", c->value);
}

/* For the picture. */
static void take_message(struct plot *plot, const struct follow *f)
{
	const int64_t now = clock_now_ns();
	struct msg_header h;

	memcpy(&h, f->bytes, sizeof(h));
	if (h.t_publish_ns > now || h.t_publish_ns < now - PLOT_LATE_NS - plot->picture.window_ns)
		h.t_publish_ns = now;
	for (size_t i = 0; i < plot->picture.n; i++) {
		double value;

		if (msg_value(f->bytes, &plot->place[i], 0, &value))
			continue;
		plot_value(&plot->picture, i, h.t_publish_ns, value);
		legend_value(&plot->picture.curves[i], plot->place[i].field, f->bytes + plot->place[i].offset);
	}
	plot->second_n++;
	plot->newest_ns = now;
}

static void print_message(struct plot *plot, const struct follow *f)
{
	struct msg_header h;

	memcpy(&h, f->bytes, sizeof(h));
	out_text("%" PRId64 ".%09" PRId64, h.t_publish_ns / NS_PER_S, h.t_publish_ns % NS_PER_S);
	for (size_t i = 0; i < plot->picture.n; i++) {
		char text[64];

		if (plot->place[i].field->kind == MSG_word || plot->place[i].field->kind == MSG_flags) {
			double value = 0;

			msg_value(f->bytes, &plot->place[i], 0, &value);
			snprintf(text, sizeof(text), "%.0f", value); /* a number, for programs that draw it */
		} else {
			msg_element_text(text, sizeof(text), plot->place[i].field, f->bytes + plot->place[i].offset);
		}
		out_text(" %s", text);
	}
	out_text("\n");
}

static int read_message(void *with, size_t i)
{
	struct plot *plot = with;
	const struct follow *f = &plot->f;

	(void)i;
	plot->missed += f->missed;
	if (!plot->type && begin(plot, f))
		return -1;
	if (msg_check(f->bytes, f->len, plot->type, NULL) != MSG_FINE) {
		plot->refused++;
		return 0;
	}
	if (plot->terminal)
		take_message(plot, f);
	else
		print_message(plot, f);
	return 1;
}

/* ---- the terminal ---- */

static struct {
	bool on, keys;
	struct termios before;
} screen;

/* The other screen, no cursor; keys come at once and are not shown, and ^Z would leave all of it like this. */
static void screen_on(void)
{
	struct termios quiet;

	if (screen.on)
		return;
	screen.on = true;
	screen.keys = tcgetpgrp(STDIN_FILENO) == getpgrp() && !tcgetattr(STDIN_FILENO, &screen.before);
	if (screen.keys) {
		quiet = screen.before;
		quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		quiet.c_cc[VSUSP] = _POSIX_VDISABLE;
		tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
	}
	out_text("\033[?1049h\033[?25l\033[?7l\033[2J");
}

static void screen_off(void)
{
	if (!screen.on)
		return;
	screen.on = false;
	out_text("\033[0m\033[?7h\033[?25h\033[?1049l");
	out_flush();
	if (screen.keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

static bool asked_to_quit(void)
{
	struct clock_fd keys = { .fd = screen.keys ? STDIN_FILENO : -1, .events = POLLIN };
	char key[16];
	ssize_t n;

	if (!screen.keys || clock_wait(&keys, 1, 0) <= 0)
		return false;
	n = read(STDIN_FILENO, key, sizeof(key));
	return n > 0 && memchr(key, 'q', (size_t)n);
}

static void count_rate(struct plot *plot, int64_t now)
{
	if (now - plot->second_ns < NS_PER_S)
		return;
	plot->rate_hz = plot->second_ns ? (double)plot->second_n * 1e9 / (double)(now - plot->second_ns) : 0;
	plot->second_n = 0;
	plot->second_ns = now;
}

static void set_status(struct plot *plot, int64_t now)
{
	struct text_out to = text_out(plot->picture.status, sizeof(plot->picture.status));
	char age[DURATION_TEXT_MAX];

	if (plot->f.gone)
		text_add(&to, "was removed; waiting for a new one");
	else
		text_add(&to, "%s", plot->type->name);
	if (!plot->f.gone && now - plot->newest_ns > NS_PER_S)
		text_add(&to, "; no message for %s", duration_text(age, now - plot->newest_ns));
	else if (!plot->f.gone && plot->rate_hz > 0)
		text_add(&to, ", %.1f Hz", plot->rate_hz);
	if (plot->missed)
		text_add(&to, ", %" PRIu64 " missed", plot->missed);
	if (plot->refused)
		text_add(&to, ", %" PRIu64 " of another type", plot->refused);
}

static void draw(struct plot *plot, bool moving)
{
	static struct winsize before;
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int64_t now = clock_now_ns();

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (!size.ws_row || !size.ws_col)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	if (moving && memcmp(&size, &before, sizeof(size)) != 0)
		out_text("\033[2J");
	before = size;
	count_rate(plot, now);
	set_status(plot, now);
	plot_draw(&plot->picture, now, size.ws_col, size.ws_row - (moving ? 0 : 2), moving);
}

/* The screen changes with the first message, so that errors in the fields stay visible. */
static bool draw_next(void *with)
{
	struct plot *plot = with;

	if (!plot->type) {
		if (!plot->waits)
			fprintf(stderr, "waiting for the first message in %s\n", plot->f.name);
		plot->waits = true;
		return false;
	}
	program_before_line = screen_off;
	screen_on();
	draw(plot, true);
	return asked_to_quit();
}

/* ---- the command ---- */

/* The console of Linux has no braille characters. */
static bool plain_terminal(void)
{
	const char *term = getenv("TERM");

	return !term || !strcmp(term, "linux") || !strcmp(term, "dumb");
}

static int run(void *values, int argc, char **argv)
{
	struct plot *plot = values;
	int status = names_find(plot->robot, argv, 1, false);
	const int64_t now_ns = clock_now_ns();
	struct tool_stream stream = { .with = plot,
				      .f = &plot->f,
				      .n = 1,
				      .left = plot->count ? plot->count : INT64_MAX,
				      .until_ns = plot->for_ns ? now_ns + plot->for_ns : CLOCK_NEVER,
				      .message = read_message,
				      .every = tool_is_terminal(stdout) ? draw_next : NULL,
				      .next_ns = now_ns,
				      .every_ns = PLOT_FRAME_NS };

	if (status)
		return status;
	plot->terminal = tool_is_terminal(stdout);
	plot->paths = argv + 1;
	plot->paths_n = argc - 1;
	plot->picture.colour = tool_colour(stdout);
	plot->picture.ascii |= plain_terminal();
	if (follow_open(&plot->f, argv[0]))
		return EXIT_RETRY;
	snprintf(plot->picture.title, sizeof(plot->picture.title), "%s", argv[0]);
	follow_from(&plot->f, UINT64_MAX);
	plot->picture.curves = plot->curves;
	status = tool_stream(&stream);
	screen_off();
	if (!status && plot->terminal && plot->type)
		draw(plot, false); /* the last picture stays */
	follow_close(&plot->f);
	return status ? status : out_end();
}

TOOL_COMMAND(plot, run, rows, struct plot, "CHANNEL FIELD...", 2, 1 + PLOT_CURVES,
	     "draws fields of the messages, live, in the terminal",
	     "A field is named as ach echo prints it: position, position[2], common.late_p99_ns.\n");
