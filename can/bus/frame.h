/* frame.h: a CAN frame.
 *
 * The layout, the bits of id and those of flags are the kernel's (struct canfd_frame; its first 16 bytes are struct
 * can_frame), so a frame goes to a socket and comes from one without being touched.  A codec needs this header only.
 */
#pragma once

#include "config/base/base.h"

/* Beside the identifier in id. */
#define FRAME_EXT 0x80000000u /* 29-bit identifier */
#define FRAME_RTR 0x40000000u /* remote: asks for data and has none */
#define FRAME_ERR 0x20000000u /* not from the bus: the controller reports an error, its classes are in the id */

#define FRAME_STD_MASK 0x000007ffu
#define FRAME_EXT_MASK 0x1fffffffu

/* In flags; a classic frame has none. */
#define FRAME_BRS 0x01 /* data at the higher bit rate */
#define FRAME_ESI 0x02 /* the sender is error-passive */
#define FRAME_FD 0x04  /* CAN FD */

#define FRAME_DATA_MAX 8     /* classic */
#define FRAME_DATA_MAX_FD 64 /* 0 to 8, 12, 16, 20, 24, 32, 48, 64 */

struct frame {
	uint32_t id;	  /* with FRAME_EXT, FRAME_RTR, FRAME_ERR */
	uint8_t len;	  /* bytes of data; of a remote frame how many it asks for */
	uint8_t flags;	  /* FRAME_FD, FRAME_BRS, FRAME_ESI */
	uint8_t reserved; /* 0 */
	uint8_t dlc;	  /* classic with len 8 only: the length code on the wire if it was 9 to 15, else 0 */
	uint8_t data[FRAME_DATA_MAX_FD];
};
_Static_assert(sizeof(struct frame) == 72, "as the kernel's");

#define FRAME_SIZE_CLASSIC 16 /* bytes of it in a classic frame */

/* The identifier alone. */
static inline uint32_t frame_id(const struct frame *f)
{
	return f->id & (f->id & (FRAME_EXT | FRAME_ERR) ? FRAME_EXT_MASK : FRAME_STD_MASK);
}

/* Bytes of data that are there: none in a remote frame. */
static inline unsigned int frame_data_len(const struct frame *f)
{
	return f->id & FRAME_RTR ? 0 : f->len;
}

/* The length code on the wire, 0 to 15. */
static inline unsigned int frame_code(const struct frame *f)
{
	const unsigned int len = f->len;

	if (f->flags & FRAME_FD)
		return len <= 8 ? len : len <= 24 ? 6 + len / 4 : 11 + len / 16;
	return len == FRAME_DATA_MAX && f->dlc > FRAME_DATA_MAX ? f->dlc & 15u : len;
}

/* Numbers in data, the low byte first; and n bytes with the high one first. */
static inline uint16_t frame_le16(const uint8_t *data)
{
	return (uint16_t)(data[0] | data[1] << 8);
}

static inline uint32_t frame_le32(const uint8_t *data)
{
	return frame_le16(data) | (uint32_t)frame_le16(data + 2) << 16;
}

static inline uint32_t frame_be(const uint8_t *data, unsigned int n)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < n; i++)
		value = value << 8 | data[i];
	return value;
}

/* Writes the low n bytes of a number, the lowest first. */
static inline void frame_put_le(uint8_t *data, uint64_t value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		data[i] = (uint8_t)(value >> 8 * i);
}

/* Equal on the wire: bytes that are not sent are ignored. */
bool frame_equal(const struct frame *a, const struct frame *b);

/* Can it be on a wire: identifier within its width, length allowed, no remote FD frame, no unknown flag? */
bool frame_valid(const struct frame *f);

/* The shortest length of an FD frame that holds len bytes; 64 at most. */
unsigned int frame_len_fd(unsigned int len);
