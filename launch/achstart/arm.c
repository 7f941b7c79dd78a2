/* arm.c: the level of the e-stop, on both channels. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "channels/ach_file.h"
#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "daemons/port.h"
#include "launch/achstart/arm.h"
#include "launch/achstart/terminal.h"

#define PATIENCE_NS 2000000
#define MESSAGES_MAX 256

static const char *const channels[2] = { "estop", "estop-b" };

/* Numbers: who they are may be a question to a network that is dead. */
static int may_not(struct error_sink *errors, const char *what, const char *name)
{
	char path[ACH_FILE_PATH_LEN];
	struct stat st;

	ach_file_channel_path(path, name);
	if (stat(path, &st))
		error_add(errors, "you may not %s %s", what, name);
	else
		error_add(errors, "you may not %s %s (mode %04o, uid %u, gid %u)", what, name, st.st_mode & 07777u,
			  (unsigned int)st.st_uid, (unsigned int)st.st_gid);
	return -EACCES;
}

static int wrong(struct error_sink *errors, const char *what, int c, enum ach_status status)
{
	char name[PORT_NAME_MAX];

	if (port_name(name, channels[c]))
		snprintf(name, sizeof(name), "%s", channels[c]);
	if (status == ACH_EACCES)
		return may_not(errors, what, name);
	error_add(errors, "channel %s: %s%s%s", name, ach_result_to_string(status),
		  status == ACH_FAILED_SYSCALL ? ": " : "", status == ACH_FAILED_SYSCALL ? ach_errstr() : "");
	return status == ACH_ENOENT ? -ENOENT : -EIO;
}

static bool is_corrupt(enum ach_status status)
{
	return status == ACH_CORRUPT || status == ACH_BAD_SHM_FILE;
}

static enum ach_status open_channel(struct arm *a, int c, const char *name)
{
	const struct timespec patience = { .tv_nsec = PATIENCE_NS };
	enum ach_status status;
	ach_attr_t attr;

	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &patience);
	status = ach_open(&a->chan[c], name, &attr);
	a->open[c] = status == ACH_OK;
	a->status[c] = status;
	a->corrupt[c] = is_corrupt(status);
	a->seen.id[c] = status == ACH_OK ? a->chan[c].handle->id : 0;
	a->seen.seq[c] = a->raise_seq[c] = 0;
	return status;
}

static enum ach_status make_channel(const char *name, gid_t group)
{
	const struct msg_type *type = msg_type_by_number(msg_estop_number);
	ach_create_attr_t attr;
	enum ach_status status;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0660, group);
	status = ach_create(name, type->retained, type->body->size, &attr);
	return status == ACH_EEXIST ? ACH_OK : status;
}

static int open_one(struct arm *a, int c, bool make, gid_t group, struct error_sink *errors)
{
	char name[PORT_NAME_MAX];
	enum ach_status status;

	a->status[c] = ACH_INVALID_NAME;
	if (port_name(name, channels[c]))
		return wrong(errors, "read", c, ACH_INVALID_NAME);
	status = open_channel(a, c, name);
	if (status == ACH_ENOENT && make) {
		status = make_channel(name, group);
		if (status == ACH_OK)
			status = open_channel(a, c, name);
	}
	a->status[c] = status;
	return status == ACH_OK ? 0 : wrong(errors, "read", c, status);
}

int arm_open(struct arm *a, bool make, gid_t group, struct error_sink *errors)
{
	int status, other;

	memset(a, 0, sizeof(*a));
	a->level = a->of[0].level = a->of[1].level = MSG_LEVEL_ESTOP;
	status = open_one(a, 0, make, group, errors);
	other = open_one(a, 1, make, group, errors);
	return status ? status : other;
}

void arm_close(struct arm *a)
{
	for (int c = 0; c < 2; c++)
		if (a->open[c])
			ach_close(&a->chan[c]);
	a->open[0] = a->open[1] = false;
}

void arm_why(const struct arm *a, struct error_sink *errors)
{
	for (int c = 0; c < 2; c++)
		if (!a->open[c])
			wrong(errors, "read", c, a->status[c]);
}

/* ---- reading ---- */

static void note_raise(struct arm *a, int c, uint64_t seq, const char *who, const char *why)
{
	a->raise_seq[c] = seq;
	snprintf(a->raise_who[c], MSG_NAME_SIZE, "%.*s", MSG_NAME_SIZE - 1, who);
	snprintf(a->raise_why[c], MSG_TEXT_SIZE, "%.*s", MSG_TEXT_SIZE - 1, why);
	terminal_clean(a->raise_who[c]);
	terminal_clean(a->raise_why[c]);
}

/* The level of the channel: the highest since its newest epoch. */
static int read_one(struct arm *a, int c, uint64_t *epoch, enum msg_level *level, struct error_sink *errors)
{
	const struct msg_type *type = msg_type_by_number(msg_estop_number);
	struct msg_estop msg;
	enum ach_status status = ACH_OK;
	size_t len;

	for (int i = 0; i < MESSAGES_MAX; i++) {
		status = ach_get(&a->chan[c], &msg, sizeof(msg), &len, NULL, ACH_O_FIRST);
		if (status != ACH_OK && status != ACH_MISSED_FRAME)
			break;
		a->seen.seq[c] = a->chan[c].seq_num;
		if (status == ACH_MISSED_FRAME)
			note_raise(a, c, a->seen.seq[c] - 1, "somebody", "messages were missed");
		if (msg_check(&msg, len, type, NULL) != MSG_FINE)
			continue;
		if (msg.level != MSG_LEVEL_RUN)
			note_raise(a, c, a->seen.seq[c], msg.who, msg.why);
		if (msg.epoch > *epoch || (msg.epoch == *epoch && msg.level >= *level)) {
			snprintf(a->who, sizeof(a->who), "%.*s", MSG_NAME_SIZE, msg.who);
			snprintf(a->why, sizeof(a->why), "%.*s", MSG_TEXT_SIZE, msg.why);
			terminal_clean(a->who);
			terminal_clean(a->why);
			a->t_ns = msg.header.t_publish_ns;
		}
		if (msg.epoch > *epoch) {
			*epoch = msg.epoch;
			*level = msg.level > MSG_LEVEL_ESTOP ? MSG_LEVEL_ESTOP : (enum msg_level)msg.level;
		} else if (msg.level > *level) {
			*level = msg.level > MSG_LEVEL_ESTOP ? MSG_LEVEL_ESTOP : (enum msg_level)msg.level;
		}
	}
	if (status == ACH_EAGAIN || status == ACH_OK || status == ACH_MISSED_FRAME)
		return 0;
	a->status[c] = status;
	a->corrupt[c] = is_corrupt(status);
	ach_close(&a->chan[c]);
	a->open[c] = false;
	a->of[c] = (struct arm_level){ .level = MSG_LEVEL_ESTOP };
	return wrong(errors, "read", c, status);
}

int arm_read(struct arm *a, struct error_sink *errors)
{
	int status = 0;

	for (int c = 0; c < 2; c++) {
		int unlinked = 0, now;

		if (a->open[c] && (ach_unlinked(&a->chan[c], &unlinked) != ACH_OK || unlinked)) {
			ach_close(&a->chan[c]);
			a->open[c] = false;
			a->of[c] = (struct arm_level){ .level = MSG_LEVEL_ESTOP };
		}
		now = a->open[c] ? 0 : open_one(a, c, false, (gid_t)-1, errors);
		if (!now)
			now = read_one(a, c, &a->of[c].epoch, &a->of[c].level, errors);
		if (now)
			status = now;
	}
	a->epoch = a->of[0].epoch > a->of[1].epoch ? a->of[0].epoch : a->of[1].epoch;
	a->level = a->of[0].level > a->of[1].level ? a->of[0].level : a->of[1].level;
	if (status || a->of[0].epoch != a->of[1].epoch)
		a->level = MSG_LEVEL_ESTOP; /* as drivers take it */
	return status;
}

int arm_mend(struct arm *a, gid_t group, struct error_sink *errors)
{
	char name[PORT_NAME_MAX];
	int mended = 0;

	for (int c = 0; c < 2; c++) {
		if (a->open[c] || port_name(name, channels[c]))
			continue;
		if (a->corrupt[c])
			ach_unlink(name);
		mended += !open_one(a, c, true, group, errors);
	}
	return mended;
}

/* ---- writing ---- */

static int put_both(struct arm *a, struct msg_estop *msg, struct error_sink *errors, int *put)
{
	int status = 0;

	*put = 0;
	for (int c = 0; c < 2; c++) {
		const enum ach_status s = a->open[c] ? ach_put(&a->chan[c], msg, sizeof(*msg)) : a->status[c];

		if (s == ACH_OK)
			++*put;
		else
			status = wrong(errors, "write", c, s);
	}
	return status;
}

static void fill(const struct arm_seen *seen, struct msg_estop *msg, uint64_t epoch, enum msg_level level,
		 const char *who, const char *why)
{
	msg_init(msg, msg_type_by_number(msg_estop_number));
	msg->header.t_sample_ns = msg->header.t_publish_ns = clock_now_ns();
	msg->epoch = epoch;
	msg->level = level;
	msg->seen[0] = seen->seq[0];
	msg->seen[1] = seen->seq[1];
	snprintf(msg->who, sizeof(msg->who), "%s", who);
	snprintf(msg->why, sizeof(msg->why), "%s", why);
}

int arm_raise(struct arm *a, enum msg_level level, const char *who, const char *why, struct error_sink *errors)
{
	struct msg_estop msg;
	int put, status;

	fill(&a->seen, &msg, a->epoch, level, who, why);
	status = put_both(a, &msg, errors, &put);
	return put ? 0 : status;
}

int arm_raised_since(const struct arm *a, const struct arm_seen *seen, struct error_sink *errors)
{
	for (int c = 0; c < 2; c++) {
		if (a->seen.id[c] != seen->id[c]) {
			error_add(errors, "channel %s was made anew since", channels[c]);
			return -EAGAIN;
		}
		if (a->raise_seq[c] > seen->seq[c]) {
			error_add(errors, "level raised since by %s: %s", a->raise_who[c], a->raise_why[c]);
			return -EAGAIN;
		}
	}
	return 0;
}

int arm_lower(struct arm *a, const struct arm_seen *seen, enum msg_level level, const char *who, const char *why,
	      struct error_sink *errors)
{
	struct msg_estop msg;
	int put;

	fill(seen, &msg, a->epoch + 1, level, who, why);
	return put_both(a, &msg, errors, &put);
}
