/* frame_text.h: a frame as text, the way can-utils writes it.
 *
 *	123#DEADBEEF		11-bit identifier: three digits
 *	00000123#		29-bit: eight digits; no data
 *	123#R, 123#R4		remote, asking for 0, for 4 bytes
 *	123#1122334455667788_E	eight bytes with length code 14 on the wire; 123#R8_E: the same for a remote frame
 *	123##7112233		CAN FD: a digit of flags (1 BRS, 2 ESI, 4 FD), then data
 *	20000040#0000000000000000	error frame: the id has FRAME_ERR; 20000040# without its details, which are 0
 *
 * Read: small letters, and a dot before or after any byte (11.22.33), too; CAN FD with or without the 4, which older
 * kernels do not set.  Stricter than cansend, which cuts text that is too long, pads lengths that do not exist and
 * drops the bits of an identifier that is too large: here each of them is said to be wrong.
 * Written: as candump -L does, with _E only when frame.dlc is set.
 */
#pragma once

#include "can/bus/frame.h"

#define FRAME_TEXT_MAX 160 /* bytes of the longest, with the terminating zero */

/* Reads all of text[0..len).  NULL: *f is frame_valid, and its unused bytes are 0; or what is wrong with the
 * text as part of a sentence ("an identifier has 3 or 8 digits"). */
const char *frame_text_read(struct frame *f, const char *text, size_t len);

/* An identifier alone: 0EF, or 00012345 of 29 bits, which gets FRAME_EXT.  false: it is not one. */
bool frame_text_read_id(const char *text, uint32_t *id);

/* Writes it; returns its length.  Of a frame that is not frame_valid some text. */
size_t frame_text_write(char text[FRAME_TEXT_MAX], const struct frame *f);

/* The value of each hexadecimal digit, small letters too; FRAME_TEXT_NO_DIGIT for every other byte. */
#define FRAME_TEXT_NO_DIGIT 0xFF
extern const uint8_t frame_text_digits[256];
