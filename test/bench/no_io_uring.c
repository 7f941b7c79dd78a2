/* no_io_uring.c: no_io_uring PROGRAM [ARGUMENT...]: runs a program to which io_uring is forbidden, as it is in most
 * containers.  Needs no rights. */
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	/* clang-format off */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	/* clang-format on */
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (argc < 2)
		errx(100, "usage: no_io_uring PROGRAM [ARGUMENT...]");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		err(111, "unable to forbid io_uring");
	execvp(argv[1], argv + 1);
	err(111, "unable to run %s", argv[1]);
}
