/* claim_holder.c: which process holds a claim, as the kernel has it. */
#include <dirent.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemons/drv/claim_holder.h"

#define PROC_PATH_MAX 64
#define STATE_CONNECTED 1 /* TCP_ESTABLISHED: an end of a connection has the name of its listening socket */

/* ---- text ---- */

static void program_of(pid_t pid, char program[32])
{
	char path[PROC_PATH_MAX];
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	comm = fopen(path, "re");
	if (!comm || !fgets(program, 32, comm))
		*program = 0;
	if (comm)
		fclose(comm);
	program[strcspn(program, "\n")] = 0;
	for (char *c = program; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

const char *claim_holder_text(char text[CLAIM_HOLDER_MAX], const struct claim_holder *holder)
{
	char program[32] = "";

	if (holder->pid > 0)
		program_of(holder->pid, program);
	if (holder->pid > 0)
		snprintf(text, CLAIM_HOLDER_MAX, "%s, process %d of uid %u", *program ? program : "another program",
			 (int)holder->pid, (unsigned int)holder->uid);
	else if (holder->uid != CLAIM_HOLDER_UNKNOWN)
		snprintf(text, CLAIM_HOLDER_MAX, "a process of uid %u", (unsigned int)holder->uid);
	else
		snprintf(text, CLAIM_HOLDER_MAX, "another process");
	return text;
}

/* ---- descriptors of processes ---- */

struct wanted {
	dev_t dev; /* of the file; 0: a socket */
	ino_t ino;
	off_t at;
};

/* "lock:	1: OFDLCK ADVISORY  WRITE -1 00:19:1234 5 5" in fdinfo: this descriptor holds the lock. */
static bool locks_byte(const char *pid, const char *fd, off_t at)
{
	char path[2 * PROC_PATH_MAX], line[256];
	bool found = false;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/%.16s/fdinfo/%.16s", pid, fd);
	info = fopen(path, "re");
	while (info && !found && fgets(line, sizeof(line), info)) {
		const char *range = strstr(line, "OFDLCK") ? strrchr(line, ':') : NULL;
		long long from;

		found = range && sscanf(range, ":%*u %lld", &from) == 1 && from == (long long)at;
	}
	if (info)
		fclose(info);
	return found;
}

static bool has_descriptor(const char *pid, const struct wanted *wanted)
{
	char path[PROC_PATH_MAX];
	const struct dirent *entry;
	bool found = false;
	struct stat st;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	fds = opendir(path);
	while (fds && !found && (entry = readdir(fds)))
		if (*entry->d_name != '.' && !fstatat(dirfd(fds), entry->d_name, &st, 0) && st.st_ino == wanted->ino)
			found = wanted->dev ? st.st_dev == wanted->dev && locks_byte(pid, entry->d_name, wanted->at)
					    : S_ISSOCK(st.st_mode);
	if (fds)
		closedir(fds);
	return found;
}

static pid_t process_with(const struct wanted *wanted)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t pid = 0;

	while (proc && !pid && (entry = readdir(proc)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9' && has_descriptor(entry->d_name, wanted))
			pid = atoi(entry->d_name);
	if (proc)
		closedir(proc);
	return pid;
}

struct claim_holder claim_holder_of_lock(int fd, off_t at)
{
	struct claim_holder holder = { .uid = CLAIM_HOLDER_UNKNOWN };
	char path[PROC_PATH_MAX];
	struct stat st;

	if (fstat(fd, &st))
		return holder;
	holder.uid = st.st_uid;
	holder.pid = process_with(&(struct wanted){ .dev = st.st_dev, .ino = st.st_ino, .at = at });
	snprintf(path, sizeof(path), "/proc/%d", (int)holder.pid);
	if (holder.pid && !stat(path, &st))
		holder.uid = st.st_uid;
	return holder;
}

/* ---- sockets ---- */

struct socket_found {
	ino_t ino;
	uid_t uid;
};

static bool is_named(const struct rtattr *name, const struct sockaddr_un *address, socklen_t len)
{
	const size_t bytes = len - offsetof(struct sockaddr_un, sun_path);

	return RTA_PAYLOAD(name) == bytes && !memcmp(RTA_DATA(name), address->sun_path, bytes);
}

static void take_message(const struct nlmsghdr *head, const struct sockaddr_un *address, socklen_t len,
			 struct socket_found *found)
{
	const struct unix_diag_msg *msg = NLMSG_DATA(head);
	size_t left = head->nlmsg_len - NLMSG_LENGTH(sizeof(*msg));
	uid_t uid = CLAIM_HOLDER_UNKNOWN;
	bool named = false;

	if (head->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)) || msg->udiag_type != SOCK_SEQPACKET ||
	    msg->udiag_state == STATE_CONNECTED)
		return;
	for (const struct rtattr *a = (const struct rtattr *)(msg + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == UNIX_DIAG_NAME)
			named = is_named(a, address, len);
		else if (a->rta_type == UNIX_DIAG_UID && RTA_PAYLOAD(a) >= sizeof(uid))
			memcpy(&uid, RTA_DATA(a), sizeof(uid));
	}
	if (named)
		*found = (struct socket_found){ .ino = msg->udiag_ino, .uid = uid };
}

/* True: more will come.  The kernel makes the answer within these calls: there is nothing to wait for. */
static bool take_answer(int fd, const struct sockaddr_un *address, socklen_t len, struct socket_found *found)
{
	_Alignas(struct nlmsghdr) char answer[16384];
	ssize_t n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);

	if (n <= 0)
		return false;
	for (const struct nlmsghdr *head = (const struct nlmsghdr *)answer; NLMSG_OK(head, n);
	     head = NLMSG_NEXT(head, n)) {
		if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
			return false; /* done, or an error */
		take_message(head, address, len, found);
	}
	return true;
}

static struct socket_found find_socket(const struct sockaddr_un *address, socklen_t len)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req req;
	} ask = {
		.head = { .nlmsg_len = sizeof(ask),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { .sdiag_family = AF_UNIX, .udiag_states = ~0U, .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID }
	};
	struct socket_found found = { .uid = CLAIM_HOLDER_UNKNOWN };
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return found;
	if (send(fd, &ask, sizeof(ask), 0) == sizeof(ask))
		while (take_answer(fd, address, len, &found))
			;
	close(fd);
	return found;
}

struct claim_holder claim_holder_of_socket(const struct sockaddr_un *address, socklen_t len)
{
	const struct socket_found found = find_socket(address, len);
	struct claim_holder holder = { .uid = found.uid };

	if (found.ino)
		holder.pid = process_with(&(struct wanted){ .ino = found.ino });
	return holder;
}
