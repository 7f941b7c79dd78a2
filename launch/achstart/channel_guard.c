/* channel_guard.c: the channels of the robot. */
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/vt_clock.h"
#include "launch/achstart/channel_guard.h"

/* As many rights as another user may have at most. */
static const struct kind {
	const char *text;
	mode_t mode;
	bool outlives; /* the robot, if its daemon is to be kept */
} suffixes[] = { { "-state", 0640, true },
		 { "-req", 0600, false },
		 { "-rep", 0640, false },
		 { "-event", 0640, true },
		 { "-info", 0640, true } },
  alone[] = { { "clock", 0640, false }, { "body", 0640, false }, { "achstart-event", 0640, false } };
#define SUFFIXES (sizeof(suffixes) / sizeof(*suffixes))
#define ALONE (sizeof(alone) / sizeof(*alone))
#define REF "-ref"
#define REF_MODE 0660

/* false: there is no such name. */
static bool add(struct channel_guard *p, const char *of, const char *before, const char *after, mode_t mode, bool moves)
{
	char channel[2 * PORT_NAME_MAX];
	struct channel_guard_channel *one = &p->channels[p->n];

	snprintf(channel, sizeof(channel), "%s%s", before, after);
	if (port_name(one->name, channel))
		return false;
	one->of = of;
	one->mode = mode;
	one->moves = moves;
	p->n++;
	return true;
}

static void add_sources(struct channel_guard *p, const struct launch_daemon *d)
{
	char name[PORT_NAME_MAX];
	struct launch_mux mux;

	launch_mux(d, &mux);
	for (size_t i = 0; mux.output && i < mux.n; i++) {
		snprintf(name, sizeof(name), "%s.%s", mux.output, mux.sources[i]);
		add(p, d->name, name, REF, REF_MODE, true);
	}
}

static bool is_known(const struct channel_guard *p, const char *channel)
{
	char name[PORT_NAME_MAX];

	for (size_t i = 0; !port_name(name, channel) && i < p->n; i++)
		if (!strcmp(p->channels[i].name, name))
			return true;
	return false;
}

static void add_daemon(struct channel_guard *p, const struct launch *launch, const struct launch_daemon *d)
{
	const char *name = d->device ? d->device->name : d->name;
	/* The group moving writes the sources of a refmuxd, not the references that it writes. */
	const bool muxed = d->device && launch_is_muxed(launch, d->device);

	for (size_t i = 0; i < SUFFIXES; i++)
		if (add(p, d->name, name, suffixes[i].text, suffixes[i].mode, false))
			p->channels[p->n - 1].keep = d->keep && suffixes[i].outlives;
	add(p, d->name, name, REF, muxed ? 0600 : REF_MODE, d->device && d->device->actuated && !muxed);
	add_sources(p, d);
}

int channel_guard_open(struct channel_guard *p, const struct launch *launch)
{
	*p = (struct channel_guard){ .moving = launch->moving };
	p->channels = calloc(launch->daemons_n * (SUFFIXES + 1 + MSG_SOURCES) + launch->robot.buses_n + ALONE +
				     launch->channels_n,
			     sizeof(*p->channels));
	if (!p->channels)
		return -ENOMEM;
	/* Beside drivers also of what publishes as one. */
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *d = &launch->daemons[i];

		if (d->kind == LAUNCH_DRIVER || d->channel)
			add_daemon(p, launch, d);
		else if (d->kind == LAUNCH_BLACKBOX || d->kind == LAUNCH_PROGRAM) /* achlogd */
			add(p, d->name, d->name, "-event", 0640, false);
	}
	for (size_t i = 0; i < launch->robot.buses_n; i++)
		add(p, NULL, "bus-", launch->robot.buses[i].name, 0640, false);
	for (size_t i = 0; i < ALONE; i++)
		add(p, NULL, alone[i].text, "", alone[i].mode, false);
	/* What only the drivers know of: forces of a robot's feet, references of its limbs. */
	for (size_t i = 0; i < launch->channels_n; i++) {
		const struct launch_channel *channel = &launch->channels[i];
		const struct robot_device *device = channel->daemon->device;

		if (!is_known(p, channel->name))
			add(p, channel->daemon->name, channel->name, "", channel->reads ? REF_MODE : 0640,
			    channel->reads && device && device->actuated);
	}
	return 0;
}

void channel_guard_close(struct channel_guard *p)
{
	free(p->channels);
	*p = (struct channel_guard){ 0 };
}

/* ---- one channel ---- */

/* As a driver finds it; ACH_EAGAIN is an empty one. */
static enum ach_status read_channel(const char *name, mode_t mode)
{
	static char message[1 << 16]; /* of one thread */
	enum ach_status status;
	ach_channel_t chan;
	ach_attr_t attr;
	size_t len;

	ach_attr_init(&attr);
	ach_attr_set_owner(&attr, geteuid(), mode);
	attr.sparse = 1;
	status = ach_open(&chan, name, &attr);
	if (status != ACH_OK)
		return status;
	status = ach_get(&chan, message, sizeof(message), &len, NULL, ACH_O_LAST | ACH_O_COPY);
	ach_close(&chan);
	return status;
}

static bool is_broken(enum ach_status status)
{
	return status == ACH_CORRUPT || status == ACH_BAD_SHM_FILE || status == ACH_EACCES;
}

bool channel_guard_mend(const char *name)
{
	return is_broken(read_channel(name, 0660)) && ach_unlink(name) == ACH_OK;
}

/* ---- references ---- */

static bool is_there(const char *name, struct stat *st)
{
	char path[ACH_FILE_PATH_LEN];

	ach_file_channel_path(path, name);
	return !lstat(path, st);
}

/* Makes one that is not the group's to write, as large as the largest reference there is. */
static int share(const struct channel_guard *p, const struct channel_guard_channel *one, struct error_sink *errors)
{
	const struct msg_type *joint = msg_type_by_number(msg_joint_ref_number);
	const struct msg_type *gripper = msg_type_by_number(msg_gripper_ref_number);
	const struct msg_type *type = joint->body->size > gripper->body->size ? joint : gripper;
	enum ach_status status;
	ach_create_attr_t attr;
	struct stat st;

	if (!one->moves || p->moving == LAUNCH_NO_GROUP || (is_there(one->name, &st) && st.st_gid == p->moving))
		return 0;
	ach_unlink(one->name); /* of a driver that came first */
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0660, p->moving);
	status = ach_create(one->name, type->retained, type->body->size, &attr);
	if (status == ACH_OK)
		return 0;
	return error_refuse(errors, -EIO, "channel %s: %s: %s", one->name, ach_result_to_string(status), ach_errstr());
}

/* ---- all of them ---- */

/* Has another user put something else than a channel under that name?  A plate of his own is ACH_EACCES. */
static bool is_squatted(const char *name, mode_t mode)
{
	struct stat st;

	return read_channel(name, mode) == ACH_BAD_SHM_FILE && is_there(name, &st) && st.st_uid != geteuid();
}

static int evict(const char *name)
{
	char path[ACH_FILE_PATH_LEN];

	ach_file_channel_path(path, name);
	return safe_path_evict(path);
}

/* level_open opens it; it replaces a foreign channel, and no folder. */
static int check_estop(const char *channel, struct error_sink *errors)
{
	char name[PORT_NAME_MAX];

	if (port_name(name, channel) || !is_squatted(name, 0660) || !evict(name) || !is_squatted(name, 0660))
		return 0;
	return port_foreign(name, errors);
}

static bool is_foreign(const struct channel_guard_channel *one)
{
	return is_squatted(one->name, one->mode) || read_channel(one->name, one->mode) == ACH_EACCES;
}

int channel_guard_begin(struct channel_guard *p, void (*replaced)(void *to, const char *why), void *to,
			struct error_sink *errors)
{
	int status = check_estop("estop", errors) | check_estop("estop-b", errors);

	for (size_t i = 0; i < p->n; i++) {
		const struct channel_guard_channel *one = &p->channels[i];
		char why[256];

		if (is_foreign(one)) {
			snprintf(why, sizeof(why), "%s", ach_errstr());
			if (ach_unlink(one->name) == ACH_OK || !evict(one->name)) {
				replaced(to, why);
			} else if (is_foreign(one)) {
				status = port_foreign(one->name, errors);
				continue;
			}
		}
		if (share(p, one, errors))
			status = -EACCES;
	}
	return status;
}

void channel_guard_before(const struct channel_guard *p, const char *daemon, bool all,
			  void (*mended)(void *to, const char *name), void *to)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct channel_guard_channel *one = &p->channels[i];

		if ((one->of ? strcmp(one->of, daemon) != 0 : !all) || !channel_guard_mend(one->name))
			continue;
		share(p, one, &(struct error_sink){ 0 });
		mended(to, one->name);
	}
}

const char *channel_guard_check(struct channel_guard *p)
{
	const struct channel_guard_channel *one;

	if (!p->n)
		return NULL;
	one = &p->channels[p->at];
	p->at = (p->at + 1) % p->n;
	share(p, one, &(struct error_sink){ 0 });
	/* Twice: it may have been removed and made between the steps of an open. */
	return is_broken(read_channel(one->name, one->mode)) && is_broken(read_channel(one->name, one->mode)) &&
			       ach_unlink(one->name) == ACH_OK
		       ? one->name
		       : NULL;
}

void channel_guard_sweep(struct channel_guard *p)
{
	char name[PORT_NAME_MAX];

	for (size_t i = 0; i < p->n; i++)
		if (!p->channels[i].keep || vt_clock_end())
			ach_unlink(p->channels[i].name);
	for (int i = 0; i < 2; i++)
		if (!port_name(name, i ? "estop-b" : "estop"))
			ach_unlink(name);
}
