/* hub_place.c: the sockets of the buses in RUN/wire, recreated if they were removed. */
#include <unistd.h>

#include "can/wire/hub.h"
#include "config/run.h"

int hub_place(struct hub *hub, struct hub_bus *bus, struct error_sink *errors)
{
	const int status = place_take(&bus->place, hub->folder, errors);

	if (!status)
		hub_add_door(hub, bus->place.listener);
	return status;
}

/* The folder may have been removed and created again. */
static void follow_folder(struct hub *hub)
{
	const int folder = run_folder("wire", &(struct error_sink){ 0 });

	if (folder < 0)
		return;
	close(hub->folder);
	hub->folder = folder;
}

void hub_check_places(struct hub *hub)
{
	struct error_sink quiet = { 0 }; /* the next check is in a second */

	follow_folder(hub);
	for (unsigned int i = 0; i < hub->buses_n; i++)
		if (!place_is_ours(&hub->buses[i].place, hub->folder))
			hub_place(hub, &hub->buses[i], &quiet);
}
