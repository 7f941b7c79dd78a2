/* log_pcap.c: pcap files with frames of SocketCAN (link type 227), read and written.
 *
 * A header of 24 bytes, then packets: seconds, fraction, bytes that are there, bytes that there were.  Its magic number
 * says the byte order, and whether fractions are of micro- or nanoseconds.
 */
#include <string.h>

#include "can/log_formats.h"
#include "can/log_parse.h"
#include "can/log_pcap.h"

#define NS_PER_S INT64_C(1000000000)
#define MAGIC_US 0xA1B2C3D4u
#define MAGIC_NS 0xA1B23C4Du
#define FILE_HEADER 24
#define PACKET_HEADER 16

/* ---- frames, for pcapng too ---- */

/* The identifier is big-endian.  Old kernels do not mark CAN FD; its packets are longer. */
const char *log_set_socketcan(struct log_record *r, const unsigned char *b, size_t len)
{
	struct frame *f = &r->frame;

	memset(f, 0, sizeof(*f));
	if (len < 8)
		return "the packet is shorter than the header of a frame";
	if (b[4] & 0x80)
		return "CAN XL is not read: leave such frames out of the capture";
	f->id = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	f->len = b[4];
	if (b[5] & FRAME_FD || len == sizeof(struct frame) || f->len > FRAME_DATA_MAX)
		f->flags = (b[5] & (FRAME_BRS | FRAME_ESI)) | FRAME_FD;
	else if (f->len == FRAME_DATA_MAX && b[7] > FRAME_DATA_MAX && b[7] < 16)
		f->dlc = b[7];
	if (f->id & FRAME_ERR)
		f->id &= FRAME_ERR | FRAME_EXT_MASK;
	if (!frame_valid(f) || (f->id & FRAME_ERR && f->len != FRAME_DATA_MAX))
		return "there is no such frame: its identifier or its length is damaged";
	if (8 + frame_data_len(f) > len)
		return "the packet was cut when it was captured: capture with a larger snapshot length";
	memcpy(f->data, b + 8, frame_data_len(f));
	return NULL;
}

size_t log_pcap_packet(unsigned char to[LOG_PCAP_PACKET], const struct frame *f)
{
	const size_t n = f->flags & FRAME_FD ? FRAME_DATA_MAX_FD : FRAME_DATA_MAX;

	memset(to, 0, LOG_PCAP_PACKET);
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(f->id >> (24 - 8 * i));
	to[4] = f->len;
	to[5] = f->flags;
	to[7] = f->dlc;
	memcpy(to + 8, f->data, frame_data_len(f));
	return 8 + n;
}

uint32_t log_pcap_u32(const struct log *log, const unsigned char *b)
{
	const uint32_t value = frame_le32(b);

	return log->of.swapped ? __builtin_bswap32(value) : value;
}

/* ---- reading ---- */

bool log_pcap_probe(const unsigned char *bytes, size_t n)
{
	const uint32_t magic = n >= 4 ? frame_le32(bytes) : 0, other = __builtin_bswap32(magic);

	return magic == MAGIC_US || magic == MAGIC_NS || other == MAGIC_US || other == MAGIC_NS;
}

static const char *read_file_header(struct log *log)
{
	const unsigned char *b = log_bytes(log, FILE_HEADER);
	uint32_t magic;

	if (!b) {
		log_stop(log);
		return "the header of the file is cut off";
	}
	magic = frame_le32(b);
	log->of.swapped = magic != MAGIC_US && magic != MAGIC_NS;
	log->of.unit_ns = log_pcap_u32(log, b) == MAGIC_NS ? 1 : 1000;
	if ((log_pcap_u32(log, b + 20) & 0xFFFF) != LOG_PCAP_LINK_TYPE) {
		log_stop(log);
		return "the capture is not of a CAN interface (link type 227): capture on can0, not on any";
	}
	log_skip(log, FILE_HEADER);
	log->line = 0;
	return log_nothing;
}

const char *log_pcap_record(struct log *log, struct log_record *r)
{
	const unsigned char *b;
	uint32_t len, fraction;
	const char *wrong;

	if (!log_bytes(log, 1))
		return log_end;
	if (!log->of.unit_ns)
		return read_file_header(log);
	b = log_bytes(log, PACKET_HEADER);
	len = b ? log_pcap_u32(log, b + 8) : 0;
	if (!b || len > LOG_PCAP_PACKET_MAX) {
		log_stop(log);
		return b ? "the length of the packet is damaged: what follows is lost"
			 : "the packet is cut off: it is lost";
	}
	fraction = log_pcap_u32(log, b + 4);
	r->t_ns = log_pcap_u32(log, b) * NS_PER_S + fraction * log->of.unit_ns;
	r->direction = 0;
	strcpy(r->bus, "can0");
	b = log_bytes(log, PACKET_HEADER + len);
	if (!b) {
		log_stop(log);
		return "the packet is cut off: it is lost";
	}
	wrong = fraction * log->of.unit_ns >= NS_PER_S ? "the time is damaged: its fraction is more than a second"
						       : log_set_socketcan(r, b + PACKET_HEADER, len);
	log_skip(log, PACKET_HEADER + len);
	return wrong;
}

/* ---- writing ---- */

void log_pcap_put32(struct log_writer *w, uint32_t value)
{
	const unsigned char b[4] = { (unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
				     (unsigned char)(value >> 24) };

	log_writer_add(w, b, 4);
}

void log_pcap_begin(struct log_writer *w, const struct log_record *first)
{
	(void)first;
	log_pcap_put32(w, MAGIC_NS);
	log_pcap_put32(w, 4 << 16 | 2); /* version 2.4 */
	log_pcap_put32(w, 0);
	log_pcap_put32(w, 0);
	log_pcap_put32(w, LOG_PCAP_PACKET);
	log_pcap_put32(w, LOG_PCAP_LINK_TYPE);
}

void log_pcap_put(struct log_writer *w, const struct log_record *r, unsigned int channel)
{
	const int64_t ns = r->t_ns > 0 ? r->t_ns : 0;
	unsigned char packet[LOG_PCAP_PACKET];
	const size_t n = log_pcap_packet(packet, &r->frame);

	(void)channel;
	log_pcap_put32(w, (uint32_t)(ns / NS_PER_S));
	log_pcap_put32(w, (uint32_t)(ns % NS_PER_S));
	log_pcap_put32(w, (uint32_t)n);
	log_pcap_put32(w, (uint32_t)n);
	log_writer_add(w, packet, n);
}
