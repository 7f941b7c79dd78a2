/* keys.c: one key at a time. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "can/tool/keys.h"

int keys_open(struct keys *k, bool stdin_is_taken)
{
	struct termios each_key;

	k->fd = stdin_is_taken ? open("/dev/tty", O_RDWR | O_CLOEXEC) : STDIN_FILENO;
	if (k->fd < 0)
		return -errno;
	k->terminal = !tcgetattr(k->fd, &k->before);
	if (k->terminal) {
		each_key = k->before;
		each_key.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* ^C is a signal still */
		each_key.c_cc[VMIN] = 1;
		each_key.c_cc[VTIME] = 0;
		tcsetattr(k->fd, TCSADRAIN, &each_key);
	}
	return 0;
}

void keys_close(struct keys *k)
{
	if (k->terminal)
		tcsetattr(k->fd, TCSADRAIN, &k->before);
	if (k->fd > STDIN_FILENO)
		close(k->fd);
	k->fd = -1;
	k->terminal = false;
}

enum keys_answer keys_read(struct keys *k)
{
	char key;
	ssize_t n = read(k->fd, &key, 1);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return KEYS_NOTHING;
	if (n <= 0 || key == 'q' || key == 4) /* ^D */
		return KEYS_END;
	return k->terminal || key == '\n' ? KEYS_NEXT : KEYS_NOTHING;
}
