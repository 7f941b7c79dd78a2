/* bus_backend.h: the back ends of bus.h.  Only for can/bus.
 *
 * A back end is a struct bus_ops in the table of bus.c and a struct of its own that begins with a struct bus.  bus.c
 * has checked the name before open, and every frame before send; it counts the frames delivered and handed over.
 */
#pragma once

#include "can/bus/bus.h"

struct bus {
	/* by bus.c */
	const struct bus_ops *ops;
	char *name;
	bool fd_frames;	       /* bus_options.fd */
	struct clock_set *set; /* of bus_join, NULL: none */

	/* by the back end; open begins with zeros and sets fd, next_ns and state */
	int fd;
	int64_t next_ns;
	enum bus_state state;
	bool unconfirmed;	/* echoes say nothing: bus_confirms */
	struct bus_stats stats; /* of these attached, dropped, and errors that are not delivered */
};

struct bus_ops {
	const char *prefix; /* of its names: "log:" */

	/* The whole name with its prefix.  NULL if it is valid, else the reason. */
	const char *(*name_wrong)(const char *name);

	/* Makes *bus, or adds a line to errors that says what to do and leaves nothing behind.  options is not NULL;
	 * neither it nor errors may be kept. */
	int (*open)(struct bus **bus, const char *name, const struct bus_options *options, struct error_sink *errors);
	void (*close)(struct bus *bus);				   /* frees *bus */
	int (*settle)(struct bus *bus, struct error_sink *errors); /* NULL: open has waited */

	/* bus_join; NULL: bus.c adds fd, if there is one, to the set. */
	int (*join)(struct bus *bus, struct clock_set *set, uint32_t tag);

	/* bus_wake_by, bus_pending; both NULL: every frame wakes. */
	bool (*wake_by)(struct bus *bus, enum bus_wake wake);
	bool (*pending)(const struct bus *bus);

	int64_t (*paused)(const struct bus *bus, int64_t now_ns); /* bus_paused_ns; NULL: never */

	int (*receive)(struct bus *bus, struct bus_frame *frames, size_t n); /* n is not 0 */
	int (*send)(struct bus *bus, const struct frame *frame);
	void (*flush)(struct bus *bus); /* NULL: send needs none */
};

extern const struct bus_ops bus_socketcan_ops, bus_log_ops, bus_wire_ops;

/* The state after this error frame. */
enum bus_state bus_state_after(enum bus_state state, const struct frame *error);
