/* top_picture.c: a robot that balances, as a small picture from its left side, with what it does in words. */
#include <math.h>

#include "launch/achctl/top.h"

#define PICTURE_LINES 9
#define PICTURE_COLUMNS 26		  /* of the drawing; words stand beside it */
#define DOTS_ACROSS (2 * PICTURE_COLUMNS) /* a character of braille has 2 by 4 */
#define DOTS_DOWN (4 * PICTURE_LINES)
#define DOTS_PER_M 17.5
#define AXLE_DOT 29.5 /* from the top */
#define WHEEL_M 0.264
#define BASE_M 0.51  /* axle to waist */
#define UPPER_M 0.95 /* waist to head */
#define HEAD_M 0.09
#define SILENT_NS 200000000 /* balance */
#define TEXT_MAX 80

struct canvas {
	bool dot[DOTS_DOWN][DOTS_ACROSS];
};

static void put_dot(struct canvas *c, double forward_m, double up_m)
{
	const long x = lround(DOTS_ACROSS / 2 + forward_m * DOTS_PER_M), y = lround(AXLE_DOT - up_m * DOTS_PER_M);

	if (x >= 0 && x < DOTS_ACROSS && y >= 0 && y < DOTS_DOWN)
		c->dot[y][x] = true;
}

static void draw_line(struct canvas *c, double forward_m, double up_m, double angle_rad, double long_m)
{
	for (double at_m = 0; at_m <= long_m; at_m += 0.4 / DOTS_PER_M)
		put_dot(c, forward_m + at_m * sin(angle_rad), up_m + at_m * cos(angle_rad));
}

static void draw_circle(struct canvas *c, double forward_m, double up_m, double radius_m)
{
	for (double angle = 0; angle < 2 * M_PI; angle += 0.5 / (radius_m * DOTS_PER_M))
		put_dot(c, forward_m + radius_m * sin(angle), up_m + radius_m * cos(angle));
}

static void draw_robot(struct canvas *c, const struct msg_balance_state *s)
{
	const double upper_rad = s->pitch + s->waist_position;
	const double waist_forward_m = BASE_M * sin(s->pitch), waist_up_m = BASE_M * cos(s->pitch);

	draw_circle(c, 0, 0, WHEEL_M);
	draw_line(c, 0, 0, M_PI + s->travel / WHEEL_M, WHEEL_M); /* a spoke shows that it rolls */
	draw_line(c, 0, 0, s->pitch, BASE_M);
	draw_line(c, 1.5 / DOTS_PER_M, 0, s->pitch, BASE_M); /* the base is thicker */
	draw_line(c, waist_forward_m, waist_up_m, upper_rad, UPPER_M);
	draw_circle(c, waist_forward_m + (UPPER_M + HEAD_M) * sin(upper_rad),
		    waist_up_m + (UPPER_M + HEAD_M) * cos(upper_rad), HEAD_M);
	for (double forward_m = -1.5; forward_m < 1.5; forward_m += 2 / DOTS_PER_M)
		put_dot(c, forward_m, -WHEEL_M - 1 / DOTS_PER_M);
}

/* One character, as UTF-8: its dots are bits of a code point from 0x2800 on. */
static void character(const struct canvas *c, size_t line, size_t column, bool plain, char text[4])
{
	static const unsigned char bits[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	unsigned int dots = 0, n = 0;

	for (size_t y = 0; y < 4; y++)
		for (size_t x = 0; x < 2; x++)
			if (c->dot[4 * line + y][2 * column + x]) {
				dots |= bits[y][x];
				n++;
			}
	if (plain)
		snprintf(text, 4, "%c", n > 2 ? '#' : n ? '.' : ' ');
	else if (!dots)
		snprintf(text, 4, " ");
	else
		snprintf(text, 4, "\xE2%c%c", (int)(0xA0 + (dots >> 6)), (int)(0x80 + (dots & 0x3F)));
}

static double degrees(double rad)
{
	return rad * 180 / M_PI;
}

/* In the order of MSG_INPUT_LOST and so on, and behind them what this version does not know. */
static const struct {
	const char *word;
	enum tone tone;
} inputs[] = { { "lost", TONE_BAD }, { "predicted", TONE_ODD }, { "fresh", TONE_PLAIN }, { "unknown", TONE_BAD } };

static size_t input(uint32_t value)
{
	return value <= MSG_INPUT_FRESH ? value : MSG_INPUT_FRESH + 1;
}

static enum tone mode(const struct msg_balance_state *s, char text[TEXT_MAX])
{
	static const char *const words[] = { "off", "standing up", "standing", "sitting down", "FALLEN" };

	snprintf(text, TEXT_MAX, "%s", s->mode < sizeof(words) / sizeof(*words) ? words[s->mode] : "unknown");
	return s->mode == MSG_BALANCE_FALLEN ? TONE_BAD : s->mode == MSG_BALANCE_STANDING ? TONE_GOOD : TONE_ODD;
}

/* The words of a line, and their tone. */
static enum tone words(const struct top *top, size_t line, char text[TEXT_MAX])
{
	const struct msg_balance_state *s = &top->channels.balance;
	const struct msg_mux_state *mux = &top->channels.mux;
	const int64_t silent_ns = top->now_ns - s->header.t_publish_ns;

	*text = 0;
	switch (line) {
	case 1:
		if (silent_ns < SILENT_NS)
			return mode(s, text);
		snprintf(text, TEXT_MAX, "balance is silent for %.1f s", (double)silent_ns * 1e-9);
		return TONE_BAD;
	case 2:
		snprintf(text, TEXT_MAX, "lean   %6.1f deg   speed  %6.2f m/s", degrees(s->lean), s->speed);
		return TONE_PLAIN;
	case 3:
		snprintf(text, TEXT_MAX, "pitch  %6.1f deg   travel %6.2f m", degrees(s->pitch), s->travel);
		return TONE_PLAIN;
	case 4:
		snprintf(text, TEXT_MAX, "waist  %6.1f deg   %s", degrees(s->waist_position),
			 inputs[input(s->waist)].word);
		return inputs[input(s->waist)].tone;
	case 5:
		snprintf(text, TEXT_MAX, "wheels %6.1f %.1f A   %s", s->current[0], s->current[1],
			 inputs[input(s->wheels)].word);
		return inputs[input(s->wheels)].tone;
	case 6:
		snprintf(text, TEXT_MAX, "imu    %s", inputs[input(s->imu)].word);
		return inputs[input(s->imu)].tone;
	case 7:
		if (top->channels.has_mux) /* of the waist's references */
			snprintf(text, TEXT_MAX, "%.24s follows %.24s", mux->output,
				 *mux->in_charge ? mux->in_charge : "no source");
		return TONE_PLAIN;
	}
	return TONE_PLAIN;
}

void top_picture(const struct top *top, struct paint *paint, size_t width)
{
	const struct msg_balance_state *s = &top->channels.balance;
	struct canvas canvas = { 0 };

	if (isfinite(s->pitch) && isfinite(s->waist_position))
		draw_robot(&canvas, s);
	for (size_t line = 0; line < PICTURE_LINES; line++) {
		char row[3 * PICTURE_COLUMNS + 1], text[TEXT_MAX];
		size_t len = 0, left = width;
		enum tone tone;

		for (size_t column = 0; column < PICTURE_COLUMNS; column++) {
			character(&canvas, line, column, top->plain, row + len);
			len += strlen(row + len);
		}
		table_text(paint, TONE_PLAIN, row, &left);
		table_text(paint, TONE_PLAIN, "  ", &left);
		tone = words(top, line, text);
		table_text(paint, tone, text, &left);
		paint->end(paint);
	}
	paint->end(paint);
}
