/* peers.h: other libraries behind the interface of lib_transport.h, and what is measured with them. */
#pragma once

#include "test/bench/lib_transport.h"

#define PEERS_MAX 11
#define PEERS_SIZE_MAX 65536
#define PEERS_ROOM 65536	 /* of a channel, unless 16 messages take more; others keep as many messages */
#define PEERS_ICEORYX_MAX 256	 /* messages; so Debian's iceoryx was built */
#define PEERS_WAKE_GAP_NS 100000 /* of ach-gap */

#ifdef __cplusplus
extern "C" {
#endif

extern const struct transport peer_ach_loan; /* reserve and peek */
extern const struct transport peer_ach_gap;  /* for floods: readers with a gap between their wake-ups */
/* Those whose library is not installed are not linked: their address is NULL. */
extern const struct transport peer_lcm __attribute__((weak)), peer_zmq __attribute__((weak));
extern const struct transport peer_nng __attribute__((weak)), peer_fast __attribute__((weak));
extern const struct transport peer_cyclone __attribute__((weak)), peer_cyclone_shm __attribute__((weak));
extern const struct transport peer_iceoryx __attribute__((weak)), peer_iceoryx_loan __attribute__((weak));

unsigned peers_depth(size_t size);	      /* messages that a channel, the DDSes and iceoryx keep */
void peers_open(struct transport_link *link); /* gives it a name; processes join by it */
void peers_die(const struct transport_link *link, const char *call, const char *why) __attribute__((noreturn));

/* With a copy or, if the transport has loans, without: then only the first bytes of message are written. */
void peers_send(struct transport_link *link, const void *message);
/* The first bytes of the next message, or all of it, in buf. */
void peers_receive(struct transport_link *link, unsigned reader, void *buf, bool whole);

/* killed.c: writers killed in the middle of a message.  Returns how many transports were never heard. */
unsigned peers_killed(const struct transport *const *kinds, size_t count, unsigned rounds);

#ifdef __cplusplus
}
#endif
