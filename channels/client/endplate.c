/* endplate.c: a robot and its devices, opened and closed; the e-stop; requests. */
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "channels/client/endplate_inside.h"
#include "channels/client/robot_choice.h"
#include "channels/clock/clock.h"
#include "channels/estop/estop_lower.h"
#include "channels/port/request.h"

#define LOOK_NS 10000000 /* how often the file of a channel is looked at */
#define REF_LOOK_NS 100000000

/* ---- errors ---- */

static _Thread_local char error_line[ERROR_LINE_MAX];

/* For endplate_errstr: a sink that keeps one line, and forgets the former one. */
struct error_sink endplate_keep_errors(void)
{
	*error_line = 0;
	return (struct error_sink){ error_keep_last, error_line, 0 };
}

int endplate_refuse(int status, const char *fmt, ...)
{
	struct error_sink errors = endplate_keep_errors();
	va_list args;

	va_start(args, fmt);
	error_add_v(&errors, fmt, args);
	va_end(args);
	return status;
}

const char *endplate_errstr(void)
{
	return error_line;
}

const char *endplate_strerror(int status)
{
	static const struct {
		int status;
		const char *words;
	} meanings[] = {
		{ 0, "success" },
		{ -ENOENT, "no such robot, driver or channel" },
		{ -EACCES, "not allowed, or the channel belongs to another user" },
		{ -ENODATA, "no state published, or none seen yet" },
		{ -EPROTO, "message of another type, version or size" },
		{ -ESTALE, "driver restarted: read its state first" },
		{ -EHOSTDOWN, "driver is neither holding nor active" },
		{ -ETIME, "driver is silent" },
		{ -EDOM, "not a finite number" },
		{ -ERANGE, "validity out of range" },
		{ -EIO, "channel corrupted or not usable" },
		{ -ETIMEDOUT, "no reply in time, or another writer is stopped" },
		{ -EPERM, "refused by achstart" },
		{ -ECANCELED, "request cancelled" },
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (meanings[i].status == status)
			return meanings[i].words;
	return strerror(status < 0 ? -status : status);
}

/* ---- channels ---- */

static int end_init(struct endplate_end *end, const struct endplate *robot, const char *device, const char *suffix,
		    mode_t mode_max)
{
	char channel[PORT_NAME_MAX];

	snprintf(channel, sizeof(channel), "%s%s", device, suffix);
	*end = (struct endplate_end){ .owner = robot->owner, .mode_max = mode_max, .status = -ENOENT };
	return port_name(end->name, channel);
}

void endplate_end_close(struct endplate_end *end, int status)
{
	if (end->open)
		ach_close(&end->chan);
	end->open = false;
	end->status = status;
}

int endplate_end_reopen(struct endplate_end *end, int64_t now_ns)
{
	if (!clock_is_due(end->look_ns, now_ns, REF_LOOK_NS))
		return end->status;
	end->look_ns = now_ns + (end->open && end->mode_max & S_IWGRP ? REF_LOOK_NS : LOOK_NS);
	if (end->open && port_is_gone(&end->chan))
		endplate_end_close(end, -ENOENT);
	if (!end->open) {
		end->status = port_error(port_attach(&end->chan, end->name, end->owner, end->mode_max));
		end->open = !end->status;
		if (end->open)
			robot_choice_clock(); /* of a robot that was started after this program */
	}
	return end->status;
}

/* ---- the robot ---- */

/* Finds the folder of the robot and sets the environment. */
static int find_robot(const char *name, struct error_sink *errors)
{
	struct robot_choice_asked asked;
	int status = robot_choice_begin(&asked, name);

	if (status)
		return error_refuse(errors, status, "not a valid name of a robot");
	status = robot_choice_use(&asked, errors);
	if (status > 0 && name)
		return error_refuse(errors, -ENOENT, "robot %s: no folder of a robot that runs", name);
	return status > 0 ? 0 : status;
}

int endplate_open(struct endplate **robot, const char *name)
{
	struct error_sink errors = endplate_keep_errors(), quiet = { 0 };
	struct endplate *r;
	int status;

	*robot = NULL;
	status = find_robot(name, &errors);
	if (status)
		return status;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->owner = run_owner();
	r->pid = (uint32_t)getpid();
	r->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->cancel_fd < 0) {
		status = -errno;
		free(r);
		return status;
	}
	status = end_init(&r->clock, r, "clock", "", 0640);
	/* Its channels may appear later. */
	if (!status &&
	    estop_open(&r->estop, &(struct estop_options){ .owner = r->owner, .group = (gid_t)-1, .name = "endplate" },
		       &quiet) == -EINVAL)
		status = -ENAMETOOLONG;
	if (status) {
		error_add(&errors, "ENDPLATE_PREFIX is too long");
		endplate_close(r);
		return status;
	}
	*robot = r;
	return 0;
}

void endplate_close(struct endplate *robot)
{
	struct endplate_device *d;

	if (!robot)
		return;
	while ((d = robot->devices)) {
		robot->devices = d->next;
		endplate_end_close(&d->state, 0);
		endplate_end_close(&d->ref, 0);
		endplate_end_close(&d->info_end, 0);
		endplate_end_close(&d->event_end, 0);
		free(d);
	}
	endplate_end_close(&robot->clock, 0);
	estop_close(&robot->estop);
	close(robot->cancel_fd);
	free(robot);
}

int endplate_device_open(struct endplate *robot, const char *name, uint32_t state_number,
			 struct endplate_device **device)
{
	struct endplate_device *d;
	int status;

	*device = NULL;
	if (!text_is_name(name) || (state_number && !msg_type_by_number(state_number)))
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->robot = robot;
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->number = state_number;
	d->max_age_ns = ENDPLATE_MAX_AGE_NS;
	status = end_init(&d->state, robot, name, "-state", 0640);
	if (!status)
		status = end_init(&d->ref, robot, name, "-ref", 0660);
	if (!status)
		status = end_init(&d->info_end, robot, name, "-info", 0640);
	if (!status)
		status = end_init(&d->event_end, robot, name, "-event", 0640);
	if (status) {
		free(d);
		return status;
	}
	d->next = robot->devices;
	robot->devices = d;
	*device = d;
	endplate_end_reopen(&d->state, clock_now_ns());
	endplate_end_reopen(&d->ref, clock_now_ns());
	endplate_end_reopen(&d->info_end, clock_now_ns());
	return 0;
}

int endplate_source(struct endplate_device *d, const char *source)
{
	char name[2 * TEXT_NAME_MAX + 2];
	struct endplate_end ref;
	int status;

	if (source && !text_is_name(source))
		return -EINVAL;
	snprintf(name, sizeof(name), "%s%s%s", d->name, source ? "." : "", source ? source : "");
	status = end_init(&ref, d->robot, name, "-ref", 0660);
	if (status)
		return status;
	endplate_end_close(&d->ref, 0);
	d->ref = ref;
	d->source = source;
	endplate_end_reopen(&d->ref, clock_now_ns());
	return 0;
}

int64_t endplate_now_ns(void)
{
	return clock_now_ns();
}

/* ---- the e-stop ---- */

/* Begins where the drivers are: with the lowering that their states say they obey.  Their newest states: the program
 * may have read none for long, while it waited for a reply. */
static enum msg_level read_level(struct endplate *r, int64_t now_ns)
{
	struct estop *e = &r->estop;
	struct estop_kept saved = { 0 };
	struct endplate_front front;

	estop_maintain(e, now_ns);
	for (struct endplate_device *d = r->devices; d && e->channel[0].open; d = d->next)
		if (d->seen && !endplate_peek_front(d, &front, now_ns) && front.header.type == d->type->number &&
		    front.header.t_publish_ns > now_ns - d->max_age_ns)
			estop_lower_add(&saved, &front.common, e->boot, e->channel[0].chan.handle->id);
	if (saved.base)
		estop_rule_start(&e->rule, &saved, e->boot);
	return estop_read(e, now_ns);
}

enum msg_level endplate_level(struct endplate *robot)
{
	return read_level(robot, clock_now_ns());
}

int endplate_raise(struct endplate *robot, enum msg_level level, const char *why)
{
	if (level != MSG_LEVEL_HOLD && level != MSG_LEVEL_ESTOP)
		return -EINVAL;
	read_level(robot, clock_now_ns());
	return estop_raise(&robot->estop, level, program_invocation_short_name, getuid(), why ? why : "",
			   &(struct error_sink){ 0 });
}

/* ---- requests ---- */

static int ask(struct endplate *robot, struct request_ask *a, struct msg_reply *reply)
{
	struct error_sink errors = endplate_keep_errors();
	struct msg_reply own = { 0 };
	uint64_t before;
	int status;

	a->key = a->key ? a->key : "";
	a->value = a->value ? a->value : "";
	a->cancel_fd = robot->cancel_fd;
	if (!text_is_name(a->device) || a->verb <= MSG_VERB_NONE || a->verb > MSG_VERB_GET || a->within_ns <= 0 ||
	    strlen(a->key) >= MSG_NAME_SIZE || strlen(a->value) >= MSG_TEXT_SIZE)
		return -EINVAL;
	if (read(robot->cancel_fd, &before, sizeof(before)) < 0)
		before = 0; /* no request was cancelled after its reply had come */
	status = request_ask(a, &own, &errors);
	if (!status && own.result) {
		error_add(&errors, "%s", *own.error ? own.error : strerror(-own.result));
		status = own.result < 0 ? own.result : -EBADMSG;
	}
	if (reply)
		*reply = own;
	return status;
}

int endplate_ask(struct endplate *robot, const char *device, enum msg_verb verb, const char *key, const char *value,
		 int64_t within_ns, struct msg_reply *reply)
{
	struct request_ask a = { device, verb, key, value, within_ns, false, -1 };

	return ask(robot, &a, reply);
}

int endplate_ask_deadline(struct endplate *robot, const char *device, enum msg_verb verb, const char *key,
			  const char *value, int64_t within_ns, struct msg_reply *reply)
{
	struct request_ask a = { device, verb, key, value, within_ns, true, -1 };

	return ask(robot, &a, reply);
}

int endplate_cancel(struct endplate *robot)
{
	const uint64_t one = 1;

	return write(robot->cancel_fd, &one, sizeof(one)) < 0 ? -errno : 0;
}
