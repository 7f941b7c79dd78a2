/* log_pcap.h: shared by pcap and pcapng.  Only for log_pcap*.c. */
#pragma once

#include "can/log/log.h"

#define LOG_PCAP_LINK_TYPE 227 /* LINKTYPE_CAN_SOCKETCAN */
#define LOG_PCAP_NOT_CAN "the capture is not of a CAN interface (link type 227): capture on can0, not on any"
#define LOG_PCAP_PACKET 72	 /* the longest frame */
#define LOG_PCAP_PACKET_MAX 4096 /* a longer packet is damaged */

/* In the byte order of the file. */
uint32_t log_pcap_u32(const struct log *log, const unsigned char *b);

/* The frame as a packet; returns its length. */
size_t log_pcap_packet(unsigned char to[LOG_PCAP_PACKET], const struct frame *f);

/* Writes numbers of four bytes, the low byte first. */
struct log_writer;
void log_pcap_numbers(struct log_writer *w, const uint32_t *numbers, size_t n);
#define LOG_PCAP_NUMBERS(w, ...) \
	log_pcap_numbers(w, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
