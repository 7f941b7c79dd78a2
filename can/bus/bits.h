/* bits.h: the bits of a frame on the wire, and the time that they take.  Pure.
 *
 * A classic frame from its start bit to the end of the interframe space: stuff bits (also the one that may follow the
 * last bit of the CRC), CRC-15, delimiters, acknowledge slot, end of frame, three bits of interframe space.  A remote
 * frame has no data whatever length it asks for; length codes 9 to 15 come with eight bytes.
 *
 * CAN FD, ISO 11898-1:2015: stuff bits by five equal bits from the start bit to the end of the data; then, instead of
 * these, fixed stuff bits: one before the stuff count and one behind every four bits of stuff count and CRC, each the
 * opposite of the bit before it.  If the data end in five equal bits, the first fixed stuff bit takes the place of
 * theirs.  The CRC has 17 bits for up to 16 bytes, 21 above.  So the length depends on identifier and data, not on the
 * CRC.
 *
 * With bit rate switch (FRAME_BRS) the bits between BRS and the CRC delimiter are sent at the data bit rate.  BRS
 * itself changes at its sample point, as does the CRC delimiter: the two together last one bit of either rate, whatever
 * the sample points are.  Here BRS counts as slow and the delimiter as fast.
 */
#pragma once

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

/* ---- CAN FD ---- */

#define BITS_FD_MAX 800 /* of the longest frame, interframe space included */

struct bits_fd {
	unsigned int slow, fast; /* at the nominal and at the data bit rate; interframe space and stuff bits included */
	unsigned int stuff;	 /* of them stuff bits that depend on the frame */
	unsigned int fixed;	 /* fixed stuff bits */
	uint32_t crc;
};

/* The bits of this frame.  false: not a CAN FD frame. */
bool bits_fd_of(struct bits_fd *bits, const struct frame *f);

/* The bits of a frame of either kind; those of a classic one are all slow.  false: neither. */
bool bits_any_of(struct bits_fd *bits, const struct frame *f);

/* The bits themselves, as bits_string has them; stuffed[i]: bit i is a stuff bit, fixed or not; fast[i]: it is sent at
 * the data bit rate.  Both may be NULL.  Returns their number, without interframe space; 0: not a CAN FD frame. */
unsigned int bits_fd_string(uint8_t bits[BITS_FD_MAX], bool stuffed[BITS_FD_MAX], bool fast[BITS_FD_MAX],
			    const struct frame *f);

/* The upper bound for frames with this kind of identifier and length (one that exists), and with stuffed false the
 * least: without stuff bits. */
void bits_fd_bound(struct bits_fd *bits, bool extended, bool switched, unsigned int len, bool stuffed);

/* ---- time, of frames of both kinds ---- */

struct bits_rates {
	uint32_t nominal, data; /* bit/s; data 0: as nominal */
};

int64_t bits_fd_ns(const struct bits_rates *rates, unsigned int slow, unsigned int fast); /* rounded up */

/* Frames with this kind of identifier, length (of FD frames one that exists) and flags (FRAME_FD, FRAME_BRS): the
 * longest time, or (not stuffed) the shortest, without stuff bits. */
int64_t bits_frame_ns(const struct bits_rates *rates, uint32_t id, unsigned int len, uint8_t flags, bool stuffed);
