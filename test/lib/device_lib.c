/* device_lib.c: a driver, its simulated device and a soft wire; see device_lib.h. */
#include "test/lib/device_lib.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/bus/frame_text.h"
#include "channels/clock/clock.h"
#include "test/can/bus/wire_lib.h"
#include "test/lib/lib.h"
#include "test/lib/request_talk.h"
#include "test/lib/sim_talk.h"
#include "test/lib/virtual_lib.h"
#include "unity.h"

struct device_lib device_lib;
static const struct device_lib_what *what;
static char prefix[32], file[600];
static pid_t sim, driver, other;
static struct bus *ear;
static ach_channel_t states, events, requests, replies;

/* ---- processes and channels ---- */

static void end(pid_t *pid, int signal)
{
	if (*pid <= 0)
		return;
	virtual_lib_signal(*pid, signal);
	while (waitpid(*pid, NULL, WNOHANG) == 0)
		device_lib_pass(1);
	*pid = 0;
}

void device_lib_channel(ach_channel_t *chan, const char *suffix, enum msg_number number)
{
	char full[96];

	snprintf(full, sizeof(full), "%s%s%s", prefix, what->name, suffix);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(full, 2048, msg_type_by_number(number)->body->size, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(chan, full, NULL));
}

static void write_robot(const char *settings, const char *in_sim, const char *devices)
{
	FILE *to = fopen(file, "w");

	TEST_ASSERT_NOT_NULL(to);
	fprintf(to,
		"robot: lab\nbuses: {%s: {interface: wire:%s, bitrate: 1000000}}\ndevices:\n"
		"  %s: {driver: %s, bus: %s, settings: {lock_memory: no, %s}, sim: {%s}}\n%s",
		what->bus, what->bus, what->name, what->driver, what->bus, settings, in_sim, devices);
	fclose(to);
}

void device_lib_begin(const struct device_lib_what *of, const char *settings, const char *in_sim, const char *devices)
{
	static unsigned int number;
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	const struct bus_options options = { .later = true };
	char line[700];

	what = of;
	lib_watchdog(what->driver, LIB_HANG_S);
	memset(&device_lib, 0, sizeof(device_lib));
	*what->states_n = 0;
	snprintf(prefix, sizeof(prefix), "%s%d-%u-", what->driver, (int)getpid(), ++number);
	umask(0077);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	wire_lib_plain = true;
	virtual_lib_begin(wire_lib_folder());
	wire_lib_start(what->bus);
	snprintf(file, sizeof(file), "%s/robot.yaml", wire_lib_folder());
	write_robot(settings, in_sim, devices);
	device_lib_channel(&states, "-state", what->state);
	device_lib_channel(&events, "-event", msg_event_number);
	if (what->requests) {
		device_lib_channel(&requests, "-req", msg_request_number);
		device_lib_channel(&replies, "-rep", msg_reply_number);
	}
	snprintf(line, sizeof(line), "wire:%s@ear", what->bus);
	TEST_ASSERT_EQUAL(0, bus_open(&ear, line, &options, &errors));
	snprintf(line, sizeof(line), "run %s", file);
	sim = wire_lib_launch("robotsim", line);
	device_lib_pass(20);
}

static pid_t drive(const char *program, const char *name)
{
	char line[700];

	snprintf(line, sizeof(line), "--name %s --config %s", name, file);
	return wire_lib_launch(program, line);
}

void device_lib_driver(void)
{
	driver = drive(what->driver, what->name);
}

void device_lib_other(const char *program, const char *name)
{
	other = drive(program, name);
}

void device_lib_signal(int signal)
{
	if (signal == SIGKILL || signal == SIGTERM)
		end(&driver, signal);
	else
		virtual_lib_signal(driver, signal);
}

void device_lib_end(void)
{
	end(&driver, SIGKILL);
	end(&other, SIGKILL);
	end(&sim, SIGKILL);
	wire_lib_end(SIGKILL);
	bus_close(ear);
	ear = NULL;
	ach_close(&states);
	ach_close(&events);
	if (what->requests) {
		ach_close(&requests);
		ach_close(&replies);
	}
	lib_unlink_all(prefix);
	virtual_lib_end();
}

/* ---- time ---- */

static bool next(ach_channel_t *chan, void *to, size_t size)
{
	size_t len;
	const enum ach_status status = ach_get(chan, to, size, &len, NULL, 0);

	TEST_ASSERT_NOT_EQUAL(ACH_MISSED_FRAME, status);
	return status == ACH_OK && len == size;
}

static void collect(void)
{
	const size_t size = msg_type_by_number(what->state)->body->size;
	int n;

	while (ear && (n = bus_receive(ear, device_lib.frames + device_lib.frames_n, 256)) > 0)
		TEST_ASSERT((device_lib.frames_n += (unsigned int)n) < what->frames_max - 256);
	TEST_ASSERT(!ear || !bus_stats(ear)->dropped);
	while (next(&states, (char *)what->states + *what->states_n * size, size))
		TEST_ASSERT(++*what->states_n < what->states_max);
	while (next(&events, &device_lib.events[device_lib.events_n], sizeof(*device_lib.events)))
		TEST_ASSERT(++device_lib.events_n < what->events_max);
	while (what->requests && next(&replies, &device_lib.replies[device_lib.replies_n], sizeof(*device_lib.replies)))
		TEST_ASSERT(++device_lib.replies_n < DEVICE_LIB_REPLIES_MAX);
}

void device_lib_pass(int ms)
{
	const int64_t until_ns = clock_now_ns() + ms * DEVICE_LIB_MS;

	while (clock_now_ns() < until_ns) {
		clock_wait(NULL, 0, clock_now_ns() + what->step_ms * DEVICE_LIB_MS);
		collect();
		if (what->step)
			what->step();
	}
}

void device_lib_outage(int ms, int device_ms)
{
	wire_lib_end(SIGKILL);
	device_lib_pass(ms);
	virtual_lib_signal(sim, SIGSTOP);
	wire_lib_start(what->bus);
	device_lib_pass(device_ms);
	virtual_lib_signal(sim, SIGCONT);
}

/* ---- others ---- */

static void step_on(void)
{
	device_lib_pass(1);
}

void device_lib_sim(const char *question)
{
	sim_talk(question, device_lib.said, sizeof(device_lib.said), step_on);
}

void device_lib_hear(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL(frame_text_read(&frame, text, strlen(text)));
	TEST_ASSERT_EQUAL(0, bus_send(ear, &frame));
}

uint64_t device_lib_request(enum msg_verb verb, const char *key, const char *value)
{
	const struct msg_request request = request_talk(verb, key, value);

	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&requests, &request, sizeof(request)));
	return request.id;
}

/* ---- what was seen ---- */

const struct msg_reply *device_lib_reply(void)
{
	return &device_lib.replies[device_lib.replies_n ? device_lib.replies_n - 1 : 0];
}

enum msg_life device_lib_life(void)
{
	const size_t size = msg_type_by_number(what->state)->body->size;
	struct { /* as every state begins */
		struct msg_header header;
		struct msg_common common;
	} newest;

	if (!*what->states_n)
		return MSG_LIFE_DOWN;
	memcpy(&newest, (const char *)what->states + (*what->states_n - 1) * size, sizeof(newest));
	return newest.common.lifecycle;
}

unsigned int device_lib_events(const char *code)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < device_lib.events_n; i++)
		n += !strcmp(device_lib.events[i].code, code);
	return n;
}

unsigned int device_lib_sent(uint32_t id)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < device_lib.frames_n; i++)
		n += device_lib.frames[i].frame.id == id && !(device_lib.frames[i].flags & BUS_QUEUED);
	return n;
}
