/* pciod_list.c: the setting `modules`. */
#include <ctype.h>

#include "daemons/pcio/pcio.h"
#include "daemons/pcio/pciod_list.h"

#define PIECE_MAX 64

struct reading {
	struct pciod_list *list;
	const struct pciod_list_buses *buses;
	struct error_sink *errors;
	char piece[PIECE_MAX]; /* between two commas */
};

/* A line that begins with the setting; has the value -EINVAL. */
#define wrong(r, fmt, ...) error_refuse((r)->errors, -EINVAL, "%s: " fmt, (r)->buses->where, __VA_ARGS__)

static int not_a_module(struct reading *r)
{
	char quoted[TEXT_QUOTED_MAX];

	return wrong(r, "%s is not a module; write 15, 4-7 or larm0:4-7,larm1:8-10", text_quote(quoted, r->piece));
}

/* A number without sign or base; NULL: none.  Else what follows it. */
static const char *number(const char *text, unsigned int *value)
{
	const char *p = text;

	for (*value = 0; isdigit((unsigned char)*p) && p - text < 4; p++)
		*value = *value * 10 + (unsigned int)(*p - '0');
	return p == text ? NULL : p;
}

static int no_bus(struct reading *r, const char *name)
{
	char names[256], quoted[TEXT_QUOTED_MAX];
	struct text_out out = text_out(names, sizeof(names));

	for (unsigned int i = 0; i < r->buses->n; i++)
		text_add(&out, "%s%s", i ? ", " : "", r->buses->name(r->buses->of, i));
	if (name)
		return wrong(r, "%s: this device has no such bus; there is %s", text_quote(quoted, name), names);
	return wrong(r, "%s: on which bus? write %s:%s; there are %s", text_quote(quoted, r->piece),
		     r->buses->name(r->buses->of, 0), r->piece, names);
}

static int add(struct reading *r, unsigned int bus, unsigned int module)
{
	struct pciod_list *list = r->list;
	struct pciod_list_item *item = &list->item[list->n];

	for (unsigned int i = 0; i < list->n; i++)
		if (list->item[i].bus == bus && list->item[i].number == module)
			return wrong(r, "module %u of %s is there twice; write it once", module,
				     r->buses->name(r->buses->of, bus));
	if (list->n == MSG_JOINTS)
		return wrong(r, "more than %d: give some of them to another pciod", MSG_JOINTS);
	item->bus = bus;
	item->number = module;
	list->n++;
	return 0;
}

/* [BUS:]FIRST[-LAST] */
static int read_piece(struct reading *r)
{
	char *colon = strrchr(r->piece, ':');
	const char *p = colon ? colon + 1 : r->piece;
	unsigned int first, last;
	int bus = 0;

	p = number(p, &first);
	if (!p)
		return not_a_module(r);
	last = first;
	if (*p == '-')
		p = number(p + 1, &last);
	if (!p || *p)
		return not_a_module(r);
	if (!first || last > PCIO_MODULE_MAX || first > PCIO_MODULE_MAX)
		return wrong(r, "%s: modules have the numbers 1 to %d", r->piece, PCIO_MODULE_MAX);
	if (first > last)
		return wrong(r, "%s: the lower number comes first; write %u-%u", r->piece, last, first);
	if (colon) {
		*colon = '\0';
		bus = r->buses->find(r->buses->of, r->piece);
		if (bus < 0)
			return no_bus(r, r->piece);
	} else if (r->buses->n != 1) {
		return no_bus(r, NULL);
	}
	for (; first <= last; first++)
		if (add(r, (unsigned int)bus, first))
			return -EINVAL;
	return 0;
}

static void name_joints(struct pciod_list *list, const struct pciod_list_buses *buses)
{
	for (unsigned int i = 0; i < list->n; i++) {
		struct pciod_list_item *item = &list->item[i];
		unsigned int same = 0;

		for (unsigned int k = 0; k < list->n; k++)
			same += list->item[k].number == item->number;
		if (same == 1)
			snprintf(item->joint, sizeof(item->joint), "%u", item->number);
		else
			snprintf(item->joint, sizeof(item->joint), "%.20s.%u", buses->name(buses->of, item->bus),
				 item->number);
	}
}

int pciod_list_read(struct pciod_list *list, const char *text, const struct pciod_list_buses *buses,
		    struct error_sink *errors)
{
	struct reading r = { .list = list, .buses = buses, .errors = errors };

	list->n = 0;
	for (;;) {
		size_t len = strcspn(text, ","), blanks = strspn(text, " "), kept;

		blanks = blanks < len ? blanks : len;
		for (kept = len - blanks; kept && text[blanks + kept - 1] == ' ';)
			kept--;
		snprintf(r.piece, sizeof(r.piece), "%.*s", (int)(kept < PIECE_MAX ? kept : PIECE_MAX), text + blanks);
		if (kept >= PIECE_MAX)
			return not_a_module(&r);
		if (read_piece(&r))
			return -EINVAL;
		if (!text[len])
			break;
		text += len + 1;
	}
	name_joints(list, buses);
	return 0;
}
