/* hub.h: the server of canwire: its buses, the programs attached to them, and its next wake-up.
 *
 *	struct hub hub;
 *
 *	hub_open(&hub, &errors);
 *	hub_serve(&hub, "torso", &engine_settings, &errors);
 *	struct clock_fd fds[] = { { .fd = hub.bell, .events = POLLIN }, { .fd = hub.doors, .events = POLLIN } };
 *
 *	for (;;) {
 *		clock_wait(fds, 2, hub_turn(&hub, fds[0].ready));
 *		if (fds[1].ready)
 *			hub_doors(&hub);
 *	}
 *
 * The engine (engine.h) computes the events of a bus.  The hub passes it the frames that programs hand over and
 * delivers frames to programs, through the memory of wire.h.  Programs may be killed, stopped, or write nonsense into
 * that memory.
 *
 * Calls go one way: a file calls only files below it in this list (test/lint/layers).
 *
 *	hub.c		the turn: collect, advance, deliver, and when to wake next
 *	hub_serve.c	its page and buses, their locks and sockets in RUN/wire
 *	hub_attach.c	connections, handshakes, ends of programs
 *	hub_control.c	questions in text: statistics, faults, the link
 *	hub_frames.c	frames between programs and engine; controllers
 *
 * Offered to other folders:
 *	fault.h script.h
 */
#pragma once

#include <sys/types.h>

#include "can/bus/wire.h"
#include "can/wire/engine.h"
#include "channels/clock/vt_clock.h"
#include "config/base/base.h"

#define HUB_ATTACHMENTS_MAX 256

/* A connection: first only a socket, then attached as a controller. */
struct hub_attachment {
	int socket; /* -1: free */
	int pidfd;  /* -1: unknown */
	int event;  /* eventfd that wakes the program */
	pid_t pid;
	uint8_t bus, controller;
	struct wire_memory *memory; /* NULL: not attached yet, perhaps never */
	uint32_t flags;
	uint32_t filters_n;
	struct bus_filter *filters;
	uint32_t serial; /* unique, so that no echo goes to another program */
	/* The hub's own copies; the program cannot change them. */
	uint32_t tx_head, tx_tail; /* seen, and taken */
	uint32_t rx_head;
	uint64_t dropped;
	bool ring;	    /* at the end of this turn */
	bool echoed;	    /* the same, unless the program sleeps on when its own frames come back */
	int64_t rung_ns;    /* it was rung then, and has not come yet; 0: it has */
	uint32_t rung_tail; /* what it had taken then */
	bool broken;	    /* it wrote nonsense into its memory: detached at the end of this turn */
};

struct hub_controller {
	char name[TEXT_NAME_MAX + 1]; /* empty: free */
	uint16_t attachments;
	int node; /* of the engine; -1 while no program is attached */
	/* Set by the link's owner; kept while no program is attached. */
	bool down;
	uint32_t restart_ms, queue;
	/* as in the page */
	uint32_t generation, queued, room;
	enum bus_state state;
};

struct hub_bus {
	struct hub *hub;
	char name[TEXT_NAME_MAX + 1];
	struct engine_settings settings;
	struct locked_socket place;
	struct vt_object *seen; /* on a virtual clock: the hash over its frames */
	struct engine engine;
	struct hub_controller controllers[WIRE_CONTROLLERS_MAX];
};

struct hub {
	int64_t gap_ns; /* between two deliveries: fewer wake-ups */
	/* private but for bell and doors */
	int bell;  /* programs ring here */
	int doors; /* an epoll set: listeners, connections, deaths */
	int folder;
	int64_t check_ns; /* next hub_check_places */
	int page_fd;
	struct wire_page *page;
	unsigned int buses_n;
	struct hub_bus *buses; /* WIRE_BUSES_MAX of them */
	struct hub_attachment attachments[HUB_ATTACHMENTS_MAX];
	unsigned int attachments_n; /* none is used beyond */
	int64_t delivered_ns;	    /* when the hub last woke a program */
	uint64_t broken;
	uint32_t serial;
};

int hub_open(struct hub *hub, struct error_sink *errors);
void hub_close(struct hub *hub);

/* Serves one more bus.  0, -EBUSY if another canwire serves it, or another -errno, with a line in errors. */
int hub_serve(struct hub *hub, const char *name, const struct engine_settings *settings, struct error_sink *errors);

/* Handles everything due now; rung: the bell was readable.  Returns the latest time for the next call.  Its last step
 * is to check whether a program has handed over a frame meanwhile. */
int64_t hub_turn(struct hub *hub, bool rung);

/* Called once a second by hub_turn: recreates sockets that were removed, with or without their folder.  Attached
 * programs are not affected. */
#define HUB_CHECK_NS 1000000000
void hub_check_places(struct hub *hub);

/* Connections, ends of programs, questions. */
void hub_doors(struct hub *hub);

/* ---- hub_attach.c ---- */

/* Zeroed memory that other processes can map, of a fixed size, and its descriptor; NULL with errno: there is none. */
void *hub_memory(const char *name, size_t size, int *fd);
/* number: that of an attachment, or of a bus after HUB_LISTENERS.  Does nothing if fd is negative. */
#define HUB_LISTENERS HUB_ATTACHMENTS_MAX
void hub_add_door(struct hub *hub, int fd, uint32_t number);
void hub_detach(struct hub *hub, struct hub_attachment *a);

/* ---- hub_control.c ---- */

/* Answers a line of text; answer has ATTACH_ANSWER_MAX bytes. */
void hub_answer(struct hub *hub, struct hub_bus *bus, char *question, char *answer, int64_t now_ns);

/* ---- hub_frames.c ---- */

/* The controller of that name, created if needed; NULL: there are too many. */
struct hub_controller *hub_controller(struct hub_bus *bus, const char *name);
void hub_publish(struct hub *hub, struct hub_bus *bus, struct hub_controller *c); /* writes it to the page */

/* Takes the frames that a program has handed over so far. */
void hub_collect(struct hub *hub, struct hub_attachment *a, int64_t now_ns);
/* From all programs, in the order of the stamps, so that programs that share a controller share its queue as they would
 * the kernel's. */
void hub_collect_all(struct hub *hub, int64_t now_ns);
bool hub_has_more(const struct hub *hub); /* a program has handed over more since */
uint64_t hub_rung(const void *hub);	  /* for clock_probe: the same, and it must ring */

void hub_event(void *to, const struct engine_event *event); /* of the engine; to is the struct hub_bus */
/* One bell per program and turn, and only for those that sleep. */
void hub_ring_sleepers(struct hub *hub, int64_t now_ns);
/* Programs of devices that did not come when they were rung: the page says so. */
void hub_find_asleep(struct hub *hub, int64_t now_ns);
