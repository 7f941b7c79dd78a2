/* endplate_info.c: what is known of a device: joints, limits, rates; and whether devices are ready to be moved. */
#include "channels/client/endplate_inside.h"
#include "channels/clock/clock.h"

#define LOOK_AGAIN_NS 10000000

/* ---- NAME-info ---- */

/* Another process wrote it: its texts end, and its count is one. */
static bool is_sound(struct msg_device_info *info, size_t len)
{
	if (msg_check(info, len, msg_type_by_number(msg_device_info_number), NULL) != MSG_FINE ||
	    info->count > MSG_JOINTS)
		return false;
	info->driver[MSG_NAME_SIZE - 1] = info->state_type[MSG_NAME_SIZE - 1] = info->ref_type[MSG_NAME_SIZE - 1] = 0;
	for (uint32_t i = 0; i < info->count; i++)
		info->joint[i][MSG_NAME_SIZE - 1] = 0;
	return true;
}

static int read_info(struct endplate_device *d, int64_t now_ns)
{
	struct msg_device_info *info = &d->info;
	enum ach_status status;
	size_t len = 0;

	if (endplate_end_reopen(&d->info_end, now_ns))
		return d->info_end.status;
	status = ach_get(&d->info_end.chan, info, sizeof(*info), &len, NULL, ACH_O_LAST | ACH_O_COPY);
	if ((status == ACH_OK || status == ACH_MISSED_FRAME) && is_sound(info, len))
		return 0;
	memset(info, 0, sizeof(*info));
	if (status == ACH_EAGAIN)
		return -ENODATA;
	if (status == ACH_OK || status == ACH_MISSED_FRAME || status == ACH_OVERFLOW)
		return -EPROTO;
	endplate_end_close(&d->info_end, port_error(status));
	return d->info_end.status;
}

const struct msg_device_info *endplate_known_info(struct endplate_device *d, int64_t now_ns)
{
	if (d->info.header.incarnation != d->incarnation || !d->info.header.type)
		read_info(d, now_ns);
	return d->info.header.type && d->info.header.incarnation == d->incarnation ? &d->info : NULL;
}

int endplate_device_info(struct endplate_device *d, struct msg_device_info *info)
{
	int status;

	d->info_end.look_ns = 0;
	status = read_info(d, clock_now_ns());
	*info = d->info;
	return status;
}

/* ---- joints ---- */

static int no_joint(const struct endplate_device *d, const char *name)
{
	char line[ERROR_LINE_MAX], quoted[TEXT_QUOTED_MAX];
	struct error_sink errors = endplate_keep_errors();
	struct text_out o = text_out(line, sizeof(line));

	text_add(&o, "%s has no joint %s", d->name, text_quote(quoted, name));
	for (uint32_t i = 0; i < d->info.count; i++)
		text_add(&o, "%s%s", i ? ", " : "; its joints: ", d->info.joint[i]);
	return error_refuse(&errors, -ENOENT, "%s", line);
}

int endplate_joint(struct endplate_device *d, const char *name)
{
	struct msg_device_info info;
	struct error_sink errors;
	int status = endplate_device_info(d, &info);
	int64_t number;

	if (status) {
		errors = endplate_keep_errors();
		return error_refuse(&errors, -ENODATA, "%s: its joints are not known: is its driver running?", d->name);
	}
	for (uint32_t i = 0; i < info.count; i++)
		if (!strcmp(info.joint[i], name))
			return (int)i;
	if (!text_int(name, &number) && number >= 0 && number < info.count)
		return (int)number;
	return no_joint(d, name);
}

/* ---- readiness ---- */

const char *endplate_doubt_text(uint32_t doubts)
{
	static const char *const words[] = { "restarted", "silent", "old", "partial", "not up", "replayed" };
	static _Thread_local char text[64];
	struct text_out o = text_out(text, sizeof(text));

	*text = 0;
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (doubts >> i & 1)
			text_add(&o, "%s%s", o.len ? ", " : "", words[i]);
	return text;
}

static const char *fault_of(struct endplate_device *d)
{
	endplate_read_events(d);
	return *d->fault.text && d->fault.incarnation == d->incarnation ? d->fault.text : "see its events";
}

static bool takes_references(struct endplate_device *d, int64_t now_ns)
{
	const struct msg_device_info *info = endplate_known_info(d, now_ns);

	return info ? *info->ref_type : d->layout.type != NULL;
}

/* Why it is not ready, into line; "": it is. */
static void look(struct endplate_device *d, char *line, size_t size)
{
	union {
		struct endplate_front front;
		uint8_t bytes[MSG_SIZE_MAX];
	} msg;
	const size_t len = d->number ? msg_type_by_number(d->number)->body->size : sizeof(msg);
	struct endplate_view v;
	const int status = endplate_state(d, &msg, len, &v);
	const bool moves = !status && takes_references(d, v.now_ns);

	*line = 0;
	v.doubts &= ~(uint32_t)ENDPLATE_RESTARTED;
	if (status == -ENOENT || status == -ENODATA)
		snprintf(line, size, "%s: no state; is its driver running?", d->name);
	else if (status)
		snprintf(line, size, "%s: %s", d->name, endplate_strerror(status));
	else if (v.doubts & ENDPLATE_SILENT)
		snprintf(line, size, "%s: silent for %.1f s; is its driver running?", d->name,
			 (double)v.silent_ns / 1e9);
	else if (v.lifecycle == MSG_LIFE_FAULT)
		snprintf(line, size, "%s: lifecycle fault: %s", d->name, fault_of(d));
	else if (moves && v.level != MSG_LEVEL_RUN)
		snprintf(line, size, "%s: level %s: achctl arm", d->name, msg_level_word(v.level));
	else if (v.doubts)
		snprintf(line, size, "%s: its state is in doubt: %s; lifecycle %s", d->name,
			 endplate_doubt_text(v.doubts), msg_life_word(v.lifecycle));
	else if (moves && !v.follows)
		snprintf(line, size, "%s: follows no references: lifecycle %s", d->name, msg_life_word(v.lifecycle));
}

int endplate_ready(struct endplate_device *const devices[], size_t n, int64_t within_ns)
{
	const int64_t until_ns = clock_now_ns() + within_ns;
	char line[ERROR_LINE_MAX];
	struct error_sink errors;

	for (;;) {
		*line = 0;
		for (size_t i = 0; i < n && !*line; i++)
			look(devices[i], line, sizeof(line));
		if (!*line)
			return 0;
		if (clock_now_ns() >= until_ns)
			break;
		clock_wait(NULL, 0, clock_now_ns() + LOOK_AGAIN_NS);
	}
	errors = endplate_keep_errors();
	return error_refuse(&errors, -ETIMEDOUT, "%s", line);
}
