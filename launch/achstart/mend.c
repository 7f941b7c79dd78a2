/* mend.c: $RUN, made anew when somebody has removed it. */
#include <unistd.h>

#include "config/run.h"
#include "launch/achstart/control.h"
#include "launch/achstart/folder.h"
#include "launch/achstart/mend.h"
#include "launch/achstart/notice.h"

#define EVERY_NS 500000000

/* Those who are connected stay so; everybody else finds the new ones. */
static int make_sockets(struct supervisor *s, struct error_sink *errors)
{
	const int notify_fd = notice_open(errors);

	if (notify_fd < 0)
		return notify_fd;
	close(s->notify_fd);
	s->notify_fd = notify_fd;
	return control_listen(s->control, errors);
}

static int make_anew(struct supervisor *s, struct error_sink *errors)
{
	const int lock = folder_lock(errors);
	int status;

	if (lock < 0)
		return lock;
	status = folder_robot_write(s->launch->name, errors);
	for (size_t i = 0; i < s->n && !status; i++)
		if (policy_has_process(&s->watches[i].policy))
			folder_state_write(s->watches[i].daemon->name, &s->watches[i].kept);
	if (!status)
		status = make_sockets(s, errors);
	if (status) { /* to be tried again */
		close(lock);
		return status;
	}
	close(s->lock);
	s->lock = lock;
	return 0;
}

void mend_look(struct supervisor *s, int64_t now_ns)
{
	struct events_teller wrong = { &s->events, now_ns, MSG_SEVERITY_ERROR, "achstart", "folder" };
	struct error_sink errors = { s->told_folder ? NULL : events_tell, &wrong, 0 };
	char path[RUN_PATH_MAX] = "";

	if (now_ns < s->mend_ns)
		return;
	s->mend_ns = now_ns + EVERY_NS;
	if (folder_is_locked(s->lock))
		return;
	s->told_folder = make_anew(s, &errors);
	s->events.log.look_ns = 0; /* at once: what is told here belongs into the new log */
	events_look(&s->events, now_ns);
	if (!s->told_folder && !run_path(path, NULL, &errors))
		events_say(&s->events, now_ns, MSG_SEVERITY_WARNING, "achstart", "folder",
			   "%s was removed, and has been made anew", path);
}
