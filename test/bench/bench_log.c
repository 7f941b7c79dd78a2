/* bench_log.c: how fast logs are read, beside what only counts their lines.
 *
 *	bench_log FOLDER	the logs are written into FOLDER and removed
 *
 * Every round reads the same file, which is in memory then, with log_next, with a loop of read and memchr, and with
 * wc -l, one after the other, so that a change of the machine's speed affects all three.  Figures are medians of the
 * rounds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "can/log/log.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define LINES 1000000
#define ROUNDS 7

static struct log input;
static char file[512];
static uint64_t sum; /* of what was read, so that reading cannot be left out */

/* ---- files: a bus at some 2 kHz with all lengths of data, one in eight with a 29-bit identifier ---- */

static uint32_t random_bits(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static int64_t next_frame(struct frame *f, int64_t t_ns)
{
	memset(f, 0, sizeof(*f));
	f->id = random_bits() % 8 ? random_bits() & FRAME_STD_MASK : (random_bits() & FRAME_EXT_MASK) | FRAME_EXT;
	f->len = random_bits() % 4 ? 8 : (uint8_t)(random_bits() % 8);
	for (unsigned i = 0; i < f->len; i++)
		f->data[i] = (uint8_t)random_bits();
	return t_ns + 1000 * (random_bits() % 1000);
}

static void put_data(FILE *out, const struct frame *f)
{
	for (unsigned i = 0; i < f->len; i++)
		fprintf(out, " %02X", f->data[i]);
}

static void put_candump(FILE *out, unsigned n, int64_t t_ns, const struct frame *f)
{
	char text[LOG_WRITE_MAX];

	(void)n;
	log_write_line(text, 1700000000 * BENCH_NS_PER_S + t_ns, "can0", f);
	fputs(text, out);
}

static void put_asc(FILE *out, unsigned n, int64_t t_ns, const struct frame *f)
{
	if (!n)
		fputs("date Fri Jul 10 06:17:32 2015\nbase hex  timestamps absolute\n", out);
	fprintf(out, "%11.6f 1  %X%-14s Rx   d %u", (double)t_ns * 1e-9, frame_id(f), f->id & FRAME_EXT ? "x" : "",
		f->len);
	put_data(out, f);
	fputc('\n', out);
}

static void put_trc(FILE *out, unsigned n, int64_t t_ns, const struct frame *f)
{
	if (!n)
		fputs(";$FILEVERSION=1.1\n;$STARTTIME=44548.6028595139\n", out);
	fprintf(out, "%6u) %11.1f  Rx     %0*X  %u ", n + 1, (double)t_ns * 1e-6, f->id & FRAME_EXT ? 8 : 4,
		frame_id(f), f->len);
	put_data(out, f);
	fputc('\n', out);
}

static double write_file(void (*put)(FILE *, unsigned, int64_t, const struct frame *))
{
	FILE *out = fopen(file, "w");
	struct frame f;
	struct stat st;
	int64_t t_ns = 0;

	if (!out)
		bench_die("unable to write %s", file);
	for (unsigned i = 0; i < LINES; i++) {
		t_ns = next_frame(&f, t_ns);
		put(out, i, t_ns, &f);
	}
	if (fclose(out) || stat(file, &st))
		bench_die("unable to write %s", file);
	return (double)st.st_size;
}

/* ---- what is compared ---- */

static void by_log_next(void)
{
	struct log_record r;
	unsigned n = 0;

	if (log_open(&input, file, log_formats_all, LOG_STRICT, NULL))
		bench_die("unable to read %s", file);
	while (log_next(&input, &r) > 0) {
		sum += r.frame.data[0];
		n++;
	}
	log_close(&input);
	if (n != LINES)
		bench_die("%u records of %d", n, LINES);
}

static void by_memchr(void)
{
	static char buffer[1 << 16];
	int fd = open(file, O_RDONLY);
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		for (const char *at = buffer, *end = buffer + got; (at = memchr(at, '\n', (size_t)(end - at))); at++)
			sum++;
	close(fd);
}

static void by_wc(void)
{
	pid_t pid = bench_fork();

	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execlp("wc", "wc", "-l", file, (char *)NULL);
		bench_die("wc");
	}
	bench_reap(&pid, 1);
}

static double seconds_of(void (*way)(void))
{
	int64_t start_ns = bench_now_ns();

	way();
	return (double)(bench_now_ns() - start_ns) * 1e-9;
}

static void measure(const char *name, double bytes)
{
	double ours[ROUNDS], bare[ROUNDS], wc[ROUNDS], per_bare[ROUNDS], per_wc[ROUNDS], took;

	bench_hang_limit(120);
	by_memchr();
	for (unsigned i = 0; i < ROUNDS; i++) {
		ours[i] = seconds_of(by_log_next);
		bare[i] = seconds_of(by_memchr);
		wc[i] = seconds_of(by_wc);
		per_bare[i] = ours[i] / bare[i];
		per_wc[i] = ours[i] / wc[i];
	}
	bench_hang_limit(0);
	took = figures_median(ours, ROUNDS);
	printf("log %s: %.0f MB, %d lines: log_next %.0f ms, memchr %.0f ms, wc -l %.0f ms\n", name, bytes * 1e-6,
	       LINES, took * 1e3, figures_median(bare, ROUNDS) * 1e3, figures_median(wc, ROUNDS) * 1e3);
	figures_line(LINES / took, "lines/s", "log.%s.lines", name);
	figures_line(bytes / took * 1e-6, "MB/s", "log.%s.bytes", name);
	figures_line(figures_median(per_bare, ROUNDS), "x", "log.%s.per_memchr", name);
	figures_line(figures_median(per_wc, ROUNDS), "x", "log.%s.per_wc", name);
}

int main(int argc, char **argv)
{
	snprintf(file, sizeof(file), "%s/log.tmp", argc > 1 ? argv[1] : "build/bench");
	measure("candump", write_file(put_candump));
	measure("asc", write_file(put_asc));
	measure("trc", write_file(put_trc));
	unlink(file);
	figures_print();
	return sum == 0;
}
