/* link.c: from a name to its back end; comparison with the settings wanted. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "can/link_backend.h"
#include "can/link_netlink.h"

/* ---- which back end ---- */

static int no_link(const char *name, struct error_sink *errors)
{
	error_add(errors, "%s: a log has no link; say an interface such as can0", name);
	return -EINVAL;
}

static int no_query(const char *name, struct link_info *info, struct error_sink *errors)
{
	(void)info;
	return no_link(name, errors);
}

static int no_up(const char *name, const struct link_settings *want, struct error_sink *errors)
{
	(void)want;
	return no_link(name, errors);
}

static const struct link_ops log_ops = { .prefix = "log:", .query = no_query, .up = no_up, .reset = no_link };

/* The first whose prefix a name has; the empty prefix comes last. */
static const struct link_ops *const backends[] = {
	&log_ops,
	&link_wire_ops,
	&link_socketcan_ops,
};
#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static const struct link_ops *ops_of(const char *name)
{
	size_t i = 0;

	while (i < BACKENDS - 1 && strncmp(name, backends[i]->prefix, strlen(backends[i]->prefix)) != 0)
		i++;
	return backends[i];
}

int link_query(const char *name, struct link_info *info, struct error_sink *errors)
{
	memset(info, 0, sizeof(*info));
	return ops_of(name)->query(name, info, errors);
}

bool link_kind_is_virtual(const char *kind)
{
	return !strcmp(kind, "vcan") || !strcmp(kind, "vxcan") || !strcmp(kind, "wire");
}

bool link_may_reset(const char *name)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (ops_of(name) != &link_socketcan_ops)
		return true;
	return !syscall(SYS_capget, &header, caps) && caps[0].effective >> CAP_NET_ADMIN & 1;
}

bool link_is_virtual(const char *name)
{
	struct link_netlink link;
	unsigned int index;

	if (ops_of(name) != &link_socketcan_ops)
		return ops_of(name) == &link_wire_ops;
	index = if_nametoindex(name);
	return index && !link_netlink_query(&link, (int)index) && link_kind_is_virtual(link.kind);
}

int link_up(const char *name, const struct link_settings *want, struct error_sink *errors)
{
	return ops_of(name)->up(name, want, errors);
}

int link_reset(const char *name, struct error_sink *errors)
{
	return ops_of(name)->reset(name, errors);
}

/* ---- is it right? ---- */

static const struct {
	uint32_t mode;
	const char *name;
} modes[] = {
	{ LINK_LISTEN_ONLY, "listen-only" },
	{ LINK_LOOPBACK, "loopback" },
	{ LINK_ONE_SHOT, "one-shot" },
	{ LINK_PRESUME_ACK, "presume-ack" },
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static bool sample_point_right(const struct link_info *info, uint32_t want_pm)
{
	uint32_t quantum_pm = info->quanta ? (1000 + info->quanta - 1) / info->quanta : 0;

	return !want_pm || distance(info->now.sample_point_pm, want_pm) <= quantum_pm;
}

struct others {
	char *text;
	size_t len;
	int n;
};

static void other(struct others *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void other(struct others *o, const char *fmt, ...)
{
	va_list args;

	o->len += (size_t)snprintf(o->text + o->len, LINK_OTHER_MAX - o->len, "%s", o->n++ ? "; " : "");
	va_start(args, fmt);
	o->len += (size_t)vsnprintf(o->text + o->len, LINK_OTHER_MAX - o->len, fmt, args);
	va_end(args);
}

int link_other(char text[LINK_OTHER_MAX], const struct link_info *info, const struct link_settings *want)
{
	const struct link_settings *now = &info->now;
	struct others o = { .text = text }; /* all that follows fits */

	*text = 0;
	if (info->virtual)
		return 0;
	if ((uint64_t)distance(now->bitrate, want->bitrate) * 200 > want->bitrate)
		other(&o, "bit rate %" PRIu32 ", not %" PRIu32, now->bitrate, want->bitrate);
	if (!sample_point_right(info, want->sample_point_pm))
		other(&o, "sample point 0.%03" PRIu32 ", not 0.%03" PRIu32, now->sample_point_pm,
		      want->sample_point_pm);
	if (now->restart_ms != want->restart_ms)
		other(&o, "restart-ms %" PRIu32 ", not %" PRIu32, now->restart_ms, want->restart_ms);
	for (size_t i = 0; i < MODES; i++)
		if (info->modes & modes[i].mode)
			other(&o, "%s", modes[i].name);
	if (want->queue && now->queue != want->queue)
		other(&o, "txqueuelen %" PRIu32 ", not %" PRIu32, now->queue, want->queue);
	return o.n;
}
