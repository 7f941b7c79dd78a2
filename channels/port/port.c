/* port.c: one end of a channel, as a daemon holds it. */
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/ach/ach_ring.h"
#include "channels/port/port.h"

int port_name(char name[PORT_NAME_MAX], const char *channel)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");

	return snprintf(name, PORT_NAME_MAX, "%s%s", prefix ? prefix : "", channel) < PORT_NAME_MAX ? 0 : -ENAMETOOLONG;
}

/* ---- opening ---- */

static gid_t group_of(const char *variable)
{
	const char *group = getenv(variable);
	char *end = NULL;
	const unsigned long number = group ? strtoul(group, &end, 10) : 0;

	return !group || !*group || *end || number >= (gid_t)-1 ? (gid_t)-1 : (gid_t)number;
}

gid_t port_group(void)
{
	const gid_t group = group_of(PORT_OPERATORS);

	return group == getegid() || group_member(group) ? group : (gid_t)-1;
}

gid_t port_arming(void)
{
	return group_of(PORT_ARMING);
}

static enum ach_status make(const struct port *port)
{
	/* achstart makes a channel that a group may write: the group may differ from the operators'. */
	const gid_t group = port->mode & S_IWGRP ? (gid_t)-1 : port_group();
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, group == (gid_t)-1 ? 0600 : port->mode & 0640, group);
	return ach_create(port->name, port->type->retained, port->type->body->size, &attr);
}

enum ach_status port_attach(ach_channel_t *chan, const char *name, uid_t owner, mode_t mode)
{
	const struct timespec patience = { .tv_nsec = PORT_PUT_NS };
	ach_attr_t attr;

	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &patience);
	ach_attr_set_owner(&attr, owner, mode);
	return ach_open(chan, name, &attr);
}

int port_error(enum ach_status status)
{
	switch (status) {
	case ACH_OK:
		return 0;
	case ACH_ENOENT:
		return -ENOENT;
	case ACH_EACCES:
		return -EACCES;
	case ACH_TIMEOUT:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

bool port_is_gone(const ach_channel_t *chan)
{
	int unlinked;

	return ach_unlinked(chan, &unlinked) != ACH_OK || unlinked;
}

static enum ach_status open_once(struct port *port)
{
	enum ach_status status = port_attach(&port->chan, port->name, geteuid(), port->mode);

	if (status == ACH_OK && port->chan.handle->lsize / port->chan.handle->count < port->type->body->size) {
		ach_close(&port->chan);
		status = ACH_EINVAL;
	}
	port->open = status == ACH_OK;
	port->fresh = true;
	return status;
}

/* Another process may make or unlink it between the two: try again. */
static enum ach_status open_or_make(struct port *port)
{
	enum ach_status status = ACH_ENOENT;

	for (int i = 0; i < 3; i++) {
		status = open_once(port);
		if (status != ACH_ENOENT)
			return status;
		status = make(port);
		if (status != ACH_OK && status != ACH_EEXIST)
			return status;
	}
	return open_once(port);
}

int port_foreign(const char *name, struct error_sink *errors)
{
	char path[ACH_FILE_PATH_LEN];
	struct stat st;

	ach_file_channel_path(path, name);
	if (lstat(path, &st))
		error_add(errors, "channel %s: %s", name, ach_errstr());
	else
		error_add(errors, "channel %s of uid %u: %s: remove it with ach rm %s, or set ENDPLATE_PREFIX", name,
			  (unsigned int)st.st_uid, ach_errstr(), name);
	return -EACCES;
}

int port_open(struct port *port, const char *channel, const struct msg_type *type, mode_t mode,
	      struct error_sink *errors)
{
	enum ach_status status;

	memset(port, 0, sizeof(*port));
	port->type = type;
	port->mode = mode;
	if (port_name(port->name, channel))
		return error_refuse(errors, -EINVAL, "%s: the channel's name is longer than %d bytes", channel,
				    PORT_NAME_MAX - 1);
	status = open_or_make(port);
	switch (status) {
	case ACH_OK:
		return 0;
	case ACH_EINVAL:
		return error_refuse(
			errors, -EINVAL,
			"channel %s: too small for messages of type %s (%zu bytes): remove it with ach rm %s",
			port->name, type->name, type->body->size, port->name);
	case ACH_BAD_SHM_FILE:
		error_add(errors,
			  "channel %s: its file is not a channel, or of another version: remove it with ach rm %s",
			  port->name, port->name);
		return -EIO; /* achstart removes it; the next start may find a new one */
	case ACH_INVALID_NAME:
		return error_refuse(errors, -EINVAL, "channel %s: not a valid channel name", port->name);
	case ACH_EACCES:
		return port_foreign(port->name, errors);
	default:
		return error_refuse(errors, -EIO, "channel %s: %s: %s", port->name, ach_result_to_string(status),
				    ach_errstr());
	}
}

int port_open_of(struct port *port, const char *name, const char *suffix, enum msg_number type, mode_t mode,
		 struct error_sink *errors)
{
	char channel[2 * PORT_NAME_MAX];

	snprintf(channel, sizeof(channel), "%s-%s", name, suffix);
	return port_open(port, channel, msg_type_by_number(type), mode, errors);
}

void port_close(struct port *port)
{
	if (port->open)
		ach_close(&port->chan);
	port->open = false;
}

bool port_reopen(struct port *port, int64_t now_ns, int64_t every_ns)
{
	if (port->open && now_ns < port->look_ns)
		return false;
	port->look_ns = now_ns + every_ns;
	if (port->open && port_is_gone(&port->chan))
		port_close(port);
	return !port->open && open_or_make(port) == ACH_OK;
}

/* ---- writing ---- */

bool port_put(struct port *port, void *msg)
{
	struct msg_header *header = msg;
	enum ach_status status = ACH_CORRUPT;

	header->sequence = ++port->sequence;
	if (port->open)
		status = ach_put(&port->chan, msg, port->type->body->size);
	if (status == ACH_OK)
		return true;
	port->puts_failed++;
	if (status == ACH_CORRUPT)
		port_close(port);
	return false;
}

/* ---- reading ---- */

/* A message that is longer than any of ours must not stand in the way of those behind it. */
static enum port_got step_over(struct port *port, int options)
{
	const void *inside;
	size_t len;
	const enum ach_status status = ach_peek(&port->chan, &inside, &len, NULL, options);

	if (status == ACH_OK || status == ACH_MISSED_FRAME)
		ach_peek_end(&port->chan);
	return status == ACH_MISSED_FRAME ? PORT_MISSED : PORT_ONE;
}

/* Whether another message counts is left to ach_get. */
bool port_has_news(const struct port *port)
{
	return port->open &&
	       atomic_load_explicit(&port->chan.handle->shm->commit, memory_order_relaxed) != port->chan.seq_num;
}

static enum port_got get(struct port *port, void *msg, size_t size, size_t *len, int options)
{
	const bool fresh = port->fresh;

	*len = 0;
	if (!port->open)
		return PORT_BROKEN;
	port->fresh = false;
	if (!(options & ACH_O_COPY) && !port_has_news(port))
		return PORT_NONE; /* whatever is missed from here on was missed by us */
	switch (ach_get(&port->chan, msg, size, len, NULL, options)) {
	case ACH_OK:
		return PORT_ONE;
	case ACH_MISSED_FRAME:
		return fresh ? PORT_ONE : PORT_MISSED;
	case ACH_OVERFLOW:
		*len = 0;
		return step_over(port, options);
	case ACH_EAGAIN:
		return PORT_NONE;
	default:
		port_close(port);
		return PORT_BROKEN;
	}
}

enum port_got port_next(struct port *port, void *msg, size_t size, size_t *len)
{
	return get(port, msg, size, len, 0);
}

enum port_got port_newest(struct port *port, void *msg, size_t size, size_t *len)
{
	return get(port, msg, size, len, ACH_O_LAST);
}
