/* top.h: achctl top: the robot on the whole screen.
 *
 * top.c is the loop, top_draw.c the layout, with its parts top_joints.c, top_events.c and top_picture.c (pure),
 * top_screen.c the terminal: the only file that uses ncurses.
 */
#pragma once

#include "launch/achctl/table.h"
#include "launch/view/robot_channels.h"
#include "launch/view/status.h"

#define TOP_NOTICE_MAX 200
#define TOP_EVENTS_MAX 64

enum top_pane { TOP_ALL, TOP_DAEMONS, TOP_BUSES, TOP_JOINTS, TOP_CHANNELS };

struct top_event {
	enum tone tone;
	char text[256];
};

struct top {
	struct status view;
	struct robot_channels channels;
	enum top_pane pane;
	struct top_event events[TOP_EVENTS_MAX]; /* a ring */
	uint64_t events_n;			 /* ever */
	size_t from;				 /* the first row, in a pane of its own */
	size_t selected;			 /* daemon, from 1 on; 0: none */
	bool plain;				 /* the terminal has ASCII characters only */
	int64_t now_ns;
	char notice[TOP_NOTICE_MAX];
	enum tone notice_tone;
};

/* ---- layout ---- */

/* On a fresh sheet: paint->lines is 0.  Moves top->from to a row that exists. */
void top_draw(struct top *top, struct paint *paint, size_t width, size_t height);

/* Lines for each of n tables that want some, of which there are `room`: the last ones give way first, and keep the
 * least number as long as they can.  Declared for tests. */
void top_share(size_t *lines, const size_t *least, size_t n, size_t room);

void top_joints(const struct top *top, struct table *table);
void top_picture(const struct top *top, struct paint *paint, size_t width);

/* ---- the last events ---- */

/* A line of events.log; today: "2026-11-19", the date that is left out. */
void top_event_add(struct top *top, const char *line, const char *today);
size_t top_events_kept(const struct top *top);

/* ---- the terminal ---- */

enum top_key {
	TOP_NONE,
	TOP_UP,
	TOP_DOWN,
	TOP_PAGE_UP,
	TOP_PAGE_DOWN,
	TOP_HOME,
	TOP_LETTER /* and from here on letters: TOP_LETTER + 'q' */
};

/* 0; -ENOTTY if stdin or stdout is not a terminal; -ENODEV if $TERM is unknown, or has no cursor motion. */
int top_screen_begin(void);
void top_screen_end(void);
void top_screen_suspend(void); /* after SIGTSTP: gives the terminal back and stops the process */
void top_screen_resume(void);  /* after SIGCONT: takes the terminal again */
void top_screen_resize(void);  /* after SIGWINCH */
size_t top_screen_rows(void);
void top_screen_draw(struct top *top);
/* The next key that was pressed; never waits. */
int top_screen_key(void);
