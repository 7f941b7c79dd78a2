/* estop_raise.c: raises the level of one robot. */
#include <unistd.h>

#include "launch/view/estop_raise.h"

#define PUT_AGAIN_NS 100000000 /* the ring holds far more than what is put in ESTOP_RAISE_WITHIN_NS */

/* ---- channels ---- */

/* Is the raise, by its numbers, still where it was put? */
static bool is_there(const struct estop_raise *r)
{
	const struct estop_seen now = estop_seen(&r->estop);

	for (int c = 0; c < ESTOP_CHANNELS; c++)
		if (now.id[c] != r->seen.id[c] || now.seq[c] < r->seen.seq[c])
			return false;
	return true;
}

/* A raise to hold stays one only if it is known which lowering the drivers obey; estop does not wait for that. */
static void read_level(struct estop_raise *r, int64_t now_ns)
{
	if (r->level == MSG_LEVEL_ESTOP) {
		estop_read(&r->estop, now_ns);
		return;
	}
	robot_channels_read(&r->channels);
	robot_level_read(&r->estop, &r->channels, now_ns);
}

static void put(struct estop_raise *r, int64_t now_ns)
{
	struct lines lines;

	read_level(r, now_ns);
	if (!r->put || !is_there(r) || now_ns - r->put_ns >= PUT_AGAIN_NS) {
		r->put |= !estop_raise(&r->estop, r->level, r->who, getuid(), r->why, lines_begin(&lines));
		if (!r->put_ns || !r->put)
			memcpy(r->lines.text, lines.text, sizeof(lines.text));
		r->put_ns = now_ns;
		estop_read(&r->estop, now_ns);
		r->seen = estop_seen(&r->estop);
	}
	estop_maintain(&r->estop, now_ns);
}

/* ---- achstart ---- */

static void begin_asking(struct estop_raise *r)
{
	char why[MSG_TEXT_SIZE];

	snprintf(why, sizeof(why), "%s", r->why);
	for (char *p = why; *p; p++)
		if (*p == '\t' || *p == '\n')
			*p = ' ';
	r->asking = !control_call_begin(&r->ask, (const char *const[]){ "raise", msg_level_word(r->level), why, NULL },
					0, &(struct error_sink){ 0 });
}

static void go_on_asking(struct estop_raise *r)
{
	int status = 0;

	if (!r->asking)
		return;
	/* A line to be sent and an answer to be read: neither waits. */
	for (int i = 0; i < 2 && !status; i++)
		status = control_call_step(&r->ask, &(struct error_sink){ 0 });
	if (!status)
		return;
	r->answered = status > 0 && r->ask.ok;
	control_call_end(&r->ask);
	r->asking = false;
}

/* ---- drivers ---- */

static void read_drivers(struct estop_raise *r)
{
	robot_channels_read(&r->channels);
	r->drivers = 0;
	*r->behind = 0;
	for (size_t i = 0; i < r->channels.n; i++) {
		const struct robot_channel *one = r->channels.at[i];
		char name[MSG_NAME_SIZE + 8];

		if (!robot_level_driver(&r->estop, one, name, sizeof(name), r->begun_ns))
			continue;
		r->drivers++;
		r->shown |= one->header.t_publish_ns > r->begun_ns;
		if (one->common.level < r->level)
			lines_append(r->behind, sizeof(r->behind), ", ", "%s", name);
	}
}

/* ---- all ---- */

void estop_raise_begin(struct estop_raise *r, enum msg_level level, const char *who, const char *why)
{
	memset(r, 0, sizeof(*r));
	r->level = level;
	r->who = who;
	r->why = why;
	r->begun_ns = clock_now_ns();
	robot_level_open(&r->estop, false, &(struct error_sink){ 0 });
	put(r, r->begun_ns);
	begin_asking(r);
}

bool estop_raise_step(struct estop_raise *r, int64_t now_ns)
{
	go_on_asking(r);
	put(r, now_ns);
	read_drivers(r);
	return !*r->behind && (r->shown || r->put || r->answered);
}

bool estop_raise_is_hopeless(const struct estop_raise *r)
{
	return !r->drivers && !r->put && !r->asking && !r->estop.channel[0].open && !r->estop.channel[1].open;
}

bool estop_raise_is_absent(const struct estop_raise *r)
{
	return estop_raise_is_hopeless(r) && r->estop.channel[0].status == ACH_ENOENT &&
	       r->estop.channel[1].status == ACH_ENOENT;
}

void estop_raise_end(struct estop_raise *r)
{
	if (r->asking)
		control_call_end(&r->ask);
	r->asking = false;
	robot_channels_close(&r->channels);
	estop_close(&r->estop);
}

bool estop_raise_all(struct estop_raise *r, enum msg_level level, const char *who, const char *why)
{
	const int64_t until_ns = clock_now_ns() + ESTOP_RAISE_WITHIN_NS;
	bool done;

	estop_raise_begin(r, level, who, why);
	while (!(done = estop_raise_step(r, clock_now_ns())) && !estop_raise_is_hopeless(r) &&
	       clock_now_ns() < until_ns)
		clock_wait(NULL, 0, clock_now_ns() + ESTOP_RAISE_EVERY_NS);
	estop_raise_end(r);
	return done;
}
