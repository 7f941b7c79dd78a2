/* log_pcapng.c: pcapng files with frames of SocketCAN, read and written.
 *
 * Blocks: type, length, body, length again.  A section begins with a block that says the byte order; blocks of
 * interfaces
 * follow, with the link type, and as options the name (2), the resolution of stamps (9) and their offset (14); then
 * packets, with the number of their interface, and as an option whether the packet came in or went out (2).
 * Interfaces that are not of SocketCAN are left out, unless there is no other.
 */
#include "can/log/log_formats.h"
#include "can/log/log_pcap.h"

#define SECTION 0x0A0D0D0Au
#define SECTION_ORDER 0x1A2B3C4Du
#define VERSION 1 /* 1.0 */
#define INTERFACE 1u
#define PACKET_OLD 2u
#define PACKET_SIMPLE 3u
#define PACKET 6u

#define BLOCK_MIN 12
#define BLOCK_MAX 32768 /* that is looked into */

#define OPTION_NAME 2
#define OPTION_RESOLUTION 9
#define OPTION_OFFSET 14
#define OPTION_FLAGS 2

struct block {
	const unsigned char *at; /* the body */
	uint32_t n;
};

static uint16_t u16(const struct log *log, const unsigned char *b)
{
	return log->of.swapped ? __builtin_bswap16(frame_le16(b)) : frame_le16(b);
}

static bool pcapng_probe(const unsigned char *bytes, size_t n)
{
	return n >= 4 && frame_le32(bytes) == SECTION;
}

/* The next option, taken off; false: there is none. */
static bool next_option(const struct log *log, struct block *options, uint16_t *code, struct block *value)
{
	uint32_t whole;

	if (options->n < 4)
		return false;
	*code = u16(log, options->at);
	value->n = u16(log, options->at + 2);
	value->at = options->at + 4;
	whole = 4 + (value->n + 3) / 4 * 4;
	if (!*code || whole > options->n)
		return false;
	options->at += whole;
	options->n -= whole;
	return true;
}

/* ---- interfaces ---- */

static void read_name(struct log_interface *to, struct block value)
{
	size_t n = 0;

	for (uint32_t i = 0; i < value.n && n < LOG_BUS_MAX - 1 && value.at[i] > ' ' && value.at[i] != 0x7F; i++)
		to->name[n++] = (char)value.at[i];
	if (n)
		to->name[n] = '\0';
}

static const char *read_interface(struct log *log, struct block b)
{
	struct log_interface *to = &log->of.interfaces[log->of.interfaces_n];
	struct block options = { b.at + 8, b.n - 8 }, value;
	uint16_t code;

	if (b.n < 8)
		return "the description of an interface is too short";
	if (log->of.interfaces_n == LOG_INTERFACES_MAX)
		return "more than 64 interfaces";
	*to = (struct log_interface){ .link_type = u16(log, b.at), .resolution = 6 };
	snprintf(to->name, sizeof(to->name), "can%u", log->of.interfaces_n);
	while (next_option(log, &options, &code, &value)) {
		if (code == OPTION_NAME)
			read_name(to, value);
		else if (code == OPTION_RESOLUTION && value.n >= 1)
			to->resolution = value.at[0];
		else if (code == OPTION_OFFSET && value.n >= 8)
			to->offset_s =
				(int64_t)(log->of.swapped ? __builtin_bswap64(log_le64(value.at)) : log_le64(value.at));
	}
	log->of.interfaces_n++;
	return log_nothing;
}

/* ---- packets ---- */

/* Nanoseconds of a stamp with the resolution of its interface. */
static bool read_time(const struct log_interface *of, uint64_t stamp, int64_t *ns)
{
	unsigned __int128 t = (unsigned __int128)stamp * NS_PER_S;
	int64_t offset_ns;

	if (of->resolution & 0x80) {
		t >>= of->resolution & 0x7F;
	} else {
		if (of->resolution > 19)
			return false;
		for (unsigned int i = 0; i < of->resolution; i++)
			t /= 10;
	}
	return t <= INT64_MAX && !__builtin_mul_overflow(of->offset_s, NS_PER_S, &offset_ns) &&
	       !__builtin_add_overflow((int64_t)t, offset_ns, ns) && *ns >= 0;
}

static bool other_link_types_only(const struct log *log)
{
	for (uint32_t i = 0; i < log->of.interfaces_n; i++)
		if (log->of.interfaces[i].link_type == LOG_PCAP_LINK_TYPE)
			return false;
	return true;
}

static const char *read_packet(struct log *log, struct log_record *r, struct block b, uint32_t interface)
{
	const struct log_interface *of;
	struct block options, value;
	uint64_t stamp;
	uint32_t len, padded;
	uint16_t code;

	if (b.n < 20)
		return "the block of the packet is too short";
	if (interface >= log->of.interfaces_n)
		return "the packet is of an interface that the file does not describe";
	of = &log->of.interfaces[interface];
	if (of->link_type != LOG_PCAP_LINK_TYPE)
		return other_link_types_only(log) ? LOG_PCAP_NOT_CAN : log_nothing;
	stamp = (uint64_t)log_pcap_u32(log, b.at + 4) << 32 | log_pcap_u32(log, b.at + 8);
	len = log_pcap_u32(log, b.at + 12);
	padded = len > b.n ? UINT32_MAX : (len + 3) / 4 * 4;
	if (padded > b.n - 20)
		return "the packet is longer than its block";
	if (!read_time(of, stamp, &r->t_ns))
		return "the time is out of range";
	memcpy(r->bus, of->name, sizeof(r->bus));
	r->direction = 0;
	options = (struct block){ b.at + 20 + padded, b.n - 20 - padded };
	while (next_option(log, &options, &code, &value))
		if (code == OPTION_FLAGS && value.n == 4) {
			const uint32_t flags = log_pcap_u32(log, value.at) & 3;

			r->direction = flags == 1 ? 'R' : flags == 2 ? 'T' : 0;
		}
	return log_set_socketcan(r, b.at + 20, len);
}

/* ---- blocks ---- */

static const char *read_block(struct log *log, struct log_record *r, uint32_t type, struct block b)
{
	switch (type) {
	case SECTION:
		log->of.interfaces_n = 0;
		return log_nothing;
	case INTERFACE:
		return read_interface(log, b);
	case PACKET:
		return read_packet(log, r, b, b.n >= 4 ? log_pcap_u32(log, b.at) : 0);
	case PACKET_OLD:
		return read_packet(log, r, b, b.n >= 4 ? u16(log, b.at) : 0);
	case PACKET_SIMPLE:
		return "the packet has no time: capture with full packet blocks";
	default:
		return log_nothing; /* names, statistics, and what is yet to come */
	}
}

static const char *pcapng_record(struct log *log, struct log_record *r)
{
	static const char cut_off[] = "the block is cut off: it is lost";
	const unsigned char *b;
	const char *wrong;
	uint32_t type, len;

	if (!log_bytes(log, 1))
		return log_end;
	b = log_bytes(log, BLOCK_MIN);
	if (!b)
		return log_stop(log, cut_off);
	if (frame_le32(b) == SECTION)
		log->of.swapped = frame_le32(b + 8) != SECTION_ORDER;
	type = log_pcap_u32(log, b);
	len = log_pcap_u32(log, b + 4);
	if (len < BLOCK_MIN || len % 4 || (len > BLOCK_MAX && type == PACKET))
		return log_stop(log, "the length of a block is damaged: what follows is lost");
	if (len > BLOCK_MAX) {
		if (!log_skip(log, len))
			return cut_off;
		log->line--;
		return log_nothing;
	}
	b = log_bytes(log, len);
	if (!b)
		return log_stop(log, cut_off);
	wrong = read_block(log, r, type, (struct block){ b + 8, len - BLOCK_MIN });
	log_skip(log, len);
	if (wrong == log_nothing && type != PACKET && type != PACKET_OLD)
		log->line--; /* records are packets */
	return wrong;
}

/* ---- writing ---- */

static void pcapng_begin(struct log_writer *w)
{
	LOG_PCAP_NUMBERS(w, SECTION, 28, SECTION_ORDER, VERSION, UINT32_MAX, UINT32_MAX, 28);
	w->interfaces_n = 0;
}

/* Stamps in nanoseconds. */
static void put_interface(struct log_writer *w, const char *name)
{
	const uint32_t n = (uint32_t)strlen(name), len = 20 + 4 + (n + 3) / 4 * 4 + 8 + 4;

	LOG_PCAP_NUMBERS(w, INTERFACE, len, LOG_PCAP_LINK_TYPE, LOG_PCAP_PACKET, OPTION_NAME | n << 16);
	log_put(w, name, n);
	log_put(w, "\0\0\0", (4 - n % 4) % 4);
	LOG_PCAP_NUMBERS(w, OPTION_RESOLUTION | 1 << 16, 9, 0, len);
}

static void pcapng_put(struct log_writer *w, const struct log_record *r)
{
	const uint64_t ns = r->t_ns > 0 ? (uint64_t)r->t_ns : 0;
	unsigned char packet[LOG_PCAP_PACKET];
	const uint32_t n = (uint32_t)log_pcap_packet(packet, &r->frame), len = 32 + n + (r->direction ? 12 : 0);
	uint32_t interface = 0;

	for (; w->interfaces_n < w->buses_n; w->interfaces_n++)
		put_interface(w, w->buses[w->interfaces_n].name);
	while (strcmp(w->buses[interface].name, r->bus) != 0)
		interface++;
	LOG_PCAP_NUMBERS(w, PACKET, len, interface, (uint32_t)(ns >> 32), (uint32_t)ns, n, n);
	log_put(w, packet, n);
	if (r->direction)
		LOG_PCAP_NUMBERS(w, OPTION_FLAGS | 4 << 16, r->direction == 'R' ? 1 : 2, 0);
	LOG_PCAP_NUMBERS(w, len);
}

const struct log_format log_pcapng_format = {
	.name = "pcapng of SocketCAN",
	.suffix = ".pcapng",
	.probe_bytes = pcapng_probe,
	.read_record = pcapng_record,
	.begin = pcapng_begin,
	.put = pcapng_put,
};
