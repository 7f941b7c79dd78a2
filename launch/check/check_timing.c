/* check_timing.c: whether the buses have time for the frames of the drivers. */
#include "launch/check/check_timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/base/ns.h"

/* Rows keep their order; drivers and buses are numbered as in the launch.  false: no memory, or too many. */
static bool make_plan(struct traffic *traffic, const struct check_frames *frames, const struct launch *launch)
{
	*traffic = (struct traffic){ .reply_ns = TRAFFIC_REPLY_NS };
	for (size_t i = 0; i < launch->daemons_n; i++) {
		int64_t tick_ns = 0;

		for (size_t k = 0; k < frames->n && !tick_ns; k++)
			if (frames->rows[k].daemon == &launch->daemons[i])
				tick_ns = frames->rows[k].tick_ns;
		if (traffic_driver(traffic, launch->daemons[i].name, tick_ns) < 0)
			return false;
	}
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		const int place = traffic_bus(traffic, launch->robot.buses[i].name);

		if (place < 0)
			return false;
		traffic->buses[place].bitrate = (uint32_t)launch->robot.buses[i].bitrate;
		traffic->buses[place].data_bitrate = (uint32_t)launch->robot.buses[i].data_bitrate;
	}
	for (size_t i = 0; i < frames->n; i++) {
		struct traffic_row row = frames->rows[i].row;

		row.driver = (unsigned int)(frames->rows[i].daemon - launch->daemons);
		row.bus = (unsigned int)(frames->rows[i].bus - launch->robot.buses);
		if (traffic_add(traffic, &row))
			return false;
	}
	return !traffic_solve(traffic);
}

/* The frame that is late by most. */
static const struct traffic_frame *worst(const struct traffic *traffic, unsigned int bus)
{
	const struct traffic_frame *most = NULL;

	for (size_t i = 0; i < traffic->frames_n; i++) {
		const struct traffic_frame *f = &traffic->frames[i];

		if (f->bus == bus && f->late && f->kind == TRAFFIC_SENT &&
		    (!most || f->r.response_ns - f->deadline_ns > most->r.response_ns - most->deadline_ns))
			most = f;
	}
	return most;
}

static void report(const struct traffic *traffic, unsigned int bus, const struct launch *launch,
		   struct error_sink *errors)
{
	const struct traffic_frame *f = worst(traffic, bus);
	const struct traffic_bus *b = &traffic->buses[bus];
	char advice[TRAFFIC_ADVICE_MAX] = "give a driver another bus", takes[32] = "never end", others[48] = "";

	traffic_advice(traffic, bus, advice);
	if (f->r.response_ns != RESPONSE_NEVER)
		snprintf(takes, sizeof(takes), "take %.3f ms", (double)f->r.response_ns / NS_PER_MS);
	if (b->late > 1)
		snprintf(others, sizeof(others), ", and %u others may be late", b->late - 1);
	yaml_error(errors, launch->daemons[f->driver].node,
		   "bus %s: frame %0*" PRIX32 " may %s, and has to be sent within %.3f ms%s: %s, or write overload: "
		   "report",
		   b->name, f->id & FRAME_EXT ? 8 : 3, f->id & ~FRAME_EXT, takes, (double)f->deadline_ns / NS_PER_MS,
		   others, advice);
}

void check_timing(const struct check_frames *frames, const struct launch *launch, struct error_sink *errors)
{
	struct traffic *traffic = calloc(1, sizeof(*traffic));

	if (!traffic || !make_plan(traffic, frames, launch)) {
		error_add(errors, "%s: no memory to compute the times of frames", launch->path);
	} else {
		/* A bus that is too full has a line of its own. */
		for (unsigned int bus = 0; bus < traffic->buses_n; bus++)
			if (traffic->buses[bus].late && traffic->buses[bus].load_most <= TRAFFIC_LOAD_MAX)
				report(traffic, bus, launch, errors);
	}
	if (traffic)
		traffic_free(traffic);
	free(traffic);
}

/* ---- bounds ---- */

static bool first_of_id(const struct traffic *traffic, size_t i)
{
	const struct traffic_frame *f = &traffic->frames[i];

	for (size_t k = 0; k < i; k++) {
		const struct traffic_frame *other = &traffic->frames[k];

		if (other->driver == f->driver && other->bus == f->bus && other->id == f->id && other->kind == f->kind)
			return false;
	}
	return true;
}

/* The bound over all frames with the identifier; 0: one of them has none. */
static int64_t bound_of(const struct traffic *traffic, const struct traffic_frame *f)
{
	int64_t bound_ns = 0;

	for (size_t k = 0; k < traffic->frames_n; k++) {
		const struct traffic_frame *other = &traffic->frames[k];

		if (other->driver != f->driver || other->bus != f->bus || other->id != f->id ||
		    other->kind != TRAFFIC_SENT || !other->r.period_ns)
			continue;
		if (other->r.response_ns == RESPONSE_NEVER)
			return 0;
		if (other->r.response_ns > bound_ns)
			bound_ns = other->r.response_ns;
	}
	return bound_ns;
}

static void print_bounds(const struct traffic *traffic, unsigned int driver, FILE *to)
{
	const char *space = "";

	for (size_t i = 0; i < traffic->frames_n; i++) {
		const struct traffic_frame *f = &traffic->frames[i];
		int64_t bound_ns;

		if (f->driver != driver || f->kind != TRAFFIC_SENT || !first_of_id(traffic, i))
			continue;
		bound_ns = bound_of(traffic, f);
		if (!bound_ns)
			continue;
		fprintf(to, "%s%s:%0*" PRIX32 "=%" PRId64, space, traffic->buses[f->bus].name,
			f->id & FRAME_EXT ? 8 : 3, f->id & ~FRAME_EXT, bound_ns);
		space = " ";
	}
}

void check_timing_bounds(const struct check_frames *frames, struct launch *launch)
{
	struct traffic *traffic = calloc(1, sizeof(*traffic));
	const bool solved = traffic && make_plan(traffic, frames, launch);

	for (size_t i = 0; solved && i < launch->daemons_n; i++) {
		char *text = NULL;
		size_t len;
		FILE *to = open_memstream(&text, &len);

		if (!to)
			break;
		fprintf(to, CHECK_TIMING_VARIABLE "=");
		print_bounds(traffic, (unsigned int)i, to);
		if (!fclose(to))
			launch->daemons[i].bounds = arena_copy(yaml_arena(launch->doc), text, len);
		free(text);
	}
	if (traffic)
		traffic_free(traffic);
	free(traffic);
}
