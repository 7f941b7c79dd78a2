/* mend.c: $RUN, made anew when somebody has removed it, or something in it. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/run.h"
#include "launch/achstart/control.h"
#include "launch/common/folder.h"
#include "launch/achstart/mend.h"
#include "launch/achstart/notice.h"

#define EVERY_NS 500000000

/* ---- what is missing ---- */

/* The lock tells whether the folder is ours; the rest is there or not. */
static const struct part {
	const char *name;
	mode_t kind;
} parts[] = { { "notify", S_IFSOCK }, { "control", S_IFSOCK }, { "robot", S_IFREG }, { "state", S_IFDIR } };
enum { NOTIFY, CONTROL, ROBOT, STATE, PARTS };

struct missing {
	bool lock, part[PARTS];
	unsigned int n; /* of them all */
};

static struct missing look(const struct supervisor *s)
{
	struct missing missing = { .lock = !folder_is_locked(s->lock) };

	missing.n = missing.lock;
	for (int i = 0; i < PARTS; i++) {
		missing.part[i] = !folder_has(parts[i].name, parts[i].kind);
		missing.n += missing.part[i];
	}
	return missing;
}

/* "lock, control of ", or nothing if it is the whole folder. */
static void name_missing(char names[64], const struct missing *missing)
{
	size_t len = 0;

	*names = 0;
	if (missing->n > PARTS)
		return;
	if (missing->lock)
		len = (size_t)snprintf(names, 64, "lock");
	for (int i = 0; i < PARTS; i++)
		if (missing->part[i])
			len += (size_t)snprintf(names + len, 64 - len, "%s%s", len ? ", " : "", parts[i].name);
	snprintf(names + len, 64 - len, " of ");
}

void mend_listen(struct supervisor *s, int64_t now_ns)
{
	if (!folder_is_locked(s->lock) || !folder_has("notify", S_IFSOCK))
		s->deaf_ns = now_ns;
}

/* ---- mending ---- */

static int make_notify(struct supervisor *s, struct error_sink *errors)
{
	const int notify_fd = notice_open(errors);

	if (notify_fd < 0)
		return notify_fd;
	close(s->notify_fd);
	s->notify_fd = notify_fd;
	return 0;
}

static int make_states(struct supervisor *s, struct error_sink *errors)
{
	const int status = folder_make_states(errors);

	if (status)
		return status;
	for (size_t i = 0; i < s->n; i++)
		if (policy_has_process(&s->watches[i].policy) || s->watches[i].kept.left != FOLDER_RUNS)
			folder_state_write(s->watches[i].daemon->name, &s->watches[i].kept);
	return 0;
}

/* In a folder that is not ours nothing is, whatever lies there. */
static int make_parts(struct supervisor *s, const struct missing *missing, struct error_sink *errors)
{
	int status = folder_share(s->launch->operators, errors);

	if (!status)
		status = folder_robot_write(s->launch->name, errors);
	if (!status && (missing->lock || missing->part[STATE]))
		status = make_states(s, errors);
	if (!status && (missing->lock || missing->part[NOTIFY]))
		status = make_notify(s, errors);
	/* Those who are connected stay so; everybody else finds the new one. */
	if (!status && (missing->lock || missing->part[CONTROL]))
		status = control_listen(s->control, errors);
	return status;
}

static int make_anew(struct supervisor *s, const struct missing *missing, struct error_sink *errors)
{
	const int lock = missing->lock ? folder_lock(false, errors) : s->lock;
	const int status = lock < 0 ? lock : make_parts(s, missing, errors);

	if (lock < 0 || lock == s->lock)
		return status;
	close(status ? lock : s->lock); /* if need be, to be tried again */
	s->lock = status ? s->lock : lock;
	return status;
}

void mend_look(struct supervisor *s, int64_t now_ns)
{
	struct events_teller wrong = { &s->events, now_ns, MSG_SEVERITY_ERROR, "achstart", "folder" };
	struct error_sink errors = { s->told_folder ? NULL : events_tell, &wrong, 0 };
	char path[RUN_PATH_MAX] = "", names[64];
	struct missing missing;

	if (now_ns < s->mend_ns)
		return;
	s->mend_ns = now_ns + EVERY_NS;
	missing = look(s);
	if (!missing.n) {
		s->told_folder = false; /* somebody has put it right */
		return;
	}
	mend_listen(s, now_ns);
	s->told_folder = make_anew(s, &missing, &errors);
	s->events.log.look_ns = 0; /* at once: what is told here belongs into the new log */
	events_look(&s->events, now_ns);
	if (s->told_folder || run_path(path, NULL, &errors))
		return;
	name_missing(names, &missing);
	events_say(&s->events, now_ns, MSG_SEVERITY_WARNING, "achstart", "folder",
		   "%s%s: removed or renamed, and made anew", names, path);
}
