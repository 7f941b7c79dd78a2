/* claim.c: one driver per device, and one writer per channel. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/run.h"
#include "daemons/drv/claim.h"

#define WIRE "wire:"
#define PREFIX "endplate/dev/"
#define CLAIM_MAX (RUN_PATH_MAX + 128)
#define BACKLOG 4096 /* each refused process leaves a connection there: the holder accepts none */

/* ---- names ---- */

/* The same folder under the same name, however it is written. */
static void real_folder(char real[PATH_MAX], const char *folder)
{
	if (!realpath(folder, real))
		snprintf(real, PATH_MAX, "%s", folder);
}

/* Two robots may have wires of one name.  The controller of the wire (after the @) does not matter. */
static int interface_name(char name[CLAIM_MAX], const char *interface, const char *what, struct error_sink *errors)
{
	char run[RUN_PATH_MAX], real[PATH_MAX];
	int n;

	if (strncmp(interface, WIRE, strlen(WIRE)) != 0) {
		n = snprintf(name, CLAIM_MAX, PREFIX "%s.%s", interface, what);
	} else {
		if (run_path(run, NULL, errors))
			return -ENOENT;
		real_folder(real, run);
		interface += strlen(WIRE);
		n = snprintf(name, CLAIM_MAX, PREFIX "%s/wire/%.*s.%s", real, (int)strcspn(interface, "@"), interface,
			     what);
	}
	if (n < CLAIM_MAX)
		return 0;
	return error_refuse(errors, -ENAMETOOLONG, "%.80s...: the name is too long for a claim", interface);
}

/* FNV-1a. */
static uint64_t hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

/* An address has 107 bytes.  Of a longer name its hash and its end. */
static socklen_t address_of(struct sockaddr_un *address, const char *name)
{
	const size_t len = strlen(name), most = sizeof(address->sun_path) - 1;
	char *text = address->sun_path + 1;
	int n;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (len <= most) {
		memcpy(text, name, len);
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
	}
	n = snprintf(text, most, PREFIX "%016" PRIx64 "...", hash(name));
	memcpy(text + n, name + len - (most - (size_t)n), most - (size_t)n);
	return sizeof(*address);
}

/* ---- the holder ---- */

static void program_of(pid_t pid, char program[32])
{
	char path[32];
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

/* -EBUSY; -EAGAIN: the holder has ended in between. */
static int taken(int fd, const struct sockaddr_un *address, socklen_t len, const char *label, struct error_sink *errors)
{
	struct ucred holder = { 0 };
	socklen_t size = sizeof(holder);
	char program[32] = "";

	if (connect(fd, (const struct sockaddr *)address, len) && errno == ECONNREFUSED)
		return -EAGAIN;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &holder, &size) || holder.pid <= 0)
		return error_refuse(errors, -EBUSY, "%s is taken by another process", label);
	program_of(holder.pid, program);
	return error_refuse(errors, -EBUSY, "%s is taken by %s, process %d of uid %u", label,
			    *program ? program : "another program", (int)holder.pid, (unsigned int)holder.uid);
}

static int claim_once(const struct sockaddr_un *address, socklen_t len, const char *label, struct error_sink *errors)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int status = fd < 0 || bind(fd, (const struct sockaddr *)address, len) || listen(fd, BACKLOG) ? -errno : 0;

	if (!status)
		return fd;
	if (status == -EADDRINUSE)
		status = taken(fd, address, len, label, errors);
	else
		error_add(errors, "%s: unable to claim it: %s", label, strerror(-status));
	if (fd >= 0)
		close(fd);
	return status;
}

static int claim_name(const char *name, const char *label, struct error_sink *errors)
{
	struct sockaddr_un address;
	const socklen_t len = address_of(&address, name);
	int fd = -EAGAIN;

	for (int i = 0; i < 3 && fd == -EAGAIN; i++)
		fd = claim_once(&address, len, label, errors);
	if (fd == -EAGAIN)
		error_add(errors, "%s is taken by another process, which is just starting or ending", label);
	return fd == -EAGAIN ? -EBUSY : fd;
}

int claim(const char *interface, const char *what, struct error_sink *errors)
{
	char name[CLAIM_MAX], label[CLAIM_MAX];
	const int status = interface_name(name, interface, what, errors);

	if (status)
		return status;
	snprintf(label, sizeof(label), "%s of %s", what, interface);
	return claim_name(name, label, errors);
}

int claim_channel(const char *channel, struct error_sink *errors)
{
	const char *folder = getenv("ACH_DIR");
	char real[PATH_MAX] = "", name[PATH_MAX + CLAIM_MAX], label[CLAIM_MAX];

	if (folder && *folder)
		real_folder(real, folder);
	snprintf(name, sizeof(name), PREFIX "channel:%s%s%s", real, *real ? "/" : "", channel);
	snprintf(label, sizeof(label), "channel %s", channel);
	return claim_name(name, label, errors);
}
