/* claim_holder.h: which process holds a claim, as the kernel has it. */
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "config/base/base.h"

#define CLAIM_HOLDER_MAX 128
#define CLAIM_HOLDER_UNKNOWN ((uid_t)-1)

struct claim_holder {
	pid_t pid; /* 0: not known */
	uid_t uid; /* CLAIM_HOLDER_UNKNOWN */
};

/* "pciod, process 12 of uid 1000"; "a process of uid 1000"; "another process". */
const char *claim_holder_text(char text[CLAIM_HOLDER_MAX], const struct claim_holder *holder);

/* Returns who holds the lock on that byte of the file: the process, if we may read its descriptors, else the owner of
 * the file. */
struct claim_holder claim_holder_of_lock(int fd, off_t at);

/* Returns who has bound a SOCK_SEQPACKET socket to that address.  sock_diag(7) knows, also if its queue is full or it
 * does not listen.  The process is known only if we may read its descriptors. */
struct claim_holder claim_holder_of_socket(const struct sockaddr_un *address, socklen_t len);
