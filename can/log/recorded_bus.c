/* recorded_bus.c: a bus that is recorded. */
#include "can/log/recorded_bus.h"
#include "channels/clock/clock.h"
#include "config/settings/program.h"

#define BATCH 32
#define BESIDES 8 /* room for a loss and remarks behind a batch */

/* ---- its name ---- */

int recorded_bus_read(struct recorded_bus *t, const char *text)
{
	const char *equals = strchr(text, '='), *colon = strchr(text, ':'), *wrong;
	bool named = equals && (!colon || equals < colon);
	const char *bus = named ? equals + 1 : text, *name = bus, *at = strrchr(bus, '@');
	size_t len;

	wrong = bus_name_wrong(bus);
	if (wrong)
		return program_wrong("%s: %s", text, wrong);
	if (!strncmp(bus, "log:", 4) && strchr(bus, '>'))
		return program_wrong("%s: nothing is sent here: leave out what begins with >", text);
	if (!strncmp(bus, "log:", 4))
		name = at && text_is_name(at + 1) ? at + 1 : "log";
	else if (!strncmp(bus, "wire:", 5))
		name = bus + 5;
	/* wire:torso@logger is torso, heard as logger */
	len = named ? (size_t)(equals - text) : !strncmp(bus, "wire:", 5) ? strcspn(name, "@") : strlen(name);
	name = named ? text : name;
	if (!len || len >= sizeof(t->name))
		return program_wrong("%s: its name in the file has to have 1 to %zu letters: NAME=%s", text,
				     sizeof(t->name) - 1, bus);
	snprintf(t->name, sizeof(t->name), "%.*s", (int)len, name);
	if (!text_is_name(t->name))
		return program_wrong("%s: its name in the file has letters, digits, _ . and -: NAME=%s", text, bus);
	t->text = bus;
	return 0;
}

/* ---- opening ---- */

int recorded_bus_open(struct recorded_bus *t, const struct bus_options *options)
{
	t->held = calloc(1, sizeof(*t->held));
	if (!t->held)
		return program_fail("no memory");
	if (bus_open(&t->bus, t->text, options, &program_errors))
		return EXIT_RETRY;
	t->state = bus_state(t->bus);
	t->error = t->state == BUS_ABSENT ? -ENODEV : t->state == BUS_STOPPED ? -ENETDOWN : 0;
	if (t->error)
		program_say("%s: %s; it is recorded when it comes", t->text,
			    t->state == BUS_ABSENT ? "is not there" : "the link is down");
	return 0;
}

void recorded_bus_close(struct recorded_bus *t)
{
	bus_close(t->bus);
	free(t->held);
}

/* ---- receiving ---- */

static size_t room(const struct recorded_bus_held *h)
{
	return RECORDED_BUS_ROOM - h->n;
}

/* There must be room.  A remark or a loss stays behind the entries added before it, whatever its time. */
static void add(struct recorded_bus_held *h, const struct recorded_bus_entry *entry)
{
	struct recorded_bus_entry *e = &h->entry[(h->first + h->n++) % RECORDED_BUS_ROOM];

	*e = *entry;
	if ((e->note || e->lost) && e->t_ns < h->newest_ns)
		e->t_ns = h->newest_ns;
	if (e->t_ns > h->newest_ns)
		h->newest_ns = e->t_ns;
}

static void note(struct recorded_bus *t, const char *what)
{
	if (room(t->held))
		add(t->held, &(struct recorded_bus_entry){ .t_ns = clock_now_ns(), .note = what });
}

/* Handles the status of bus_receive: down, gone, back, over. */
static void notice(struct recorded_bus *t, int answer)
{
	enum bus_state state = bus_state(t->bus);
	int error = answer < 0 ? answer : 0;

	if (error == -ENODATA) {
		t->ended = true;
		return;
	}
	if (error != t->error) {
		const char *what = error == -ENETDOWN ? "the link is down"
				   : error == -ENODEV ? "the interface is gone"
				   : error	      ? strerror(-error)
						      : "is back";

		note(t, what);
		program_say("%s: %s%s", t->text, what, error && !t->error ? "; it is recorded on when it is back" : "");
		t->error = error;
	} else if (!error && state != t->state && state >= BUS_ERROR_ACTIVE) {
		note(t, bus_state_name(state));
	}
	if (!error)
		t->state = state;
}

void recorded_bus_receive(struct recorded_bus *t, const struct id_filter *ids, bool errors)
{
	struct bus_frame got[BATCH];

	t->more = false;
	while (room(t->held) >= BATCH + BESIDES) {
		int n = bus_receive(t->bus, got, BATCH);
		uint64_t dropped = bus_stats(t->bus)->dropped;

		for (int i = 0; i < n; i++)
			if (got[i].frame.id & FRAME_ERR ? errors : id_filter_want(ids, &got[i].frame))
				add(t->held,
				    &(struct recorded_bus_entry){ .t_ns = got[i].t_ns, .frame = got[i].frame });
		if (dropped != t->dropped)
			add(t->held, &(struct recorded_bus_entry){ .lost = dropped - t->dropped });
		t->dropped = dropped;
		notice(t, n);
		if (n <= 0)
			return;
	}
	t->more = true;
}

/* ---- in order of time ---- */

const struct recorded_bus_entry *recorded_bus_next(struct recorded_bus_held *const *buses, size_t n, int64_t horizon_ns,
						   size_t *bus)
{
	const struct recorded_bus_entry *next = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct recorded_bus_entry *e = &buses[i]->entry[buses[i]->first];

		if (buses[i]->n && e->t_ns <= horizon_ns && (!next || e->t_ns < next->t_ns)) {
			next = e;
			*bus = i;
		}
	}
	if (next) {
		buses[*bus]->first = (buses[*bus]->first + 1) % RECORDED_BUS_ROOM;
		buses[*bus]->n--;
	}
	return next;
}
