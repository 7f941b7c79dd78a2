/* attach.c: the client side of a wire's socket. */
#include "can/bus/attach.h"

#include <sys/socket.h>
#include <unistd.h>

#include "channels/port/rpc.h"

#define ANSWER_NS 1000000000

const char *attach_split(const char *name, char bus[TEXT_NAME_MAX + 1], char controller[TEXT_NAME_MAX + 1])
{
	const char *at;

	if (!strncmp(name, "wire:", 5))
		name += 5;
	at = strchr(name, '@');
	if (snprintf(bus, TEXT_NAME_MAX + 1, "%.*s", at ? (int)(at - name) : (int)strlen(name), name) > TEXT_NAME_MAX ||
	    !text_is_name(bus))
		return "a wire is named like wire:torso";
	if (snprintf(controller, TEXT_NAME_MAX + 1, "%s", at ? at + 1 : ATTACH_HOST) > TEXT_NAME_MAX ||
	    !text_is_name(controller))
		return "a controller on a wire is named like wire:torso@imu";
	return NULL;
}

/* The other side ended during the exchange. */
static bool is_gone(int error)
{
	return error == ECONNRESET || error == EPIPE;
}

union control {
	char bytes[CMSG_SPACE(sizeof(int) * ATTACH_FDS_MAX)];
	struct cmsghdr align;
};

int attach_send(int fd, const void *data, size_t size, const int *fds, int fds_n)
{
	union control control = { { 0 } };
	struct iovec part = { (void *)data, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (fds_n) {
		struct cmsghdr *c = &control.align;

		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)fds_n);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)fds_n);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)fds_n);
	}
	clock_touch(0);
	n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return is_gone(errno) ? -ECONNREFUSED : -errno;
	return (int)n;
}

int attach_receive(int fd, void *data, size_t size, int fds[ATTACH_FDS_MAX], int *fds_n)
{
	union control control;
	struct iovec part = { data, size };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*fds_n = 0;
	if (n < 0)
		return is_gone(errno) ? 0 : -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			*fds_n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			memcpy(fds, CMSG_DATA(c), sizeof(int) * (size_t)*fds_n);
		}
	if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return (int)n;
	while (*fds_n)
		close(fds[--*fds_n]);
	return -EMSGSIZE;
}

void attach_explain(const char *name, const char *path, int error, struct error_sink *errors)
{
	switch (-error) {
	case ENOENT:
	case ECONNREFUSED:
		error_add(errors, "%s: no such wire (%s is not served): start it with canwire run %s", name, path,
			  strrchr(path, '/') + 1);
		break;
	case EACCES:
		error_add(errors, "%s: no permission for %s: it belongs to another user", name, path);
		break;
	case EPERM:
	case ELOOP:
		error_add(errors,
			  "%s: %s is not to be trusted: it belongs to another user, other users may write its "
			  "folder, or it is a symbolic link: set ENDPLATE_RUN to a folder of your own",
			  name, path);
		break;
	case ETIMEDOUT:
	case EAGAIN:
		error_add(errors, "%s: canwire does not answer at %s: is it stopped?", name, path);
		break;
	case EPROTO:
	case EPROTONOSUPPORT:
		error_add(errors, "%s: canwire at %s is of another version than this program: restart it", name, path);
		break;
	case EMFILE:
	case ENOSPC:
		error_add(errors, "%s: canwire has no room for another program or controller on it", name);
		break;
	default:
		error_add(errors, "%s: unable to attach at %s: %s", name, path, strerror(-error));
	}
}

int attach_question(const char *name, const char *question, char *answer, size_t size, struct error_sink *errors)
{
	char bus[TEXT_NAME_MAX + 1], controller[TEXT_NAME_MAX + 1], rest[TEXT_NAME_MAX + 8], path[RUN_PATH_MAX];
	const char *wrong = attach_split(name, bus, controller);
	int r;

	if (wrong)
		return error_refuse(errors, -EINVAL, "%s: %s", name, wrong);
	snprintf(rest, sizeof(rest), "wire/%s", bus);
	r = run_path(path, rest, errors);
	if (r)
		return r;
	r = rpc_call(path, question, answer, size, clock_now_ns() + ANSWER_NS, errors);
	if (r && r != -EINVAL)
		attach_explain(name, path, r, errors);
	return r;
}
