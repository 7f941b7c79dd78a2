/* log_pcap.c: pcap files with frames of SocketCAN (link type 227), read and written.
 *
 * A header of 24 bytes, then packets: seconds, fraction, bytes that are there, bytes that there were.  Its magic number
 * says the byte order, and whether fractions are of micro- or nanoseconds.
 */
#include "can/log/log_formats.h"
#include "can/log/log_pcap.h"

#define MAGIC_US 0xA1B2C3D4u
#define MAGIC_NS 0xA1B23C4Du
#define VERSION (4 << 16 | 2) /* 2.4 */
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
	if (log_known_frame(f))
		return log_known_frame(f);
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

static bool pcap_probe(const unsigned char *bytes, size_t n)
{
	const uint32_t magic = n >= 4 ? frame_le32(bytes) : 0, other = __builtin_bswap32(magic);

	return magic == MAGIC_US || magic == MAGIC_NS || other == MAGIC_US || other == MAGIC_NS;
}

static const char *read_file_header(struct log *log)
{
	const unsigned char *b = log_bytes(log, FILE_HEADER);
	uint32_t magic;

	if (!b)
		return log_stop(log, "the header of the file is cut off");
	magic = frame_le32(b);
	log->of.swapped = magic != MAGIC_US && magic != MAGIC_NS;
	log->of.unit_ns = log_pcap_u32(log, b) == MAGIC_NS ? 1 : 1000;
	if ((log_pcap_u32(log, b + 20) & 0xFFFF) != LOG_PCAP_LINK_TYPE)
		return log_stop(log, LOG_PCAP_NOT_CAN);
	log_skip(log, FILE_HEADER);
	log->line = 0;
	return log_nothing;
}

static const char *pcap_record(struct log *log, struct log_record *r)
{
	const unsigned char *b;
	uint32_t len, fraction;
	const char *wrong;

	if (!log_bytes(log, 1))
		return log_end;
	if (!log->of.unit_ns)
		return read_file_header(log);
	b = log_bytes(log, PACKET_HEADER);
	if (!b)
		return log_stop(log, "the packet is cut off: it is lost");
	len = log_pcap_u32(log, b + 8);
	if (len > LOG_PCAP_PACKET_MAX)
		return log_stop(log, "the length of the packet is damaged: what follows is lost");
	fraction = log_pcap_u32(log, b + 4);
	r->t_ns = log_pcap_u32(log, b) * NS_PER_S + fraction * log->of.unit_ns;
	r->direction = 0;
	strcpy(r->bus, "can0");
	b = log_bytes(log, PACKET_HEADER + len);
	if (!b)
		return log_stop(log, "the packet is cut off: it is lost");
	wrong = fraction * log->of.unit_ns >= NS_PER_S ? "the time is damaged: its fraction is more than a second"
						       : log_set_socketcan(r, b + PACKET_HEADER, len);
	log_skip(log, PACKET_HEADER + len);
	return wrong;
}

/* ---- writing ---- */

void log_pcap_numbers(struct log_writer *w, const uint32_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char b[4];

		frame_put_le(b, numbers[i], sizeof(b));
		log_put(w, b, sizeof(b));
	}
}

static void pcap_begin(struct log_writer *w)
{
	LOG_PCAP_NUMBERS(w, MAGIC_NS, VERSION, 0, 0, LOG_PCAP_PACKET, LOG_PCAP_LINK_TYPE);
}

static void pcap_put(struct log_writer *w, const struct log_record *r)
{
	const int64_t ns = r->t_ns > 0 ? r->t_ns : 0;
	unsigned char packet[LOG_PCAP_PACKET];
	const uint32_t n = (uint32_t)log_pcap_packet(packet, &r->frame);

	LOG_PCAP_NUMBERS(w, (uint32_t)(ns / NS_PER_S), (uint32_t)(ns % NS_PER_S), n, n);
	log_put(w, packet, n);
}

const struct log_format log_pcap_format = {
	.name = "pcap of SocketCAN",
	.suffix = ".pcap",
	.probe_bytes = pcap_probe,
	.read_record = pcap_record,
	.begin = pcap_begin,
	.put = pcap_put,
	.lacks = LOG_NO_BUSES | LOG_NO_DIRECTION | LOG_NO_NAMES,
};
