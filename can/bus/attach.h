/* attach.h: the client side of a wire's socket: connection, datagrams with descriptors, questions in text. */
#pragma once

#include "can/bus/wire.h"

#define ATTACH_FDS_MAX 4
#define ATTACH_HOST "host" /* the controller of a name without one */

/* "wire:BUS[@CONTROLLER]" into its two names.  NULL if it is valid, else the reason as part of a sentence. */
const char *attach_split(const char *name, char bus[TEXT_NAME_MAX + 1], char controller[TEXT_NAME_MAX + 1]);

/* One datagram with descriptors.  Bytes, or -errno (-EAGAIN; -ECONNREFUSED: the other end is gone). */
int attach_send(int fd, const void *data, size_t size, const int *fds, int fds_n);
/* 0: the other end is gone.  *fds_n of fds are the receiver's to close, close-on-exec; none if it returns an error.
 * */
int attach_receive(int fd, void *data, size_t size, int fds[ATTACH_FDS_MAX], int *fds_n);

/* Adds the message for an error of connecting to the wire of that name. */
void attach_explain(const char *name, const char *path, int error, struct error_sink *errors);

/* Sends a line of text to the wire of the bus "wire:BUS" and receives the answer (hub_control.c lists the questions).
 * Waits for at most a second.  0, or -errno with a line in errors: that of the connection, or canwire's. */
#define ATTACH_ANSWER_MAX 65536
int attach_question(const char *name, const char *question, char *answer, size_t size, struct error_sink *errors);
