/* test_engine_fd.c: CAN FD frames on the engine of the soft wire.  Also for engine_time.c.
 *
 * 123##5112233 has 17 slow bits up to BRS, no stuff bit, 57 fast ones (ESI, length, data, CRC field and delimiter), and
 * 9 slow ones; at 1 and 3 Mbit/s its end is 17 + 19 + 9 = 45 us after its start, and the bus is idle at 48.
 */
#include <errno.h>

#include "test/lib/testcase.h"

#include "can/bus/bits.h"
#include "test/can/wire/test_engine_lib.h"

#define FD "123##5112233"
#define FD_DATA 3000000

static void start(const char *nodes)
{
	bus_start_with(nodes, (struct engine_settings){ .bitrate = 1000000, .data_bitrate = FD_DATA });
}

TEST(both_bit_rates_count)
{
	start("ab");
	TEST_ASSERT_EQUAL_INT(0, at(0, 'a', FD));
	until(1000);
	TEST_ASSERT_EQUAL_STRING("45 echo a 1\n45 frame a " FD " > b\n", what_happened());
	/* Without bit rate switch there is a stuff bit more, behind five zeros: 87 bits with the space. */
	TEST_ASSERT_EQUAL_INT(0, at(1000, 'a', "123##4112233"));
	until(2000);
	TEST_ASSERT_EQUAL_STRING("1084 echo a 2\n1084 frame a 123##4112233 > b\n", what_happened());
}

TEST(classic_frames_are_beside_them_and_priority_decides)
{
	start("abc");
	at(0, 'a', FD);
	at(0, 'b', "7FF#FFFFFFFFFFFFFFFF");
	at(1, 'b', "000#");
	at(1, 'c', "122##5112233");
	until(1000);
	/* 7FF stands before 000# in the mailbox of b, and loses against 122; it has 126 bits, 000# has 53. */
	TEST_ASSERT_EQUAL_STRING("45 echo a 1\n45 frame a " FD " > bc\n"
				 "93 echo c 4\n93 frame c 122##5112233 > ab\n"
				 "219 echo b 2\n219 frame b 7FF#FFFFFFFFFFFFFFFF > ac\n"
				 "272 echo b 3\n272 frame b 000# > ac\n",
				 what_happened());
}

TEST(fd_frames_need_an_fd_bus_and_controller)
{
	bus_start("ab");
	TEST_ASSERT_EQUAL_INT(-EINVAL, at(0, 'a', FD));
	start("ab");
	TEST_ASSERT_EQUAL_INT(0, fault(0, "classic a"));
	TEST_ASSERT_EQUAL_INT(-EINVAL, at(0, 'a', FD));
	TEST_ASSERT_EQUAL_INT(0, at(0, 'a', "123#"));
	TEST_ASSERT_EQUAL_INT(0, fault(500, "classic a off"));
	TEST_ASSERT_EQUAL_INT(0, at(500, 'a', FD));
}

TEST(bit_rates_without_a_common_unit_are_refused)
{
	static const struct {
		uint32_t bitrate, data_bitrate;
		int status;
	} cases[] = {
		{ 1000000, 0, 0 },
		{ 1000000, 1000000, 0 },
		{ 500000, 2000000, 0 },
		{ 800000, 5000000, 0 },
		{ 83333, 8333300, 0 },
		{ 1000000, 10000000, 0 },
		{ 1000000, 999999, -EINVAL },
		{ 1000000, 10000001, -EINVAL },
		{ 83333, 9999991, -EINVAL },
	};
	static struct engine e;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		TEST_ASSERT_EQUAL_INT(cases[i].status,
				      engine_init(&e,
						  &(struct engine_settings){ .bitrate = cases[i].bitrate,
									     .data_bitrate = cases[i].data_bitrate },
						  0));
}

/* The slot is bit 74, 36 us after the start; flag, delimiter and space take 18 bits from there: 54 us. */
TEST(without_an_acknowledgement_it_is_repeated_at_the_nominal_bit_rate)
{
	start("a");
	see = SEE_ERRORS;
	at(0, 'a', FD);
	until(51 + 54);
	TEST_ASSERT_EQUAL_STRING("51 error a 200002A0#0000001900000800\n105 error a 200002A0#0000001900001000\n",
				 what_happened());
	TEST_ASSERT_EQUAL_UINT(16, info('a')->tx_errors);
	until(100000);
	TEST_ASSERT_EQUAL_UINT(128, info('a')->tx_errors); /* passive, and an ACK error does not count any more */
}

/* Each attempt adds 8 to the sender's counter and 1 + 8 to that of the classic controller, which is passive after the
 * fifteenth and cannot disturb the sixteenth. */
TEST(a_classic_controller_destroys_fd_frames_until_it_is_passive)
{
	start("abc");
	TEST_ASSERT_EQUAL_INT(0, fault(0, "classic c"));
	see = SEE_FRAMES;
	at(0, 'a', FD);
	until(10000);
	TEST_ASSERT_EQUAL_UINT64(15, bus.stats.errors);
	TEST_ASSERT_EQUAL_UINT64(16, bus.stats.attempts);
	TEST_ASSERT_EQUAL_UINT64(0, bus.stats.corrupted);
	TEST_ASSERT_EQUAL_UINT(15 * 8 - 1, info('a')->tx_errors);
	TEST_ASSERT_GREATER_OR_EQUAL_UINT(128, info('c')->rx_errors);
	TEST_ASSERT_NOT_NULL(strstr(what_happened(), " frame a " FD " > b\n"));
	/* It goes on with classic frames. */
	at(20000, 'c', "001#");
	until(30000);
	TEST_ASSERT_NOT_NULL(strstr(what_happened(), " frame c 001# > ab\n"));
}

TEST(only_classic_listeners_do_not_acknowledge)
{
	start("ac");
	fault(0, "classic c");
	see = SEE_FRAMES;
	at(0, 'a', FD);
	until(5000);
	TEST_ASSERT_EQUAL_STRING("", what_happened());
	TEST_ASSERT_GREATER_THAN_UINT64(0, bus.stats.unacknowledged);
}

/* Bit 40 ends 17 + 8 us after the start; from there on all bits are slow.  The flag of the sender is bits 41 to 46. */
TEST(behind_an_error_bits_are_slow)
{
	start("ab");
	see = SEE_ERRORS | SEE_FRAMES;
	fault(0, "corrupt 1 at 40");
	at(0, 'a', FD);
	until(1000);
	TEST_ASSERT_EQUAL_UINT64(1, bus.stats.errors);
	TEST_ASSERT_EQUAL_UINT64(1, bus.stats.frames);
	/* At least six bits of flag, eight of delimiter; at most six more of the listener's flag. */
	TEST_ASSERT_GREATER_OR_EQUAL_INT64((25 + 14) * US, bus.wire[0].horizon_ns - 3 * US);
	TEST_ASSERT_LESS_OR_EQUAL_INT64((25 + 20) * US, bus.wire[0].horizon_ns - 3 * US);
	TEST_ASSERT_NOT_NULL(strstr(what_happened(), " frame a " FD " > b\n"));
}

/* Whenever its sender loses power, fast bits or slow, the bus goes on. */
TEST(a_sender_may_lose_power_at_any_bit)
{
	for (int64_t us = 1; us < 48; us++) {
		start("abc");
		see = SEE_FRAMES;
		at(0, 'a', FD);
		TEST_ASSERT_EQUAL_INT(0, fault(us, "power off a"));
		at(us, 'b', "100##5112233");
		until(1000);
		TEST_ASSERT_NOT_NULL(strstr(what_happened(), " frame b 100##5112233 > c\n"));
	}
}

TEST(equal_identifiers_of_both_kinds_collide)
{
	start("abc");
	at(0, 'a', FD);
	at(0, 'b', "123#112233");
	until(300);
	TEST_ASSERT_GREATER_THAN_UINT64(0, bus.stats.collisions);
}

/* ---- at random ---- */

static uint64_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static struct frame any_frame(void)
{
	struct frame f = { .id = any(2) ? any(0x800) : FRAME_EXT | any(FRAME_EXT_MASK) };

	if (any(2))
		f.flags = (uint8_t)(FRAME_FD | (any(4) ? FRAME_BRS : 0));
	f.len = (uint8_t)(f.flags ? frame_len_fd(any(65)) : any(9));
	for (unsigned int i = 0; i < f.len; i++)
		f.data[i] = (uint8_t)(any(3) ? any(256) : 0);
	return f;
}

static const struct bits_rates *rates;
static int64_t idle_ns;
static unsigned int seen;

/* Every frame takes exactly its bits, and begins no earlier than the one before is over.  Rounding is up. */
static void measure(void *to, const struct engine_event *event)
{
	struct bits_fd fd;
	struct bits bits;
	unsigned int slow, fast = 0;

	(void)to;
	if (event->kind != ENGINE_FRAME)
		return;
	if (bits_of(&bits, event->frame)) {
		slow = bits.all;
	} else {
		TEST_ASSERT_TRUE(bits_fd_of(&fd, event->frame));
		slow = fd.slow;
		fast = fd.fast;
	}
	TEST_ASSERT_INT64_WITHIN(1, event->start_ns + bits_fd_ns(rates, slow - BITS_INTERFRAME, fast), event->t_ns);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(idle_ns - 1, event->start_ns);
	idle_ns = event->start_ns + bits_fd_ns(rates, slow, fast) - 1;
	seen++;
}

TEST(every_frame_takes_exactly_its_bits)
{
	static const struct bits_rates both[] = { { 1000000, 5000000 }, { 800000, 5000000 }, { 125000, 8000000 } };

	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++) {
		static struct engine e;
		int64_t now_ns = 0;

		rates = &both[i];
		seed = i;
		idle_ns = -1000 * MS;
		seen = 0;
		engine_init(&e,
			    &(struct engine_settings){ .bitrate = rates->nominal,
						       .data_bitrate = rates->data,
						       .queue = 100,
						       .event = measure },
			    -1000 * MS);
		engine_attach(&e, "a", -1000 * MS);
		engine_attach(&e, "b", -1000 * MS);
		for (unsigned int k = 0; k < 3000; k++) {
			const struct frame f = any_frame();

			now_ns += any(4000000);
			engine_advance(&e, now_ns);
			engine_request(&e, (int)any(2), &f, now_ns, (struct engine_tag){ 1, k }, now_ns);
		}
		engine_advance(&e, now_ns + 100000 * MS);
		TEST_ASSERT_GREATER_THAN_UINT(2000, seen);
		TEST_ASSERT_EQUAL_UINT64(seen, e.stats.frames);
	}
}
