/* bus_map.h: where the frames of a log go: --map can0=vcan1 --map can1= --map '*=vcan0'. */
#pragma once

#include "can/bus/bus.h"
#include "can/log/log.h"
#include "config/settings/settings.h"

#define BUS_MAP_BUSES_MAX 60

struct bus_map_bus {
	char name[64];
	struct bus *bus;    /* NULL: not open */
	bool wanted;	    /* the log has a frame for it */
	uint64_t sent;	    /* handed over */
	uint64_t refused;   /* the queue was full for too long */
	uint64_t down;	    /* the link was down or away */
	uint64_t unfit;	    /* no frame for this bus */
	int error;	    /* the last answer of that kind */
	unsigned int since; /* frames handed over since the last check for echoes */
	size_t sends_n;	    /* identifiers that it will be sent: more than BUS_FILTERS_MAX: not passed to it */
	uint32_t sends[BUS_FILTERS_MAX];
	uint16_t find[2 * BUS_FILTERS_MAX]; /* by hash: the index of one of them and 1 */
};

struct bus_map_entry {
	char from[LOG_BUS_MAX];
	bool mapped;		/* the command line names it */
	bool seen;		/* the log has it */
	struct bus_map_bus *to; /* NULL: nowhere */
};

struct bus_map {
	struct bus_map_entry entry[BUS_MAP_BUSES_MAX];
	size_t n;
	struct bus_map_entry *others; /* '*' */
	struct bus_map_bus bus[BUS_MAP_BUSES_MAX];
	size_t buses;
	bool listen; /* receive the frames of other programs, not only echoes */
};

/* The options.  0, or EXIT_WRONG after a line. */
int bus_map_read(struct bus_map *map, const struct settings_strings *maps);

/* That of a bus of the log; unless it is mapped, it goes to the bus of the same name.  NULL: there are too many. */
struct bus_map_entry *bus_map_of(struct bus_map *map, const char *from);

/* That frame will be sent on the bus.  Called before it is opened, so that no frame waits for a change of filters. */
void bus_map_will_send(struct bus_map_bus *b, const struct frame *f);

/* Opens the bus, if it is not open.  0, or EXIT_RETRY after a line. */
int bus_map_open(struct bus_map *map, struct bus_map_bus *b);
void bus_map_close(struct bus_map *map);
