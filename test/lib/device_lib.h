/* device_lib.h: a driver, its simulated device and a soft wire, all of them the real programs, on a virtual clock.
 *
 *	static struct msg_imu states[8000];
 *	static unsigned int states_n;
 *	static const struct device_lib_what imu = {
 *		.driver = "imud", .name = "imu", .bus = "base", .step_ms = 1, .frames_max = 60000, .events_max = 200,
 *		.state = msg_imu_number, .states = states, .states_n = &states_n, .states_max = 8000,
 *	};
 *
 *	device_lib_begin(&imu, "kind: dmu", "streams: yes", "");	settings: and sim: in the robot file, further
 *									devices; wire and device run
 *	device_lib_driver();
 *	device_lib_pass(100);		100 ms, in which frames, states, events and replies are kept
 *	device_lib_sim("fault imu.1 silent");
 *	device_lib_end();
 */
#pragma once

#include <stdbool.h>

#include "can/bus/bus.h"
#include "channels/ach/ach.h"
#include "channels/msg/msg.h"

#define DEVICE_LIB_MS ((int64_t)1000000)
#define DEVICE_LIB_FRAMES_MAX 120000
#define DEVICE_LIB_EVENTS_MAX 400
#define DEVICE_LIB_REPLIES_MAX 40

struct device_lib_what {
	const char *driver, *name, *bus;
	int step_ms; /* from one look at the channels to the next */
	unsigned int frames_max, events_max;
	bool requests; /* it is asked */
	enum msg_number state;
	void *states; /* those that came, states_max at most */
	unsigned int *states_n, states_max;
	void (*step)(void); /* after each look; may be NULL */
};

struct device_lib {
	struct bus_frame frames[DEVICE_LIB_FRAMES_MAX]; /* on the wire */
	struct msg_event events[DEVICE_LIB_EVENTS_MAX];
	struct msg_reply replies[DEVICE_LIB_REPLIES_MAX];
	unsigned int frames_n, events_n, replies_n;
	char said[4096]; /* by robotsim */
};
extern struct device_lib device_lib;

void device_lib_begin(const struct device_lib_what *what, const char *settings, const char *sim, const char *devices);
void device_lib_channel(ach_channel_t *chan, const char *suffix, enum msg_number number); /* one more of the device */
void device_lib_driver(void);
void device_lib_other(const char *program, const char *name); /* one more driver, of the same robot file */
void device_lib_signal(int signal);			      /* to the driver; dead after SIGKILL and SIGTERM */
void device_lib_pass(int ms);
/* Nothing is on the wire for so long, and the device is back on it only later. */
void device_lib_outage(int ms, int device_ms);
void device_lib_sim(const char *question);
void device_lib_hear(const char *frame); /* puts a frame on the wire, as another host */
/* To the driver; its number.  The reply is awaited with device_lib_pass. */
uint64_t device_lib_request(enum msg_verb verb, const char *key, const char *value);
const struct msg_reply *device_lib_reply(void); /* the last; zeros: none yet */
void device_lib_end(void);

enum msg_life device_lib_life(void); /* of the newest state */
unsigned int device_lib_events(const char *code);
unsigned int device_lib_sent(uint32_t id); /* frames of this identifier that were on the wire */
