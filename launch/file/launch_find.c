/* launch_find.c: where a launch file is, and where a program is. */
#include "launch/file/launch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- launch files ---- */

#define SUFFIX ".launch"
#define PROGRAMS "/bin"
#define INSTALLED "/share/endplate/launch/"

/* Whatever else is wrong with it is found when it is opened: the search does not go on behind it. */
static bool is_there(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno != ENOENT && errno != ENOTDIR;
	return stat(path, &st) || !S_ISDIR(st.st_mode);
}

/* No other user can change what it is. */
static bool is_roots(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_safe(const char *here, const char *within, const char *path)
{
	char folder[LAUNCH_FIND_MAX];

	if (snprintf(folder, sizeof(folder), "%s./%s", here, within) >= (int)sizeof(folder))
		return false;
	/* A folder of root in that of another user is that user's choice. */
	if (!is_roots(folder) || !is_roots(path))
		return false;
	folder[strlen(here) + 1] = '\0';
	return is_roots(folder);
}

int launch_path_in(char path[LAUNCH_FIND_MAX], const char *name, const struct launch_places *places,
		   struct error_sink *errors)
{
	const char *suffix = text_ends_with(name, SUFFIX) ? "" : SUFFIX;
	const struct {
		const char *folder, *within, *suffix;
	} rows[] = { { places->here, "", suffix },
		     { *suffix ? places->here : NULL, "", "" },
		     { places->here, "launch/", suffix },
		     { places->installed, "", suffix } };
	char tried[4 * LAUNCH_FIND_MAX] = "", quoted[TEXT_QUOTED_MAX];

	text_quote(quoted, name);
	if (strchr(name, '/')) {
		if (snprintf(path, LAUNCH_FIND_MAX, "%s", name) < LAUNCH_FIND_MAX)
			return 0;
		return error_refuse(errors, -ENAMETOOLONG, "%s: %s", quoted, strerror(ENAMETOOLONG));
	}
	for (size_t i = 0; *name && i < sizeof(rows) / sizeof(*rows); i++) {
		const size_t len = strlen(tried);

		if (!rows[i].folder)
			continue;
		if (snprintf(path, LAUNCH_FIND_MAX, "%s%s%s%s", rows[i].folder, rows[i].within, name, rows[i].suffix) >=
		    LAUNCH_FIND_MAX)
			return error_refuse(errors, -ENAMETOOLONG, "%s: %s", quoted, strerror(ENAMETOOLONG));
		if (!is_there(path)) {
			snprintf(tried + len, sizeof(tried) - len, "%s%s", len ? ", " : "; looked for ", path);
			continue;
		}
		if (!places->careful || rows[i].folder == places->installed ||
		    is_safe(rows[i].folder, rows[i].within, path))
			return 0;
		return error_refuse(errors, -EPERM,
				    "%s: another user than root can change it: to run it as root write ./%s", path,
				    path);
	}
	return error_refuse(errors, -ENOENT, "there is no launch file %s%s", quoted, tried);
}

const char *launch_installed(char folder[LAUNCH_FIND_MAX], const char *program)
{
	const ssize_t len = readlink(program, folder, LAUNCH_FIND_MAX - sizeof(INSTALLED));
	char *slash;

	folder[len > 0 ? len : 0] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	if (!text_ends_with(folder, PROGRAMS))
		return NULL;
	strcpy(strrchr(folder, '/'), INSTALLED);
	return folder;
}

int launch_path(char path[LAUNCH_FIND_MAX], const char *name, struct error_sink *errors)
{
	char folder[LAUNCH_FIND_MAX];
	const struct launch_places places = { "", launch_installed(folder, "/proc/self/exe"), geteuid() == 0 };

	return launch_path_in(path, name, &places, errors);
}

/* ---- programs ---- */

/* 0: path is a file that may be executed. */
static int check_file(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return -errno;
	if (!S_ISREG(s.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

static int try(char path[LAUNCH_FIND_MAX], const char *folder, size_t len, const char *program)
{
	/* An empty entry of $PATH is the working directory. */
	int n = snprintf(path, LAUNCH_FIND_MAX, "%.*s/%s", len ? (int)len : 1, len ? folder : ".", program);

	return n < LAUNCH_FIND_MAX ? check_file(path) : -ENAMETOOLONG;
}

int launch_find_in(char path[LAUNCH_FIND_MAX], const char *program, const char *beside, const char *search)
{
	int err = -ENOENT, r;

	if (strchr(program, '/')) {
		if (snprintf(path, LAUNCH_FIND_MAX, "%s", program) >= LAUNCH_FIND_MAX)
			return -ENAMETOOLONG;
		return check_file(path);
	}
	if (beside && !try(path, beside, strlen(beside), program))
		return 0;
	for (; search && *program; search = strchr(search, ':') ? strchr(search, ':') + 1 : NULL) {
		r = try(path, search, strcspn(search, ":"), program);
		if (!r)
			return 0;
		/* A program that may not be executed is more to report than a missing one. */
		if (r == -EACCES)
			err = r;
	}
	return err;
}

int launch_find(char path[LAUNCH_FIND_MAX], const char *program)
{
	char self[LAUNCH_FIND_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[len > 0 ? len : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	return launch_find_in(path, program, slash ? self : NULL, getenv("PATH"));
}

/* ---- marks ---- */

#define MARKS_MAX 64 /* programs */

/* What a program says of itself, in its file. */
struct marks {
	struct stat of;
	bool driver, standby, clock;
};

/* In two parts, so that this program has no mark. */
static bool has_mark(const char *text, size_t len, const char *end)
{
	static const char begin[] = "@(#)endplate";
	const char *at = text;

	while ((at = memmem(at, len - (size_t)(at - text), begin, strlen(begin)))) {
		at += strlen(begin);
		if (len - (size_t)(at - text) >= strlen(end) && !memcmp(at, end, strlen(end)))
			return true;
	}
	return false;
}

static void find_marks(struct marks *m, const char *text, size_t len)
{
	static const char elf[] = "\177ELF", library[] = "libendplate.so";

	m->driver = has_mark(text, len, "-driver");
	m->standby = has_mark(text, len, "-standby");
	m->clock = len > strlen(elf) && !memcmp(text, elf, strlen(elf)) &&
		   (has_mark(text, len, "-clock") || memmem(text, len, library, strlen(library)));
}

static const struct marks *read_marks(struct marks *m, int fd, const struct stat *of)
{
	void *text = mmap(NULL, (size_t)of->st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (text == MAP_FAILED)
		return NULL;
	m->of = *of;
	find_marks(m, text, (size_t)of->st_size);
	munmap(text, (size_t)of->st_size);
	return m;
}

/* NULL: the file cannot be read.  Its marks are kept, since to find them takes a restart about 1 ms. */
static const struct marks *marks_of(const char *path)
{
	static struct marks known[MARKS_MAX];
	static size_t next;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct marks *m = NULL;
	struct stat of = { 0 };

	if (fd >= 0 && !fstat(fd, &of) && of.st_size > 0)
		for (m = known; m < known + MARKS_MAX && !read_files_same(&m->of, &of); m++)
			;
	if (m == known + MARKS_MAX)
		m = read_marks(&known[next++ % MARKS_MAX], fd, &of);
	if (fd >= 0)
		close(fd);
	return m;
}

bool launch_is_driver(const char *path)
{
	const struct marks *m = marks_of(path);

	return !m || m->driver;
}

bool launch_stands_by(const char *path)
{
	const struct marks *m = marks_of(path);

	return m && m->standby;
}

bool launch_keeps_clock(const char *path)
{
	const struct marks *m = marks_of(path);

	return m && m->clock;
}
