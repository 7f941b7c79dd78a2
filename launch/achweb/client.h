/* client.h: one connection, with bounded memory: what it sends is read into a buffer of fixed size, and one answer or
 * message is under way to it at a time.
 *
 * Nothing waits: client_write is called again by the loop, every 20 ms, until the message has left.  Meanwhile newer
 * snapshots replace each other elsewhere, so that a client that does not read costs one message and no more.
 */
#pragma once

#include "launch/achweb/http.h"
#include "launch/achweb/rate.h"
#include "launch/achweb/token.h"
#include "launch/achweb/wsock.h"

#define CLIENT_QUEUE 8 /* messages that have to arrive in order; more end the connection */
#define CLIENT_HEAD_MAX 1024

/* Bytes that several clients send. */
struct blob {
	unsigned int refs;
	size_t len;
	char digest[PROOF_MAX]; /* of proofs; "": not computed yet */
	char bytes[];
};
struct blob *blob_make(const void *bytes, size_t len);			  /* NULL: no memory */
struct blob *blob_join(const void *front, size_t len, struct blob *blob); /* drops the blob; the same */
struct blob *blob_keep(struct blob *blob);				  /* one more user; for tests */
void blob_drop(struct blob *blob);					  /* NULL is fine */

/* A JSON object as a blob, one at a time: blob_begin returns where its members are written. */
struct json *blob_begin(void);
struct blob *blob_end(void); /* NULL: no memory */
struct blob *blob_result(bool ok, const char *name, const char *text);

/* A visitor is a WebSocket of a page that has not proven itself yet. */
enum client_kind { CLIENT_HTTP, CLIENT_VISITOR, CLIENT_PAGE, CLIENT_STUDIO };

/* What pages get, in this order. */
enum client_snapshot { CLIENT_FACTS, CLIENT_ROBOT, CLIENT_EVENTS, CLIENT_SNAPSHOTS };

struct studio;

/* What was proven last: the request whose answer is due, or the first message of a page. */
struct client_proof {
	bool right;
	uint8_t key[PROOF_KEY];
	struct proof_claim claim;
	uint64_t number; /* of the last snapshot */
};

struct client {
	int fd;
	uint64_t serial;
	enum client_kind kind;
	bool waiting;		    /* for the result of a POST */
	bool closing;		    /* once all is sent */
	int64_t heard_ns, moved_ns; /* last bytes from it; last bytes to it, or when it had nothing to get */
	int64_t began_ns;	    /* first bytes of what is in in */
	struct rate rate;

	char session[TOKEN_ID];
	unsigned int rights;
	uid_t uid;
	char who[TOKEN_WHO_MAX];
	struct client_proof proof;

	char in[HTTP_HEAD_MAX + HTTP_BODY_MAX];
	size_t in_len;
	struct wsock ws;

	/* of a page: what it has got */
	uint64_t seen[CLIENT_SNAPSHOTS];
	struct studio *studio;

	/* private: to be sent, in order */
	struct {
		struct blob *blob;
		enum wsock_opcode opcode;
	} queue[CLIENT_QUEUE];
	size_t queue_n;
	/* under way */
	char head[CLIENT_HEAD_MAX];
	size_t head_len, body_len, sent;
	const char *body;
	struct blob *blob; /* that body is in; NULL: it is static */
};

struct client *client_open(int fd, uint64_t serial, int64_t now_ns); /* NULL: no memory */
void client_close(struct client *client);

/* Reads what has come into in.  false: it has hung up, or sends more than it may. */
bool client_read(struct client *client, int64_t now_ns);
void client_take(struct client *client, size_t n); /* n bytes of in are done with */

/* May another message be sent? */
bool client_is_free(const struct client *client);
/* Sends as much as the socket takes.  false: the connection is broken, or is to be closed now. */
bool client_write(struct client *client, int64_t now_ns);

/* An answer, proven if the request was; text stays where it is unless it is in blob, which is kept. */
void client_answer(struct client *client, int status, const char *type, const char *body, size_t len,
		   struct blob *blob);
/* The same with a JSON object, which it drops; NULL: there was no memory for it. */
void client_answer_json(struct client *client, int status, struct blob *json);
/* The same, with {"ok":false,"text":why}, after which the connection is closed. */
void client_refuse(struct client *client, int status, const char *why);
void client_upgrade(struct client *client, const char *accept, const char *protocol);

/* A message on a free connection; blob is kept. */
void client_message(struct client *client, enum wsock_opcode opcode, struct blob *blob);
/* The same, with a few bytes of this client's before the blob, which several clients may get. */
void client_message_behind(struct client *client, enum wsock_opcode opcode, const void *front, size_t len,
			   struct blob *blob);
/* A message behind others; blob is taken over, NULL ends the connection, and so do too many. */
void client_queue(struct client *client, enum wsock_opcode opcode, struct blob *blob);
/* Messages of a page: "PROOF NUMBER CHALLENGE\n", and the blob; numbers are counted up.  The first function is
 * for a free connection and keeps the blob, the second queues it and takes it over. */
void client_message_proven(struct client *client, const char *challenge, struct blob *blob);
void client_queue_proven(struct client *client, const char *challenge, struct blob *blob);
/* The close frame with the reason, and then the end. */
void client_end(struct client *client, uint16_t code, const char *why);
