/* put.h: what ach put publishes. */
#pragma once

#include "channels/rec/input.h"
#include "channels/tool/put_watch.h"
#include "channels/tool/tool.h"

#define PUT_BAD_LINES 10 /* further ones are only counted */

/* Fields of the header that are filled in unless the input says them. */
enum put_field { PUT_SAMPLE, PUT_PUBLISH, PUT_SEQUENCE, PUT_FOR, PUT_WRITER, PUT_FIELDS };

struct put {
	const char *json, *text, *hex, *type_name, *robot;
	double hz;

	const char *name; /* of the channel */
	ach_channel_t chan;
	int64_t check_ns; /* when to look again whether it was removed */
	int64_t valid_ns, for_ns;
	const struct msg_type *type; /* NULL: raw bytes */
	const struct msg_type *kept; /* that the channel is for; NULL: several, or unknown */
	bool kept_by_newest;	     /* known from the newest message only */
	bool typed_by_newest;	     /* so is the type of this message */
	char *input;		     /* what standard input said */
	uint8_t *bytes;
	size_t len;

	bool says[PUT_FIELDS]; /* what the input says itself and is left alone */

	/* what goes on from one message to the next */
	bool has_sequence, has_incarnation;
	uint64_t sequence;
	uint32_t incarnation;
	struct put_watch watch;

	uint64_t line, bad_lines; /* of standard input, one message each; 0: they are not */
};

/* One line on stderr that names the line of the input, if it has several.  EXIT_RETRY. */
int put_refuse(const struct put *put, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The message of the input in bytes, and its type.  0, or EXIT_RETRY after a line. */
int put_take_json(struct put *put, const char *json); /* bytes has room for MSG_SIZE_MAX */
int put_take_text(struct put *put);		      /* the same */
int put_take_hex(struct put *put);		      /* makes the room */

/* The lines of standard input as they come; SIGINT and SIGTERM end the wait for the next one. */
#define PUT_INPUT_MAX (1u << 20) /* bytes of one line, or of a text */
struct put_lines {
	struct input in; /* its buf is to be freed */
	size_t searched; /* bytes held that have no newline */
	bool stopped;	 /* by a signal */
	uint64_t number; /* of the line given last, from 1 */
};
/* 1: *line, without its newline, good until the next call; 0: the end, or a signal came; -1: failed, after a line on
 * stderr.  A last line may lack its newline. */
int put_next_line(struct put_lines *lines, char **line, size_t *len);

/* The type of the newest message in a channel, and its header; NULL: it is not one of Endplate's. */
const struct msg_type *put_newest(ach_channel_t *chan, struct msg_header *h);
