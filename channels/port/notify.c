/* notify.c: see notify.h. */
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/port/notify.h"

#define JITTER_NS (NOTIFY_PERIOD_NS / 10)
#define BEATING_NS (2 * NOTIFY_PERIOD_NS) /* since the last beat: another one will come */

enum { READY = 1, STOPPING = 2, STATUS = 4, WATCHDOG = 8 };

bool notify_rate_take(struct notify_rate *rate, int64_t now_ns)
{
	if (rate->started && now_ns < rate->next_ns - JITTER_NS)
		return false;
	rate->next_ns = (rate->started && rate->next_ns > now_ns ? rate->next_ns : now_ns) + NOTIFY_PERIOD_NS;
	rate->started = true;
	return true;
}

int notify_open(struct notify *n)
{
	const char *name = getenv("NOTIFY_SOCKET");
	size_t len = name ? strlen(name) : 0;

	*n = (struct notify){ .fd = -1, .to.sun_family = AF_UNIX };
	if (!len)
		return 0;
	if ((name[0] != '/' && name[0] != '@') || len < 2)
		return -EINVAL;
	if (len >= sizeof(n->to.sun_path))
		return -ENAMETOOLONG;
	memcpy(n->to.sun_path, name, len);
	if (name[0] == '@')
		n->to.sun_path[0] = 0;
	/* An abstract name has no zero at its end: one more would be another name. */
	n->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] == '/'));
	return 1;
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
	n->to_len = 0;
}

/* Not connected: the socket under that name may be another one tomorrow. */
static int send_message(struct notify *n, const struct msghdr *message)
{
	if (!n->to_len)
		return 0;
	if (n->fd < 0)
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	clock_touch(0);
	if (n->fd < 0 || sendmsg(n->fd, message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		n->lost++;
		return -errno;
	}
	n->sent++;
	return 1;
}

int notify_send(struct notify *n, const char *assignments)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)assignments, .iov_len = strlen(assignments) };

	return send_message(
		n, &(struct msghdr){ .msg_name = &n->to, .msg_namelen = n->to_len, .msg_iov = &part, .msg_iovlen = 1 });
}

int notify_store(struct notify *n, const int *fds, size_t count)
{
	char text[] = "FDSTORE=1\n";
	struct iovec part = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(NOTIFY_FDS * sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_name = &n->to,
				  .msg_namelen = n->to_len,
				  .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };

	if (!count || count > NOTIFY_FDS)
		return -EINVAL;
	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	return send_message(n, &message);
}

/* The pending lines and more. */
static int send_all(struct notify *n, unsigned more)
{
	unsigned what = n->pending | more;
	char text[64 + NOTIFY_STATUS_MAX];
	int ret;

	snprintf(text, sizeof(text), "%s%s%s%s%s%s", what & READY ? "READY=1\n" : "",
		 what & STOPPING ? "STOPPING=1\n" : "", what & WATCHDOG ? "WATCHDOG=1\n" : "",
		 what & STATUS ? "STATUS=" : "", what & STATUS ? n->status : "", what & STATUS ? "\n" : "");
	ret = notify_send(n, text);
	if (ret > 0)
		n->pending = 0;
	return ret;
}

static int send_in_turn(struct notify *n, int64_t now_ns, unsigned more)
{
	int ret;

	if (!notify_rate_take(&n->rate, now_ns)) {
		n->held++;
		return -EBUSY;
	}
	ret = send_all(n, more);
	/* Sooner, and not in step with processes that fill it every time. */
	if (ret == -EAGAIN)
		n->rate.next_ns = now_ns + NOTIFY_RETRY_NS;
	return ret;
}

int notify_ready(struct notify *n)
{
	n->pending |= READY;
	return send_all(n, 0);
}

int notify_stopping(struct notify *n)
{
	n->pending &= ~(unsigned)READY;
	n->pending |= STOPPING;
	return send_all(n, 0);
}

/* Cut at the end of a character: of UTF-8 too. */
static void status_copy(char to[NOTIFY_STATUS_MAX], const char *text)
{
	size_t len = strnlen(text, NOTIFY_STATUS_MAX);

	if (len == NOTIFY_STATUS_MAX)
		for (len--; len && ((unsigned char)text[len] & 0xC0) == 0x80;)
			len--;
	for (size_t i = 0; i < len; i++)
		to[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7F ? ' ' : text[i];
	to[len] = 0;
}

int notify_status(struct notify *n, int64_t now_ns, const char *text)
{
	if (!n->to_len)
		return 0;
	status_copy(n->status, text);
	n->pending |= STATUS;
	return notify_flush(n, now_ns);
}

int notify_watchdog(struct notify *n, int64_t now_ns)
{
	if (!n->to_len)
		return 0;
	n->beats = true;
	n->beat_ns = now_ns;
	return send_in_turn(n, now_ns, WATCHDOG);
}

int notify_flush(struct notify *n, int64_t now_ns)
{
	if (!n->to_len || !n->pending)
		return 0;
	if (n->beats && now_ns - n->beat_ns < BEATING_NS) {
		n->held++;
		return -EBUSY;
	}
	return send_in_turn(n, now_ns, 0);
}
