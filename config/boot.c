/* boot.c: which boot of the machine this is. */
#include "config/boot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/proc/sys/kernel/random/boot_id"

static unsigned int digit_of(char c)
{
	return (unsigned int)(isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10);
}

int boot_id_parse(uint64_t boot[2], const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	uint64_t id[2] = { 0, 0 };
	unsigned int digits = 0;

	boot[0] = boot[1] = 0;
	for (const char *f = form; *f; f++, text++) {
		if (*f == 'x' ? !isxdigit((unsigned char)*text) : *text != '-')
			return -EINVAL;
		if (*f == 'x') {
			id[digits / 16] = id[digits / 16] << 4 | digit_of(*text);
			digits++;
		}
	}
	if ((*text && strcmp(text, "\n") != 0) || !(id[0] | id[1]))
		return -EINVAL;
	memcpy(boot, id, sizeof(id));
	return 0;
}

int boot_id_read(uint64_t boot[2])
{
	char text[64] = "";
	const int fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	boot[0] = boot[1] = 0;
	if (fd < 0)
		return -errno;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	return len < 0 ? -EIO : boot_id_parse(boot, text);
}
