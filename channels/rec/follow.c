/* follow.c: every message of some channels as they come. */
#include "channels/clock/clock.h"
#include "channels/port/port.h"
#include "channels/rec/chan.h"
#include "channels/rec/follow.h"

#define FOLLOW_CHECK_NS 500000000 /* between two checks whether the channel was removed */
#define FOLLOW_ROOM 8192	  /* the largest Endplate message */

static int follow_descriptor(struct follow *f)
{
	enum ach_status status = ach_channel_fd(&f->chan, &f->fd);

	if (status == ACH_OK)
		return 0;
	return chan_refused(f->name, status);
}

int follow_open(struct follow *f, const char *name)
{
	*f = (struct follow){ .name = name, .fd = -1 };
	if (chan_open(&f->chan, name))
		return EXIT_RETRY;
	f->room = FOLLOW_ROOM;
	f->bytes = malloc(f->room);
	if (!f->bytes) {
		ach_close(&f->chan);
		return chan_fail("%s: no memory", name);
	}
	f->check_ns = clock_own_ns() + FOLLOW_CHECK_NS;
	return 0;
}

void follow_close(struct follow *f)
{
	if (!f->gone)
		ach_close(&f->chan);
	free(f->bytes);
	f->bytes = NULL;
}

uint64_t follow_from(struct follow *f, uint64_t n)
{
	uint64_t newest;

	ach_flush(&f->chan);
	newest = f->chan.seq_num;
	f->chan.seq_num = n < newest ? newest - n : 0; /* the cursor is the program's to move */
	f->counts = !n;
	return newest;
}

int follow_next(struct follow *f)
{
	for (;;) {
		uint64_t before = f->chan.seq_num;
		enum ach_status status;

		if (f->gone)
			return 0;
		status = ach_get(&f->chan, f->bytes, f->room, &f->len, NULL, 0);
		switch (status) {
		case ACH_OK:
		case ACH_MISSED_FRAME:
			f->missed = f->counts ? f->chan.seq_num - before - 1 : 0;
			f->counts = true;
			return 1;
		case ACH_EAGAIN:
			return 0;
		case ACH_OVERFLOW:
			if (grow(&f->bytes, &f->room, f->len, 1))
				continue;
			return f->quiet ? -1
					: program_report(-1, "%s: no memory for a message of %zu bytes", f->name,
							 f->len);
		default:
			f->status = status;
			if (!f->quiet)
				chan_refused(f->name, status);
			return -1;
		}
	}
}

void follow_leave(struct follow *f)
{
	ach_close(&f->chan);
	f->gone = true;
	f->fd = -1;
}

void follow_check(struct follow *f)
{
	f->check_ns = clock_own_ns() + FOLLOW_CHECK_NS;
	if (!f->gone) {
		if (!port_is_gone(&f->chan))
			return;
		follow_leave(f);
		if (!program_before_line && !f->quiet)
			chan_fail("%s was removed; waiting for a new one", f->name);
	}
	f->status = ach_open(&f->chan, f->name, NULL);
	f->gone = f->status != ACH_OK;
	f->counts = true;
}

/* The deadline, or the first check if that is sooner, by the robot's time. */
static int64_t first_ns(const struct follow *f, size_t n, int64_t deadline_ns)
{
	const int64_t now_ns = clock_now_ns(), own_ns = clock_own_ns();

	for (size_t i = 0; i < n; i++)
		if (f[i].check_ns - own_ns < deadline_ns - now_ns)
			deadline_ns = now_ns + f[i].check_ns - own_ns;
	return deadline_ns;
}

int follow_wait(struct follow *f, size_t n, int64_t deadline_ns)
{
	const int64_t jumped_ns = clock_jumped_ns();
	struct clock_fd fds[FOLLOW_MAX + 1] = { { .fd = clock_stop_fd(), .events = POLLIN } };

	for (;;) {
		int ready;

		for (size_t i = 0; i < n; i++) {
			if (f[i].fd < 0 && !f[i].gone && follow_descriptor(&f[i]))
				return -1;
			fds[i + 1] = (struct clock_fd){ .fd = f[i].fd, .events = POLLIN };
		}
		ready = clock_wait(fds, n + 1, first_ns(f, n, deadline_ns));
		if (ready < 0)
			return program_report(-1, "cannot wait: %s", strerror(-ready));
		if (fds[0].ready)
			return 1;
		for (size_t i = 0; i < n; i++)
			if (clock_own_ns() >= f[i].check_ns)
				follow_check(&f[i]);
		if (ready || clock_now_ns() >= deadline_ns || clock_jumped_ns() != jumped_ns)
			return 0;
	}
}
