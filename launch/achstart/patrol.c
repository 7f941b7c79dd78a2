/* patrol.c: the channels of the robot. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "launch/achstart/patrol.h"

static const char *const suffixes[] = { "-state", "-ref", "-req", "-rep", "-event" };
static const char *const alone[] = { "clock", "achstart-event" };
#define SUFFIXES (sizeof(suffixes) / sizeof(*suffixes))
#define ALONE (sizeof(alone) / sizeof(*alone))

static void add(struct patrol *p, const char *before, const char *after)
{
	char channel[2 * PORT_NAME_MAX];

	snprintf(channel, sizeof(channel), "%s%s", before, after);
	if (!port_name(p->names[p->n], channel))
		p->n++;
}

int patrol_open(struct patrol *p, const struct launch *launch)
{
	*p = (struct patrol){ 0 };
	p->names = calloc(launch->daemons_n * SUFFIXES + launch->robot.buses_n + ALONE, sizeof(*p->names));
	if (!p->names)
		return -ENOMEM;
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *d = &launch->daemons[i];

		/* Beside drivers also of what publishes as one. */
		for (size_t j = 0; j < SUFFIXES && (d->kind == LAUNCH_DRIVER || d->channel); j++)
			add(p, d->device ? d->device->name : d->name, suffixes[j]);
	}
	for (size_t i = 0; i < launch->robot.buses_n; i++)
		add(p, "bus-", launch->robot.buses[i].name);
	for (size_t i = 0; i < ALONE; i++)
		add(p, alone[i], "");
	return 0;
}

void patrol_close(struct patrol *p)
{
	free(p->names);
	*p = (struct patrol){ 0 };
}

/* As a reader finds it; ACH_EAGAIN is an empty one. */
static enum ach_status look_at(const char *name)
{
	static char message[1 << 16]; /* of one thread */
	enum ach_status status;
	ach_channel_t chan;
	size_t len;

	status = ach_open(&chan, name, NULL);
	if (status != ACH_OK)
		return status;
	status = ach_get(&chan, message, sizeof(message), &len, NULL, ACH_O_LAST | ACH_O_COPY);
	ach_close(&chan);
	return status;
}

static bool is_broken(enum ach_status status)
{
	return status == ACH_CORRUPT || status == ACH_BAD_SHM_FILE;
}

bool patrol_mend(const char *name)
{
	if (!is_broken(look_at(name)))
		return false;
	ach_unlink(name);
	return true;
}

const char *patrol_look(struct patrol *p)
{
	const char *name;

	if (!p->n)
		return NULL;
	name = p->names[p->at];
	p->at = (p->at + 1) % p->n;
	/* Twice: it may have been removed and made between the steps of an open. */
	return is_broken(look_at(name)) && patrol_mend(name) ? name : NULL;
}

void patrol_sweep(struct patrol *p)
{
	char name[PORT_NAME_MAX];

	for (size_t i = 0; i < p->n; i++)
		ach_unlink(p->names[i]);
	if (!port_name(name, "estop"))
		ach_unlink(name);
	if (!port_name(name, "estop-b"))
		ach_unlink(name);
}
