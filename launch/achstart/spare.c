/* spare.c: a second process of a daemon, which waits until it is needed. */
#include <signal.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "launch/achstart/spare.h"

#define AFTER_NS 500000000	  /* of readiness: a daemon that dies at its start does not need one */
#define AGAIN_NS 10000000000	  /* after one that ended by itself, and twice as long after each further one, */
#define GONE_NS 1000000000	  /* after SIGKILL, at most */
#define AGAIN_MAX_NS 320000000000 /* up to this */

void spare_init(struct spare *spare)
{
	*spare = (struct spare){ .child = { .pidfd = -1 }, .go = -1 };
}

static void close_go(struct spare *spare)
{
	if (spare->go >= 0)
		close(spare->go);
	spare->go = -1;
}

static void put_off(struct spare *spare, int64_t now_ns)
{
	spare->pause_ns = spare->pause_ns ? 2 * spare->pause_ns : AGAIN_NS;
	if (spare->pause_ns > AGAIN_MAX_NS)
		spare->pause_ns = AGAIN_MAX_NS;
	spare->next_ns = now_ns + spare->pause_ns;
}

bool spare_reap(struct spare *spare, int *status, int64_t now_ns)
{
	const bool by_itself = spare->go >= 0;

	if (!child_ended(&spare->child, status) || !by_itself)
		return false;
	close_go(spare);
	put_off(spare, now_ns);
	return true;
}

/* A spare holds nothing: SIGKILL is enough.  It is not on a virtual clock, on which it must be gone at this
 * instant. */
static void end(struct spare *spare)
{
	struct clock_fd fd = { .fd = spare->child.pidfd, .events = POLLIN };

	close_go(spare);
	child_signal(&spare->child, SIGKILL);
	if (clock_used())
		clock_real.wait(&fd, 1, clock_real.now() + GONE_NS);
}

bool spare_keep(struct spare *spare, const struct launch_daemon *daemon, const char *path, int log_fd,
		int64_t settled_ns, bool wanted, int64_t now_ns)
{
	if (!daemon->spare)
		return false;
	if (spare->child.pid && !wanted)
		end(spare);
	if (spare->child.pid || !wanted || settled_ns > now_ns - AFTER_NS || spare->next_ns > now_ns)
		return false;
	if (!launch_stands_by(path) || child_start_spare(&spare->child, daemon, path, log_fd, &spare->go))
		put_off(spare, now_ns);
	return true;
}

bool spare_use(struct spare *spare, struct child *child, const struct launch_daemon *daemon, struct folder_state *saved)
{
	spare->next_ns = spare->pause_ns = 0;
	if (spare->go < 0)
		return false;
	if (child_use_spare(&spare->child, daemon, spare->go, saved)) {
		end(spare);
		return false;
	}
	*child = spare->child;
	close_go(spare);
	spare_init(spare);
	return true;
}
