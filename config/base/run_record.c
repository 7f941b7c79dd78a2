/* run_record.c: which robot runs in a folder, and where its channels are. */
#include "config/base/run_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/base/safe_path.h"

#define FILE_NAME "robot"
#define TEXT_MAX (512 + RUN_PATH_MAX)

int run_record_write(int folder, const char *name)
{
	const char *prefix = getenv("ENDPLATE_PREFIX"), *channels = getenv("ACH_DIR");
	char text[TEXT_MAX], saved[TEXT_MAX];
	const int len = snprintf(text, sizeof(text), "name %s\nprefix %s\nchannels %s\nend\n", name,
				 prefix ? prefix : "", channels ? channels : "");

	if (len >= (int)sizeof(text))
		return -ENAMETOOLONG;
	if (safe_path_read(folder, FILE_NAME, saved, sizeof(saved), &(struct error_sink){ 0 }) == len &&
	    !strcmp(saved, text))
		return 0;
	return safe_path_write(folder, FILE_NAME, 0640, text, (size_t)len);
}

/* "KEY VALUE\n", VALUE shorter than size; the rest of text, or NULL. */
static const char *take_line(const char *text, const char *key, char *value, size_t size)
{
	const size_t skip = strlen(key), len = text ? strcspn(text, "\n") : 0;

	if (!text || strncmp(text, key, skip) != 0 || text[len] != '\n' || len - skip >= size)
		return NULL;
	snprintf(value, size, "%.*s", (int)(len - skip), text + skip);
	return text + len + 1;
}

int run_record_read(const char *run, struct run_record *record, struct error_sink *errors)
{
	const int folder = safe_path_open(run, errors);
	char text[TEXT_MAX];
	const char *rest = text;
	int len;

	if (folder < 0)
		return folder;
	len = safe_path_read(folder, FILE_NAME, text, sizeof(text), errors);
	close(folder);
	if (len < 0)
		return len;
	rest = take_line(rest, "name ", record->name, sizeof(record->name));
	rest = take_line(rest, "prefix ", record->prefix, sizeof(record->prefix));
	rest = take_line(rest, "channels ", record->channels, sizeof(record->channels));
	return rest && !strcmp(rest, "end\n") && text_is_name(record->name) ? 0 : -EBADMSG;
}
