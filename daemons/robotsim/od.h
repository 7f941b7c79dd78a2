/* od.h: a CANopen node for simulated devices: object dictionary, SDO server, NMT, PDOs, heartbeat, guarding, EMCY.
 *
 * A device is one table of objects and one of PDOs; everything else follows from them:
 *
 *	static const struct od_object objects[] = {
 *		{ 0x1000, 0, 32, OD_READ, 0x00020192 },		device type
 *		{ 0x1008, 0, .access = OD_READ, .text = "drive" },	longer than 4 bytes: segmented
 *		{ 0x1017, 0, 16, OD_WRITE },			the node produces heartbeats if this is there
 *		{ 0x6041, 0, 16, OD_READ | OD_MAP, 0 },
 *	};
 *	static const struct od_pdo pdos[] = {
 *		{ .number = 1, .tx = true, .cob = 0x180, .type = 255, .map = { 0x60410010 } },	0x1800 and 0x1A00
 *	};
 *	static const struct od_device device = { objects, COUNT, pdos, COUNT, .read = read, .written = written, ... };
 *
 *	od_start(&od, &device, of, 0x20, t_ns);		power: boot-up after boot_ns, then pre-operational
 *	od_frame(&od, &frame, t_ns);			a frame that ended at t_ns
 *	while (od_next_ns(&od) <= now_ns)
 *		if (od_send(&od, now_ns, &frame))
 *
 * The node knows 0x1001, 0x1005, 0x100C, 0x100D, 0x1014, 0x1016, 0x1017 where the table has them.  Frames and times are
 * arguments; nothing here allocates, blocks or reads a clock.
 */
#pragma once

#include "daemons/robotsim/sim_queue.h"

#define OD_OBJECTS_MAX 64
#define OD_PDOS_MAX 24
#define OD_MAP_MAX 8
#define OD_BYTES_MAX 64
#define OD_CONSUMERS_MAX 4

enum { OD_READ = 1, OD_WRITE = 3, OD_MAP = 4, OD_WRITE_ONLY = 2, OD_ADD_NODE = 8 /* to the preset */ };

enum od_nmt { OD_OFF = -1, OD_BOOT = 0, OD_STOPPED = 4, OD_OPERATIONAL = 5, OD_PRE_OPERATIONAL = 0x7F };

/* Abort codes that a device returns itself. */
#define OD_ABORT_RANGE 0x06090030u
#define OD_ABORT_STATE 0x08000022u

/* EMCY codes of a lost master. */
#define OD_LOST_LIFE 0x8130 /* heartbeat or guarding */
#define OD_LOST_RPDO 0x8250

struct od_object {
	uint16_t index;
	uint8_t sub, bits; /* 8, 16, 32; 0: bytes, of text, or of od.bytes if it can be written */
	uint8_t access;
	uint32_t preset;
	const char *text;
};

struct od_pdo {
	uint16_t number; /* from 1 */
	bool tx, free;	 /* free: the map can be written */
	uint32_t cob;	 /* the node number is added; 0: disabled */
	uint8_t type;
	uint32_t map[OD_MAP_MAX];
};

struct od_device {
	const struct od_object *objects;
	size_t objects_n;
	const struct od_pdo *pdos;
	size_t pdos_n;
	bool hides_size;		   /* answers expedited uploads with 0x42: size not indicated */
	int64_t boot_ns, reply_ns, pdo_ns; /* to boot-up, to an SDO reply, to a PDO */

	/* May be NULL.  The value of an object that was set to stored; 0 or an abort code for a value that a client or
	 * a PDO writes; power and NMT reset; the master is lost. */
	uint32_t (*read)(void *of, const struct od_object *object, uint32_t stored);
	uint32_t (*written)(void *of, const struct od_object *object, uint32_t value);
	void (*reset)(void *of);
	void (*lost)(void *of, uint16_t code, int64_t t_ns);
};

struct od_channel { /* a PDO as configured */
	uint32_t cob, map[OD_MAP_MAX];
	uint8_t type, mapped, syncs;
	uint16_t inhibit, event_ms; /* of 100 us; ms */
	int64_t due_ns;		    /* of the event timer, or of the RPDO's time-out */
	uint64_t waits, last;	    /* RPDO until SYNC; TPDO as sent last */
	bool waiting;
};

struct od {
	const struct od_device *device;
	void *of;
	unsigned int node;
	int64_t boot_ns, reply_ns, pdo_ns; /* as those of the device at first */
	enum od_nmt nmt;
	uint32_t value[OD_OBJECTS_MAX];
	uint8_t bytes[OD_BYTES_MAX];
	size_t bytes_n;
	struct od_channel pdo[OD_PDOS_MAX];
	int64_t booted_ns, heartbeat_ns, guard_ns;
	int64_t consumer_ns[OD_CONSUMERS_MAX];
	bool guard_toggle;
	struct {
		const struct od_object *object; /* NULL: no transfer under way */
		bool download, toggle;
		size_t at;
		uint8_t bytes[OD_BYTES_MAX];
	} segments;
	struct sim_queue queue;
	uint64_t aborts, emcys, resets;
};

void od_start(struct od *od, const struct od_device *device, void *of, unsigned int node, int64_t t_ns);
void od_frame(struct od *od, const struct frame *frame, int64_t t_ns);
/* As struct sim_kind has them, of a state that begins with a struct od. */
int64_t od_next_ns(const void *state);
bool od_has_power(const void *state);
void od_power(void *state, bool on, int64_t t_ns);
bool od_send(struct od *od, int64_t now_ns, struct frame *frame);
bool od_is_guarded(const struct od *od); /* would it notice that its master is gone? */
/* Time-outs up to t_ns. */
void od_advance(struct od *od, int64_t t_ns);

uint32_t od_value(const struct od *od, uint16_t index, uint8_t sub);	 /* as stored; 0 if absent */
void od_set(struct od *od, uint16_t index, uint8_t sub, uint32_t value); /* for tests */
/* TPDO number k of the device's table, if it is enabled and the node operational. */
void od_transmit(struct od *od, size_t k, int64_t t_ns);
void od_emcy(struct od *od, uint16_t code, uint8_t error_register, int64_t t_ns);
