/* crc.h: CRC-32 as zip, Ethernet and MCAP have it (reflected EDB88320). */
#pragma once

#include <zlib.h>

#include "config/base/base.h"

/* The CRC of these bytes behind others whose CRC is before; 0: there are none. */
static inline uint32_t crc_more(uint32_t before, const void *bytes, size_t len)
{
	return len ? (uint32_t)crc32_z(before, bytes, len) : before;
}
