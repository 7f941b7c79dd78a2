/* recdump.c: a recording as lines of text.
 *
 *	recdump FILE		CHANNEL NUMBER HEX of each message
 *	recdump --counts FILE	CHANNEL MESSAGES LOST NEWEST of each channel, in the order in which they were named
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/rec/reclog.h"

#define RECDUMP_CHANNELS 1000

static struct {
	char name[64];
	unsigned long long messages, lost, newest;
} channels[RECDUMP_CHANNELS];

static void record(const struct reclog_record *r, bool counts)
{
	static const char digits[] = "0123456789abcdef";
	struct reclog_channel what;

	if (r->channel >= RECDUMP_CHANNELS)
		exit(1);
	if (r->kind == RECLOG_CHANNEL && !reclog_channel_read(&what, r))
		memcpy(channels[r->channel].name, what.name, sizeof(what.name));
	channels[r->channel].lost += r->kind == RECLOG_LOSS ? r->number : 0;
	if (r->kind != RECLOG_MESSAGE)
		return;
	channels[r->channel].messages++;
	channels[r->channel].newest = r->number;
	if (counts)
		return;
	printf("%s %llu ", channels[r->channel].name, (unsigned long long)r->number);
	for (size_t i = 0; i < r->len; i++) {
		putchar_unlocked(digits[r->body[i] >> 4]);
		putchar_unlocked(digits[r->body[i] & 15]);
	}
	putchar_unlocked('\n');
}

int main(int argc, char **argv)
{
	bool counts = argc == 3 && !strcmp(argv[1], "--counts");
	struct reclog_reader reader;
	struct reclog_record r;
	enum reclog_found found;
	int fd = open(argv[argc - 1], O_RDONLY);

	if (fd < 0 || argc < 2) {
		fprintf(stderr, "usage: recdump [--counts] FILE\n");
		return 2;
	}
	reclog_open(&reader, fd);
	while ((found = reclog_read(&reader, &r)) == RECLOG_FOUND_RECORD)
		record(&r, counts);
	for (int i = 0; counts && i < RECDUMP_CHANNELS && *channels[i].name; i++)
		printf("%s %llu %llu %llu\n", channels[i].name, channels[i].messages, channels[i].lost,
		       channels[i].newest);
	reclog_close(&reader);
	return found == RECLOG_FOUND_EOF ? 0 : 1;
}
