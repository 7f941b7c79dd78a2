/* script.h: a list of events on soft wires, run through the engine without real time.
 *
 *	# time   who    what
 *	0.000000 node imu attach
 *	0.001000 host 123#DEADBEEF
 *	0.001000 imu 080#
 *	0.010000 fault corrupt 1
 *	0.020000 node imu power off
 *	bus torso
 *	0.030000 host 1FFFFFFF#R
 *	0.100000 end
 *
 * Times are seconds from the start and do not go back.  A node is attached from the start, unless there is a line node
 * NAME attach.  A node exists only if a line names it, so in a script with one node no node acknowledges.
 *
 *	TIME NODE FRAME			a request
 *	TIME fault ...			see fault.h
 *	TIME node NODE attach|detach|up|down|reset|restart|connect|disconnect
 *	TIME node NODE power off|on
 *	TIME node NODE restart-ms N	from then on
 *	TIME node NODE queue N
 *	TIME end			of the run; by default a second after the last line
 *	bus NAME			the lines that follow are for this bus; those before are for the first
 *
 * The same script and seed give the same log, every time and everywhere.
 */
#pragma once

#include "can/wire/engine.h"
#include "config/base/base.h"

#define SCRIPT_BUSES_MAX 16

enum script_what {
	SCRIPT_FRAME,
	SCRIPT_FAULT,
	SCRIPT_ATTACH,
	SCRIPT_COMMAND,
	SCRIPT_RESTART_MS,
	SCRIPT_QUEUE,
	SCRIPT_END,
};

typedef int script_command(struct engine *e, int node, int64_t now_ns);

struct script_line {
	int64_t t_ns;
	unsigned int line; /* in the file, from 1 */
	unsigned int bus;
	enum script_what what;
	char node[ENGINE_NAME_MAX];
	uint32_t number;
	script_command *command; /* SCRIPT_COMMAND */
	union {
		struct frame frame;
		struct engine_fault fault;
	};
};

struct script_node {
	char name[ENGINE_NAME_MAX];
	bool later; /* a line attaches it */
};

struct script {
	struct script_line *lines;
	size_t n, room;
	char bus[SCRIPT_BUSES_MAX][TEXT_NAME_MAX + 1];
	unsigned int buses;
	struct script_node nodes[SCRIPT_BUSES_MAX][ENGINE_NODES];
	unsigned int nodes_n[SCRIPT_BUSES_MAX];
};

/* Reads a file; "-" is standard input.  buses are the names on the command line: a script may name no other.  0 or
 * -errno; each bad line is a line in errors: "stall.wire:3: ...".  Allocates. */
int script_open(struct script *script, const char *path, const char *const *buses, unsigned int n,
		struct error_sink *errors);
void script_close(struct script *script);

/* Runs it.  line is called with each line of the log, without its newline:
 *	(0.001081) torso 123#DEADBEEF		a frame, at its end, as candump -L
 *	# 0.001087 torso imu error 20000008#...	an error frame that the node reports
 *	# 0.001087 torso imu passive tx 128 rx 0
 *	# 0.001087 torso imu purged 123#DEADBEEF reset
 *	# 0.001087 torso imu refused 123#DEADBEEF No buffer space available
 * settings are those of every bus; event, to and outage_ns are ignored.  0, or -ENOMEM. */
int script_run(const struct script *script, const struct engine_settings *settings,
	       void (*line)(void *to, const char *text), void *to);
