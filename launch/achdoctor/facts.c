/* facts.c: reads small files of the kernel below a root. */
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "launch/achdoctor/facts.h"

size_t facts_text(const char *root, const char *path, char *text, size_t size)
{
	char full[PATH_MAX];
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	*text = 0;
	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return 0;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[len] = 0;
	return len;
}

static bool __attribute__((format(printf, 4, 0)))
read_line(const char *root, char *text, size_t size, const char *fmt, va_list args)
{
	char path[PATH_MAX];
	size_t len;

	vsnprintf(path, sizeof(path), fmt, args);
	len = facts_text(root, path, text, size);
	text[strcspn(text, "\n")] = 0;
	return len > 0;
}

bool facts_line(const char *root, char *text, size_t size, const char *fmt, ...)
{
	va_list args;
	bool there;

	va_start(args, fmt);
	there = read_line(root, text, size, fmt, args);
	va_end(args);
	return there;
}

int64_t facts_number(const char *root, const char *fmt, ...)
{
	char text[64], *end = text;
	int64_t value = 0;
	va_list args;
	bool there;

	va_start(args, fmt);
	there = read_line(root, text, sizeof(text), fmt, args);
	va_end(args);
	if (there)
		value = strtoll(text, &end, 0);
	return end > text ? value : DOCTOR_UNKNOWN;
}
