/* check_frames.c: what drivers say they do on their buses. */
#include "launch/check/check_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "can/bus/bits_fd.h"
#include "config/base/lines.h"

/* ---- reading ---- */

static const struct robot_bus *read_bus(const struct launch_daemon *daemon, const struct yaml_node *node)
{
	for (size_t i = 0; node && node->kind == YAML_TEXT && i < daemon->buses_n; i++)
		if (!strcmp(daemon->buses[i]->name, node->text))
			return daemon->buses[i];
	return NULL;
}

static int add_row(struct check_frames *frames, const struct check_frame *row)
{
	struct check_frame *more;

	if (frames->n == frames->room) {
		more = realloc(frames->rows, (2 * frames->room + 64) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		frames->rows = more;
		frames->room = 2 * frames->room + 64;
	}
	frames->rows[frames->n++] = *row;
	return 0;
}

static int read_rows(struct check_frames *frames, const struct launch_daemon *daemon, const struct yaml_node *root,
		     struct error_sink *errors)
{
	const struct yaml_node *list = yaml_find(root, "frames"), *tick = yaml_find(root, "tick_us");
	int64_t tick_ns = 0;
	double us;

	if (tick && !yaml_real(tick, &us) && us > 0 && us < 1e12)
		tick_ns = (int64_t)(us * 1000 + 0.5);
	if (!list || list->kind != YAML_LIST) {
		yaml_error(errors, root, "no list \"frames\"");
		return -EINVAL;
	}
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		struct check_frame row = { .daemon = daemon,
					   .bus = read_bus(daemon, yaml_find(node, "bus")),
					   .tick_ns = tick_ns };
		const char *wrong = row.bus ? traffic_read_row(&row.row, node) : "bus is not one of its buses";

		if (wrong) {
			yaml_error(errors, node, "frames: %s", wrong);
			return -EINVAL;
		}
		if (add_row(frames, &row))
			return error_refuse(errors, -ENOMEM, "%s", strerror(ENOMEM));
	}
	return 0;
}

/* A channel's name is longer than a device's. */
static bool is_claim(const char *what, bool channel)
{
	return channel ? *what && strlen(what) < sizeof(((struct check_claim *)NULL)->what) : text_is_name(what);
}

static int read_claims(struct check_frames *frames, const struct launch_daemon *daemon, const struct yaml_node *root,
		       struct error_sink *errors)
{
	const struct yaml_node *node = yaml_first(yaml_find(root, "claims"));

	for (; node && frames->claims_n < CHECK_CLAIMS_MAX; node = node->next) {
		struct check_claim *claim = &frames->claims[frames->claims_n];
		const struct yaml_node *what = yaml_find(node, "what");

		const struct yaml_node *bus = yaml_find(node, "bus");
		const bool channel = bus && yaml_is_null(bus);

		*claim = (struct check_claim){ daemon, read_bus(daemon, bus), "" };
		if ((!claim->bus && !channel) || !what || what->kind != YAML_TEXT || !is_claim(what->text, channel)) {
			yaml_error(errors, node, "claims: %s",
				   claim->bus || channel ? "what is not a name" : "bus is not one of its buses");
			return -EINVAL;
		}
		snprintf(claim->what, sizeof(claim->what), "%s", what->text);
		frames->claims_n++;
	}
	return 0;
}

static int read_channels(struct check_frames *frames, const struct launch_daemon *daemon, const struct yaml_node *root,
			 struct error_sink *errors)
{
	const struct yaml_node *node = yaml_first(yaml_find(root, "channels"));

	for (; node; node = node->next) {
		struct launch_channel *channel = &frames->channels[frames->channels_n];
		const struct yaml_node *name = yaml_find(node, "name");
		const char *way = yaml_text(node, "dir", ""), *wrong = NULL;

		if (!name || name->kind != YAML_TEXT || !*name->text || strlen(name->text) >= sizeof(channel->name))
			wrong = "name is not that of a channel";
		else if (strcmp(way, "in") != 0 && strcmp(way, "out") != 0)
			wrong = "dir is not in or out";
		else if (frames->channels_n == CHECK_CHANNELS_MAX)
			wrong = "there are too many, of all drivers";
		if (wrong) {
			yaml_error(errors, node, "channels: %s", wrong);
			return -EINVAL;
		}
		snprintf(channel->name, sizeof(channel->name), "%s", name->text);
		channel->daemon = daemon;
		channel->reads = !strcmp(way, "in");
		frames->channels_n++;
	}
	return 0;
}

int check_frames_read(struct check_frames *frames, const struct launch_daemon *daemon, const char *text, size_t len,
		      struct error_sink *errors)
{
	struct launch_place place = { daemon->node, errors };
	struct error_sink placed = launch_sink(&place);
	char name[LAUNCH_PATH_MAX];
	struct yaml *doc;
	int err;

	snprintf(name, sizeof(name), "%s --frames", daemon->argv[0]);
	err = yaml_open_text(&doc, name, text, len, &placed);
	if (err)
		return err;
	err = read_rows(frames, daemon, yaml_root(doc), &placed);
	if (!err)
		err = read_claims(frames, daemon, yaml_root(doc), &placed);
	if (!err)
		err = read_channels(frames, daemon, yaml_root(doc), &placed);
	yaml_close(doc);
	return err;
}

void check_frames_free(struct check_frames *frames)
{
	free(frames->rows);
	memset(frames, 0, sizeof(*frames));
}

/* ---- conflicts ---- */

static bool same_id(const struct check_frame *a, const struct check_frame *b)
{
	return a->bus == b->bus && a->row.id == b->row.id;
}

/* A driver has several rows of an identifier if their frames differ in the data. */
static bool seen_before(const struct check_frames *frames, size_t i)
{
	const struct check_frame *row = &frames->rows[i];

	for (size_t j = 0; j < i; j++) {
		const struct check_frame *other = &frames->rows[j];

		if (same_id(row, other) && other->daemon == row->daemon && other->row.tx == row->row.tx &&
		    other->row.shared == row->row.shared)
			return true;
	}
	return false;
}

static bool is_answer(const struct check_frame *asked, const struct check_frame *row)
{
	return row->bus == asked->bus && row->daemon == asked->daemon && traffic_is_answer(&asked->row, &row->row);
}

static bool clash(const struct check_frame *a, const struct check_frame *b)
{
	struct traffic_row other = b->row;

	other.driver = a->row.driver + (a->daemon != b->daemon);
	return a->bus == b->bus && traffic_clash(&a->row, &other);
}

#define CONFLICTS_MAX 64

/* Two daemons on a bus: one line, however many claims and identifiers they have in common. */
struct conflict {
	const struct robot_bus *bus;
	const struct launch_daemon *first, *second;
	const struct check_claim *claim; /* that both make; NULL: none */
	const struct check_frame *a, *b; /* of the same identifier */
	bool others;			 /* they have other identifiers in common, too */
};

struct conflicts {
	struct conflict rows[CONFLICTS_MAX];
	size_t n;
};

/* The conflict of these two on that bus, found before or new; NULL: too many. */
static struct conflict *conflict_of(struct conflicts *all, const struct robot_bus *bus,
				    const struct launch_daemon *first, const struct launch_daemon *second)
{
	for (size_t i = 0; i < all->n; i++) {
		struct conflict *c = &all->rows[i];

		if (c->bus == bus &&
		    ((c->first == first && c->second == second) || (c->first == second && c->second == first)))
			return c;
	}
	if (all->n == CONFLICTS_MAX)
		return NULL;
	all->rows[all->n] = (struct conflict){ .bus = bus, .first = first, .second = second };
	return &all->rows[all->n++];
}

/* Any number of daemons may read a log. */
static void find_claims(const struct check_frames *frames, struct conflicts *all)
{
	for (size_t i = 0; i < frames->claims_n; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct check_claim *a = &frames->claims[j], *b = &frames->claims[i];
			struct conflict *c;

			if (a->daemon == b->daemon || a->bus != b->bus || strcmp(a->what, b->what) != 0 ||
			    (a->bus && !strncmp(a->bus->interface, "log:", 4)))
				continue;
			c = conflict_of(all, a->bus, a->daemon, b->daemon);
			if (c && !c->claim)
				c->claim = a;
		}
	}
}

static void find_identifiers(const struct check_frames *frames, struct conflicts *all)
{
	for (size_t i = 0; i < frames->n; i++) {
		for (size_t j = seen_before(frames, i) ? i : 0; j < i; j++) {
			const struct check_frame *a = &frames->rows[j], *b = &frames->rows[i];
			struct conflict *c;

			if (!clash(a, b) || seen_before(frames, j))
				continue;
			c = conflict_of(all, a->bus, a->daemon, b->daemon);
			if (c && c->a)
				c->others |= !same_id(c->a, a);
			else if (c)
				c->a = a, c->b = b;
		}
	}
}

static void report_conflict(const struct conflict *c, struct error_sink *errors)
{
	const char *device = "the device of ";
	const unsigned int first = c->first->node->line, second = c->second->node->line;

	if (c->claim && !c->bus)
		yaml_error(errors, c->second->node,
			   "%s (line %u) and %s (line %u) both write %s, which only one of them may: correct their "
			   "settings in the robot file, or take one out",
			   c->first->name, first, c->second->name, second, c->claim->what);
	else if (c->claim)
		yaml_error(errors, c->second->node,
			   "bus %s: %s (line %u) and %s (line %u) both need its %s, which only one of them can have: "
			   "make them one device, or give one another bus",
			   c->bus->name, c->first->name, first, c->second->name, second, c->claim->what);
	else
		yaml_error(errors, c->second->node,
			   "bus %s: %s %0*X%s sent by %s%s (line %u) and by %s%s (line %u): give one of them other "
			   "ids, or another bus",
			   c->bus->name, c->others ? "identifiers" : "identifier", c->a->row.id & FRAME_EXT ? 8 : 3,
			   c->a->row.id & ~FRAME_EXT, c->others ? " and others are" : " is", c->a->row.tx ? "" : device,
			   c->first->name, first, c->b->row.tx ? "" : device, c->second->name, second);
}

void check_frames_conflicts(const struct check_frames *frames, struct error_sink *errors)
{
	struct conflicts all = { .n = 0 };

	find_claims(frames, &all);
	find_identifiers(frames, &all);
	for (size_t i = 0; i < all.n; i++)
		report_conflict(&all.rows[i], errors);
}

/* ---- load ---- */

#define ROUNDING 1e-9

static double rate(const struct check_frame *row)
{
	return row->row.period_ns ? 1e9 / (double)row->row.period_ns : 0;
}

struct flow {
	double load; /* share of the time, at most */
	double hz;
};

static void add_flow(struct flow *flow, const struct robot_bus *bus, double often, const struct check_frame *row,
		     unsigned int len, uint8_t flags)
{
	const struct bits_rates rates = { (uint32_t)bus->bitrate, (uint32_t)bus->data_bitrate };

	flow->load += often * (double)bits_frame_ns(&rates, row->row.id, len, flags, true) / 1e9;
	flow->hz += often;
}

/* A frame that a driver takes is on the bus as often as it is asked for, or as often as it comes unasked, whichever is
 * more.  The first row of an identifier stands for all of them. */
static void add_taken(struct flow *flow, const struct check_frames *frames, size_t i)
{
	const struct check_frame *row = &frames->rows[i], *longest = row;
	double asked = 0, unasked = 0;

	for (size_t j = 0; j < frames->n; j++) {
		const struct check_frame *other = &frames->rows[j];

		if (is_answer(other, row))
			asked += rate(other);
		if (other->row.tx || other->daemon != row->daemon || !same_id(other, row))
			continue;
		if (j < i)
			return;
		unasked += rate(other);
		longest = other->row.len > longest->row.len ? other : longest;
	}
	add_flow(flow, row->bus, asked > unasked ? asked : unasked, row, longest->row.len, longest->row.flags);
}

/* An answer that no row describes has eight bytes. */
static bool is_described(const struct check_frames *frames, const struct check_frame *asked)
{
	for (size_t i = 0; i < frames->n; i++)
		if (is_answer(asked, &frames->rows[i]))
			return true;
	return false;
}

/* The flow of one daemon, or of all (NULL). */
static struct flow flow_of(const struct check_frames *frames, const struct robot_bus *bus,
			   const struct launch_daemon *daemon)
{
	struct flow flow = { 0 };

	for (size_t i = 0; i < frames->n; i++) {
		const struct check_frame *row = &frames->rows[i];

		if (row->bus != bus || (daemon && row->daemon != daemon))
			continue;
		if (!row->row.tx) {
			add_taken(&flow, frames, i);
			continue;
		}
		add_flow(&flow, bus, rate(row), row, row->row.len, row->row.flags);
		if (row->row.answered && !is_described(frames, row))
			add_flow(&flow, bus, rate(row), row, FRAME_DATA_MAX, 0);
	}
	return flow;
}

double check_frames_load(const struct check_frames *frames, const struct robot_bus *bus)
{
	return flow_of(frames, bus, NULL).load;
}

double check_frames_hz(const struct check_frames *frames, const struct robot_bus *bus)
{
	return flow_of(frames, bus, NULL).hz;
}

/* "larm (line 7) 61 %, lft (line 9) 35 %"; returns the daemon with the largest share. */
static const struct launch_daemon *print_shares(const struct check_frames *frames, const struct launch *launch,
						const struct robot_bus *bus, char *text, size_t size)
{
	const struct launch_daemon *largest = NULL;
	double most = 0;

	*text = '\0';
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];
		const double load = flow_of(frames, bus, daemon).load;

		if (load <= 0)
			continue;
		lines_append(text, size, ", ", "%s (line %u) %.0f %%", daemon->name, daemon->node->line, 100 * load);
		largest = load > most ? daemon : largest;
		most = load > most ? load : most;
	}
	return largest;
}

void check_frames_loads(const struct check_frames *frames, const struct launch *launch, struct error_sink *errors)
{
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		const struct robot_bus *bus = &launch->robot.buses[i];
		double load = check_frames_load(frames, bus);
		const struct launch_daemon *largest;
		char shares[ERROR_LINE_MAX / 4];

		if (load <= CHECK_LOAD_MAX + ROUNDING)
			continue;
		largest = print_shares(frames, launch, bus, shares, sizeof(shares));
		yaml_error(errors, largest ? largest->node : yaml_root(launch->doc),
			   "bus %s: a load of %.1f %% at %lld bit/s, %s, is above %.0f %%: use a longer tick, or "
			   "another bus",
			   bus->name, 100 * load, (long long)bus->bitrate, shares, 100 * CHECK_LOAD_MAX);
	}
}
