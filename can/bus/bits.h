/* bits.h: the number of bits of a frame on the wire.  Pure.
 *
 * A classic frame from its start bit to the end of the interframe space: stuff bits (also the one that may follow the
 * last bit of the CRC), CRC-15, delimiters, acknowledge slot, end of frame, three bits of interframe space.  A remote
 * frame has no data whatever length it asks for; length codes 9 to 15 come with eight bytes.
 */
#ifndef CAN_BUS_BITS_H
#define CAN_BUS_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "can/bus/frame.h"

#define BITS_INTERFRAME 3
#define BITS_MAX 160 /* of the longest classic frame, interframe space included */

struct bits {
	unsigned int all;   /* bits, interframe space and stuff bits included */
	unsigned int stuff; /* of them stuff bits */
	uint16_t crc;
};

/* The bits of this frame.  false: not a classic frame (CAN FD, error frame, more than eight bytes), and all is 0. */
bool bits_of(struct bits *bits, const struct frame *f);

/* The upper bound for frames with this kind of identifier and length, used by every analysis. */
unsigned int bits_worst(bool extended, bool remote, unsigned int len);

/* The bits themselves, 0 dominant and 1 recessive, as the sender sends them (the acknowledge slot recessive), without
 * interframe space.  stuffed[i]: bit i is a stuff bit; may be NULL.  Returns their number; 0: not a classic frame.  For
 * tests, arbitration and error positions; bits_of is faster. */
unsigned int bits_string(uint8_t bits[BITS_MAX], bool stuffed[BITS_MAX], const struct frame *f);

/* The acknowledge slot is bit n - BITS_ACK_FROM_END of the n bits of bits_string. */
#define BITS_ACK_FROM_END 9 /* slot, its delimiter, seven bits of end of frame */

/* The arbitration field of an identifier with FRAME_EXT and FRAME_RTR as a number: the lower one wins. */
uint32_t bits_arbitration(uint32_t id);

/* Arbitration: less than 0 if a wins over b, 0 if both send the same bits up to the end of arbitration.  At the same
 * base identifier standard wins over extended, and data over remote. */
int bits_arbitrate(const struct frame *a, const struct frame *b);

#endif
