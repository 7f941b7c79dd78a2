/* crc.h: CRC-32 as zip, Ethernet and MCAP have it (reflected EDB88320). */
#ifndef CHANNELS_REC_CRC_H
#define CHANNELS_REC_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of these bytes behind others whose CRC is before; 0: there are none. */
uint32_t crc_more(uint32_t before, const void *bytes, size_t len);

/* The CRC of two parts from the CRC of each; len: bytes of the second.  No byte is read again. */
uint32_t crc_join(uint32_t before, uint32_t of_these, uint64_t len);

#endif
