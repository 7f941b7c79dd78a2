/* library_log.c: the log of the DDS library, counted. */
#include <dds/dds.h>
#include <dds/ddsrt/log.h>
#include <pthread.h>

#include "launch/achdds/library_log.h"

#define MALFORMED "malformed packet"

/* Lines come on threads of the library. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct library_log kept;

static void keep(char to[LIBRARY_LOG_LINE], const char *message)
{
	snprintf(to, LIBRARY_LOG_LINE, "%.*s", (int)strcspn(message, "\n"), message);
}

static void count_line(void *to, const dds_log_data_t *line)
{
	(void)to;
	pthread_mutex_lock(&mutex);
	if (!kept.lines++)
		keep(kept.first, line->message);
	keep(kept.newest, line->message);
	kept.malformed += !strncmp(line->message, MALFORMED, strlen(MALFORMED));
	pthread_mutex_unlock(&mutex);
}

void library_log_open(void)
{
	pthread_mutex_lock(&mutex);
	kept = (struct library_log){ 0 };
	pthread_mutex_unlock(&mutex);
	dds_set_log_sink(count_line, NULL);
}

void library_log_close(void)
{
	dds_set_log_sink(NULL, NULL);
}

void library_log_read(struct library_log *copy)
{
	pthread_mutex_lock(&mutex);
	*copy = kept;
	pthread_mutex_unlock(&mutex);
}
