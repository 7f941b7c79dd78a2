/* sdo.h: requests to an SDO server (CiA 301), which read and write objects of a CANopen node, and its replies.
 *
 *	sdo_read(&frame, 0x20, 0x6041, 0);		or sdo_write(&frame, 0x20, 0x6060, 0, 4, 1)
 *	drv_ask(drv, question, &frame, 0);		the loop matches the reply, and repeats what is not answered
 *	code = sdo_reply(&asked->request, reply ? &reply->frame : NULL, &value);
 *	if (code)
 *		... sdo_words(code)
 *
 * A server has one transfer under way at a time.  Objects have up to 4 bytes, which are transferred expedited; a server
 * that wants to send segments is refused.
 *
 * A server may leave out the size of a value (AMC answers 0x42): the caller takes the bytes that the object has.  Pure.
 *
 * Offered to other folders:
 *	cia402.h eds.h emcy.h nmt.h pdo.h
 */
#pragma once

#include "can/bus/frame.h"

#define SDO_ID_REPLY 0x580u /* + node */
#define SDO_ID_REQUEST 0x600u
#define SDO_ABORT 0x80 /* the first byte of what ends a transfer; no request has it */

/* The result of a request is 0, an abort code of the server, or one of these. */
#define SDO_NO_REPLY 1u
#define SDO_NOT_A_REPLY 2u /* to this request, or segments would follow */
#define SDO_ABSENT 0x06020000u

void sdo_read(struct frame *frame, unsigned int node, uint16_t index, uint8_t sub);
/* bytes: 1 to 4 */
void sdo_write(struct frame *frame, unsigned int node, uint16_t index, uint8_t sub, uint32_t value, unsigned int bytes);
/* Ends the transfer of a request: SDO_NO_REPLY or SDO_NOT_A_REPLY. */
void sdo_abort(struct frame *frame, const struct frame *of, uint32_t code);

/* reply: NULL: none came.  *value: what was read, little endian; else 0. */
uint32_t sdo_reply(const struct frame *of, const struct frame *reply, uint32_t *value);

const char *sdo_words(uint32_t code); /* never NULL */
