/* A user's program that uses the C++ classes of the installed libach.  user NAME [die] */
#include <Ach.hpp>
#include <stdio.h>
#include <string>

#define CHECK(x)                                                                        \
	do {                                                                            \
		if (!(x)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

/* Notes which handler was called. */
class Noted : public ach::LogChannel
{
      public:
	std::string note;

      protected:
	void warn(const char *method, ach_status_t status)
	{
		note = std::string("warn ") + method + " " + ach_result_to_string(status);
	}
	void error(const char *method, ach_status_t status)
	{
		note = std::string("error ") + method + " " + ach_result_to_string(status);
	}
};

/* Mappings of this process. */
static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int lines = 0, c;

	CHECK(f);
	while ((c = getc(f)) != EOF)
		lines += c == '\n';
	fclose(f);
	return lines;
}

static void handlers(const char *name)
{
	Noted chan;
	char buf[8];
	size_t size;

	CHECK(chan.open("none-such") == ACH_ENOENT && chan.note == "error ach_open ACH_ENOENT");
	chan.note = "";
	CHECK(chan.open("none-such", NULL, ACH_MASK_OK | ACH_MASK_ENOENT) == ACH_ENOENT && chan.note == "");
	CHECK(chan.open("none-such", NULL, ACH_MASK_OK, ACH_MASK_ENOENT) == ACH_ENOENT);
	CHECK(chan.note == "warn ach_open ACH_ENOENT");
	CHECK(chan.put("x", 1) == ACH_CLOSED && chan.note == "error ach_put ACH_CLOSED");
	CHECK(chan.flush() == ACH_CLOSED && chan.note == "error ach_flush ACH_CLOSED");
	CHECK(chan.close() == ACH_CLOSED && chan.note == "error ach_close ACH_CLOSED");
	CHECK(chan.open(name) == ACH_OK);
	CHECK(chan.get(buf, sizeof buf, &size, NULL, 0, ACH_MASK_OK, ACH_MASK_STALE_FRAMES) == ACH_STALE_FRAMES);
	CHECK(chan.note == "warn ach_get ACH_EAGAIN");
	CHECK(chan.close() == ACH_OK);
}

static void messages(const char *name)
{
	struct timespec now = { 0, 0 };
	std::vector<uint8_t> vec;
	ach::Channel chan;
	char buf[8] = "";
	size_t size = 0;

	CHECK(chan.open(name) == ACH_OK);
	CHECK(chan.put("hello", 6) == ACH_OK);
	CHECK(chan.get(buf, sizeof buf, &size) == ACH_OK && size == 6 && !strcmp(buf, "hello"));
	CHECK(chan.get(buf, sizeof buf, &size, &now, ACH_O_WAIT) == ACH_TIMEOUT);
	CHECK(chan.put("world", 6) == ACH_OK);
	CHECK(chan.get(&vec, 2, &size) == ACH_OK && size == 6 && vec.size() == 8 && !memcmp(&vec[2], "world", 6));
	CHECK(chan.put("ok", 3) == ACH_OK);
	CHECK(chan.get(&vec, 0, &size) == ACH_OK && size == 3 && vec.size() == 8 && !memcmp(&vec[0], "ok", 3));
	CHECK(chan.get(&vec, 0, &size) == ACH_STALE_FRAMES && size == 3);
	CHECK(chan.put("a", 1) == ACH_OK && chan.flush() == ACH_OK);
	CHECK(chan.get(&vec, 0, &size) == ACH_STALE_FRAMES);
	CHECK(chan.channel.seq_num == 4);
}

/* Objects that go out of scope, and a second open, leave nothing mapped. */
static void nothing_left(const char *name)
{
	int before = mappings();

	for (int i = 0; i < 100; i++) {
		ach::SyslogChannel chan;

		CHECK(chan.open(name) == ACH_OK && chan.open(name) == ACH_OK);
	}
	CHECK(mappings() < before + 10);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		ach::CerrChannel chan;

		chan.open("none-such", NULL, ACH_MASK_OK, ACH_MASK_ENOENT);
		chan.open("none-such");
		return 0; /* it has ended the program */
	}
	CHECK(argc == 2 && ach_create(argv[1], 4, 64, NULL) == ACH_OK);
	handlers(argv[1]);
	messages(argv[1]);
	nothing_left(argv[1]);
	CHECK(ach_unlink(argv[1]) == ACH_OK);
	return 0;
}
