/* reclog.h: the file that ach record writes and ach play reads.
 *
 * Little endian.  Eight bytes "achrec1\n", then records one behind the other, each a head of 32 bytes and a body:
 *
 *	0	u32	CRC-32 of bytes 4 to 31 of the head
 *	4	u32	len, bytes of the body
 *	8	u32	CRC-32 of the body
 *	12	u16	kind
 *	14	u16	channel, its number in this file from 0; 0 where there is none
 *	16	i64	t_ns, CLOCK_MONOTONIC
 *	24	u64	number
 *	32		the body
 *
 *	kind	1 start		first of the file: t_ns is its time, number the CLOCK_REALTIME of the same moment;
 *				no body
 *		2 channel	before its first message, and again when it was recreated; number: its id, which another
 *				channel of the same name does not have (0: unknown); body: u32 messages it retains, u32
 *				bytes of one (both 0: not there yet), u32 mode, u32 type of its messages in
 *				channels/msg/types.h (0: unknown), and the name, not terminated
 *		3 message	t_ns is when it was read, number its Ach sequence number, body the message
 *				of a bus: t_ns is when the frame was on it, number counts from 1, body: u8 direction (0
 *				unknown, 'R' received, 'T' sent), three bytes 0, and the kernel's struct can_frame or
 *				canfd_frame; the channel has type RECLOG_CAN and both counts 0
 *		4 loss		number messages of the channel are missing here; no body
 *		5 end		last of a file that is whole: number is that of its messages; no body
 *		6 sparse	as 3, but the body is without its repetitions, as in rec_delta.h
 *
 * CRC-32 is that of zip and Ethernet.  A head vouches for itself, so a damaged body costs its record only, behind a
 * damaged head the next sound one is searched for, and a file cut anywhere is read up to its last whole record.
 *
 * Offered to other folders:
 *	chan.h follow.h input.h mcap.h rec_rotate.h recbus.h recfile.h recorder.h schedule.h
 *	snapshot.h writer.h
 */
#pragma once

#include "channels/rec/input.h"

#define RECLOG_MAGIC "achrec1\n"
#define RECLOG_MAGIC_SIZE 8
#define RECLOG_HEAD_SIZE 32
#define RECLOG_BODY_MAX (1 << 26) /* larger messages are not recorded, and a file that asks for more is refused */
#define RECLOG_CHANNELS_MAX 65536
#define RECLOG_CAN 0x4E4143 /* "CAN": the type of a channel that is a bus */

enum reclog_kind { RECLOG_START = 1, RECLOG_CHANNEL, RECLOG_MESSAGE, RECLOG_LOSS, RECLOG_END, RECLOG_SPARSE };

struct reclog_record {
	enum reclog_kind kind;
	uint16_t channel;
	int64_t t_ns;
	uint64_t number;
	const uint8_t *body;
	size_t len;
	uint64_t position;  /* in the file; filled in by reclog_read */
	const char *damage; /* with RECLOG_FOUND_DAMAGE in an MCAP file: what it is */
};

struct reclog_channel {
	uint32_t count, size, mode, type;
	char name[64];
};

/* ---- writing ---- */

/* The head of r, whose body is about to follow it. */
void reclog_head(uint8_t head[RECLOG_HEAD_SIZE], const struct reclog_record *r);

/* The same without CRCs, for records that stay in the memory. */
void reclog_head_bare(uint8_t head[RECLOG_HEAD_SIZE], const struct reclog_record *r);

/* All but the body and the position, from a head that one of them wrote. */
struct reclog_record reclog_head_read(const uint8_t head[RECLOG_HEAD_SIZE]);

#define RECLOG_CHANNEL_MAX (16 + 64)
size_t reclog_channel_write(uint8_t body[RECLOG_CHANNEL_MAX], const struct reclog_channel *c);
int reclog_channel_read(struct reclog_channel *c, const struct reclog_record *r); /* -1: it is not a description */

/* The body of a frame. */
#define RECLOG_CAN_MAX (4 + 72)
struct ros_can;
size_t reclog_can_write(uint8_t body[RECLOG_CAN_MAX], const struct ros_can *can);
int reclog_can_read(struct ros_can *can, const struct reclog_record *r); /* direction and frame; -1: it is not one */

/* ---- reading ---- */

struct reclog_reader {
	int fd;
	struct input in;
	uint8_t *whole; /* the last sparse message */
};

enum reclog_found {
	RECLOG_FOUND_RECORD,
	RECLOG_FOUND_DAMAGE, /* len bytes at position are not sound; what is behind them comes next */
	RECLOG_FOUND_CUT,    /* the file ends inside the record at position, of which len bytes are there */
	RECLOG_FOUND_NO_LOG, /* it does not begin as such a file does */
	RECLOG_FOUND_EOF,    /* behind a whole record */
	RECLOG_FOUND_LARGE,  /* the record at position asks for len bytes, more than RECLOG_BODY_MAX */
	RECLOG_FOUND_ERROR,  /* reading failed: errno */
};

void reclog_open(struct reclog_reader *reader, int fd); /* from where fd stands */
void reclog_close(struct reclog_reader *reader);	/* fd stays open */

/* The next record; its body is good until the next call.  A sparse message is one of kind message here. */
enum reclog_found reclog_read(struct reclog_reader *reader, struct reclog_record *r);
