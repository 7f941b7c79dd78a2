/* recfile.c: a recording on the disk, for the commands that read one. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/rec/chan.h"
#include "channels/rec/recfile.h"

#define DAMAGE_LINES 10 /* further ones are only counted */

/* Which format it has, from its first bytes; a pipe has ours. */
static int start(struct recfile *f)
{
	char magic[MCAP_MAGIC_SIZE];

	reclog_open(&f->reader, f->fd);
	if (!f->twice || pread(f->fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, MCAP_MAGIC, sizeof(magic)) != 0)
		return 0;
	f->mcap = mcaprec_reader_new(f->fd);
	return f->mcap ? 0 : chan_fail("no memory");
}

int recfile_open(struct recfile *f, const char *path)
{
	struct stat st;

	*f = (struct recfile){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (f->fd < 0 || fstat(f->fd, &st))
		return chan_fail("%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return chan_fail("%s: is a folder", path);
	f->twice = S_ISREG(st.st_mode);
	f->size = f->twice ? (uint64_t)st.st_size : 0;
	posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return start(f);
}

int recfile_rewind(struct recfile *f)
{
	reclog_close(&f->reader);
	mcaprec_reader_free(f->mcap);
	f->mcap = NULL;
	f->quiet = false;
	return lseek(f->fd, 0, SEEK_SET) ? chan_fail("%s: %s", f->path, strerror(errno)) : start(f);
}

int recfile_close(struct recfile *f)
{
	if (f->damages > DAMAGE_LINES)
		program_report(EXIT_RETRY,
			       f->mcap ? "%s: %" PRIu64 " places are damaged"
				       : "%s: %" PRIu64 " places are damaged, %" PRIu64 " bytes",
			       f->path, f->damages, f->damaged_bytes);
	reclog_close(&f->reader);
	mcaprec_reader_free(f->mcap);
	if (f->fd >= 0)
		close(f->fd);
	return f->damages ? EXIT_RETRY : 0;
}

static void damaged(struct recfile *f, const struct reclog_record *r)
{
	if (f->quiet)
		return;
	f->damaged_bytes += r->len;
	if (f->damages++ >= DAMAGE_LINES)
		return;
	if (r->damage)
		chan_fail("%s: %s, at %" PRIu64, f->path, r->damage, r->position);
	else
		chan_fail("%s: %zu bytes at %" PRIu64 " are damaged and left out", f->path, r->len, r->position);
}

int recfile_next(struct recfile *f, struct reclog_record *r)
{
	for (;;) {
		switch (f->mcap ? mcaprec_read(f->mcap, r) : reclog_read(&f->reader, r)) {
		case RECLOG_FOUND_RECORD:
			return 1;
		case RECLOG_FOUND_DAMAGE:
			damaged(f, r);
			continue;
		case RECLOG_FOUND_CUT:
			if (!f->cut && !f->quiet)
				chan_fail("%s: is cut off at %" PRIu64 "; all before it is whole", f->path,
					  r->position);
			f->cut = !f->quiet;
			return 0;
		case RECLOG_FOUND_EOF:
			return 0;
		case RECLOG_FOUND_NO_LOG:
			return program_report(-1, "%s: is not a recording of ach record, and not MCAP", f->path);
		case RECLOG_FOUND_LARGE:
			return program_report(-1,
					      "%s: the record at %" PRIu64 " asks for %zu bytes; one has at most %d",
					      f->path, r->position, r->len, RECLOG_BODY_MAX);
		case RECLOG_FOUND_ERROR:
			return program_report(-1, "%s: %s", f->path, strerror(errno));
		}
	}
}

const char *recfile_name(char shown[sizeof(((struct reclog_channel *)0)->name)], const struct reclog_channel *c)
{
	memcpy(shown, c->name, sizeof(c->name));
	utf8_clean(shown);
	return shown;
}
