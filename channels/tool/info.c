/* info.c: ach info, all about one channel. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "channels/rec/snapshot.h"
#include "channels/tool/tool.h"
#include "config/base/utf8.h"

static const struct settings_row rows[] = {
	SETTINGS_BOOL("json", struct snapshot_line, json, "no", "one object, for scripts"),
	SNAPSHOT_FOR,
	SETTINGS_END,
};

/* "1234, alive: pciod" */
static void print_writer(uint32_t pid)
{
	char path[32], name[32] = "";
	FILE *comm;

	if (!pid) {
		puts("writer    none yet");
		return;
	}
	if (!snapshot_alive(pid)) {
		printf("writer    %u, dead\n", pid);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	comm = fopen(path, "re");
	if (comm) {
		if (fgets(name, sizeof(name), comm))
			name[strcspn(name, "\n")] = '\0';
		fclose(comm);
	}
	utf8_clean(name); /* a process chooses its own */
	printf("writer    %u, alive%s%s\n", pid, *name ? ": " : "", name);
}

static void print_type(const struct snapshot *snap)
{
	char why[160];

	if (snap->type) {
		printf("type      %s, version %u\n", snap->type->name, snap->type->version);
	} else if (snap->len) {
		msg_refusal_text(why, sizeof(why), snap->refusal, &snap->header, snap->len, NULL);
		printf("type      - (%s)\n", why);
	} else {
		puts("type      -");
	}
}

static void print_lock(uint32_t word)
{
	const uint32_t tid = word & 0x3fffffff; /* FUTEX_TID_MASK */

	if (tid)
		printf("lock      held by thread %u\n", tid);
	else
		puts("lock      free");
}

static void print_table(const ach_channel_t *chan, const struct snapshot *snap, double rate_hz, const struct stat *st)
{
	char path[ACH_FILE_PATH_LEN], owner[CHAN_OWNER_MAX], text[SNAPSHOT_TEXT_MAX];

	ach_file_channel_path(path, chan->handle->name);
	chan_owner(owner, st->st_uid, st->st_gid);
	printf("name      %s\n", chan->handle->name);
	printf("file      %s\n", path);
	print_type(snap);
	printf("size      %u x %u bytes\n", snap->count, snap->size);
	printf("mode      %04o %s\n", (unsigned)snap->mode & 07777, owner);
	printf("messages  %" PRIu64 ", %zu retained\n", snap->seq, snap->retained);
	if (snap->len)
		printf("newest    %zu bytes\n", snap->len);
	if (!isnan(rate_hz)) {
		snapshot_rate_text(text, rate_hz);
		printf("rate      %s\n", text);
	}
	if (snap->type) {
		snapshot_age_text(text, snapshot_age_ns(snap));
		printf("age       %s\n", text);
	}
	print_writer(snap->writer);
	print_lock(atomic_load(&chan->shm->lock));
	printf("waiting   %s\n", snap->waited ? "yes" : "no");
	printf("clock     %s\n", chan->clock == CLOCK_REALTIME ? "realtime" : "monotonic");
	printf("you may   %s\n", chan->handle->writable ? "read and write" : "read");
}

static int show(ach_channel_t *chan, const char *name, const struct snapshot_line *info)
{
	double rate_hz = NAN;
	struct json j = json_to(stdout);
	struct snapshot first, last;
	struct stat st;

	if (fstat(chan->handle->file, &st))
		return tool_fail("%s: cannot stat its file: %m", name);
	snapshot_take(&last, chan);
	if (last.status == ACH_OK && info->for_ns) {
		first = last;
		clock_wait(NULL, 0, clock_now_ns() + info->for_ns);
		snapshot_take(&last, chan);
		rate_hz = snapshot_rate(&first, &last);
	}
	if (last.status != ACH_OK)
		return tool_fail("%s: %s%s", name, last.status == ACH_CORRUPT ? "corrupt: " : "", ach_errstr());
	if (info->json) {
		json_object(&j, NULL);
		snapshot_json(&j, name, rate_hz, &last);
		json_end(&j);
		putchar('\n');
	} else {
		print_table(chan, &last, rate_hz, &st);
	}
	return 0;
}

static int run(void *values, int argc, char **argv)
{
	ach_channel_t chan;
	int status;

	(void)argc;
	if (chan_open(&chan, argv[0]))
		return TOOL_FAILED;
	status = show(&chan, argv[0], values);
	ach_close(&chan);
	return status;
}

TOOL_COMMAND(info, run, rows, struct snapshot_line, "NAME", 1, 1, "shows everything about one channel", NULL);
