/* plot_draw.c: curves over time, drawn with characters. */
#include <math.h>

#include "channels/tool/plot_draw.h"
#include "channels/tool/tool.h"

#define COLUMNS_MAX 512
#define LINES_MAX 256
#define TICK_LINES 4	/* between two numbers at the left */
#define TICK_COLUMNS 12 /* below the picture */

/* A cell holds 2 x 4 dots of a braille character, or in plain ASCII one mark. */
struct cell {
	uint8_t dots;
	uint8_t curve;
};

static struct cell cells[LINES_MAX][COLUMNS_MAX];

struct frame {
	const struct plot_picture *p;
	bool moving;
	int columns;	    /* of the whole */
	int width, height;  /* of the drawing, in cells */
	int dots_x, dots_y; /* in a cell */
	int label;	    /* columns of the numbers at the left */
	double step;	    /* between them */
	int64_t right;	    /* the bin at the right edge */
};

/* ---- values ---- */

static int64_t bin_ns(const struct plot_picture *p)
{
	int64_t ns = p->window_ns / PLOT_BINS;

	return ns > 0 ? ns : 1;
}

void plot_value(struct plot_picture *p, size_t curve, int64_t t_ns, double value)
{
	int64_t number = t_ns / bin_ns(p);
	struct plot_bin *b = &p->curves[curve].bins[(uint64_t)number % PLOT_BINS];

	p->curves[curve].value = value;
	if (!isfinite(value))
		return;
	if (b->number != number || !b->n)
		*b = (struct plot_bin){ .number = number, .first = value, .min = value, .max = value };
	b->n++;
	b->last = value;
	b->min = value < b->min ? value : b->min;
	b->max = value > b->max ? value : b->max;
}

static const struct plot_bin *bin_at(const struct plot_curve *c, int64_t number)
{
	const struct plot_bin *b = &c->bins[(uint64_t)number % PLOT_BINS];

	return b->n && b->number == number ? b : NULL;
}

/* ---- scale ---- */

/* 1, 2 or 5 times a power of ten, at least as large. */
static double round_step(double step)
{
	static const int times[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10(step)));
	size_t i = 0;

	while (i < 3 && times[i] * power < step * 0.999999)
		i++;
	return times[i] * power;
}

static bool extremes(const struct frame *f, double *min, double *max)
{
	bool any = false;

	for (size_t i = 0; i < f->p->n; i++) {
		for (int64_t number = f->right - PLOT_BINS + 1; number <= f->right; number++) {
			const struct plot_bin *b = bin_at(&f->p->curves[i], number);

			if (!b)
				continue;
			*min = any && *min < b->min ? *min : b->min;
			*max = any && *max > b->max ? *max : b->max;
			any = true;
		}
	}
	return any;
}

/* Grows at once, shrinks only when half of it would do: else the picture would pump with every wave. */
static void scale(struct plot_picture *p, struct frame *f)
{
	double min = 0, max = 0, span;
	int ticks = f->height / TICK_LINES > 1 ? f->height / TICK_LINES : 1;

	if (!extremes(f, &min, &max)) {
		min = p->low;
		max = p->high > p->low ? p->high : p->low + 1;
	}
	span = max - min;
	if (span < fabs(max) * 1e-9 || span <= 0) { /* a flat line lies in the middle */
		span = fabs(max) > 0 ? fabs(max) * 0.2 : 2;
		min -= span / 2;
		max += span / 2;
	}
	if (!(p->high > p->low) || min < p->low || max > p->high || span < (p->high - p->low) / 2.5) {
		f->step = round_step(span / ticks);
		p->low = floor(min / f->step + 1e-9) * f->step;
		p->high = ceil(max / f->step - 1e-9) * f->step;
	}
	f->step = round_step((p->high - p->low) / ticks);
	if (f->step > (p->high - p->low) / 2) /* two numbers at least, however flat the window is */
		f->step = round_step((p->high - p->low) / 5);
}

/* ---- dots ---- */

static void dot(const struct frame *f, int x, int y, uint8_t curve)
{
	static const uint8_t bits[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	struct cell *c;

	if (x < 0 || y < 0 || x >= f->width * f->dots_x || y >= f->height * f->dots_y)
		return;
	c = &cells[y / f->dots_y][x / f->dots_x];
	c->dots |= bits[y % f->dots_y][x % f->dots_x];
	c->curve = curve;
}

static int dot_y(const struct frame *f, double value)
{
	double share = (f->p->high - value) / (f->p->high - f->p->low);

	return (int)lround(share * (f->height * f->dots_y - 1));
}

/* The same number of bins in every column, counted from time 0: what has been drawn moves, but does not flicker. */
static int dot_x(const struct frame *f, int64_t number)
{
	int64_t dots = (int64_t)f->width * f->dots_x;
	int64_t column = (int64_t)floor((double)number * (double)dots / PLOT_BINS);
	int64_t last = (int64_t)floor((double)f->right * (double)dots / PLOT_BINS);

	return (int)(dots - 1 - (last - column));
}

static void line(const struct frame *f, int x0, int y0, int x1, int y1, uint8_t curve)
{
	int dx = abs(x1 - x0), dy = abs(y1 - y0), steps = dx > dy ? dx : dy;

	for (int i = 0; i <= steps; i++)
		dot(f, steps ? x0 + (int)lround((double)(x1 - x0) * i / steps) : x0,
		    steps ? y0 + (int)lround((double)(y1 - y0) * i / steps) : y0, curve);
}

static void draw_curve(const struct frame *f, uint8_t curve)
{
	const struct plot_curve *c = &f->p->curves[curve];
	bool after = false;
	int x = 0, y = 0;

	for (int64_t number = f->right - PLOT_BINS + 1; number <= f->right; number++) {
		const struct plot_bin *b = bin_at(c, number);
		int here;

		if (!b)
			continue;
		here = dot_x(f, number);
		if (after)
			line(f, x, y, here, dot_y(f, b->first), curve);
		line(f, here, dot_y(f, b->max), here, dot_y(f, b->min), curve);
		after = true;
		x = here;
		y = dot_y(f, b->last);
	}
}

/* ---- characters ---- */

static const char marks[] = "*+ox#@%&=$~abcde";
static const char digits[] = "123456789abcdefg";

static void colour(const struct frame *f, int code)
{
	if (f->p->colour)
		out_text("\033[%dm", code);
}

static void curve_colour(const struct frame *f, size_t curve)
{
	static const int codes[] = { 96, 93, 95, 92, 94, 91, 36, 33, 35, 32, 34, 31 };

	colour(f, codes[curve % (sizeof(codes) / sizeof(*codes))]);
}

/* By which a curve is known. */
static void print_mark(const struct frame *f, size_t curve)
{
	curve_colour(f, curve);
	if (f->p->ascii)
		out_text("%c", marks[curve]);
	else if (f->p->n > 1)
		out_text("%c", digits[curve]);
	else
		out_text("●");
	colour(f, 0);
}

static void end_line(const struct frame *f, bool last)
{
	out_text("%s%s", f->moving ? "\033[K" : "", last && f->moving ? "" : f->moving ? "\r\n" : "\n");
}

static void number_text(char *text, size_t size, double v, double step)
{
	int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

	v = fabs(v) < step / 2 ? 0 : v;
	if (fabs(v) >= 1e9 || step < 1e-6)
		snprintf(text, size, "%.4g", v);
	else
		snprintf(text, size, "%.*f", decimals, v);
}

/* The number beside that row; NaN: none. */
static double tick_at(const struct frame *f, int row)
{
	double v = ceil(f->p->low / f->step - 1e-9) * f->step;

	while (v <= f->p->high + f->step * 1e-6 && dot_y(f, v) / f->dots_y != row)
		v += f->step;
	return v <= f->p->high + f->step * 1e-6 ? v : NAN;
}

static void measure_labels(struct frame *f)
{
	char text[40];

	f->label = 4;
	for (int row = 0; row < f->height; row++) {
		number_text(text, sizeof(text), tick_at(f, row), f->step);
		if (!isnan(tick_at(f, row)) && (int)strlen(text) > f->label)
			f->label = (int)strlen(text);
	}
}

static void print_row(const struct frame *f, int row)
{
	double v = tick_at(f, row);
	bool ascii = f->p->ascii, tick = !isnan(v);
	char text[40] = "";
	int shown = -1; /* the colour that is on; -1: none */

	if (tick)
		number_text(text, sizeof(text), v, f->step);
	out_text("%*s ", f->label, text);
	colour(f, 90);
	out_text("%s", ascii ? (tick ? "+" : "|") : tick ? "┤" : "│");
	colour(f, 0);
	for (int x = 0; x < f->width; x++) {
		const struct cell *c = &cells[row][x];
		int wanted = c->dots ? c->curve : tick && !ascii ? PLOT_CURVES : -1;

		if (wanted != shown) {
			colour(f, 0);
			if (wanted == PLOT_CURVES)
				colour(f, 90);
			else if (wanted >= 0)
				curve_colour(f, (size_t)wanted);
			shown = wanted;
		}
		if (!c->dots)
			out_text("%s", tick && !ascii ? (x % 2 ? " " : "·") : " ");
		else if (ascii)
			out_text("%c", marks[c->curve]);
		else
			out_text("%c%c%c", 0xe2, 0xa0 | c->dots >> 6, 0x80 | (c->dots & 0x3f)); /* U+2800 + dots */
	}
	colour(f, 0);
	/* Which curve is which, where it is now. */
	for (size_t i = 0; i < f->p->n && f->p->n > 1; i++) {
		if (!isfinite(f->p->curves[i].value) || dot_y(f, f->p->curves[i].value) / f->dots_y != row)
			continue;
		print_mark(f, i);
		break;
	}
	end_line(f, false);
}

static void print_time_axis(const struct frame *f)
{
	double window = (double)f->p->window_ns / 1e9, step = round_step(window * TICK_COLUMNS / f->width);
	char ticks[COLUMNS_MAX] = "", labels[COLUMNS_MAX + 32];
	int at = 0;

	memset(labels, ' ', sizeof(labels));
	for (int i = 0; i * step <= window * 1.000001; i++) {
		char text[32], number[24];
		int column = f->width - 1 - (int)lround(i * step / window * (f->width - 1)), start;

		number_text(number, sizeof(number), -i * step, step);
		snprintf(text, sizeof(text), "%s%s", number, i ? "" : " s");
		ticks[column] = 1;
		start = column + f->label + 2 - (int)strlen(number) / 2 - (i > 0);
		start = start < 0 ? 0 : start;
		if (start + (int)strlen(text) > f->columns)
			start = f->columns - (int)strlen(text);
		memcpy(labels + start, text, strlen(text));
		at = start + (int)strlen(text) > at ? start + (int)strlen(text) : at;
	}
	colour(f, 90);
	out_text("%*s %s", f->label, "", f->p->ascii ? "+" : "└");
	for (int x = 0; x < f->width; x++)
		out_text("%s", f->p->ascii ? (ticks[x] ? "+" : "-") : ticks[x] ? "┴" : "─");
	colour(f, 0);
	end_line(f, false);
	out_text("%.*s", at, labels);
	end_line(f, true);
}

/* The unit all curves share, or NULL. */
static const char *common_unit(const struct plot_picture *p)
{
	for (size_t i = 1; i < p->n; i++)
		if (strcmp(p->curves[0].unit, p->curves[i].unit) != 0)
			return NULL;
	return p->n ? p->curves[0].unit : NULL;
}

static void print_title(const struct frame *f)
{
	int room = f->columns - (int)strlen(f->p->title) - 2;

	colour(f, 1);
	out_text("%.*s", f->columns, f->p->title);
	colour(f, 0);
	if (room > 0)
		out_text("  %.*s", room, f->p->status);
	end_line(f, false);
}

/* Returns how many lines it takes; prints them unless only that is asked. */
static int legend(const struct frame *f, bool print)
{
	int at = 0, lines = 1;

	for (size_t i = 0; i < f->p->n; i++) {
		const struct plot_curve *c = &f->p->curves[i];
		char text[128];
		int len;

		snprintf(text, sizeof(text), "%s %s%s%s", c->label, c->now, *c->unit ? " " : "", c->unit);
		len = (int)strlen(text) + 4;
		len = len < 28 ? 28 : len; /* so that it stands still while digits come and go */
		if (at && at + len > f->columns) {
			if (print)
				end_line(f, false);
			at = 0;
			lines++;
		}
		if (print) {
			print_mark(f, i);
			out_text(" %-*.*s", at + len < f->columns ? len - 2 : 0, f->columns - 2, text);
		}
		at += len;
	}
	if (print)
		end_line(f, false);
	return lines;
}

/* ---- the whole ---- */

void plot_draw(struct plot_picture *p, int64_t now_ns, int columns, int lines, bool moving)
{
	struct frame f = { .p = p, .moving = moving, .right = now_ns / bin_ns(p) };
	const char *unit = common_unit(p);
	int head;

	/* Not the last column: the cursor stays on it, and what clears the rest of the line would clear it. */
	f.columns = columns < 31 ? 30 : columns > COLUMNS_MAX ? COLUMNS_MAX : columns - 1;
	lines = lines > LINES_MAX ? LINES_MAX : lines;
	f.dots_x = p->ascii ? 1 : 2;
	f.dots_y = p->ascii ? 1 : 4;
	head = 2 + legend(&f, false); /* title, legend, unit */
	f.height = lines - head - 2 < 4 ? 4 : lines - head - 2;
	scale(p, &f);
	measure_labels(&f);
	f.width = f.columns - f.label - 2 - (p->n > 1);
	memset(cells, 0, sizeof(cells));
	for (size_t i = p->n; i--;) /* the first lies on top */
		draw_curve(&f, (uint8_t)i);

	if (moving)
		out_text("\033[?2026h\033[H"); /* shown at once where the terminal knows how to */
	print_title(&f);
	legend(&f, true);
	out_text("%*s", f.label, unit && strcmp(unit, "1") != 0 ? unit : "");
	end_line(&f, false);
	for (int row = 0; row < f.height; row++)
		print_row(&f, row);
	print_time_axis(&f);
	if (moving)
		out_text("\033[J\033[?2026l");
}
