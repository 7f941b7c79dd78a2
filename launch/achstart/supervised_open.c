/* supervised_open.c: how a daemon is found when achstart begins, and how it is left. */
#include "launch/achstart/supervise.h"

bool supervised_adopt(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	struct folder_state saved;
	const int status = folder_state_read(d->daemon->name, &saved);

	if (status == -EBADMSG)
		supervised_say(s, d, now_ns, WARNING, "state-file", "$RUN/state/%s is damaged: taken as not there",
			       d->daemon->name);
	if (status)
		return false;
	d->saved = (struct folder_state){ .incarnation = saved.incarnation,
					  .hash = saved.hash,
					  .restarts = saved.restarts,
					  .left_as = saved.left_as,
					  .latches = saved.latches };
	d->policy.restarts = saved.restarts;
	if (child_adopt(&d->child, &saved))
		return false;
	d->saved = saved;
	d->saved.left_as = FOLDER_RUNS;
	d->adopted_ns = now_ns;
	logs_adopt(&d->log, saved.pid);
	supervised_follow(s->fifos, d->log.fifo);
	supervised_follow(s->ends, d->child.pidfd);
	if (saved.hash != launch_hash(d->daemon))
		supervised_say(s, d, now_ns, WARNING, "changed",
			       "it runs with another configuration than the file has now: achctl restart %s",
			       d->daemon->name);
	supervised_say(s, d, now_ns, INFO, "adopted", "found running, process %d", (int)saved.pid);
	/* With alive: process a daemon is ready once it has a process, and says nothing. */
	supervised_event(s, d,
			 saved.ready || d->daemon->alive == LAUNCH_ALIVE_PROCESS ? POLICY_ADOPT_READY : POLICY_ADOPT,
			 now_ns);
	if (saved.left_as == FOLDER_STOPPED || saved.left_as == FOLDER_RESTART) /* it was about to */
		supervised_event(s, d, saved.left_as == FOLDER_STOPPED ? POLICY_STOP : POLICY_RESTART, now_ns);
	return true;
}

bool supervised_left(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	const bool changed = d->saved.hash != launch_hash(d->daemon);
	const char *name = d->daemon->name;

	switch (d->saved.left_as) {
	case FOLDER_STOPPED:
		supervised_say(s, d, now_ns, INFO, "left", "left stopped: achctl start %s", name);
		return true;
	case FOLDER_DONE:
		if (!d->daemon->rules.never)
			return false;
		if (changed)
			supervised_say(s, d, now_ns, WARNING, "changed",
				       "done with another configuration than the file has now: achctl start %s", name);
		supervised_event(s, d, POLICY_WAS_DONE, now_ns);
		return true;
	case FOLDER_FAILED:
		if (changed)
			return false;
		supervised_say(s, d, now_ns, WARNING, "left", "left given up: achctl start %s once the cause is gone",
			       name);
		supervised_event(s, d, POLICY_WAS_FAILED, now_ns);
		return true;
	case FOLDER_RUNS:
		if (!d->saved.incarnation)
			return false;
		if (d->daemon->rules.never) {
			supervised_event(s, d, POLICY_WAS_LOST, now_ns);
			return true;
		}
		/* As after any death it does not wait for its needs: they may have been stopped since. */
		supervised_event(s, d, POLICY_START, now_ns);
		supervised_event(s, d, POLICY_NEEDS_MET, now_ns);
		return true;
	default:
		return false;
	}
}

void supervised_first_time(struct supervised *d)
{
	d->saved.left_as = FOLDER_RUNS;
	if (!d->daemon->wanted)
		folder_state_remove(d->daemon->name);
}

void supervised_open(struct supervisor *s, struct supervised *d, const struct launch_daemon *daemon, int64_t now_ns)
{
	struct events_sink odd = { &s->events, now_ns, MSG_SEVERITY_WARNING, daemon->name, "log" };
	struct error_sink warnings = { events_line, &odd, 0 };

	d->daemon = daemon;
	d->child.pidfd = -1;
	spare_init(&d->spare);
	d->saved.latches = -1;
	policy_init(&d->policy);
	if (launch_find(d->path, daemon->argv[0]))
		snprintf(d->path, sizeof(d->path), "%s", daemon->argv[0]);
	logs_open(&d->log, daemon->name, true, &warnings);
	supervised_follow(s->fifos, d->log.fifo);
	if (daemon->alive != LAUNCH_ALIVE_STATE)
		return;
	daemon_state_init(&d->published, daemon->channel);
	port_open_of(&d->event_port, daemon->device ? daemon->device->name : daemon->name, "event", msg_event_number,
		     0640, &warnings);
}

void supervised_close(struct supervised *d, bool stopped)
{
	logs_close(&d->log, stopped);
	kept_sockets_close(&d->sockets);
	daemon_state_close(&d->published);
	port_close(&d->event_port);
}
