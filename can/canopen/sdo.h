/* sdo.h: client of an SDO server (CiA 301): reads and writes objects of a CANopen node.
 *
 *	struct sdo sdo = { .node = 0x20, .late_ns = 20000000 };
 *
 *	sdo_read(&sdo, 0x6041, 0);			or sdo_write(&sdo, 0x6060, 0, data, 1)
 *	while (sdo_put(&sdo, now_ns, &frame))		after each call here: the next frame, if there is one
 *		send(&frame);
 *	switch (sdo_rx(&sdo, &got.frame)) {		a frame of SDO_ID_REPLY + node
 *	case SDO_DONE:
 *		status = (uint16_t)sdo_value(&sdo, 2);
 *
 * One struct for each server; transfers with several servers run at the same time.  Up to 4 bytes are transferred
 * expedited, more in segments, in both directions.  A reply belongs to the transfer if it repeats index and sub-index;
 * others are ignored, so a late reply to a transfer that was given up does no harm.
 *
 * A server may leave out the size of an expedited value (AMC answers 0x42): then len is 4, and the caller takes the
 * bytes that the object has.  Pure: no descriptor, clock or allocation.
 */
#ifndef CANOPEN_SDO_H
#define CANOPEN_SDO_H

#include "can/bus/frame.h"

#define SDO_ID_REPLY 0x580u /* + node */
#define SDO_ID_REQUEST 0x600u
#define SDO_DATA_MAX 64 /* longest object */

enum sdo_result {
	SDO_IDLE,
	SDO_BUSY,
	SDO_DONE,    /* data and len are valid; a write is done */
	SDO_ABORTED, /* by the server, or by this client: code */
	SDO_LATE,    /* no reply within late_ns: code is SDO_TIMEOUT */
};

/* Abort codes that are used here; sdo_words knows them all. */
#define SDO_TOGGLE 0x05030000u
#define SDO_TIMEOUT 0x05040000u
#define SDO_COMMAND 0x05040001u
#define SDO_MEMORY 0x05040005u
#define SDO_ABSENT 0x06020000u
#define SDO_LENGTH 0x06070010u

struct sdo {
	unsigned int node;
	int64_t late_ns;
	uint8_t upload; /* command byte of a read; 0: 0x40.  Robotiq takes 0x4F */

	/* private, but for what a result says */
	enum sdo_result result;
	bool writes, segmented, toggle;
	bool sized; /* the server has indicated the size of an expedited value */
	uint16_t index;
	uint8_t sub;
	unsigned int len, at; /* of data: used, transferred */
	uint8_t data[SDO_DATA_MAX];
	uint32_t code; /* abort */
	struct frame out;
	bool waits;	/* out is to be sent */
	int64_t due_ns; /* of the reply; 0: out was not put yet */
};

/* 0, or -EBUSY: a transfer is under way; -EMSGSIZE: nothing, or more than SDO_DATA_MAX. */
int sdo_read(struct sdo *sdo, uint16_t index, uint8_t sub);
int sdo_write(struct sdo *sdo, uint16_t index, uint8_t sub, const void *data, unsigned int len);

/* The next frame.  false: there is none; the reply is due late_ns after now_ns. */
bool sdo_put(struct sdo *sdo, int64_t now_ns, struct frame *frame);

/* How the transfer is; SDO_DONE, SDO_ABORTED and SDO_LATE are returned once. */
enum sdo_result sdo_rx(struct sdo *sdo, const struct frame *frame);
enum sdo_result sdo_poll(struct sdo *sdo, int64_t now_ns);

/* The first bytes of data, little endian; what was not transferred is 0. */
uint32_t sdo_value(const struct sdo *sdo, unsigned int bytes);

const char *sdo_words(uint32_t code); /* never NULL */

#endif
