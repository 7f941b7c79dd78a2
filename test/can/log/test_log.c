/* test_log.c: logs of every format, and files that are not logs.
 *
 * test/can/logs holds samples and, beside each, what is read from it: records as candump -L writes them with their
 * direction, "!" and an error line, "=" and the counts.  TEST_LOG_REBUILD=1 writes them again.
 */
#include <fcntl.h>
#include <glob.h>
#include <sys/socket.h>

#include "test/lib/testcase.h"

#include "can/log/log_formats.h"
#include "test/can/log/test_log_lib.h"

#define FOLDER "test/can/logs/"

void setUp(void)
{
	log_lib_start();
}

void tearDown(void)
{
	log_lib_end();
}

/* ---- samples ---- */

static void check_sample(const char *path, const char *expected_path)
{
	static char got[1 << 16], expected[1 << 16];
	size_t len;
	FILE *f;

	log_said[0] = '\0';
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, log_open(&log_in, path, log_formats_all, 0, &log_errors), path);
	len = (size_t)snprintf(got, sizeof(got), "%s", log_rest());
	for (char *line = log_said, *end; (end = strchr(line, '\n')); line = end + 1)
		len += (size_t)snprintf(got + len, sizeof(got) - len, "! %.*s\n", (int)(end - line), line);
	len += (size_t)snprintf(got + len, sizeof(got) - len, "= %u damaged, %u backward, %u lost\n",
				(unsigned int)log_in.damaged, (unsigned int)log_in.backward, (unsigned int)log_in.lost);
	log_close(&log_in);
	if (getenv("TEST_LOG_REBUILD")) {
		f = fopen(expected_path, "w");
		TEST_ASSERT_NOT_NULL(f);
		fputs(got, f);
		fclose(f);
	}
	f = fopen(expected_path, "r");
	TEST_ASSERT_NOT_NULL_MESSAGE(f, expected_path);
	expected[fread(expected, 1, sizeof(expected) - 1, f)] = '\0';
	fclose(f);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, got, path);
}

TEST(samples)
{
	glob_t files;
	unsigned int n = 0;

	TEST_ASSERT_EQUAL_INT_MESSAGE(0, glob(FOLDER "*", 0, NULL, &files), "no files in " FOLDER);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *path = files.gl_pathv[i];
		char expected[512];

		if (strstr(path, ".candump"))
			continue;
		snprintf(expected, sizeof(expected), "%s.candump", path);
		check_sample(path, expected);
		n++;
	}
	globfree(&files);
	TEST_ASSERT_GREATER_OR_EQUAL_UINT(12, n);
}

/* Where the recorder's wall clock stood is not said: the place is taken to be ours. */
TEST(local_times)
{
	log_lib_zone("EST5EDT");
	log_open_text("date Fri Jul 10 06:17:32.249 2015\n0.5 1 123 Rx d 0\n", 0);
	TEST_ASSERT_EQUAL_STRING("(1436523452.749000) can0 123# R\n", log_rest());
	log_close(&log_in);
	log_open_text("date Sat Jan 10 06:17:32 am 2015\n0.5 1 123 Rx d 0\n", 0);
	TEST_ASSERT_EQUAL_STRING("(1420888652.500000) can0 123# R\n", log_rest());
	log_close(&log_in);
	log_open_text(";$FILEVERSION=1.1\n;$STARTTIME=42195.25\n1) 500.0 Rx 0123 0\n", 0);
	TEST_ASSERT_EQUAL_STRING("(1436522400.500000) can0 123# R\n", log_rest());
	log_close(&log_in);
}

/* A date that cannot be read: times from 0.  The block's date replaces a missing one. */
TEST(dates)
{
#define DATE_AND_BLOCK "date Fri Jul 10 06:17:32 2015\nBegin Triggerblock Fri Jul 10 06:17:33 2015"
	static const struct {
		const char *date, *time;
	} cases[] = {
		{ "date ven. juil. 10 06:17:32 2015", "0000000000" },
		{ "date Fri Jul 10 06:17 2015", "0000000000" },
		{ "date Fri Jul 10 06:61:32 2015", "0000000000" },
		{ "date Fri Jul 10 24:17:32 2015", "0000000000" },
		{ "date Fri Jul 10 06:17:32 15", "0000000000" },
		{ "date Fri Jul", "0000000000" },
		{ "date", "0000000000" },
		{ "date Fri Jul 10 06:17:32 2015", "1436509052" },
		{ "date Fri Jul 10 06:17:32 pm 2015", "1436552252" },
		{ "date Fri Jul 10 18:17:32 pm 2015", "1436552252" },
		{ "date Fri Jul 10 12:17:32 pm 2015", "1436530652" },
		{ "date Fri Jul 10 12:17:32 am 2015", "1436487452" },
		{ "date Son M\xC3\xA4r 01 00:00:00 2015", "1425168000" },
		{ "date Son Mrz 01 00:00:00 2015", "1425168000" },
		{ "date Fre Mai 01 00:00:00 2015", "1430438400" },
		{ "date Die Dez 01 00:00:00 2015", "1448928000" },
		{ "base hex\nBegin Triggerblock Fri Jul 10 06:17:32 2015", "1436509052" },
		{ DATE_AND_BLOCK, "1436509052" },
		/* The block says that the measurement starts with it; or it does not, or too late. */
		{ DATE_AND_BLOCK "\n0.0 Start of measurement", "1436509053" },
		{ DATE_AND_BLOCK "\n0.0 Start der Messung", "1436509053" },
		{ DATE_AND_BLOCK "\n0.1 Start of measurement", "1436509052" },
		{ "date Fri Jul 10 06:17:32 2015\n0.0 Start of measurement", "1436509052" },
		{ "date Fri Jul 10 06:17:32 2015\nBegin Triggerblock x\n0.0 Start of measurement", "1436509052" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256], expected[256];

		snprintf(text, sizeof(text), "%s\n0.25 1 123 Rx d 0\n", cases[i].date);
		snprintf(expected, sizeof(expected), "(%s.250000) can0 123# R\n", cases[i].time);
		log_open_text(text, 0);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, log_rest(), cases[i].date);
		log_close(&log_in);
		TEST_ASSERT_EQUAL_STRING("", log_said);
	}
}

/* Headers of TRC, and the time of a message at 500 ms; NULL: it is damaged. */
TEST(headers_of_trc)
{
#define COLUMNS "O,T,I,l,D"
#define TWENTY_SEVEN "x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,"
#define TWENTY_SIX "x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,"
#define BLANKS_26 "x x x x x x x x x x x x x x x x x x x x x x x x x x "
	static const struct {
		const char *header, *message, *expected;
	} cases[] = {
		{ "$STARTTIME=44548", "", "(1639785600.500000)" },
		{ "$STARTTIME=44548.5", "", "(1639828800.500000)" },
		{ "$STARTTIME=44548.5;", "", "(1639828800.500000)" },
		{ "$STARTTIME=109574.5", "", "(7258075200.500000)" },
		{ "$STARTTIME=109575", "", NULL },
		{ "$STARTTIME=99999999999999999999999", "", NULL },
		{ "$STARTTIME=44548,5", "", NULL },
		{ "$STARTTIME=44548.5.5", "", NULL },
		{ "$STARTTIME=-1", "", NULL },
		{ "$STARTTIME=0", "", "(0000000000.500000)" }, /* before all epochs: not known */
		{ "$COLUMNS=" COLUMNS, "", "(0000000000.500000)" },
		{ "$COLUMNS=O,T,I,L,D", "", "(0000000000.500000)" },
		{ "$COLUMNS=" TWENTY_SIX COLUMNS, BLANKS_26, "(0000000000.500000)" },
		{ "$COLUMNS=" TWENTY_SEVEN COLUMNS, "", NULL },
		{ "$COLUMNS=T,I,l,D", "", NULL },
		{ "$COLUMNS=O,I,l,D", "", NULL },
		{ "$COLUMNS=O,T,l,D", "", NULL },
		{ "$COLUMNS=O,T,I,D", "", NULL },
		{ "$COLUMNS=O,T,I,l", "", NULL },
		{ "$COLUMNS=O,T,I,D,l", "", NULL },
		{ "$COLUMNS=OT,I,l,D", "", NULL },
		{ "$COLUMNS=O;T;I;l;D", "", NULL },
		{ "$COLUMNS=", "", NULL },
		{ "$ANYTHING=else", "", "(0000000000.500000)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[1024], expected[256];

		snprintf(text, sizeof(text), ";$FILEVERSION=2.0\n;$COLUMNS=" COLUMNS "\n;%s\n%s500.0 DT 0123 0\n",
			 cases[i].header, cases[i].message);
		snprintf(expected, sizeof(expected), "%s can0 123#\n", cases[i].expected ? cases[i].expected : "");
		log_open_text(text, LOG_STRICT);
		if (cases[i].expected)
			TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, log_rest(), cases[i].header);
		else
			TEST_ASSERT_EQUAL_INT_MESSAGE(-EBADMSG, log_next(&log_in, &log_got), cases[i].header);
		TEST_ASSERT_EQUAL_UINT64(cases[i].expected ? 4 : 3, log_in.line);
		log_close(&log_in);
	}
}

/* Words that are longer than they should be. */
TEST(words_of_trc)
{
	static const char *const messages[] = {
		"500.0x DT 0123 0",	"500.0 DTx 0123 0",
		"500.0 DT 0123x 0",	"500.0 DT 0123 0x",
		"500.0 DT 0123 1 00x",	"500.0 DT 20000000 0",
		"500.0 DT 012345678 0", "500.0 DT 0123 00000000001",
		"500.0 FD 0123 65",	"500.0 DT",
	};

	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		char text[256];

		snprintf(text, sizeof(text), ";$FILEVERSION=2.0\n;$COLUMNS=O,T,I,l,D\n%s\n", messages[i]);
		log_open_text(text, LOG_STRICT);
		TEST_ASSERT_EQUAL_INT_MESSAGE(-EBADMSG, log_next(&log_in, &log_got), messages[i]);
		log_close(&log_in);
	}
}

/* ---- which format ---- */

TEST(formats)
{
	static const struct {
		const char *text;
		const struct log_format *format;
	} cases[] = {
		{ FIRST, &log_candump_format },
		{ "\n# x\n" FIRST, &log_candump_format },
		{ "36509052.249713) vcan0 044#2A366C2BBA\n" FIRST, &log_candump_format },
		{ "249713) can0 044#2A\n" FIRST, &log_candump_format },
		{ "\xEF\xBB\xBF" FIRST, &log_candump_format },
		{ "date x\n", &log_asc_format },
		{ "  Base hex\n", &log_asc_format },
		{ "// x\n", &log_asc_format },
		{ "0.5 1 123 Rx d 0\n", &log_asc_format },
		{ "0.5 CANFD 1 Rx 123 0 0 0 0\n", &log_asc_format },
		{ " (1.0)  can0  123   [1]  00\n", &log_screen_format },
		{ " (2026-11-17 05:14:42.259474)  can0  TX - -  123   [1]  00\n", &log_screen_format },
		{ "timestamp,arbitration_id,extended,remote,error,dlc,data\n", &log_csv_format },
		{ "ASCII Trace IXXAT MiniMon V3\n", &log_ixxat_format },
		{ "\"Time\";\"Identifier (hex)\";\"Format\"\n", &log_ixxat_format },
		{ ";$FILEVERSION=2.1\n", &log_trc_format },
		{ "; a comment\n;$FILEVERSION=2.1\n", &log_trc_format },
		{ "1) 1841 0001 0\n", &log_trc_format },
		{ "1) 1841 0001 0", &log_trc_format },
		{ "1 1841 0001 0\n1) 1841 0001 0", &log_trc_format },
		{ "5 1 123 Rx d 0\n" FIRST, &log_candump_format },
		{ "0.5x 1 123 Rx d 0\n" FIRST, &log_candump_format },
		{ "0.5 x 123 Rx d 0\n" FIRST, &log_candump_format },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		log_open_text(cases[i].text, 0);
		TEST_ASSERT_EQUAL_PTR_MESSAGE(cases[i].format, log_in.format, cases[i].text);
		log_close(&log_in);
	}
	TEST_ASSERT_EQUAL_STRING("", log_said);
}

TEST(no_known_format)
{
	static const char garbage[] = "\x7F"
				      "ELF\x02\x01\x01\0\0\0\n\n(\0\n)\n1)\n0.5\n0.5 x\n;\n";
	static const char *const texts[] = { "x", "\n\nhello\n", "(x\n", "; ini\n[part]\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		log_said[0] = '\0';
		TEST_ASSERT_EQUAL_INT(-EBADMSG, log_open(&log_in, log_make_file(texts[i], strlen(texts[i])),
							 log_formats_all, 0, &log_errors));
		TEST_ASSERT_EQUAL_STRING(FILE_PATH ": unknown format; known are candump -L, candump -t, Vector ASC, "
						   "PCAN TRC, CSV of python-can, CSV of IXXAT, Vector BLF, pcap of "
						   "SocketCAN, pcapng of SocketCAN, MCAP, also with gzip or zstd\n",
					 log_said);
	}
	TEST_ASSERT_EQUAL_INT(-EBADMSG, log_open(&log_in, log_make_file(garbage, sizeof(garbage)), log_formats_all, 0,
						 &log_errors));
	TEST_ASSERT_EQUAL_INT(-EBADMSG,
			      log_open(&log_in, log_make_file(garbage, sizeof(garbage)), log_formats_all, 0, NULL));
}

/* Drivers lock their memory. */
TEST(mcap_is_known_but_not_read_with_the_plain_formats)
{
	static const char text[] = "\x89MCAP0\r\n";

	TEST_ASSERT_EQUAL_INT(-EBADMSG, log_open(&log_in, log_make_file(text, sizeof(text) - 1), log_formats_plain, 0,
						 &log_errors));
	TEST_ASSERT_EQUAL_STRING(
		FILE_PATH ": MCAP, which only the CAN tools read: let canconvert write another format\n", log_said);
}

TEST(candump_without_times_is_refused)
{
	static const char text[] = "  vcan0  044   [1]  2A\n";

	TEST_ASSERT_EQUAL_INT(-EBADMSG, log_open(&log_in, log_make_file(text, sizeof(text) - 1), log_formats_all, 0,
						 &log_errors));
	TEST_ASSERT_EQUAL_STRING(FILE_PATH ": the output of candump has no times: record it with candump -L, or -ta\n",
				 log_said);
}

/* So much of nothing known that one need not look on. */
TEST(no_known_format_in_much)
{
	static char much[200000];

	memset(much, 'x', sizeof(much));
	TEST_ASSERT_EQUAL_INT(-EBADMSG,
			      log_open(&log_in, log_make_file(much, sizeof(much)), log_formats_all, 0, &log_errors));
	for (size_t i = 9; i < sizeof(much); i += 10)
		much[i] = '\n';
	TEST_ASSERT_EQUAL_INT(-EBADMSG,
			      log_open(&log_in, log_make_file(much, sizeof(much)), log_formats_all, 0, &log_errors));
}

TEST(nothing_in_it)
{
	static const char *const texts[] = { "", "\n", "\r\n\r\n", "# only this", "  \n\t\n", "\xEF\xBB\xBF" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		log_open_text(texts[i], LOG_STRICT);
		TEST_ASSERT_EQUAL_STRING("", log_rest());
		TEST_ASSERT_EQUAL_UINT64(0, log_in.damaged);
		log_close(&log_in);
	}
	TEST_ASSERT_EQUAL_STRING("", log_said);
}

/* ---- files that cannot be read ---- */

TEST(cannot_be_read)
{
	TEST_ASSERT_EQUAL_INT(-ENOENT, log_open(&log_in, FOLDER "none.log", log_formats_all, 0, &log_errors));
	TEST_ASSERT_EQUAL_INT(-EISDIR, log_open(&log_in, FOLDER, log_formats_all, 0, &log_errors));
	TEST_ASSERT_EQUAL_INT(-EIO, log_open(&log_in, "/proc/self/mem", log_formats_all, 0, &log_errors));
	TEST_ASSERT_EQUAL_STRING(FOLDER "none.log: cannot read it: No such file or directory\n" FOLDER
					": cannot read it: Is a directory\n"
					"/proc/self/mem: cannot read it: Input/output error\n",
				 log_said);
	log_close(&log_in); /* does no harm */
}

/* Standard input is a socket whose other end is closed the hard way, when its data has been read. */
TEST(reading_fails)
{
	int kept = dup(STDIN_FILENO), ends[2];

	TEST_ASSERT_EQUAL_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	TEST_ASSERT_EQUAL_INT(1, write(ends[0], "x", 1));
	TEST_ASSERT_EQUAL_INT(sizeof(FIRST SECOND) - 1, write(ends[1], FIRST SECOND, sizeof(FIRST SECOND) - 1));
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, "-", log_formats_all, 0, &log_errors));
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT(-ECONNRESET, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT(-ECONNRESET, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_STRING("standard input:2: cannot read on: Connection reset by peer\n", log_said);
	log_close(&log_in);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

/* A record is there as soon as its line is, with the pipe still open. */
TEST(from_a_pipe)
{
	int kept = dup(STDIN_FILENO), ends[2];

	TEST_ASSERT_EQUAL_INT(0, pipe(ends));
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	TEST_ASSERT_EQUAL_INT(3, write(ends[1], "# x", 3));
	TEST_ASSERT_EQUAL_INT(sizeof(FIRST), write(ends[1], "\n" FIRST, sizeof(FIRST)));
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, "-", log_formats_all, 0, &log_errors));
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_STRING("vcan0", log_got.bus);
	TEST_ASSERT_EQUAL_INT(-ESPIPE, log_rewind(&log_in));
	TEST_ASSERT_EQUAL_INT(sizeof(SECOND) - 1, write(ends[1], SECOND, sizeof(SECOND) - 1));
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_STRING("can0", log_got.bus);
	TEST_ASSERT_EQUAL_UINT64(3, log_got.line);
	TEST_ASSERT_EQUAL_INT(1, write(ends[1], "(", 1));
	close(ends[1]);
	TEST_ASSERT_EQUAL_INT(0, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_UINT64(1, log_in.damaged);
	log_close(&log_in);
	TEST_ASSERT_EQUAL_INT(0, fcntl(STDIN_FILENO, F_GETFD)); /* not ours to close */
	dup2(kept, STDIN_FILENO);
	close(kept);
}
