/* settings.h: every setting is a row of a table, and nowhere else.
 *
 *	struct waist {
 *		int64_t tick_ns;
 *		double current_a;
 *		char modules[64];
 *	};
 *	static const struct settings_row rows[] = {
 *		SETTINGS_DURATION("tick", struct waist, tick_ns, "5ms", "1ms", "1s", "time between two references"),
 *		SETTINGS_REAL("current", struct waist, current_a, "A", "5", "0", "49", "largest current"),
 *		SETTINGS_TEXT("modules", struct waist, modules, SETTINGS_REQUIRED, "modules of each bus: torso:13,15"),
 *		SETTINGS_END,
 *	};
 *	struct waist waist = { 0 };
 *	struct settings settings = { .rows = rows, .values = &waist };
 *
 *	settings_defaults(&settings, &errors);
 *	settings_read(&settings, node, &errors);			devices.waist.settings of the robot file
 *	settings_assign(&settings, "--set", "current=900", &errors);
 *	settings_missing(&settings, "robot.yaml:9: settings", &errors);
 *	settings_print(&settings, stdout);				--settings
 *
 * Every error is one line, "where: key: what is allowed", and all of a file are reported, not only the first:
 *
 *	robot.yaml:12: torque_limti: unknown setting; did you mean torque_limit?
 *	robot.yaml:9: tick: "fast" is not a duration such as 5ms
 *	--set: current: 900 is above the maximum 49 A
 *
 * Offered to other folders:
 *	options.h program.h robot.h yaml.h
 */
#pragma once

#include "config/settings/yaml.h"

enum settings_type {
	SETTINGS_IS_BOOL,     /* bool: yes no true false */
	SETTINGS_IS_INT,      /* int64_t: 42 0x2A */
	SETTINGS_IS_REAL,     /* double, finite */
	SETTINGS_IS_TEXT,     /* char[N] */
	SETTINGS_IS_WORD,     /* int or enum: index into words */
	SETTINGS_IS_DURATION, /* int64_t ns: 5ms 200us 1s */
	SETTINGS_IS_REALS,    /* double[N] and a size_t count: [1, 2] */
	SETTINGS_IS_INTS,     /* int64_t[N] and a size_t count */
	SETTINGS_IS_NODE,     /* const struct yaml_node *: a part of the file that other code reads */
	SETTINGS_IS_STRING,   /* const char *: belongs to the caller; for options */
	SETTINGS_IS_STRINGS,  /* struct settings_strings: one more each time; for options */
};

struct settings_row {
	const char *key;
	enum settings_type type;
	size_t offset;	     /* of the member in the struct */
	size_t room;	     /* bytes of a text, elements of a list */
	size_t count_offset; /* lists: of the member that counts */
	bool vector;	     /* lists: exactly room elements, and no member counts them */
	const char *unit;    /* "A"; "" for none; of a duration: that of a number without one */
	const char *preset;  /* the default, as in a file; NULL: none, what is in the struct stays; SETTINGS_REQUIRED */
	const char *min, *max;	  /* as in a file; NULL: no limit; of each element of a list */
	const char *const *words; /* end with NULL */
	const char *help;	  /* one line */
	bool joined;		  /* text: a list in a file counts as its elements, with commas between them */
	/* For text with a form of its own: NULL when it is fine, else what it is not: "a frame such as 080#". */
	const char *(*check)(const char *text);
	/* For durations, by settings_check: the least is this number of ticks plus the duration of the row called `of`,
	 * once or twice.  0 is fine where the range has it. */
	unsigned int ticks;
	bool twice;
	const char *of;
	/* For options: what help calls the value, and a letter where an older spelling (-n) must live on. */
	const char *value;
	char letter;
	const char *bare; /* the value if no number follows; NULL: one must follow */
	const char *was;  /* an older key: it is refused, and the line names this one */
};

#define SETTINGS_STRINGS_MAX 64
struct settings_strings {
	const char *item[SETTINGS_STRINGS_MAX];
	size_t n;
};

/* Tables that share one mapping, those of the loop and of the driver, are linked by next. */
struct settings {
	const struct settings_row *rows; /* end with SETTINGS_END; at most 64 */
	void *values;			 /* the struct */
	const char *noun;		 /* default "setting": unknown setting */
	uint64_t given;			 /* bit per row: a file or a command line has said it */
	struct settings *next;
};

/* ---- rows ---- */

extern const char settings_required[];
#define SETTINGS_REQUIRED settings_required

/* The offset, if the member has the type that the row says; else the compiler complains. */
#define SETTINGS_AT(s, m, type) (offsetof(s, m) + 0 * sizeof(_Generic(((s *)NULL)->m, type : 1)))
#define SETTINGS_INT_AT(s, m) (offsetof(s, m) + 0 * sizeof(char[sizeof(((s *)NULL)->m) == sizeof(int) ? 1 : -1]))
#define SETTINGS_ROOM(s, m) (sizeof(((s *)NULL)->m) / sizeof(*((s *)NULL)->m))

/* k key, s struct, m member, u unit, d default, lo and hi limits, h help; behind them .check, .value, .letter */
/* clang-format off */
#define SETTINGS_ROW(k, t, s, m, c, u, d, h, ...) \
	{ .key = k, .type = SETTINGS_IS_##t, .offset = SETTINGS_AT(s, m, c), \
	  .unit = u, .preset = d, .help = h, __VA_ARGS__ }
#define SETTINGS_BOOL(k, s, m, d, h, ...) SETTINGS_ROW(k, BOOL, s, m, bool, "", d, h, __VA_ARGS__)
#define SETTINGS_INT(k, s, m, u, d, lo, hi, h, ...) \
	SETTINGS_ROW(k, INT, s, m, int64_t, u, d, h, .min = lo, .max = hi, __VA_ARGS__)
#define SETTINGS_REAL(k, s, m, u, d, lo, hi, h, ...) \
	SETTINGS_ROW(k, REAL, s, m, double, u, d, h, .min = lo, .max = hi, __VA_ARGS__)
/* u: the unit of a number without one, "s" for --for 5; "" if it must have one */
#define SETTINGS_TIME(k, s, m, u, d, lo, hi, h, ...) \
	SETTINGS_ROW(k, DURATION, s, m, int64_t, u, d, h, .min = lo, .max = hi, __VA_ARGS__)
#define SETTINGS_DURATION(k, s, m, d, lo, hi, h, ...) SETTINGS_TIME(k, s, m, "", d, lo, hi, h, __VA_ARGS__)
#define SETTINGS_TEXT(k, s, m, d, h, ...) \
	SETTINGS_ROW(k, TEXT, s, m, char *, "", d, h, .room = SETTINGS_ROOM(s, m), __VA_ARGS__)
#define SETTINGS_WORD(k, s, m, w, d, h, ...) \
	{ .key = k, .type = SETTINGS_IS_WORD, .offset = SETTINGS_INT_AT(s, m), \
	  .unit = "", .preset = d, .words = w, .help = h, __VA_ARGS__ }
#define SETTINGS_LIST(k, t, s, m, c, n, u, d, lo, hi, h, ...) \
	SETTINGS_ROW(k, t, s, m, c, u, d, h, .room = SETTINGS_ROOM(s, m), .count_offset = SETTINGS_AT(s, n, size_t), \
		     .min = lo, .max = hi, __VA_ARGS__)
#define SETTINGS_REALS(k, s, m, n, u, d, lo, hi, h, ...) \
	SETTINGS_LIST(k, REALS, s, m, double *, n, u, d, lo, hi, h, __VA_ARGS__)
#define SETTINGS_INTS(k, s, m, n, u, d, lo, hi, h, ...) \
	SETTINGS_LIST(k, INTS, s, m, int64_t *, n, u, d, lo, hi, h, __VA_ARGS__)
/* The array is full; its default is the example in the error. */
#define SETTINGS_VECTOR(k, s, m, u, d, lo, hi, h, ...) \
	SETTINGS_ROW(k, REALS, s, m, double *, u, d, h, .room = SETTINGS_ROOM(s, m), .vector = true, \
		     .min = lo, .max = hi, __VA_ARGS__)
#define SETTINGS_NODE(k, s, m, d, h) SETTINGS_ROW(k, NODE, s, m, const struct yaml_node *, "", d, h, )
#define SETTINGS_STRING(k, s, m, d, h, ...) SETTINGS_ROW(k, STRING, s, m, const char *, "", d, h, __VA_ARGS__)
#define SETTINGS_STRINGS(k, s, m, h, ...) \
	SETTINGS_ROW(k, STRINGS, s, m, struct settings_strings, "", NULL, h, __VA_ARGS__)
#define SETTINGS_END { .key = NULL }
/* clang-format on */

/* ---- reading; each returns 0, or -EINVAL with lines in errors ---- */

/* The defaults into the struct.  Finds what is wrong with a table, too: no default that the table itself refuses. */
int settings_defaults(struct settings *settings, struct error_sink *errors);

/* One setting from "key=text", as --set has it; where begins the error line. */
int settings_assign(struct settings *settings, const char *where, const char *assignment, struct error_sink *errors);

/* All of a mapping; NULL stands for an empty one. */
int settings_read(struct settings *settings, const struct yaml_node *map, struct error_sink *errors);

/* A line for each required row that was not given: "where: key is missing: help". */
int settings_missing(const struct settings *settings, const char *where, struct error_sink *errors);

/* All three: the defaults, the mapping, and what is missing in it, for which its line and key are where. */
int settings_fill(struct settings *settings, const struct yaml_node *map, struct error_sink *errors);

/* Call it once all settings are read: adds a line for each duration that is shorter than its row demands. */
int settings_check(const struct settings *settings, int64_t tick_ns, struct error_sink *errors);

bool settings_given(const struct settings *settings, const char *key);

/* ---- writing ---- */

/* The value as text that can be assigned; "" if it has none.  As snprintf; -ENOENT: there is no such
 * setting. */
int settings_text(const struct settings *settings, const char *key, char *text, size_t size);

/* A table for people, 100 columns wide: key, default (value, once something is given), unit, range, help. */
void settings_print(const struct settings *settings, FILE *to);
