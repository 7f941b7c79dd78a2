/* pdo.h: sets up a CANopen node: objects and PDO mappings written, then read back, one SDO at a time.
 *
 *	struct pdo_script script = { 0 };
 *
 *	pdo_add(&script, PDO_STEP_READ, 0x20D8, 0x0C, 2, 0);		kept, for pdo_value
 *	pdo_add(&script, PDO_STEP_SET, 0x1016, 1, 4, 0x7F00C8);		written and read back
 *	pdo_map(&script, &tpdo26);			disabled, mapped, typed, enabled; read back
 *	pdo_off(&script, PDO_SENT, 4);			disabled where it is enabled
 *
 *	pdo_begin(&script, PDO_WRITE);			or PDO_CHECK: nothing is written
 *	result = pdo_step(&script, node, &request);	the next request to the node
 *	result = pdo_done(&script, sdo_reply(&request, &reply, &value), value);
 *
 * PDO_CHECK is for a node that another process has set up: it stays as it is.  A transfer without a reply is begun
 * again a few times.  Pure; no allocation.
 */
#pragma once

#include "can/canopen/sdo.h"

#define PDO_OFF 0x80000000u /* in a COB-id: this PDO does not exist */
#define PDO_ASYNC 0xFE	    /* transmission type: the device sends, or acts, when it likes */
#define PDO_MAPPED_MAX 8
#define PDO_STEPS_MAX 64
#define PDO_TRIES 3

enum pdo_kind { PDO_RECEIVED = 0x1400, PDO_SENT = 0x1800 }; /* by the node; mappings are 0x200 further */

struct pdo {
	enum pdo_kind kind;
	unsigned int number; /* from 1 */
	uint32_t id;
	uint8_t type;			 /* 1 to 240: SYNCs between two of it */
	unsigned int mapped;		 /* 0: its mapping is fixed */
	uint32_t object[PDO_MAPPED_MAX]; /* index << 16 | sub-index << 8 | bits */
};

enum pdo_how {
	PDO_STEP_WRITE, /* passed over by PDO_CHECK, not read back */
	PDO_STEP_SET,	/* written, and read back */
	PDO_STEP_READ,
	PDO_STEP_DISABLE, /* read; written with PDO_OFF if that is not set; read back */
	PDO_STEP_CHECK,	  /* read back only: another object shows what was written */
};

struct pdo_step {
	uint16_t index;
	uint8_t sub, bytes;
	uint8_t how; /* enum pdo_how */
	uint32_t value;
};

enum pdo_mode { PDO_WRITE, PDO_CHECK };

struct pdo_script {
	struct pdo_step steps[PDO_STEPS_MAX];
	unsigned int n;
	bool full; /* a step did not fit */

	/* private */
	unsigned int at, tries;
	bool checks, writes_off;
};

enum pdo_result {
	PDO_BUSY,
	PDO_DONE,
	PDO_DIFFERS, /* the object of pdo_at has another value */
	PDO_REFUSED, /* aborted */
	PDO_SILENT,  /* no reply, PDO_TRIES times */
};

void pdo_add(struct pdo_script *script, enum pdo_how how, uint16_t index, uint8_t sub, uint8_t bytes, uint32_t value);
void pdo_map(struct pdo_script *script, const struct pdo *pdo);
void pdo_off(struct pdo_script *script, enum pdo_kind kind, unsigned int number);

void pdo_begin(struct pdo_script *script, enum pdo_mode mode); /* and forgets what was read before */
/* The next request.  PDO_BUSY, or PDO_DONE: there is none. */
enum pdo_result pdo_step(struct pdo_script *script, unsigned int node, struct frame *request);
/* code and value: of sdo_reply. */
enum pdo_result pdo_done(struct pdo_script *script, uint32_t code, uint32_t value);

const struct pdo_step *pdo_at(const struct pdo_script *script);			  /* the step that failed */
uint32_t pdo_value(const struct pdo_script *script, uint16_t index, uint8_t sub); /* of a PDO_STEP_READ; 0: not yet */
