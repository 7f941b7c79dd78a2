/* controller_lib.c: a controller as a process, on the virtual clock. */
#include "test/daemons/drv/controller_lib.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/port/port.h"
#include "test/lib/estop_talk.h"
#include "test/lib/request_talk.h"
#include "test/lib/virtual_lib.h"
#include "unity.h"

#define DEVICE_TICK_NS (5 * CONTROLLER_LIB_MS)

struct controller_lib controller_lib;
char controller_lib_said[MSG_TEXT_SIZE];
static char folder[64], prefix[32];
static pid_t child;
static uint64_t epoch;
static int64_t restarted_ns;

/* ---- channels ---- */

const char *controller_lib_channel(const char *name)
{
	static char full[PORT_NAME_MAX];

	snprintf(full, sizeof(full), "%s%s", prefix, name);
	return full;
}

static void make(const char *name, enum msg_number type)
{
	const size_t size = msg_type_by_number(type)->body->size;
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(controller_lib_channel(name), 64, size, &attr));
}

static void put(const char *name, const void *msg, size_t size)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, ach_open(&chan, controller_lib_channel(name), NULL), name);
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, msg, size));
	ach_close(&chan);
}

static bool newest(const char *name, void *msg, size_t size)
{
	ach_channel_t chan;
	enum ach_status status;
	size_t len;

	TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, ach_open(&chan, controller_lib_channel(name), NULL), name);
	status = ach_get(&chan, msg, size, &len, NULL, ACH_O_LAST | ACH_O_COPY);
	ach_close(&chan);
	return (status == ACH_OK || status == ACH_MISSED_FRAME) && len == size;
}

void controller_lib_newest(const char *channel, void *msg, size_t size)
{
	TEST_ASSERT_TRUE_MESSAGE(newest(channel, msg, size), channel);
}

bool controller_lib_ref(struct msg_joint_ref *ref)
{
	return newest("waist-ref", ref, sizeof(*ref)) && ref->header.valid_until_ns >= clock_now_ns() &&
	       ref->header.for_incarnation == controller_lib.waist.header.incarnation;
}

void controller_lib_put(const char *channel, double position_rad, double ms)
{
	struct msg_joint_ref ref;

	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.for_incarnation = controller_lib.waist.header.incarnation;
	ref.header.valid_until_ns = clock_now_ns() + (int64_t)(ms * (double)CONTROLLER_LIB_MS);
	ref.count = controller_lib.waist.count;
	for (unsigned int i = 0; i < ref.count; i++) {
		ref.mode[i] = MSG_MODE_POSITION;
		ref.position[i] = position_rad;
	}
	put(channel, &ref, sizeof(ref));
}

/* ---- the device ---- */

static void follow(struct msg_joint_state *s)
{
	struct msg_joint_ref ref;

	if (!controller_lib.follows || s->common.lifecycle == MSG_LIFE_STARTING || !controller_lib_ref(&ref))
		return;
	for (unsigned int i = 0; i < s->count; i++) {
		if (ref.mode[i] != MSG_MODE_POSITION)
			continue;
		s->velocity[i] = (ref.position[i] - s->position[i]) * 1e9 / (double)DEVICE_TICK_NS;
		s->position[i] = ref.position[i];
	}
}

static void publish(void)
{
	struct msg_joint_state *s = &controller_lib.waist;

	if (s->common.lifecycle == MSG_LIFE_STARTING && clock_now_ns() >= restarted_ns + 20 * CONTROLLER_LIB_MS)
		s->common.lifecycle = MSG_LIFE_HOLDING;
	follow(s);
	s->header.sequence++;
	s->header.t_sample_ns = s->header.t_publish_ns = clock_now_ns();
	if (!controller_lib.silent)
		put("waist-state", s, sizeof(*s));
}

void controller_lib_restart(void)
{
	struct msg_joint_state *s = &controller_lib.waist;

	s->header.incarnation++;
	s->common.lifecycle = MSG_LIFE_STARTING;
	s->velocity[0] = s->velocity[1] = 0;
	restarted_ns = clock_now_ns();
}

void controller_lib_ms(int ms)
{
	for (; ms > 0; ms--) {
		clock_wait(NULL, 0, clock_now_ns() + CONTROLLER_LIB_MS);
		if (clock_now_ns() / CONTROLLER_LIB_MS % 5 == 0)
			publish();
	}
}

void controller_lib_arm(void)
{
	estop_talk_lower(MSG_LEVEL_RUN, ++epoch);
	controller_lib.waist.common.level = MSG_LEVEL_RUN;
	controller_lib.waist.common.lifecycle = MSG_LIFE_HOLDING;
}

/* ---- the controller ---- */

void controller_lib_begin(void)
{
	struct msg_joint_state *s = &controller_lib.waist;

	memset(&controller_lib, 0, sizeof(controller_lib));
	snprintf(folder, sizeof(folder), "/tmp/controller-XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(prefix, sizeof(prefix), "c%d-", (int)getpid());
	setenv("ENDPLATE_RUN", folder, 1);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	virtual_lib_begin(folder);
	estop_talk_mend();
	msg_init(s, msg_type_by_number(msg_joint_state_number));
	s->header.incarnation = 1;
	s->common.lifecycle = MSG_LIFE_HOLDING;
	s->common.level = MSG_LEVEL_ESTOP;
	s->common.period_ns = DEVICE_TICK_NS;
	s->count = 2;
	strcpy(s->joint[0], "waist");
	strcpy(s->joint[1], "neck");
	make("waist-state", msg_joint_state_number);
	make("waist-ref", msg_joint_ref_number);
	publish();
}

void controller_lib_end(void)
{
	char line[128];

	if (child > 0)
		controller_lib_stop(SIGKILL);
	virtual_lib_end();
	snprintf(line, sizeof(line), "rm -rf %s /dev/shm/ach*-%s*", folder, prefix);
	TEST_ASSERT_EQUAL(0, system(line));
}

void controller_lib_start(const char *program, const char *arguments)
{
	const char *build = getenv("BUILD");
	char line[600];

	snprintf(line, sizeof(line), "exec %s/%s --set lock_memory=no %s >>%s/said 2>&1", build ? build : "build",
		 program, arguments, folder);
	child = virtual_lib_fork(program);
	TEST_ASSERT(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	controller_lib_ms(50);
}

int controller_lib_stop(int signal)
{
	int status = -1;

	virtual_lib_signal(child, signal);
	for (int i = 0; i < 1000 && waitpid(child, &status, WNOHANG) != child; i++)
		controller_lib_ms(1);
	child = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int controller_lib_request(const char *name, enum msg_verb verb, const char *key, const char *value)
{
	const struct msg_request request = request_talk(verb, key, value);
	struct msg_reply reply = { 0 };
	char channel[64];

	snprintf(channel, sizeof(channel), "%s-req", name);
	put(channel, &request, sizeof(request));
	snprintf(channel, sizeof(channel), "%s-rep", name);
	for (int i = 0; i < 100 && reply.id != request.id; i++) {
		controller_lib_ms(1);
		newest(channel, &reply, sizeof(reply));
	}
	TEST_ASSERT_EQUAL_UINT64(request.id, reply.id);
	memcpy(controller_lib_said, reply.result ? reply.error : reply.value, MSG_TEXT_SIZE);
	return reply.result;
}
