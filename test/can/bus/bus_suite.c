/* bus_suite.c: what every bus does, whatever is behind it. */
#include "test/can/bus/bus_suite.h"

#include "test/lib/testcase.h"

#include "can/bus/frame_text.h"
#include "channels/clock/clock.h"

#define JOIN_NS 100000
#define HANG_NS 30000000000ll /* nothing here takes so long */

static struct bus_suite on;
static struct bus *opened[BUS_SUITE_OPEN_MAX];
static struct bus_frame got[BUS_SUITE_GOT_MAX];
static char said[ERROR_LINE_MAX];

/* ---- for other tests too ---- */

struct bus *bus_suite_open(const char *name, const struct bus_options *options)
{
	struct error_sink errors = { error_keep_last, said, 0 };
	size_t i = 0;

	while (opened[i])
		TEST_ASSERT_TRUE(++i < BUS_SUITE_OPEN_MAX);
	said[0] = 0;
	if (bus_open(&opened[i], name, options, &errors))
		TEST_FAIL_MESSAGE(said);
	TEST_ASSERT_EQUAL_STRING("", said);
	/* A controller takes part after eleven recessive bits, and may miss a frame that is sent before. */
	if (!strncmp(name, "wire:", 5))
		clock_wait(NULL, 0, clock_now_ns() + JOIN_NS);
	return opened[i];
}

void bus_suite_end_case(void)
{
	for (size_t i = 0; i < BUS_SUITE_OPEN_MAX; i++) {
		bus_close(opened[i]);
		opened[i] = NULL;
	}
}

struct frame bus_suite_frame(const char *text)
{
	struct frame f;
	const char *wrong = frame_text_read(&f, text, strlen(text));

	TEST_ASSERT_NULL_MESSAGE(wrong, text);
	if (on.remote_empty && f.id & FRAME_RTR)
		f.len = 0;
	return f;
}

/* Until there is something to do for the bus; false when the case hangs. */
static bool wait_for(struct bus *bus, int64_t hang_ns)
{
	struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
	int64_t next_ns = bus_next_ns(bus);

	clock_wait(&fd, 1, next_ns < hang_ns ? next_ns : hang_ns);
	return clock_now_ns() < hang_ns;
}

void bus_suite_send(struct bus *bus, const struct frame *frame)
{
	int64_t hang_ns = clock_now_ns() + HANG_NS;
	int r;

	while ((r = bus_send(bus, frame)) == -ENOBUFS && clock_now_ns() < hang_ns)
		clock_wait(NULL, 0, clock_now_ns() + 1000000);
	TEST_ASSERT_EQUAL_INT(0, r);
}

const struct bus_frame *bus_suite_receive(struct bus *bus, size_t n)
{
	int64_t hang_ns = clock_now_ns() + HANG_NS;
	size_t have = 0;

	TEST_ASSERT_TRUE(n <= BUS_SUITE_GOT_MAX);
	while (have < n) {
		int r = bus_receive(bus, got + have, n - have);

		TEST_ASSERT_TRUE_MESSAGE(r >= 0, r < 0 ? strerror(-r) : "");
		have += (size_t)r;
		if (!r && !wait_for(bus, hang_ns))
			TEST_FAIL_MESSAGE("a frame does not come");
	}
	return got;
}

void bus_suite_until(struct bus *bus, int answer)
{
	int64_t hang_ns = clock_now_ns() + HANG_NS;
	int r;

	while ((r = bus_receive(bus, got, BUS_SUITE_GOT_MAX)) != answer)
		if (r <= 0 && !wait_for(bus, hang_ns))
			TEST_FAIL_MESSAGE("the answer does not come");
}

void bus_suite_until_state(struct bus *bus, enum bus_state state)
{
	int64_t hang_ns = clock_now_ns() + HANG_NS;

	for (;;) {
		int r = bus_receive(bus, got, BUS_SUITE_GOT_MAX);

		if (bus_state(bus) == state)
			return;
		if (r <= 0 && !wait_for(bus, hang_ns))
			TEST_FAIL_MESSAGE(bus_state_name(bus_state(bus)));
	}
}

/* ---- checks ---- */

static void check(const struct frame *expected, const struct bus_frame *f, uint32_t flags)
{
	char a[FRAME_TEXT_MAX], b[FRAME_TEXT_MAX];

	frame_text_write(a, expected);
	frame_text_write(b, &f->frame);
	TEST_ASSERT_EQUAL_STRING(a, b);
	TEST_ASSERT_TRUE_MESSAGE(frame_equal(expected, &f->frame), a);
	TEST_ASSERT_TRUE_MESSAGE(frame_valid(&f->frame), a);
	TEST_ASSERT_EQUAL_HEX32_MESSAGE(flags, f->flags & ~BUS_RESTAMPED, a);
}

static uint32_t foreign(void)
{
	return strcmp(on.a, on.b) ? 0 : BUS_LOCAL;
}

/* Waits until all frames sent before are delivered: an own echo is the last of them. */
static void nothing_more(struct bus *bus)
{
	struct frame last = bus_suite_frame("7EF#DEADBEEF");

	bus_suite_send(bus, &last);
	check(&last, bus_suite_receive(bus, 1), BUS_OWN);
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 1));
}

/* ---- cases ---- */

static void fresh(void)
{
	struct bus *bus = bus_suite_open(on.a, NULL);

	TEST_ASSERT_EQUAL_STRING(on.a, bus_name(bus));
	TEST_ASSERT_EQUAL_STRING("error-active", bus_state_name(bus_state(bus)));
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 10));
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 0));
	TEST_ASSERT_TRUE(bus_fd(bus) >= 0);
	TEST_ASSERT_TRUE(bus_next_ns(bus) > clock_now_ns());
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->attached);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(bus)->received);
}

static void echo_and_delivery(void)
{
	struct bus *a = bus_suite_open(on.a, NULL), *b = bus_suite_open(on.b, NULL);
	struct frame f = bus_suite_frame("123#1122334455667788");
	int64_t before_ns = clock_now_ns(), echo_ns;
	const struct bus_frame *g;

	bus_suite_send(a, &f);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(a)->sent);
	g = bus_suite_receive(a, 1);
	check(&f, g, BUS_OWN);
	echo_ns = g->t_ns;
	TEST_ASSERT_TRUE(echo_ns >= before_ns && echo_ns <= clock_now_ns());
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(a)->confirmed);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(a)->received);
	TEST_ASSERT_EQUAL_INT64(echo_ns, bus_stats(a)->confirmed_ns);
	g = bus_suite_receive(b, 1);
	check(&f, g, foreign());
	TEST_ASSERT_TRUE(g->t_ns >= before_ns && g->t_ns <= clock_now_ns());
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(b)->received);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(b)->confirmed);
	TEST_ASSERT_EQUAL_INT64(g->t_ns, bus_stats(b)->received_ns);
	nothing_more(a);
}

static void two_handles_of_one_name(void)
{
	struct bus *a = bus_suite_open(on.a, NULL), *other = bus_suite_open(on.a, NULL);
	struct frame f = bus_suite_frame("123#01"), g = bus_suite_frame("124#02");

	bus_suite_send(a, &f);
	check(&f, bus_suite_receive(a, 1), BUS_OWN);
	check(&f, bus_suite_receive(other, 1), BUS_LOCAL);
	bus_suite_send(other, &g);
	check(&g, bus_suite_receive(other, 1), BUS_OWN);
	check(&g, bus_suite_receive(a, 1), BUS_LOCAL);
}

static void both_ways(const char *const *texts, const struct bus_options *options)
{
	struct bus *a = bus_suite_open(on.a, options), *b = bus_suite_open(on.b, options);

	for (size_t i = 0; texts[i]; i++) {
		struct frame f = bus_suite_frame(texts[i]);

		bus_suite_send(a, &f);
		check(&f, bus_suite_receive(b, 1), foreign());
		check(&f, bus_suite_receive(a, 1), BUS_OWN);
		bus_suite_send(b, &f);
		check(&f, bus_suite_receive(a, 1), foreign());
		check(&f, bus_suite_receive(b, 1), BUS_OWN);
	}
}

static void classic_frames(void)
{
	static const char *const texts[] = {
		"000#",	       "7FF#",	       "001#01",      "123#1122334455667788",
		"00000000#",   "1FFFFFFF#",    "000007FF#00", "12345678#FFFFFFFFFFFFFFFF",
		"000#R",       "7FF#R8",       "123#R3",      "1FFFFFFF#R",
		"00000123#R8", "555#AA55AA55", NULL,
	};

	both_ways(texts, NULL);
}

static void length_codes(void)
{
	static const char *const texts[] = { "123#1122334455667788_9", "12345678#1122334455667788_F", "123#R8_C",
					     NULL };

	if (!on.dlc)
		TEST_IGNORE_MESSAGE("this bus has none");
	both_ways(texts, NULL);
}

static void fd_frames(void)
{
	static const char *const texts[] = {
		"123##0", "123##1AA", "123##21122334455667788", "12345678##3112233445566778899AABBCC", "123##0",
		"123#11", NULL,
	};
	static const unsigned int lengths[] = { 0, 1, 7, 8, 12, 16, 20, 24, 32, 48, 64 };
	struct bus_options fd = { .fd = true };
	struct bus *a, *b;

	if (!on.fd)
		TEST_IGNORE_MESSAGE("this bus is a classic one");
	both_ways(texts, &fd);
	bus_suite_end_case();
	a = bus_suite_open(on.a, &fd);
	b = bus_suite_open(on.b, NULL);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct frame f = { .id = FRAME_EXT | 5, .len = (uint8_t)lengths[i], .flags = FRAME_FD | FRAME_BRS };

		memset(f.data, 0x5a, lengths[i]);
		bus_suite_send(a, &f);
		check(&f, bus_suite_receive(a, 1), BUS_OWN);
	}
	nothing_more(b); /* which did not ask for them */
}

static void frames_that_cannot_be(void)
{
	static const struct frame bad[] = {
		{ .id = 0x800 },
		{ .len = 9 },
		{ .flags = FRAME_BRS },
		{ .len = 8, .flags = FRAME_FD }, /* not asked for */
		{ .id = FRAME_ERR | 0x40, .len = 8 },
	};
	struct frame fd_of_9 = { .len = 9, .flags = FRAME_FD };
	struct bus *a = bus_suite_open(on.a, NULL);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		TEST_ASSERT_EQUAL_INT(-EINVAL, bus_send(a, &bad[i]));
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(a)->sent);
	nothing_more(a);
	bus_suite_end_case();
	a = bus_suite_open(on.a, &(struct bus_options){ .fd = true });
	TEST_ASSERT_EQUAL_INT(-EINVAL, bus_send(a, &fd_of_9));
	if (!on.fd)
		TEST_ASSERT_EQUAL_INT(-EINVAL, bus_send(a, &bad[3]));
	nothing_more(a);
}

static void no_echo(void)
{
	struct bus *a = bus_suite_open(on.a, &(struct bus_options){ .no_echo = true }), *b = bus_suite_open(on.b, NULL);
	struct frame f = bus_suite_frame("123#1122"), g = bus_suite_frame("124#");

	bus_suite_send(b, &g); /* first: b takes part once it has seen the bus idle, and a frame of a could be over */
	(void)bus_suite_receive(b, 1);
	check(&g, bus_suite_receive(a, 1), foreign());
	bus_suite_send(a, &f);
	check(&f, bus_suite_receive(b, 1), foreign());
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(a)->sent);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(a)->confirmed);
}

/* The frames of a that b receives with those filters. */
static void filtered(const struct bus_filter *filters, size_t n, const char *const *sent, const char *const *expected)
{
	struct bus *a = bus_suite_open(on.a, NULL);
	struct bus *b = bus_suite_open(on.b, &(struct bus_options){ .filters = filters, .filters_n = n });
	struct frame f = bus_suite_frame("7EF#");

	/* A controller takes part once it has seen the bus idle: the first frame could be over by then. */
	bus_suite_send(b, &f);
	(void)bus_suite_receive(b, 1);
	(void)bus_suite_receive(a, 1);
	for (size_t i = 0; sent[i]; i++) {
		f = bus_suite_frame(sent[i]);
		bus_suite_send(a, &f);
		(void)bus_suite_receive(a, 1); /* it was on the bus */
	}
	for (size_t i = 0; expected[i]; i++) {
		f = bus_suite_frame(expected[i]);
		check(&f, bus_suite_receive(b, 1), foreign());
	}
	nothing_more(b);
	bus_suite_end_case();
}

static const char *const many[] = { "100#01",	   "101#02", "110#03",	    "200#04", "00000100#05",
				    "12345678#06", "100#R",  "00000100#R4", "7FF#07", NULL };

static void filters(void)
{
	const uint32_t exact = FRAME_EXT | FRAME_RTR | FRAME_STD_MASK;

	filtered((struct bus_filter[]){ { 0x100, exact } }, 1, many, (const char *const[]){ "100#01", NULL });
	filtered((struct bus_filter[]){ { 0x100, FRAME_STD_MASK } }, 1, many,
		 (const char *const[]){ "100#01", "00000100#05", "100#R", "00000100#R4", NULL });
	filtered((struct bus_filter[]){ { 0x100, FRAME_EXT | 0x7f0 } }, 1, many,
		 (const char *const[]){ "100#01", "101#02", "100#R", NULL });
	filtered((struct bus_filter[]){ { 0x12345678 | FRAME_EXT, FRAME_EXT | FRAME_EXT_MASK }, { 0x7ff, exact } }, 2,
		 many, (const char *const[]){ "12345678#06", "7FF#07", NULL });
	filtered((struct bus_filter[]){ { FRAME_RTR, FRAME_RTR } }, 1, many,
		 (const char *const[]){ "100#R", "00000100#R4", NULL });
	filtered((struct bus_filter[]){ { 0, 0 } }, 1, many, many);
	filtered((struct bus_filter[]){ { 0x100, exact }, { 0x100, exact }, { 0x100, 0x7ff } }, 3, many,
		 (const char *const[]){ "100#01", "00000100#05", "100#R", "00000100#R4", NULL });
	/* frames have no FRAME_ERR: one of these takes none of them, the other does not mind */
	filtered((struct bus_filter[]){ { 0x100 | FRAME_ERR, FRAME_ERR | FRAME_STD_MASK } }, 1, many,
		 (const char *const[]){ NULL });
	filtered((struct bus_filter[]){ { 0x200 | FRAME_ERR, exact }, { 0x101, FRAME_ERR | exact } }, 2, many,
		 (const char *const[]){ "101#02", "200#04", NULL });
}

static void no_filter_takes(void)
{
	static const struct bus_filter none;

	filtered(&none, 0, many, (const char *const[]){ NULL });
}

static void many_filters(void)
{
	struct bus_filter all[BUS_FILTERS_MAX];

	for (uint32_t i = 0; i < BUS_FILTERS_MAX; i++)
		all[i] = (struct bus_filter){ .id = i, .mask = FRAME_EXT | FRAME_RTR | FRAME_STD_MASK };
	filtered(all, BUS_FILTERS_MAX, many, (const char *const[]){ "100#01", "101#02", "110#03", NULL });
}

/* The echo of whatever is sent comes, and others' frames with the same identifier do not for that. */
static void echoes_pass_filters(void)
{
	const struct bus_filter filter = { 0x100, FRAME_EXT | FRAME_RTR | FRAME_STD_MASK };
	const uint32_t sends[] = { 0x300, 0x12345678 | FRAME_EXT };
	struct bus_options options = { .filters = &filter, .filters_n = 1, .sends = sends, .sends_n = 2 };
	static const char *const texts[] = {
		"300#01", "12345678#02", "301#03", "00000301#04", "301#R", "301#05", NULL
	};
	struct bus *a = bus_suite_open(on.a, NULL), *b = bus_suite_open(on.b, &options);
	struct frame wanted = bus_suite_frame("100#");

	for (size_t i = 0; texts[i]; i++) {
		struct frame f = bus_suite_frame(texts[i]);

		bus_suite_send(b, &f);
		check(&f, bus_suite_receive(b, 1), BUS_OWN);
		check(&f, bus_suite_receive(a, 1), foreign());
		bus_suite_send(a, &f);
		(void)bus_suite_receive(a, 1);
		bus_suite_send(a, &wanted);
		check(&wanted, bus_suite_receive(b, 1), foreign());
		(void)bus_suite_receive(a, 1);
	}
}

#define LONG 600

static struct frame numbered(unsigned int i)
{
	return (struct frame){ .id = 0x100 + i % 7, .len = 2, .data = { (uint8_t)(i >> 8), (uint8_t)i } };
}

/* Reads what is there now, which is what comes after number done; how many there are now. */
static unsigned int read_on(struct bus *bus, unsigned int done, uint32_t flags, int64_t *last_ns)
{
	static const size_t sizes[] = { 1, 7, 32, 100 };
	int r = bus_receive(bus, got, sizes[done % 4]);

	TEST_ASSERT_TRUE(r >= 0);
	for (int i = 0; i < r; i++) {
		struct frame f = numbered(done++);

		check(&f, &got[i], flags);
		TEST_ASSERT_TRUE(got[i].t_ns >= *last_ns);
		*last_ns = got[i].t_ns;
	}
	return done;
}

/* However it is read, in the order of the bus, with times that do not go back. */
static void order(void)
{
	struct bus *a = bus_suite_open(on.a, NULL);
	struct bus *b = bus_suite_open(on.b, &(struct bus_options){ .receive_buffer = 1 << 20 });
	struct clock_fd fds[] = { { .fd = bus_fd(a), .events = POLLIN }, { .fd = bus_fd(b), .events = POLLIN } };
	unsigned int sent = 0, echoed = 0, received = 0, before, window = on.window ? on.window : 50;
	int64_t a_ns = 0, b_ns = 0, hang_ns = clock_now_ns() + HANG_NS;

	do {
		before = sent + echoed + received;
		if (sent < LONG && sent < echoed + window && sent < received + window) {
			struct frame f = numbered(sent);
			int r = bus_send(a, &f);

			TEST_ASSERT_TRUE(r == 0 || r == -ENOBUFS);
			sent += r == 0;
		}
		echoed = read_on(a, echoed, BUS_OWN, &a_ns);
		received = read_on(b, received, foreign(), &b_ns);
		if (before == sent + echoed + received)
			clock_wait(fds, 2, clock_now_ns() + 1000000);
		TEST_ASSERT_TRUE_MESSAGE(clock_now_ns() < hang_ns, "frames do not come");
	} while (received < LONG || echoed < LONG);
	TEST_ASSERT_EQUAL_UINT64(LONG, bus_stats(a)->sent);
	TEST_ASSERT_EQUAL_UINT64(LONG, bus_stats(a)->confirmed);
	TEST_ASSERT_EQUAL_UINT64(LONG, bus_stats(b)->received);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(b)->dropped);
}

static void the_descriptor_tells(void)
{
	struct bus *a = bus_suite_open(on.a, NULL), *b = bus_suite_open(on.b, NULL);
	struct clock_fd fd = { .fd = bus_fd(b), .events = POLLIN };
	struct frame f = bus_suite_frame("123#");

	bus_suite_until(b, 0);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(&fd, 1, 0));
	bus_suite_send(a, &f);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(&fd, 1, clock_now_ns() + HANG_NS));
	(void)bus_suite_receive(b, 1);
	bus_suite_until(b, 0);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(&fd, 1, 0));
}

void bus_suite_run(const struct bus_suite *suite)
{
	on = *suite;
	printf("# on %s and %s\n", on.a, on.b);
	RUN_TEST(fresh);
	RUN_TEST(echo_and_delivery);
	RUN_TEST(two_handles_of_one_name);
	RUN_TEST(classic_frames);
	RUN_TEST(length_codes);
	RUN_TEST(fd_frames);
	RUN_TEST(frames_that_cannot_be);
	RUN_TEST(no_echo);
	RUN_TEST(filters);
	RUN_TEST(no_filter_takes);
	RUN_TEST(many_filters);
	RUN_TEST(echoes_pass_filters);
	RUN_TEST(order);
	RUN_TEST(the_descriptor_tells);
}
