/* boot.c: which boot of the machine this is. */
#include "config/boot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/proc/sys/kernel/random/boot_id"
#define TEXT_LEN 36

static unsigned int digit_of(char c)
{
	return (unsigned int)(isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10);
}

static bool is_dash(unsigned int at)
{
	return at == 8 || at == 13 || at == 18 || at == 23;
}

static bool is_well_formed(const char *text)
{
	for (unsigned int i = 0; i < TEXT_LEN; i++)
		if (is_dash(i) ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	return !text[TEXT_LEN] || !strcmp(text + TEXT_LEN, "\n");
}

int boot_id_parse(uint64_t boot[2], const char *text)
{
	unsigned int digits = 0;

	boot[0] = boot[1] = 0;
	if (!is_well_formed(text))
		return -EINVAL;
	for (unsigned int i = 0; i < TEXT_LEN; i++) {
		if (is_dash(i))
			continue;
		boot[digits / 16] = boot[digits / 16] << 4 | digit_of(text[i]);
		digits++;
	}
	return boot[0] | boot[1] ? 0 : -EINVAL;
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
