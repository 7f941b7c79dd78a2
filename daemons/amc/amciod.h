/* amciod.h: the driver of AMC drives.
 *
 *	amciod.c	what is declared, received and published
 *	amciod_setup.c	a drive is found, set up or taken over, and watched, by SDO
 *	amciod_turn.c	a tick: commands, faults, requests
 *
 * A drive that is found enabled is taken over as it is: its set-up is read and compared, no NMT command is sent, and
 * no controlword but "enabled".  Any other drive is set up from pre-operational.
 */
#pragma once

#include "can/canopen/cia402.h"
#include "can/canopen/emcy.h"
#include "can/canopen/nmt.h"
#include "can/canopen/pdo.h"
#include "daemons/amc/amc.h"
#include "daemons/amc/amciod_list.h"
#include "daemons/amc/amciod_settings.h"
#include "daemons/drv/drv.h"

#define AMCIOD_PAST 32 /* samples: those of VELOCITY_NS at 1 kHz, and some */
#define AMCIOD_CODE_MAX 24
#define AMCIOD_SLOW_OBJECTS 4 /* voltage; protection of drive and system, status */

/* The identifier of RPDO 3 of a node; that of another PDO is larger by its enum amc_pdo.  All nodes have room up to
 * 0x57F. */
static inline uint32_t amciod_pdo_id(unsigned int node)
{
	return 0x200 + 7 * node;
}

enum amciod_phase {
	AMCIOD_SEEK,   /* is it there, and is it enabled? */
	AMCIOD_ATTACH, /* found enabled, or sending: compare its set-up */
	AMCIOD_SET_UP, /* pre-operational: written and read back */
	AMCIOD_UP,
};

/* The SDO transfer that is under way; there is one at a time. */
enum amciod_job { AMCIOD_NO_JOB, AMCIOD_STATUS, AMCIOD_SCRIPT, AMCIOD_MODE, AMCIOD_ERROR, AMCIOD_SLOW };

struct amciod_drive {
	const struct amciod_settings *settings;
	unsigned int node, bus;
	char name[MSG_NAME_SIZE];
	unsigned int send_rpdo[3], send_sdo, send_nmt, send_guard; /* rows */
	unsigned int got_tpdo, got_second, got_state, got_emcy;	   /* rows */
	unsigned int question;
	enum amc_layout layout, second;

	enum amciod_phase phase;
	int64_t phase_ns;
	bool attached; /* taken over as it was, not set up */
	enum amciod_job job;
	struct pdo_script script, change; /* the set-up; a change of mode */
	unsigned int failures;		  /* of the set-up, in a row */
	struct nmt_node nmt;

	struct amc_scale scale;
	uint32_t mode;	      /* enum amc_mode, as it reports; 0: not known */
	uint32_t mode_wanted; /* 0: as it is */
	uint32_t kov;
	uint32_t slow[AMCIOD_SLOW_OBJECTS]; /* as it last reported, raw */
	unsigned int slow_next;
	int64_t slow_ns;

	/* What it sends. */
	int64_t t_ns;	   /* of the last sample; 0: none */
	int64_t paused_ns; /* of the time since then, at the last tick: nobody's fault */
	struct amc_sample got;
	unsigned int fresh; /* TPDOs since the last tick */
	enum cia402_state state;
	struct amciod_past {
		int64_t t_ns;
		double position_rad;
	} past[AMCIOD_PAST];
	unsigned int past_n;

	/* What it is sent. */
	uint16_t controlword;
	bool followed;	     /* a reference, since it was taken over */
	int64_t enabling_ns; /* since when it should be enabled, and is not; 0: it is */

	/* What is wrong. */
	uint32_t error; /* of the last EMCY, or of object 0x1003 */
	bool error_known;
	bool power_lost;
	bool excused;	  /* a fault by a lost guard is the doing of this driver's absence: it is reset once */
	int64_t reset_ns; /* a reset is under way since; 0: none */
	bool reset_failed;
};

struct amciod {
	struct amciod_settings settings; /* first: the loop fills them in */
	struct amciod_drive drives[AMCIOD_LIST_MAX];
	unsigned int n;
	struct amciod_bus {
		unsigned int send_heartbeat, got_sync;
		int64_t sync_ns, fed_ns, heard_fed_ns;
	} buses[AMCIOD_LIST_MAX];

	bool begun;
	int64_t hold_ns; /* until then a drive that is taken over keeps its current */
	int64_t estop_ns, stop_ns;
	uint32_t clear; /* handle of the request, if clearing */
	bool clearing;
};

/* ---- amciod_setup.c ---- */

/* The steps that set it up. */
void amciod_script(struct amciod_drive *d);
bool amciod_known(const struct amciod_drive *d);		  /* its scale and its mode */
bool amciod_silent(const struct amciod_drive *d, int64_t now_ns); /* it sent samples, and does not any more */
/* Once a tick: goes on with what is to be read or written, as each answer does. */
void amciod_setup(struct amciod *a, struct drv *drv, struct amciod_drive *d, const struct drv_orders *orders);
bool amciod_answer(void *self, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply);
void amciod_seek(struct amciod_drive *d, int64_t now_ns);

/* ---- amciod_turn.c ---- */

enum drv_step amciod_start(void *self, struct drv *drv, const struct drv_orders *orders);
void amciod_tick(void *self, struct drv *drv, const struct drv_orders *orders);
enum drv_step amciod_stop(void *self, struct drv *drv, const struct drv_orders *orders);
int amciod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns);
