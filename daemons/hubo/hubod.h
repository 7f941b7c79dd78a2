/* hubod.h: what the files of hubod share. */
#pragma once

#include "daemons/clock/clock_bus.h"
#include "daemons/clock/clock_grid.h"
#include "daemons/drv/drv.h"
#include "daemons/hubo/comply.h"
#include "daemons/hubo/hubo_table.h"
#include "daemons/hubo/hubod_settings.h"
#include "daemons/hubo/jmc.h"

#define HUBOD_HALVES 2 /* of the encoder replies of a hand */
#define HUBOD_BIT(joint) (1ull << (joint))

#define HUBOD_WANTS_STATUS 1u
#define HUBOD_WANTS_CURRENT 2u
#define HUBOD_WANTS_PARAMETER 4u
#define HUBOD_TAG_PARAMETER 0x100u /* of a question; else it is for currents */

struct hubod_joint { /* its number in the loop is its place in the messages */
	const struct hubo_joint *table;
	unsigned int board, motor;
	bool active, finger;
	int64_t t_ns; /* when its encoder was on the wire; 0: never */
	int32_t counts;
	double position_rad, velocity_rad_s;
	double current_a, temperature_k;
	uint32_t flags; /* of its status */
	bool on;	/* by that, bridge and control are; a finger is controlled only while it has a duty */
	uint8_t home;
	bool homed;
	bool driven; /* its reference was sent in the last cycle */
	double sent_rad;
	double gains[COMPLY_GAINS]; /* of the law by which it is driven while it is compliant */
};

enum hubod_compliance { HUBOD_RIGID, HUBOD_ENTERING, HUBOD_COMPLIANT, HUBOD_RETURNING };

struct hubod_board {
	const struct hubo_board *table;
	enum jmc_kind kind;
	bool active;
	unsigned int joints[HUBO_MOTORS_MAX], joints_n; /* the active ones, by their motors */
	unsigned int bus;
	unsigned int halves;
	/* rows: sent, */
	unsigned int reference, encoder[HUBOD_HALVES], status, command, home;
	unsigned int duty;   /* of a board that complies */
	unsigned int values; /* the question for currents and parameters */
	/* this cycle */
	uint8_t due;   /* a bit for each half of the encoders that is to come in this cycle */
	uint8_t wants; /* what is asked for once they are there: HUBOD_WANTS_ */
	int64_t asked_ns;
	/* since the start */
	int64_t heard_ns; /* the oldest frame of the last complete encoders */
	int64_t half_ns[HUBOD_HALVES];
	uint64_t missed;   /* cycles without all encoders */
	unsigned int kept; /* cycles with them, in a row */
	bool silent;
	bool status_known, is_on;     /* by its last status: bridges and control of all active motors are on */
	bool was_on;		      /* by the status before, or that of the driver before this one */
	bool home_on;		      /* its bridges were on since its last command to home */
	unsigned int home_resets;     /* seen in this homing */
	bool off;		      /* it was on and is off, not by a fault: in fault until it is asked for */
	unsigned int stop_left;	      /* cycles in which its fingers are still ordered to stop */
	bool referred;		      /* it got a reference from this driver: */
	int32_t last[JMC_MOTORS_MAX]; /* values of its last one */
	uint64_t late;		      /* requests for currents and parameters without a reply */
	/* hubod_comply.c */
	bool complies; /* it can */
	enum hubod_compliance comply;
	uint64_t entered;	       /* states published then */
	unsigned int holds_left;       /* control on, still to be sent */
	uint64_t hold_at;	       /* in this cycle */
	bool beyond, dropped, refused; /* why it is rigid while a reference asks for something else */
};

struct hubod_sensor {
	const struct hubo_sensor *table;
	unsigned int bus;
	int ask_force, ask_tilt; /* rows; -1: none */
	int force, tilt;	 /* outputs; -1: none */
	bool force_due, tilt_due;
	uint64_t missed;
};

struct hubod_home { /* a homing under way */
	bool on;
	uint32_t handle;
	uint64_t wanted, left; /* joints */
	uint64_t now;	       /* those of the stage that runs */
	uint64_t again;	       /* those of it whose command was lost */
	int64_t began_ns;      /* the stage */
	int64_t sent_ns;       /* the last command of it */
	unsigned int resets;   /* of the board that has most */
	int64_t silent_ns;     /* since when a board of it is silent; 0: none is */
};

struct hubod_read { /* parameters under way */
	bool on, asked;
	bool unasked; /* for NAME-board-param: no client waits for it */
	bool home;    /* those of the home file, which are written first */
	uint32_t handle;
	int joint;
	int parameter;	 /* the one that is asked for; HUBO_NONE: all of the joint, or those of the home file */
	uint64_t joints; /* still to do, behind this one */
	unsigned int done;
	uint16_t letters, left; /* of this joint: all that are read, and those still to come */
	unsigned int tries;
	struct jmc_parameters values;
};

struct hubod_param { /* what is known of them */
	int output;
	bool is_new; /* since it was published */
	int64_t put_ns;
	uint64_t unread; /* joints, with the setting read_parameters */
	struct hubod_stored {
		uint32_t known; /* a bit for each number */
		int32_t value[JMC_NUMBERS];
		int64_t t_ns; /* the last reply; 0: none */
	} joints[HUBO_JOINTS];
	struct {
		size_t at; /* in the message */
		bool real;
	} place[JMC_NUMBERS];
	uint32_t changed_by[JMC_COMMANDS]; /* numbers */
};

enum hubod_what { HUBOD_NOTHING, HUBOD_ENCODER, HUBOD_STATUS, HUBOD_VALUES, HUBOD_FORCE, HUBOD_TILT, HUBOD_POWER };
#define HUBOD_RECEIVES_MAX 128
#define HUBOD_SENDS_MAX 256

struct hubod {
	struct hubod_settings settings;
	struct hubo_table table;
	int64_t period_ns, began_ns, late_ns;
	struct clock_grid cycle;
	bool begun;
	struct clock_bus bus[HUBO_BUSES];
	int clock; /* output */
	struct hubod_joint joints[HUBO_JOINTS];
	struct hubod_board boards[HUBO_BOARDS_MAX];
	unsigned int boards_n;
	struct hubod_sensor sensors[HUBO_SENSORS];
	unsigned int sensor_command[HUBO_BUSES];
	int ask_power, power; /* row, output; -1: none */
	bool power_due;
	struct {
		enum hubod_what what;
		unsigned int of; /* board or sensor */
	} receives[HUBOD_RECEIVES_MAX];
	int64_t start_ns, quiet_until_ns;
	bool up;
	unsigned int next_status[HUBO_BUSES], next_values[HUBO_BUSES];
	bool complete; /* the state of this cycle was */
	struct hubod_home home;
	struct hubod_read read;
	struct hubod_param param;
	struct hubod_asked {
		int64_t sent_ns;     /* this cycle's request was on the wire; 0: not yet */
		unsigned int owed;   /* replies to those before that were missed, and may still come */
		uint64_t owed_cycle; /* the last of them */
	} asked[HUBOD_SENDS_MAX];    /* by the row of the request */
	struct {
		uint64_t all, unsent, late, lost;
	} missed;	 /* replies of all boards and sensors */
	uint64_t filled; /* states */
	double comply_most[COMPLY_GAINS];
};

/* hubod_declare.c */
int hubod_declare(void *self, struct drv *drv, struct error_sink *errors);

/* hubod_turn.c */
enum drv_step hubod_start(void *self, struct drv *drv, const struct drv_orders *orders);
void hubod_tick(void *self, struct drv *drv, const struct drv_orders *orders);
enum drv_step hubod_stop(void *self, struct drv *drv, const struct drv_orders *orders);

/* hubod_command.c */
/* The first of the active joints of a board; DRV_ALL: it has none. */
unsigned int hubod_first_joint(const struct hubod_board *board);
/* -errno: the codec refused it. */
int hubod_command(struct hubod *h, struct drv *drv, unsigned int board, enum jmc_command command, unsigned int motor,
		  const int32_t *values);
void hubod_enable(struct hubod *h, struct drv *drv, unsigned int board);
void hubod_enable_boards(struct hubod *h, struct drv *drv); /* in each cycle: those that the setting enable is about */
/* It was on and is off; or that is over. */
void hubod_set_off(struct drv *drv, struct hubod_board *board, bool off);
void hubod_quiet(struct hubod *h, int64_t until_ns); /* no references until then */

/* hubod_ref.c */
/* Answers whether it might send some: the bus has to have room for them. */
bool hubod_send_references(struct hubod *h, struct drv *drv, const struct drv_orders *orders, bool quiet);
void hubod_take_over(struct hubod *h, const struct msg_joint_state *previous); /* NULL: there was none */

/* hubod_ask.c */
/* The requests of a cycle; room: of one without references. */
void hubod_ask(struct hubod *h, struct drv *drv, int64_t now_ns, bool quiet, bool room);
/* The next request to a board, or to a sensor, that has answered the last one. */
void hubod_ask_next(struct hubod *h, struct drv *drv, unsigned int board);
void hubod_ask_tilt(struct hubod *h, struct drv *drv, unsigned int sensor);

/* hubod_io.c */
bool hubod_rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got);
bool hubod_answer(void *self, struct drv *drv, const struct drv_ask_answer *answer, const struct bus_frame *reply);
void hubod_sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns);
int64_t hubod_fill(void *self, struct drv *drv, void *state, int64_t now_ns);
void hubod_put_clock(struct hubod *h, struct drv *drv, int64_t now_ns);

/* hubod_job.c */
extern const struct drv_verb hubod_verbs[];
int hubod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns);
/* The joints of a request, a bit each: "" all, a limb, or a joint; only active ones. */
uint64_t hubod_joints_of(const struct hubod *h, const char *key);
uint64_t hubod_joints_at(const struct hubod *h, const char *place); /* the same, but "all" is all, and "" none */
/* "RHY.kp": "RHY" into place, returns "kp"; "" without a dot. */
const char *hubod_split(char place[MSG_NAME_SIZE], const char *key);

/* hubod_missed.c */
void hubod_missed_ask(struct hubod *h, unsigned int row); /* a cycle begins; a row that is not there is ignored */
void hubod_missed_sent(struct hubod *h, unsigned int row, int64_t t_ns);
/* due: this cycle's reply to that row had not come yet. */
void hubod_missed_reply(struct hubod *h, unsigned int row, int64_t t_ns, bool due);
void hubod_account(struct hubod *h, struct drv *drv, int64_t now_ns); /* a cycle begins: what the last one missed */

/* hubod_comply.c */
void hubod_comply_declare(struct hubod *h, struct error_sink *errors);
/* In each cycle, for each board; may: it could get a reference.  true: it got a duty instead.  It gets none while it
 * returns. */
bool hubod_comply(struct hubod *h, struct drv *drv, struct hubod_board *board, const struct drv_orders *orders,
		  bool may);
void hubod_comply_sent(struct hubod *h, unsigned int send, const struct frame *frame); /* it was on the wire */
void hubod_comply_return(struct hubod *h, struct hubod_board *board); /* from a duty, perhaps of another driver */
void hubod_comply_drop(struct hubod *h, struct hubod_board *board);   /* a request switches it off */
/* -EBUSY: a board is, or was a moment ago. */
int hubod_comply_busy(struct hubod *h, struct drv *drv);
int hubod_comply_set(struct hubod *h, struct drv *drv, uint64_t joints, enum comply_gain gain, const char *text);

/* hubod_home.c */
int hubod_home(struct hubod *h, struct drv *drv, uint32_t handle, const char *key, int64_t now_ns);
void hubod_lost(void *self, struct drv *drv, unsigned int row, const struct frame *frame);
int hubod_cancel(void *self, struct drv *drv, uint32_t handle, int why);
/* A status of a board says whether bridges are on. */
void hubod_home_status(struct hubod *h, struct drv *drv, unsigned int board, bool driver_on);
void hubod_home_step(struct hubod *h, struct drv *drv, const struct drv_orders *orders);

/* hubod_param.c */
int hubod_read_parameter(struct hubod *h, struct drv *drv, uint32_t handle, const char *key);
int hubod_write_home(struct hubod *h, struct drv *drv, uint32_t handle, const char *key);
void hubod_read_step(struct hubod *h, struct drv *drv); /* in each cycle, before requests are sent */
void hubod_read_ask(struct hubod *h, struct drv *drv, unsigned int board);
void hubod_read_answer(struct hubod *h, struct drv *drv, unsigned int board,
		       const struct bus_frame *reply); /* NULL: none came */
/* Parameters of the joint under way, if it is one of this board, may have changed since they were read. */
void hubod_read_again(struct hubod *h, unsigned int board);
bool hubod_read_cancel(struct hubod *h, uint32_t handle);

/* hubod_board_param.c */
void hubod_board_param_declare(struct hubod *h, struct drv *drv, struct error_sink *errors);
/* These replies of a joint came, the last of them at t_ns. */
void hubod_board_param_took(struct hubod *h, int joint, uint16_t letters, const struct jmc_parameters *values,
			    int64_t t_ns);
void hubod_board_param_changed(struct hubod *h, unsigned int board, enum jmc_command command, unsigned int motor);
void hubod_board_param_forget(struct hubod *h, unsigned int board);
void hubod_board_param_put(struct hubod *h, struct drv *drv, int64_t now_ns); /* in each cycle */
