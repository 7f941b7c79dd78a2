/* pciod.h: the driver of PowerCube modules, what its files share.
 *
 * pciod_settings.h	settings
 * pciod.c		what is declared, main
 * pciod_turn.c		each tick: commands and questions for every module
 * pciod_io.c		what arrives, and the state message
 * pciod_job.c		requests that take longer: home, clear, reset
 *
 * below them, pure
 * pciod_home.c		the modules of a request home
 * pciod_module*.c	one module
 * pciod_actuator*.c	its life: taking over, halts, resets, homing, latches
 * pciod_list.c		the setting modules
 * pcio.c		the codec
 */
#pragma once

#include "daemons/pcio/pciod_home.h"
#include "daemons/pcio/pciod_module.h"

struct pciod_joint {
	struct pciod_module module;
	unsigned int bus;
	unsigned int sends[PCIO_SENDS];	    /* of drv_add_send */
	unsigned int questions[PCIO_SENDS]; /* of drv_add_question; of halt and watchdog there are none */
	unsigned int receive;		    /* of drv_add_receive */
	uint32_t want;			    /* questions of this tick that have not found room yet */
	char name[MSG_NAME_SIZE];
	char code[PCIOD_CODE_MAX], text[PCIOD_WORDS_MAX]; /* what is wrong with it; "": nothing */
};

struct pciod_bus {
	unsigned int modules;		    /* on it */
	unsigned int watchdog;		    /* of drv_add_send */
	int64_t fed_ns;			    /* 100#07 was last put; 0: never */
	int64_t heard_fed_ns;		    /* and last on the wire */
	int64_t clock_ns;		    /* 100#0F was last on the wire; 0: never */
	uint8_t joint[PCIO_MODULE_MAX + 1]; /* joint of each module, + 1; 0: not ours */
};

enum pciod_job_kind { PCIOD_JOB_NONE, PCIOD_JOB_HOME, PCIOD_JOB_CLEAR };

struct pciod_job { /* one at a time */
	enum pciod_job_kind kind;
	struct pciod_home home;
	bool begins; /* in this tick: what was wrong before it was asked for does not count */
	/* of a clear: */
	uint32_t handle;
	uint64_t joints; /* bits of those that it was begun for */
	double left_s;
	char refused[PCIOD_WORDS_MAX]; /* why it could not do all of it */
};

struct pciod {
	struct pciod_settings settings;

	struct pciod_joint joints[MSG_JOINTS];
	unsigned int joints_n;
	struct pciod_bus buses[MSG_BUSES];
	bool begun;
	int64_t stop_ns; /* since when it is stopping; 0: it is not */
	struct pciod_job job;

	/* faults as last reported */
	bool unwell;
	bool latch_reported; /* to the loop, by this process: what the module itself says */
	char text[PCIOD_WORDS_MAX];
};

/* pciod_turn.c: of struct drv_driver */
enum drv_step pciod_start(void *self, struct drv *drv, const struct drv_orders *orders);
void pciod_tick(void *self, struct drv *drv, const struct drv_orders *orders);
enum drv_step pciod_stop(void *self, struct drv *drv, const struct drv_orders *orders);
/* The tag of a question; drv_ask.h. */
#define PCIOD_TAG(joint, question) ((joint) << 8 | (question))
/* The questions of this tick, as many as there is room for; the rest when some have been sent. */
void pciod_ask_more(struct pciod *p, struct drv *drv, int64_t now_ns);
int64_t pciod_feed_period_ns(const struct pciod *p);		     /* of 100#07 */
void pciod_forgive(struct pciod *p, unsigned int bus, int64_t t_ns); /* we were away */
uint32_t pciod_latches(const struct pciod *p);			     /* of all modules */

/* pciod_io.c: of struct drv_driver, too */
bool pciod_rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got);
bool pciod_answer(void *self, struct drv *drv, const struct drv_ask_answer *answer, const struct bus_frame *reply);
void pciod_sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns);
void pciod_lost(void *self, struct drv *drv, unsigned int send, const struct frame *frame);
int64_t pciod_fill(void *self, struct drv *drv, void *state, int64_t now_ns);

/* pciod_job.c */
int pciod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns);
int pciod_cancel(void *self, struct drv *drv, uint32_t handle, int why);
void pciod_job_step(struct pciod *p, struct drv *drv, const struct drv_orders *orders);
