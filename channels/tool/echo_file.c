/* echo_file.c: ach echo: the messages of a recording. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach_file.h"
#include "channels/tool/echo.h"
#include "channels/tool/out.h"
#include "channels/tool/recfile.h"

bool echo_is_file(const char *name)
{
	char path[ACH_FILE_PATH_LEN];

	if (strchr(name, '/'))
		return true;
	if (access(name, F_OK))
		return false;
	if (ach_file_check_name(name) != ACH_OK)
		return true;
	ach_file_channel_path(path, name);
	return access(path, F_OK) != 0;
}

static bool wanted(const struct echo *echo, const struct reclog_channel *c)
{
	for (size_t i = 0; i < echo->only.n; i++)
		if (!strcmp(echo->only.item[i], c->name))
			return true;
	return !echo->only.n;
}

static void print_loss(const struct echo *echo, const struct reclog_record *r, const struct reclog_channel *c)
{
	char shown[sizeof(c->name)];

	if (echo->json) {
		struct json j = json_to(out_file());

		json_object(&j, NULL);
		json_text(&j, "channel", c->name);
		json_uint(&j, "missed", r->number);
		json_end(&j);
		out_text("\n");
		return;
	}
	out_flush();
	fprintf(stderr, "-- %s: %" PRIu64 " missed --\n", recfile_name(shown, c), r->number);
}

static void print_recorded(const struct echo *echo, struct recfile *file, struct reclog_record *r,
			   const struct reclog_channel *c)
{
	struct echo_message m = { .number = r->number };
	struct json j = json_to(out_file());
	char shown[sizeof(c->name)];

	m.version = recfile_renew(file, r);
	m.bytes = r->body;
	m.len = r->len;
	if (!echo->json) {
		echo_text(echo, recfile_name(shown, c), &m);
		return;
	}
	json_object(&j, NULL);
	json_text(&j, "channel", c->name);
	json_uint(&j, "number", r->number);
	json_int(&j, "t_ns", r->t_ns);
	echo_json(&j, "message", &m);
	json_end(&j);
	out_text("\n");
}

/* Those behind the first skip that are wanted; *n: how many are.  0 or TOOL_FAILED; print: else they are counted. */
static int each_recorded(const struct echo *echo, struct recfile *file, uint64_t skip, bool print, uint64_t *n)
{
	struct reclog_channel *channels = calloc(RECLOG_CHANNELS_MAX, sizeof(*channels)); /* by their numbers */
	struct reclog_record r;
	int found = 0, stop = 0;

	*n = 0;
	if (!channels)
		return tool_fail("no memory");
	while (!stop && (found = recfile_next(file, &r)) > 0) {
		struct reclog_channel *c = &channels[r.channel];

		if (r.kind == RECLOG_CHANNEL)
			reclog_channel_read(c, &r);
		else if (!*c->name)
			strcpy(c->name, "?"); /* its description was damaged */
		if (!wanted(echo, c))
			continue;
		if (r.kind == RECLOG_LOSS && print && *n >= skip)
			print_loss(echo, &r, c);
		if (r.kind != RECLOG_MESSAGE || ++*n <= skip || !print)
			continue;
		print_recorded(echo, file, &r, c);
		stop = *n % ECHO_BATCH ? 0 : out_flush();
	}
	free(channels);
	if (!stop && print)
		stop = out_flush();
	return found < 0 || (stop && stop != -ECANCELED) ? TOOL_FAILED : 0;
}

/* The first pass counts, and says nothing. */
static int skip_to(const struct echo *echo, struct recfile *file, uint64_t newest, uint64_t *skip)
{
	uint64_t n;

	if (!file->twice)
		return tool_fail("%s: cannot be read twice, so there is no --last and no --count", file->path);
	file->quiet = true;
	if (each_recorded(echo, file, 0, false, &n) || recfile_rewind(file))
		return TOOL_FAILED;
	*skip = n > newest ? n - newest : 0;
	return 0;
}

int echo_file(const struct echo *echo, const char *path)
{
	uint64_t n = 0, newest = echo_newest(echo), skip = 0;
	struct recfile file;
	int status;

	if (echo->follow)
		return tool_fail("%s: --follow is for channels, and this is a recording", path);
	tool_stop_fd();
	status = recfile_open(&file, path);
	if (!status && newest != UINT64_MAX)
		status = skip_to(echo, &file, newest, &skip);
	if (!status)
		status = each_recorded(echo, &file, skip, true, &n);
	if (!status && !n)
		status = tool_fail(echo->only.n ? "%s: no message of that channel" : "%s: no message", path);
	return recfile_close(&file) ? TOOL_FAILED : status;
}
