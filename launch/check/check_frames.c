/* check_frames.c: what drivers say they do on their buses, and whether these have time for it. */
#include "launch/check/check_frames.h"

/* ---- reading ---- */

static const struct robot_bus *read_bus(const struct launch_daemon *daemon, const struct yaml_node *node)
{
	for (size_t i = 0; node && node->kind == YAML_TEXT && i < daemon->buses_n; i++)
		if (!strcmp(daemon->buses[i]->name, node->text))
			return daemon->buses[i];
	return NULL;
}

static int refuse(struct error_sink *errors, const struct yaml_node *node, const char *list, const char *wrong)
{
	return yaml_error(errors, node, "%s: %s", list, wrong);
}

static int read_rows(struct check_frames *frames, const struct launch_daemon *daemon, const struct yaml_node *root,
		     struct error_sink *errors)
{
	const struct yaml_node *list = yaml_find(root, "frames"), *tick = yaml_find(root, "tick_us");
	const unsigned int driver = (unsigned int)(daemon - frames->launch->daemons);
	double us;

	if (tick && !yaml_real(tick, &us) && us > 0 && us < 1e12)
		frames->traffic.drivers[driver].tick_ns = (int64_t)(us * 1000 + 0.5);
	if (!list || list->kind != YAML_LIST)
		return yaml_error(errors, root, "no list \"frames\"");
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		const struct robot_bus *bus = read_bus(daemon, yaml_find(node, "bus"));
		struct traffic_row row = { .driver = driver };
		const char *wrong = bus ? traffic_read_row(&row, node) : "bus is not one of its buses";

		if (wrong)
			return refuse(errors, node, "frames", wrong);
		row.bus = (unsigned int)(bus - frames->launch->robot.buses);
		if (traffic_add(&frames->traffic, &row))
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
		const struct yaml_node *what = yaml_find(node, "what"), *bus = yaml_find(node, "bus");
		const bool channel = bus && yaml_is_null(bus);

		*claim = (struct check_claim){ daemon, read_bus(daemon, bus), "" };
		if (!claim->bus && !channel)
			return refuse(errors, node, "claims", "bus is not one of its buses");
		if (!what || what->kind != YAML_TEXT || !is_claim(what->text, channel))
			return refuse(errors, node, "claims", "what is not a name");
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
		if (wrong)
			return refuse(errors, node, "channels", wrong);
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

void check_frames_begin(struct check_frames *frames, const struct launch *launch)
{
	*frames = (struct check_frames){ .launch = launch, .traffic.reply_ns = TRAFFIC_REPLY_NS };
	for (size_t i = 0; i < launch->daemons_n; i++)
		traffic_driver(&frames->traffic, launch->daemons[i].name, 0);
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		traffic_bus(&frames->traffic, launch->robot.buses[i].name);
		frames->traffic.buses[i].bitrate = (uint32_t)launch->robot.buses[i].bitrate;
		frames->traffic.buses[i].data_bitrate = (uint32_t)launch->robot.buses[i].data_bitrate;
	}
}

void check_frames_free(struct check_frames *frames)
{
	traffic_free(&frames->traffic);
	memset(frames, 0, sizeof(*frames));
}

/* ---- conflicts ---- */

/* A driver has several rows of an identifier if their frames differ in the data. */
static bool seen_before(const struct traffic *traffic, const struct traffic_row *row)
{
	for (const struct traffic_row *other = traffic->rows; other < row; other++)
		if (other->bus == row->bus && other->id == row->id && other->driver == row->driver &&
		    other->tx == row->tx && other->shared == row->shared)
			return true;
	return false;
}

#define CONFLICTS_MAX 64

/* Two daemons on a bus: one line, however many claims and identifiers they have in common. */
struct conflict {
	const struct robot_bus *bus;
	const struct launch_daemon *first, *second;
	const struct check_claim *claim; /* that both make; NULL: none */
	const struct traffic_row *a, *b; /* of the same identifier */
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
	const struct traffic *traffic = &frames->traffic;
	const struct launch *launch = frames->launch;

	for (const struct traffic_row *b = traffic->rows; b < traffic->rows + traffic->rows_n; b++) {
		for (const struct traffic_row *a = seen_before(traffic, b) ? b : traffic->rows; a < b; a++) {
			struct conflict *c;

			if (!traffic_clash(a, b) || seen_before(traffic, a))
				continue;
			c = conflict_of(all, &launch->robot.buses[a->bus], &launch->daemons[a->driver],
					&launch->daemons[b->driver]);
			if (c && c->a)
				c->others |= c->a->id != a->id;
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
			   c->bus->name, c->others ? "identifiers" : "identifier", c->a->id & FRAME_EXT ? 8 : 3,
			   c->a->id & ~FRAME_EXT, c->others ? " and others are" : " is", c->a->tx ? "" : device,
			   c->first->name, first, c->b->tx ? "" : device, c->second->name, second);
}

void check_frames_conflicts(const struct check_frames *frames, struct error_sink *errors)
{
	struct conflicts all = { .n = 0 };

	find_claims(frames, &all);
	find_identifiers(frames, &all);
	for (size_t i = 0; i < all.n; i++)
		report_conflict(&all.rows[i], errors);
}

/* ---- time ---- */

#define ROUNDING 1e-9

/* "larm (line 7) 61 %, lft (line 9) 35 %"; returns the daemon with the largest share. */
static const struct launch_daemon *print_shares(const struct check_frames *frames, unsigned int bus, char *text,
						size_t size)
{
	const struct launch_daemon *largest = NULL;
	double most = 0;

	*text = '\0';
	for (unsigned int i = 0; i < frames->launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &frames->launch->daemons[i];
		const double load = traffic_load(&frames->traffic, bus, i);

		if (load <= 0)
			continue;
		lines_append(text, size, ", ", "%s (line %u) %.0f %%", daemon->name, daemon->node->line, 100 * load);
		largest = load > most ? daemon : largest;
		most = load > most ? load : most;
	}
	return largest;
}

static void report_load(const struct check_frames *frames, unsigned int bus, struct error_sink *errors)
{
	const struct traffic_bus *b = &frames->traffic.buses[bus];
	char shares[ERROR_LINE_MAX / 4];
	const struct launch_daemon *largest = print_shares(frames, bus, shares, sizeof(shares));

	yaml_error(errors, largest ? largest->node : yaml_root(frames->launch->doc),
		   "bus %s: a load of %.1f %% at %lld bit/s, %s, is above %.0f %%: use a longer tick, or "
		   "another bus",
		   b->name, 100 * b->load_most, (long long)b->bitrate, shares, 100 * TRAFFIC_LOAD_MAX);
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

static void report_late(const struct check_frames *frames, unsigned int bus, struct error_sink *errors)
{
	const struct traffic *traffic = &frames->traffic;
	const struct traffic_frame *f = worst(traffic, bus);
	const struct traffic_bus *b = &traffic->buses[bus];
	char advice[TRAFFIC_ADVICE_MAX] = "give a driver another bus", takes[32] = "never end", others[48] = "";

	traffic_advice(traffic, bus, advice);
	if (f->r.response_ns != RESPONSE_NEVER)
		snprintf(takes, sizeof(takes), "take %.3f ms", (double)f->r.response_ns / NS_PER_MS);
	if (b->late > 1)
		snprintf(others, sizeof(others), ", and %u others may be late", b->late - 1);
	yaml_error(errors, frames->launch->daemons[f->driver].node,
		   "bus %s: frame %0*" PRIX32 " may %s, and has to be sent within %.3f ms%s: %s, or write overload: "
		   "report",
		   b->name, f->id & FRAME_EXT ? 8 : 3, f->id & ~FRAME_EXT, takes, (double)f->deadline_ns / NS_PER_MS,
		   others, advice);
}

void check_frames_times(struct check_frames *frames, struct error_sink *errors)
{
	const struct traffic *traffic = &frames->traffic;

	if (traffic_solve(&frames->traffic)) {
		error_add(errors, "%s: no memory to compute the times of frames", frames->launch->path);
		return;
	}
	for (unsigned int bus = 0; bus < traffic->buses_n; bus++)
		if (traffic->buses[bus].load_most > TRAFFIC_LOAD_MAX + ROUNDING)
			report_load(frames, bus, errors);
		else if (traffic->buses[bus].late)
			report_late(frames, bus, errors);
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

void check_frames_bounds(const struct check_frames *frames, struct launch *launch)
{
	for (unsigned int i = 0; i < launch->daemons_n; i++) {
		char *text = NULL;
		size_t len;
		FILE *to = open_memstream(&text, &len);

		if (!to)
			break;
		fprintf(to, CHECK_FRAMES_BOUNDS "=");
		print_bounds(&frames->traffic, i, to);
		if (!fclose(to))
			launch->daemons[i].bounds = arena_copy(yaml_arena(launch->doc), text, len);
		free(text);
	}
}
