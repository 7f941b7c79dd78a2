/* boot_id.c: which boot of the machine this is. */
#include "config/base/boot_id.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/proc/sys/kernel/random/boot_id"

int boot_id_parse(uint64_t boot[2], const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	char digits[33] = "", low[17];
	size_t n = 0;

	boot[0] = boot[1] = 0;
	for (const char *f = form; *f; f++, text++) {
		if (*f == 'x' ? !isxdigit((unsigned char)*text) : *text != '-')
			return -EINVAL;
		if (*f == 'x')
			digits[n++] = *text;
	}
	if ((*text && strcmp(text, "\n") != 0) || strspn(digits, "0") == n)
		return -EINVAL;
	memcpy(low, digits + 16, sizeof(low));
	digits[16] = '\0';
	boot[0] = strtoull(digits, NULL, 16);
	boot[1] = strtoull(low, NULL, 16);
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
