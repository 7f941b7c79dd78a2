/* claim_name.c: claims as listening abstract sockets. */
#include <unistd.h>

#include "daemons/drv/claim_file.h"
#include "daemons/drv/claim_name.h"

#define BACKLOG 4096 /* each refused process leaves a connection there: the holder accepts none */
#define TRIES 3

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
	n = snprintf(text, most, "endplate/dev/%016" PRIx64 "...", claim_file_hash(name));
	memcpy(text + n, name + len - (most - (size_t)n), most - (size_t)n);
	return sizeof(*address);
}

/* -EBUSY; -EAGAIN: it does not listen, yet or any more. */
static int taken(int fd, const struct sockaddr_un *address, socklen_t len, struct claim_holder *holder)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	if (connect(fd, (const struct sockaddr *)address, len) && errno == ECONNREFUSED)
		return -EAGAIN;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid > 0)
		*holder = (struct claim_holder){ .pid = peer.pid, .uid = peer.uid };
	else
		*holder = claim_holder_of_socket(address, len); /* its queue is full */
	return -EBUSY;
}

static int take_once(const struct sockaddr_un *address, socklen_t len, struct claim_holder *holder)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int status = fd < 0 || bind(fd, (const struct sockaddr *)address, len) || listen(fd, BACKLOG) ? -errno : 0;

	if (!status)
		return fd;
	if (status == -EADDRINUSE)
		status = taken(fd, address, len, holder);
	if (fd >= 0)
		close(fd);
	return status;
}

int claim_name_take(const char *name, struct claim_holder *holder)
{
	struct sockaddr_un address;
	const socklen_t len = address_of(&address, name);
	int fd = -EAGAIN;

	for (int i = 0; i < TRIES && fd == -EAGAIN; i++)
		fd = take_once(&address, len, holder);
	if (fd == -EAGAIN)
		*holder = claim_holder_of_socket(&address, len);
	return fd == -EAGAIN ? -EBUSY : fd;
}
