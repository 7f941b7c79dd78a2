/* info.c: ach info, all about one channel. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "channels/ach_file.h"
#include "channels/clock.h"
#include "channels/tool/look.h"
#include "config/utf8.h"

struct info {
	const char *for_s;
	int64_t for_ns;
	bool json;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("json", struct info, json, "no", "one object, for scripts"),
	SETTINGS_STRING("for", struct info, for_s, NULL, "seconds to watch for the rate, 0.5 unless told; 0: no rate",
			.value = "S"),
	SETTINGS_END,
};

static int look_refused(const char *name, const struct look *look)
{
	return tool_fail("%s: %s%s", name, look->status == ACH_CORRUPT ? "corrupt: " : "", ach_errstr());
}

/* "1234, alive: pciod" */
static void print_writer(uint32_t pid)
{
	char path[32], name[32] = "";
	FILE *comm;

	if (!pid) {
		puts("writer    nobody yet");
		return;
	}
	if (!look_alive(pid)) {
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

static void print_type(const struct look *look)
{
	char why[160];

	if (look->type) {
		printf("type      %s, version %u\n", look->type->name, look->type->version);
	} else if (look->len) {
		msg_refusal_text(why, sizeof(why), look->refusal, &look->header, look->len, NULL);
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

static void print_table(const ach_channel_t *chan, const struct look_channel *channel, const struct look *look,
			const struct stat *st)
{
	char path[ACH_FILE_PATH_LEN], owner[TOOL_OWNER_MAX], text[LOOK_TEXT_MAX];

	ach_file_channel_path(path, channel->name);
	tool_owner(owner, st->st_uid, st->st_gid);
	printf("name      %s\n", channel->name);
	printf("file      %s\n", path);
	print_type(look);
	printf("size      %u x %u bytes\n", channel->count, channel->size);
	printf("mode      %04o %s\n", (unsigned)channel->mode & 07777, owner);
	printf("messages  %" PRIu64 ", %zu retained\n", look->seq, look->retained);
	if (look->len)
		printf("newest    %zu bytes\n", look->len);
	if (!isnan(channel->rate_hz)) {
		look_rate_text(text, channel->rate_hz);
		printf("rate      %s\n", text);
	}
	if (look->type) {
		look_age_text(text, look_age_ns(look));
		printf("age       %s\n", text);
	}
	print_writer(look->writer);
	print_lock(atomic_load(&chan->shm->lock));
	printf("waiting   %s\n", look->waited ? "somebody" : "nobody");
	printf("clock     %s\n", chan->clock == CLOCK_REALTIME ? "realtime" : "monotonic");
	printf("you may   %s\n", chan->handle->writable ? "read and write" : "read");
}

static int show(ach_channel_t *chan, const char *name, const struct info *info)
{
	struct look_channel channel = { .name = name, .count = chan->handle->count, .rate_hz = NAN };
	struct json j = json_to(stdout);
	struct look first, last;
	struct stat st;

	channel.size = (uint32_t)(tool_room(chan) / channel.count);
	if (fstat(chan->handle->file, &st))
		return tool_fail("%s: cannot look at its file: %m", name);
	channel.mode = ach_memory_mode(chan->handle);
	look_at(&last, chan);
	if (last.status == ACH_OK && info->for_ns) {
		first = last;
		clock_wait(NULL, 0, clock_now_ns() + info->for_ns);
		look_at(&last, chan);
		channel.rate_hz = look_rate(&first, &last);
	}
	if (last.status != ACH_OK)
		return look_refused(name, &last);
	if (info->json) {
		json_object(&j, NULL);
		look_json(&j, &channel, &last);
		json_end(&j);
		putchar('\n');
	} else {
		print_table(chan, &channel, &last, &st);
	}
	return 0;
}

int tool_info(int argc, char **argv)
{
	struct info info = { 0 };
	struct options options = {
		.program = "ach info",
		.about = "tells all about one channel",
		.rows = rows,
		.values = &info,
		.arguments = "NAME",
		.arguments_min = 1,
		.arguments_max = 1,
	};
	int status = tool_options(&options, &argc, argv);
	ach_channel_t chan;

	if (status != TOOL_GO)
		return status;
	if (look_for(info.for_s, &info.for_ns))
		return TOOL_USAGE;
	if (tool_open(&chan, argv[0], NULL))
		return TOOL_FAILED;
	status = show(&chan, argv[0], &info);
	ach_close(&chan);
	return status;
}
