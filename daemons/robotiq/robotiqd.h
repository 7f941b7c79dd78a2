/* robotiqd.h: the driver of a Robotiq gripper.
 *
 *	robotiqd.c	what is declared and published; a tick: references, levels, silence
 *	robotiqd_io.c	output registers that have to be written, images, SDO and PDO
 *	robotiqd_job.c	activation, change of mode, faults, requests of clients
 *
 * One SDO request is under way at a time.  A tick decides what the output registers should be.  Those that differ are
 * written; when the gripper has had the time to act on them all input registers are read: an image.  A write that stops
 * the fingers interrupts that, and the image begins again.  Every other write waits for the image.
 */
#pragma once

#include "daemons/drv/drv.h"
#include "daemons/robotiq/robotiq.h"
#include "daemons/robotiq/robotiqd_settings.h"

#define ROBOTIQD_AGAIN_NS 1000000000
#define ROBOTIQD_ACTIVATION (MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED)

/* Rows; the first two are questions, too. */
enum { ROBOTIQD_SEND_READ, ROBOTIQD_SEND_WRITE, ROBOTIQD_SEND_NMT, ROBOTIQD_SEND_PDO };
enum { ROBOTIQD_GOT_SDO, ROBOTIQD_GOT_NMT, ROBOTIQD_GOT_PDO1, ROBOTIQD_GOT_PDO2 };

enum robotiqd_job { ROBOTIQD_NO_JOB, ROBOTIQD_RESET, ROBOTIQD_ACTIVATE, ROBOTIQD_CHANGE_MODE };

struct robotiqd {
	struct robotiqd_settings settings; /* first: the loop fills them in */

	/* The newest image, and the one that is being read. */
	struct robotiq_state got;
	uint32_t status;	    /* its registers 1 to 3 */
	int64_t got_ns, begun_ns;   /* its oldest frame; when its read began */
	int64_t active_ns, seen_ns; /* gACT was set then; how long that is believed */
	uint8_t image[ROBOTIQ_REGISTERS];
	int64_t image_ns, image_begun_ns;
	unsigned int at; /* register to be read; 0: it has not begun */
	bool due, reading;

	/* Output registers, a bit of known and wanted for each. */
	uint8_t out[ROBOTIQ_REGISTERS], want[ROBOTIQ_REGISTERS];
	unsigned int known, wanted;
	bool stops; /* what is wanted brings the fingers to rest */
	bool busy;  /* a request is under way */
	bool waits; /* a write failed: the next tick tries again */
	int64_t written_ns;

	enum robotiqd_job job;
	uint32_t handle;
	enum robotiq_mode mode; /* of the change */
	bool only_resets;	/* rACT 0: nothing moves by it */
	int64_t job_ns;

	bool begun, armed, following, nmt_due;
	bool may_release, releasing; /* at an e-stop */
	int64_t since_ns, take_over_ns, nmt_ns, probed_ns;
	bool was_activated, told_inactive;
	const struct robotiq_fault *fault;
	unsigned int writes_failed;
	int64_t refused_ns;
	char wrong[64]; /* with the last request */
};

static inline unsigned int robotiqd_fingers(const struct robotiqd *d)
{
	return d->settings.scissor ? ROBOTIQ_FINGERS : ROBOTIQ_FINGERS - 1;
}

static inline bool robotiqd_is_activated(const struct robotiqd *d)
{
	return d->got.active && d->got.phase >= ROBOTIQ_CHANGING;
}

/* Does the newest image show what was written last? */
static inline bool robotiqd_is_settled(const struct robotiqd *d)
{
	return d->got_ns && d->begun_ns >= d->written_ns + d->settings.refresh_ns;
}

/* ---- robotiqd_io.c ---- */

/* Register 1 alone: the rest stays as it is.  stops: it may be written whatever the level is. */
void robotiqd_want_only(struct robotiqd *d, const struct robotiq_command *command, bool stops);
void robotiqd_want_rest(struct robotiqd *d);
void robotiqd_want_target(struct robotiqd *d, const struct robotiq_command *c);
/* What to write next; 0: nothing. */
unsigned int robotiqd_next_write(const struct robotiqd *d);
/* The next request, if none is under way. */
void robotiqd_go_on(struct robotiqd *d, struct drv *drv, int64_t now_ns);
void robotiqd_sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns);
bool robotiqd_answer(void *self, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply);
bool robotiqd_rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got);
void robotiqd_wake(void *self, struct drv *drv, int64_t now_ns);

/* ---- robotiqd_job.c ---- */

extern const char *const robotiqd_modes[];		      /* as rMOD numbers them */
void robotiqd_job_image(struct robotiqd *d, struct drv *drv); /* for each image */
void robotiqd_job_abort(struct robotiqd *d, struct drv *drv, int result, const char *words);
int robotiqd_job_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request,
			 int64_t now_ns);
int robotiqd_job_cancel(void *self, struct drv *drv, uint32_t handle, int why);
