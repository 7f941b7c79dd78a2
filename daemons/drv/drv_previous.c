/* drv_previous.c: the last state of the previous driver process of this device.  Checked: covered. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/base/base.h"
#include "daemons/drv/drv_previous.h"

#define FILE_MAX 1024
#define MESSAGES_MAX 65536 /* of a channel that another process fills while it is read */

/* ---- the file ---- */

/* The value of "KEY VALUE\n"; NULL: there is no such line. */
static const char *value_of(const char *text, const char *key)
{
	const size_t len = strlen(key);

	while (text) {
		if (!strncmp(text, key, len) && text[len] == ' ')
			return text + len + 1;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

static long long number_of(const char *text, const char *key, long long missing)
{
	const char *value = value_of(text, key);
	char *end = NULL;
	const long long number = value ? strtoll(value, &end, 10) : 0;

	return value && end != value && (*end == '\n' || !*end) ? number : missing;
}

/* An unreadable line counts as of this boot, so that the latches beside it count. */
static bool is_of_this_boot(const char *text, const uint64_t boot[2])
{
	const char *value = value_of(text, "boot");
	uint64_t written[2];

	if (!value || sscanf(value, "%16" SCNx64 " %16" SCNx64, &written[0], &written[1]) != 2)
		return true;
	return written[0] == boot[0] && written[1] == boot[1];
}

struct drv_previous_file drv_previous_parse(const char *text, const uint64_t boot[2], int pid, int session)
{
	const long long incarnation = number_of(text, "incarnation", 0);
	const long long holder = number_of(text, "pid", 0);
	const long long latches = number_of(text, "latches", DRV_PREVIOUS_ALL); /* -1: none has published */
	const long long before = incarnation - (holder == pid || holder == session);

	if (!is_of_this_boot(text, boot) || before <= 0 || before > UINT32_MAX)
		return (struct drv_previous_file){ 0 };
	return (struct drv_previous_file){ .there = latches >= 0,
					   .incarnation = (uint32_t)before,
					   .latches = latches > 0 ? (uint32_t)latches & DRV_PREVIOUS_ALL : 0 };
}

static struct drv_previous_file read_file(const char *name, const uint64_t boot[2])
{
	char rest[64], path[RUN_PATH_MAX], text[FILE_MAX] = "";
	ssize_t n = 0;
	struct stat st;
	int fd;

	snprintf(rest, sizeof(rest), "state/%s", name);
	if (run_path(path, rest, &(struct error_sink){ 0 }))
		return (struct drv_previous_file){ 0 };
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return (struct drv_previous_file){ 0 };
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid))
		n = read(fd, text, sizeof(text) - 1);
	(void)n; /* what cannot be read leaves it empty */
	close(fd);
	return drv_previous_parse(text, boot, getpid(), getsid(0));
}

/* ---- the channel ---- */

static bool is_sound(const union drv_message *msg, size_t len, const struct msg_type *type)
{
	const struct msg_common *common = &msg->state.common;

	return msg_check(msg, len, type, NULL) == MSG_FINE && common->lifecycle <= MSG_LIFE_STOPPING &&
	       common->level <= MSG_LEVEL_ESTOP && common->base_level <= MSG_LEVEL_ESTOP &&
	       !(common->latches & ~(uint32_t)DRV_PREVIOUS_ALL) && (common->boot[0] | common->boot[1]);
}

enum newest { EMPTY, SOUND, UNSOUND };

/* The highest incarnation of all, the newest message as it is. */
static enum newest read_channel(struct drv_previous *p, struct port *port)
{
	unsigned int left = MESSAGES_MAX;
	enum newest newest = EMPTY;
	enum port_got got;
	size_t len;

	while ((got = port_next(port, &p->state, sizeof(p->state), &len)) != PORT_NONE) {
		if (got == PORT_BROKEN || !--left)
			return UNSOUND;
		newest = is_sound(&p->state, len, port->type) ? SOUND : UNSOUND;
		if (newest == SOUND && p->state.header.incarnation > p->incarnation)
			p->incarnation = p->state.header.incarnation;
	}
	return newest;
}

/* ---- both ---- */

static void take(struct drv_previous *p)
{
	const struct msg_common *common = &p->state.state.common;

	p->latches |= common->latches;
	/* Its homing ends with it, wherever the joint has come to. */
	if (common->lifecycle == MSG_LIFE_HOMING)
		p->latches |= MSG_LATCH_HOMING_ABORTED;
	memcpy(p->boot, common->boot, sizeof(p->boot));
	p->base_chan = common->base_chan;
	p->base_seq = common->base_seq;
	p->base_level = (enum msg_level)common->base_level;
}

void drv_previous_read(struct drv_previous *p, struct port *state, const char *name, const uint64_t boot[2])
{
	const struct drv_previous_file file = read_file(name, boot);
	const enum newest newest = read_channel(p, state);
	const uint64_t *of = p->state.state.common.boot;

	p->found = newest == SOUND && of[0] == boot[0] && of[1] == boot[1];
	p->lost = newest == UNSOUND || (!p->found && file.there);
	p->latches = file.latches;
	p->incarnation = file.incarnation > p->incarnation ? file.incarnation : p->incarnation;
	if (p->found)
		take(p);
	if (p->lost)
		p->latches = DRV_PREVIOUS_ALL;
}
