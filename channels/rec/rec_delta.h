/* rec_delta.h: bytes without the words that repeat the one before.  Messages of fixed size consist mostly of those:
 * places that are not used are zeros, or not a number.  Pure.
 *
 *	u32	length of the whole
 *	then for all of its words of eight bytes:
 *	u16	how often the last word is repeated; before the first one it is zero
 *	u16	n, words that follow
 *		n words
 *	and the bytes behind the last whole word
 *
 * Little endian.
 */
#pragma once

#include "config/base/base.h"

#define REC_DELTA_MAX 32768 /* bytes of the whole */

/* len bytes to less than len.  Their number; 0: not less, or more than REC_DELTA_MAX, and nothing is to be used. */
size_t rec_delta_pack(uint8_t to[REC_DELTA_MAX], const uint8_t *bytes, size_t len);

/* The length of the whole; -1: not such bytes. */
int rec_delta_unpack(uint8_t to[REC_DELTA_MAX], const uint8_t *packed, size_t len);
