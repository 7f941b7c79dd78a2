/* rec_rotate.c: the names of the pieces of a file, and which of them have to go.  Checked: covered. */
#include "channels/rec/rec_rotate.h"

#define DIGITS_MIN 4

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "drive.log" is "drive" and ".log"; the length of the first. */
static size_t stem_len(const char *path)
{
	const char *name = name_of(path), *dot = strrchr(name, '.');

	return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

int rec_rotate_path(char path[PATH_MAX], const char *whole, unsigned int digits, unsigned int number)
{
	const size_t stem = stem_len(whole);
	const int n = snprintf(path, PATH_MAX, "%.*s-%0*u%s", (int)stem, whole,
			       (int)(digits < DIGITS_MIN ? DIGITS_MIN : digits), number, whole + stem);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int rec_rotate_hidden_path(char path[PATH_MAX], const char *whole)
{
	const char *name = name_of(whole);
	const int n = snprintf(path, PATH_MAX, "%.*s.%s.new", (int)(name - whole), whole, name);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

void rec_rotate_folder(char folder[PATH_MAX], const char *whole)
{
	const size_t len = (size_t)(name_of(whole) - whole);

	snprintf(folder, PATH_MAX, "%.*s", len ? (int)len : 1, len ? whole : ".");
}

unsigned int rec_rotate_number(const char *whole, const char *file)
{
	const char *name = name_of(whole), *p;
	const size_t stem = stem_len(name);
	unsigned int number = 0;

	if (strncmp(file, name, stem) != 0 || file[stem] != '-')
		return 0;
	for (p = file + stem + 1; *p >= '0' && *p <= '9'; p++) {
		number = number * 10 + (unsigned int)(*p - '0');
		if (number > REC_ROTATE_NUMBER_MAX)
			return 0;
	}
	return p >= file + stem + 1 + DIGITS_MIN && !strcmp(p, name + stem) ? number : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct rec_piece *x = a, *y = b;

	return (int)x->number - (int)y->number; /* REC_ROTATE_NUMBER_MAX is far below INT_MAX */
}

void rec_rotate_sort(struct rec_piece *pieces, size_t n)
{
	if (n)
		qsort(pieces, n, sizeof(*pieces), by_number);
}

size_t rec_rotate_over(const struct rec_piece *pieces, size_t n, int64_t keep, int64_t total_bytes, int64_t next_bytes)
{
	int64_t bytes = next_bytes;
	size_t gone = 0;

	for (size_t i = 0; i < n; i++)
		bytes += pieces[i].bytes;
	while (gone < n && ((keep && (int64_t)(n - gone) >= keep) || (total_bytes && bytes > total_bytes)))
		bytes -= pieces[gone++].bytes;
	return gone;
}
