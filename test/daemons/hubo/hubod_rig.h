/* hubod_rig.h: hubod with all boards of a Hubo2+ or DRC-Hubo on two soft wires, on a virtual clock, and a controller.
 *
 * Every frame to the boards that can move something is decoded by hand from hw-docs/devices/hubo.md.  Measured
 * positions are those of the last encoder reply on the wire, not those that the driver publishes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channels/ach/ach.h"
#include "channels/msg/types.h"

#define MS ((int64_t)1000000)
#define PERIOD_NS (5 * MS)
#define VALID_NS (20 * MS)
#define BOARDS 0x26
#define HAND 0x24 /* fingers RF1 to RF5 */
#define RIG_SENT_MAX 60000
#define RIG_EVENTS_MAX 400

/* Joints that move. */
enum rig_joint { RHY, RHP, LHP, WST, RSP, RSR, LSP, RWP, MOVED };
extern const struct moved {
	const char *name, *unit;
	unsigned int board, motor;
	double counts_per_rad, velocity_rad_s, acceleration_rad_s2;
} rig_moved[MOVED];

enum kind { REFERENCE, WRIST, DUTY, SWITCH_ON, CONTROL_OFF, HOME };

struct sent { /* a frame that can move something */
	int64_t t_ns;
	enum kind kind;
	unsigned int board;
	int32_t counts[2];   /* of a reference; of the duty of a compliant board permille */
	int32_t measured[2]; /* at that time */
	bool pushes;	     /* a duty, or the current of a finger, other than 0 */
};

/* Processes that each move one limb. */
enum rig_author { RARM, LLEG, AUTHORS };
struct author {
	const char *limb;
	bool on;
	uint32_t incarnation; /* added to the driver's: not 0 is wrong */
	ach_channel_t refs_chan, states_chan;
	struct msg_joint_state state;
};

extern struct hubod_rig {
	/* of the case */
	const char *robot;    /* hubo, drc-hubo */
	bool unhomed;	      /* its joints are not homed at first */
	const char *sim_more; /* settings of the simulated boards */
	double span_rad;
	int64_t walk_ns; /* since then it walks */
	bool referring;
	const char *soft; /* the joint that is to be compliant, around soft_rad; NULL: none */
	double soft_rad;
	void (*spoil)(struct msg_joint_ref *ref, size_t *len); /* what is wrong with references; NULL: nothing */
	struct author authors[AUTHORS];
	/* what came of it */
	struct sent sent[RIG_SENT_MAX];
	unsigned int sent_n;
	int32_t measured[BOARDS][2];
	struct msg_joint_state state;
	unsigned int states_n, events_n;
	struct msg_event events[RIG_EVENTS_MAX];
	struct msg_reply reply;
	struct msg_board_param param;
	unsigned int params_n;
	unsigned int parameters_asked; /* requests for them on the wire */
	char said[8192];	       /* by the simulator */
	pid_t driver;
} hubod_rig;

/* Before and behind each case. */
void rig_set_up(void);
void rig_finish(void);

void rig_begin(const char *settings);
void hubod_rig_drive(void);
void rig_end(pid_t *pid, int signal);
void rig_pass(int ms);
/* Armed, at rest; and moving. */
void rig_up(const char *settings);
void rig_walk(const char *settings);
void rig_arm(void);

void rig_ask_sim(const char *question);
bool rig_sim_says(const char *unit, const char *words); /* "WORD VALUE" in the simulator's report of a board */
unsigned int rig_sim_number(const char *board, const char *word);
uint64_t rig_request(enum msg_verb verb, const char *key, const char *value); /* its number */
void rig_put_request(const struct msg_request *request);
int rig_result(uint64_t id, int ms); /* of that request, within ms; all of it is in reply */
int rig_ask_value(enum msg_verb verb, const char *key, const char *value);
int rig_ask(enum msg_verb verb, const char *key);
void rig_check_parameter(const char *key, const char *value);

int rig_place(const char *name);
bool rig_has(const struct msg_joint_state *s, const struct moved *m, unsigned int *at);
unsigned int rig_happened(const char *code);
unsigned int rig_count(enum kind kind, unsigned int board, int64_t from_ns);
unsigned int rig_pushing(int64_t from_ns);
double rig_way(const struct moved *m, int64_t from_ns); /* how far its references went, in rad */
/* From one reference to the next no joint goes faster, or changes its speed more, than its limits allow.  After a
 * break, and at first, it begins at rest at what was measured; after a duty with some that follow what is measured. */
void rig_check_steps(const struct moved *m);
void rig_check_all_steps(void);
/* All but those of one board, or all (MOVED), have moved since then, without a break in their references. */
void rig_check_moving(unsigned int but, int64_t from_ns);
void rig_check_standing(int64_t from_ns);
