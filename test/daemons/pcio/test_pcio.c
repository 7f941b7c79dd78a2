/* test_pcio.c: the codec of PowerCube modules, in what goes beyond the vectors of its page (test_pcio_page.c): every
 * identifier, command, second byte and length, every bit, every value that must not leave. */
#include <float.h>
#include <math.h>

#include "test/lib/testcase.h"

#include "can/slots/slots.h"
#include "daemons/pcio/pcio.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct frame frame(uint32_t id, unsigned int len, const uint8_t *data)
{
	struct frame f = { .id = id, .len = (uint8_t)len };

	memcpy(f.data, data, len);
	return f;
}
#define FRAME(id, ...) frame(id, sizeof((uint8_t[]){ __VA_ARGS__ }), (uint8_t[]){ __VA_ARGS__ })

static uint32_t bits_of_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* ---- what is taken from the bus ---- */

TEST(only_modules_are_heard)
{
	static const uint32_t marks[] = { 0, FRAME_EXT, FRAME_RTR, FRAME_ERR, 0x800 };
	struct frame f = FRAME(0, PCIO_HALT);
	struct pcio_reply r;

	for (size_t m = 0; m < COUNT(marks); m++)
		for (uint32_t id = 0; id <= FRAME_STD_MASK; id++) {
			bool own = !marks[m] && id > 0x0A0 && id < 0x0C0;

			f.id = id | marks[m];
			TEST_ASSERT_EQUAL_HEX32(own ? 0 : -ENOMSG, pcio_decode(&r, &f, 1));
			if (own)
				TEST_ASSERT_EQUAL(id - 0x0A0, r.module);
		}
	f.id = 0x0A4;
	for (unsigned int flags = 1; flags < 256; flags++) {
		f.flags = (uint8_t)flags;
		TEST_ASSERT_EQUAL(-ENOMSG, pcio_decode(&r, &f, 1));
	}
}

/* Bytes after the first two of a reply; -1: not one. */
static int tail_of(unsigned int command, unsigned int second)
{
	static const int tails[] = {
		[PCIO_F32] = 4, [PCIO_U8] = 1, [PCIO_U16] = 2, [PCIO_I16] = 2, [PCIO_U32] = 4, [PCIO_I32] = 4
	};
	const struct pcio_parameter *p = pcio_parameter(second);

	switch (command) {
	case 0x08:
		return p ? 1 : -1;
	case 0x0A:
		return p ? tails[p->type] : -1;
	case 0x0B:
		if (second == 4 || (second >= 6 && second <= 8))
			return 1;
		return second == 14 || (second >= 16 && second <= 18) ? 6 : -1;
	default:
		return -1;
	}
}

TEST(every_command_second_byte_and_length)
{
	struct pcio_reply r;

	for (unsigned int command = 0; command < 256; command++)
		for (unsigned int second = 0; second < 256; second++)
			for (unsigned int len = 0; len <= FRAME_DATA_MAX; len++) {
				struct frame f = { .id = 0x0A4,
						   .len = (uint8_t)len,
						   .data = { (uint8_t)command, (uint8_t)second } };
				int tail = tail_of(command, second), expected;

				if (!len)
					expected = -EMSGSIZE;
				else if (command <= 2)
					expected = len == 1 ? 0 : -EMSGSIZE;
				else if (command != 0x08 && command != 0x0A && command != 0x0B)
					expected = -EBADMSG;
				else if (len == 1)
					expected = -EMSGSIZE;
				else
					expected = tail < 0 ? -EBADMSG : (int)len == 2 + tail ? 0 : -EMSGSIZE;
				if (pcio_decode(&r, &f, 1) != expected) {
					TEST_ASSERT_EQUAL_HEX16(0, command << 8 | second); /* which */
					TEST_FAIL();
				}
				if (!expected)
					TEST_ASSERT_EQUAL(command <= 2 ? 0 : second, r.parameter);
			}
}

TEST(longer_than_classic_is_refused)
{
	struct frame f = FRAME(0x0A4, PCIO_MOVE, PCIO_RAMP_STATE);
	struct pcio_reply r;

	for (unsigned int len = 9; len < 256; len++) {
		f.len = (uint8_t)len;
		TEST_ASSERT_EQUAL(-EMSGSIZE, pcio_decode(&r, &f, 1));
	}
}

/* Every real a module can send comes through as it is, or is refused; so do the integers. */
TEST(values_come_through)
{
	uint32_t bits = 0;
	struct pcio_reply r;
	float value;

	for (int i = 0; i < 200000; i++) {
		struct frame f = FRAME(0x0BF, PCIO_GET, PCIO_MAX_POSITION, bits, bits >> 8, bits >> 16, bits >> 24);
		struct frame move =
			FRAME(0x0BF, PCIO_MOVE, PCIO_RAMP_STATE, bits, bits >> 8, bits >> 16, bits >> 24, 0, 0);
		struct frame count =
			FRAME(0x0BF, PCIO_GET, PCIO_POSITION_COUNT, bits, bits >> 8, bits >> 16, bits >> 24);
		struct frame word = FRAME(0x0BF, PCIO_GET, PCIO_STATE, bits, bits >> 8, bits >> 16, bits >> 24);
		struct frame half = FRAME(0x0BF, PCIO_GET, PCIO_RAW_CURRENT, bits, bits >> 8);
		int expected;

		memcpy(&value, &bits, sizeof(value));
		expected = isfinite(value) ? 0 : -EDOM;
		TEST_ASSERT_EQUAL(expected, pcio_decode(&r, &f, i));
		if (!expected)
			TEST_ASSERT_EQUAL_HEX32(bits, bits_of_float((float)r.value));
		TEST_ASSERT_EQUAL(expected, pcio_decode(&r, &move, i));
		if (!expected)
			TEST_ASSERT_EQUAL_HEX32(bits, bits_of_float((float)r.value));
		TEST_ASSERT_EQUAL(0, pcio_decode(&r, &count, i));
		TEST_ASSERT_TRUE(r.value == (double)(int32_t)bits);
		TEST_ASSERT_EQUAL(0, pcio_decode(&r, &word, i));
		TEST_ASSERT_TRUE(r.value == (double)bits);
		TEST_ASSERT_EQUAL(0, pcio_decode(&r, &half, i));
		TEST_ASSERT_TRUE(r.value == (double)(int16_t)bits);
		TEST_ASSERT_EQUAL_INT64(i, r.t_ns);
		bits = bits * 1664525 + 1013904223; /* all kinds of exponents */
	}
}

/* ---- what is sent ---- */

TEST(every_module_has_its_identifiers)
{
	for (unsigned int module = 0; module < 300; module++) {
		int expected = module >= 1 && module <= 31 ? 0 : -EINVAL;
		struct frame f = { 0 };

		TEST_ASSERT_EQUAL(expected, pcio_encode_command(module, PCIO_RESET, &f));
		TEST_ASSERT_EQUAL_HEX32(expected ? 0 : 0x0E0 + module, f.id);
		TEST_ASSERT_EQUAL(expected, pcio_encode_get(module, PCIO_STATE, &f));
		TEST_ASSERT_EQUAL_HEX32(expected ? 0 : 0x0C0 + module, f.id);
		TEST_ASSERT_EQUAL(expected, pcio_encode_set(module, PCIO_CONFIG, 0, &f));
		TEST_ASSERT_EQUAL_HEX32(expected ? 0 : 0x0E0 + module, f.id);
		TEST_ASSERT_EQUAL(expected, pcio_encode_move(module, PCIO_CURRENT, 0, &f));
		TEST_ASSERT_EQUAL_HEX32(expected ? 0 : 0x0E0 + module, f.id);
	}
}

TEST(only_known_things_are_asked_and_set)
{
	struct frame f;

	for (unsigned int id = 0; id < 0x300; id++) {
		const struct pcio_parameter *p = pcio_parameter(id);

		TEST_ASSERT_EQUAL(p ? 0 : -EINVAL, pcio_encode_get(4, id, &f));
		TEST_ASSERT_EQUAL(!p ? -EINVAL : p->flags & PCIO_SETTABLE ? 0 : -EPERM, pcio_encode_set(4, id, 1, &f));
	}
	for (int command = 0; command < 600; command++) {
		TEST_ASSERT_EQUAL(command <= 2 ? 0 : -EINVAL, pcio_encode_command(4, (enum pcio_command)command, &f));
		TEST_ASSERT_EQUAL(command == 0x02 || command == 0x07 || command == 0x0F ? 0 : -EINVAL,
				  pcio_encode_all((enum pcio_command)command, &f));
	}
	for (int motion = 0; motion < 300; motion++) {
		int moves = motion == 4 || motion == 7 || motion == 8 || motion == 14 || motion == 17 || motion == 18;

		TEST_ASSERT_EQUAL(moves ? 0 : -EINVAL, pcio_encode_move(4, (enum pcio_motion)motion, 0, &f));
	}
}

static const double reals[] = { 0, -0.0, 0.1, -0.1, 1e-50, -1e-50, 3, -3, (double)FLT_MAX, -(double)FLT_MAX };
static const double too_large[] = { 3.40282357e38, -3.40282357e38, 1e300, -1e300, DBL_MAX };

static void check_real(int answer, const struct frame *f, double value)
{
	uint32_t bits = bits_of_float((float)value);

	TEST_ASSERT_EQUAL(0, answer);
	TEST_ASSERT_EQUAL_HEX8(bits, f->data[2]);
	TEST_ASSERT_EQUAL_HEX8(bits >> 8, f->data[3]);
	TEST_ASSERT_EQUAL_HEX8(bits >> 16, f->data[4]);
	TEST_ASSERT_EQUAL_HEX8(bits >> 24, f->data[5]);
}

TEST(nothing_leaves_that_is_not_a_number)
{
	static const double bad[] = { NAN, -NAN, INFINITY, -INFINITY };
	static const enum pcio_motion moves[] = { PCIO_RAMP,	   PCIO_VELOCITY,	PCIO_CURRENT,
						  PCIO_RAMP_STATE, PCIO_VELOCITY_STATE, PCIO_CURRENT_STATE };
	struct frame f, before;

	memset(&f, 0x77, sizeof(f));
	before = f;
	for (size_t b = 0; b < COUNT(bad) + COUNT(too_large); b++) {
		double value = b < COUNT(bad) ? bad[b] : too_large[b - COUNT(bad)];
		int expected = b < COUNT(bad) ? -EDOM : -ERANGE;

		for (size_t i = 0; i < COUNT(moves); i++)
			TEST_ASSERT_EQUAL(expected, pcio_encode_move(4, moves[i], value, &f));
		for (unsigned int id = 0; id <= PCIO_PARAMETER_MAX; id++)
			if (pcio_parameter(id) && pcio_parameter(id)->flags & PCIO_SETTABLE)
				TEST_ASSERT_EQUAL(expected, pcio_encode_set(4, id, value, &f));
	}
	TEST_ASSERT_EQUAL_MEMORY(&before, &f, sizeof(f));
	for (size_t v = 0; v < COUNT(reals); v++) {
		for (size_t i = 0; i < COUNT(moves); i++)
			check_real(pcio_encode_move(4, moves[i], reals[v], &f), &f, reals[v]);
		check_real(pcio_encode_set(4, PCIO_MIN_POSITION, reals[v], &f), &f, reals[v]);
	}
}

/* What may be set, whether below 0, and in which form: by hand, not from the codec's table. */
TEST(what_may_be_set)
{
	static const struct {
		uint8_t id;
		bool negative, real;
	} settable[] = {
		{ 0x26, false, false }, { 0x39, false, false }, { 0x40, false, true }, { 0x45, true, true },
		{ 0x46, true, true },	{ 0x48, false, true },	{ 0x4A, false, true }, { 0x4C, false, true },
		{ 0x4F, false, true },	{ 0x50, false, true },	{ 0x59, true, true },  { 0x89, true, true },
	};
	struct frame f;

	for (unsigned int id = 0, next = 0; id < 256; id++) {
		if (next == COUNT(settable) || id != settable[next].id) {
			TEST_ASSERT_NOT_EQUAL(0, pcio_encode_set(4, id, 0, &f));
			continue;
		}
		TEST_ASSERT_EQUAL(settable[next].negative ? 0 : -ERANGE, pcio_encode_set(4, id, -1, &f));
		TEST_ASSERT_EQUAL(settable[next].real ? 0 : -ERANGE, pcio_encode_set(4, id, 0.5, &f));
		TEST_ASSERT_EQUAL(0, pcio_encode_set(4, id, 2, &f));
		TEST_ASSERT_EQUAL_HEX8(settable[next].real ? 0x40 : 0x00, f.data[5]); /* 2 is 40000000, or 00000002 */
		TEST_ASSERT_EQUAL(0, pcio_encode_set(4, id, -0.0, &f));
		next++;
	}
}

TEST(requests_carry_nothing_else)
{
	static const uint8_t none[FRAME_DATA_MAX_FD];
	struct frame f[5];

	memset(f, 0xEE, sizeof(f));
	TEST_ASSERT_EQUAL(0, pcio_encode_command(4, PCIO_HOME, &f[0]));
	TEST_ASSERT_EQUAL(0, pcio_encode_get(4, PCIO_STATE, &f[1]));
	TEST_ASSERT_EQUAL(0, pcio_encode_set(4, PCIO_CONFIG, 1, &f[2]));
	TEST_ASSERT_EQUAL(0, pcio_encode_move(4, PCIO_RAMP, 1, &f[3]));
	TEST_ASSERT_EQUAL(0, pcio_encode_all(PCIO_WATCHDOG, &f[4]));
	for (size_t i = 0; i < COUNT(f); i++) {
		TEST_ASSERT_TRUE(frame_valid(&f[i]));
		TEST_ASSERT_EQUAL(0, f[i].flags | f[i].reserved | f[i].dlc);
		TEST_ASSERT_EQUAL_MEMORY(none, f[i].data + f[i].len, sizeof(none) - f[i].len);
	}
}

/* ---- a module's half, played by hand: what was set is what is read ---- */

TEST(round_trip)
{
	for (double value = -6.5; value < 6.5; value += 0.0625) {
		struct frame set, get, reply, ack;
		struct pcio_reply r;

		TEST_ASSERT_EQUAL(0, pcio_encode_set(9, PCIO_MIN_POSITION, value, &set));
		TEST_ASSERT_EQUAL(0, pcio_encode_get(9, PCIO_MIN_POSITION, &get));
		ack = FRAME(0x0A9, set.data[0], set.data[1], 0x64);
		reply = FRAME(0x0A9, get.data[0], get.data[1], set.data[2], set.data[3], set.data[4], set.data[5]);
		TEST_ASSERT_EQUAL(0, pcio_decode(&r, &ack, 5));
		TEST_ASSERT_EQUAL_HEX8(0x64, r.status);
		TEST_ASSERT_EQUAL(0, pcio_decode(&r, &reply, 5));
		TEST_ASSERT_TRUE(r.value == value && r.module == 9 && r.parameter == PCIO_MIN_POSITION);
	}
}

/* ---- the state word ---- */

#define FAULT_BITS 0x0FFC0039u /* error, power fault, tow, comm; 18 to 27 */
#define POWER_BITS 0x09F80008u /* power fault; 19 to 24; 27 */

TEST(every_state_bit)
{
	for (unsigned int i = 0; i < 32; i++) {
		uint32_t bit = 1u << i;
		enum pcio_kind kind = POWER_BITS & bit	 ? PCIO_KIND_POWER_OFF
				      : i == 25		 ? PCIO_KIND_BY_HAND
				      : FAULT_BITS & bit ? PCIO_KIND_FAULT
				      : i == 10		 ? PCIO_KIND_WARNING
							 : PCIO_KIND_INFO;

		TEST_ASSERT_EQUAL_HEX32(FAULT_BITS & bit, pcio_faults(bit));
		TEST_ASSERT_EQUAL_HEX32(FAULT_BITS & ~bit, pcio_faults(~bit));
		TEST_ASSERT_EQUAL(kind, pcio_worst(bit));
		/* homed, moving and a warning change nothing, nor do bits without a name */
		if (kind > PCIO_KIND_WARNING)
			TEST_ASSERT_EQUAL(kind, pcio_worst(bit | 0xF0000C02));
	}
	TEST_ASSERT_EQUAL(PCIO_KIND_FAULT, pcio_worst(PCIO_STATE_POWER_FAULT | PCIO_STATE_VOLTAGE));
	TEST_ASSERT_EQUAL(PCIO_KIND_POWER_OFF,
			  pcio_worst(PCIO_STATE_POWER_FAULT | PCIO_STATE_VOLTAGE | PCIO_STATE_OVERLOAD));
	TEST_ASSERT_EQUAL(PCIO_KIND_POWER_OFF, pcio_worst(PCIO_STATE_HARD_LIMIT | PCIO_STATE_SHORT_CIRCUIT));
	TEST_ASSERT_EQUAL(PCIO_KIND_INFO, pcio_worst(0));
	TEST_ASSERT_EQUAL(PCIO_KIND_POWER_OFF, pcio_worst(UINT32_MAX));
}

TEST(comm_error_alone)
{
	uint32_t comm = PCIO_STATE_COMM_ERROR;

	TEST_ASSERT_TRUE(pcio_only_comm_error(comm));
	TEST_ASSERT_TRUE(pcio_only_comm_error(comm | PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_BRAKE));
	TEST_ASSERT_TRUE(pcio_only_comm_error(comm | ~FAULT_BITS));
	TEST_ASSERT_FALSE(pcio_only_comm_error(0));
	TEST_ASSERT_FALSE(pcio_only_comm_error(PCIO_STATE_ERROR));
	TEST_ASSERT_FALSE(pcio_only_comm_error(PCIO_STATE_HALTED));
	for (unsigned int i = 0; i < 32; i++)
		if (FAULT_BITS & 1u << i && i != 0 && i != 5) {
			TEST_ASSERT_FALSE(pcio_only_comm_error(comm | 1u << i));
			TEST_ASSERT_FALSE(pcio_only_comm_error(1u << i));
		}
}

/* ---- words ---- */

TEST(words_are_whole)
{
	uint32_t word = PCIO_STATE_ERROR | PCIO_STATE_LIMIT_SWITCH_1 | PCIO_STATE_BRAKE | 1u << 28;
	char text[64];

	for (size_t size = 1; size <= sizeof(text); size++) {
		/* "brake" would have room where "limit-switch-1" has none, but a list with a gap misleads. */
		const char *expected = size > 28   ? "error, limit-switch-1, brake"
				       : size > 21 ? "error, limit-switch-1"
				       : size > 5  ? "error"
						   : "";

		memset(text, '#', sizeof(text));
		pcio_text(text, size, word);
		TEST_ASSERT_EQUAL_STRING(expected, text);
		for (size_t i = size; i < sizeof(text); i++)
			TEST_ASSERT_EQUAL('#', text[i]);
	}
}

TEST(all_words_have_room)
{
	char text[PCIO_TEXT_MAX];
	unsigned int words = 1;

	pcio_text(text, sizeof(text), UINT32_MAX);
	for (const char *comma = text; (comma = strstr(comma, ", ")); comma++)
		words++;
	TEST_ASSERT_EQUAL(28, words);
	pcio_text(text, sizeof(text), 0xF0000000); /* they have no names */
	TEST_ASSERT_EQUAL_STRING("", text);
}

/* ---- with slots ---- */

#define MODULES 15 /* as many as fit the rows of one bus */

static struct slots slots;
static struct slots_row rows[SLOTS_ROWS_MAX];
static unsigned int rows_n;

static unsigned int row(unsigned int module, enum pcio_send send)
{
	for (unsigned int i = 0; i < rows_n; i++)
		if (rows[i].id == pcio_send_rows[send].id + (pcio_send_rows[send].shared ? 0 : module) &&
		    rows[i].class == pcio_send_rows[send].class)
			return i;
	TEST_FAIL();
	return 0;
}

static void open_slots(void)
{
	struct error_sink errors = { 0 };

	rows_n = 0;
	for (unsigned int module = 1; module <= MODULES; module++)
		for (enum pcio_send send = 0; send < PCIO_SENDS; send++) {
			const struct pcio_send_row *r = &pcio_send_rows[send];

			if (r->shared && module > 1)
				continue;
			rows[rows_n].id = r->id + (r->shared ? 0 : module);
			rows[rows_n].class = r->class;
			rows[rows_n].harmless = r->harmless;
			rows[rows_n].deadline_ns = 50000000;
			memcpy(rows[rows_n++].key, r->key, sizeof(r->key));
		}
	TEST_ASSERT_EQUAL(0, slots_init(&slots, rows, rows_n, NULL, &errors));
}

static void put(unsigned int module, enum pcio_send send, const struct frame *f)
{
	TEST_ASSERT_EQUAL(0, slots_put(&slots, row(module, send), f, 1));
	TEST_ASSERT_LESS_OR_EQUAL(pcio_send_rows[send].len, f->len);
}

/* The frame that slots send next, confirmed. */
static void expect_next(const struct frame *f)
{
	const struct frame *next = slots_take(&slots, 2);

	TEST_ASSERT_NOT_NULL(next);
	TEST_ASSERT_TRUE(frame_equal(f, next));
	slots_handed(&slots, 2);
	slots_echo(&slots, f, 3);
}

TEST(rows_serve_slots)
{
	struct frame watchdog, old_move, move, halt, reset, set[2], get[2];

	open_slots();
	TEST_ASSERT_EQUAL(0, pcio_encode_all(PCIO_WATCHDOG, &watchdog));
	TEST_ASSERT_EQUAL(0, pcio_encode_move(3, PCIO_RAMP_STATE, 1, &old_move));
	TEST_ASSERT_EQUAL(0, pcio_encode_move(3, PCIO_VELOCITY_STATE, 0, &move));
	TEST_ASSERT_EQUAL(0, pcio_encode_command(3, PCIO_HALT, &halt));
	TEST_ASSERT_EQUAL(0, pcio_encode_command(3, PCIO_RESET, &reset));
	TEST_ASSERT_EQUAL(0, pcio_encode_set(3, PCIO_MAX_CURRENT, 1, &set[0]));
	TEST_ASSERT_EQUAL(0, pcio_encode_set(3, PCIO_MAX_CURRENT, 2, &set[1]));
	TEST_ASSERT_EQUAL(0, pcio_encode_get(3, PCIO_STATE, &get[0]));
	TEST_ASSERT_EQUAL(0, pcio_encode_get(3, PCIO_ACTUAL_VELOCITY, &get[1]));
	put(3, PCIO_SEND_WATCHDOG, &watchdog);
	expect_next(&watchdog); /* proves the bus: it does no harm */
	put(3, PCIO_SEND_GET, &get[0]);
	put(3, PCIO_SEND_GET, &get[1]);
	put(3, PCIO_SEND_COMMAND, &set[0]);
	put(3, PCIO_SEND_COMMAND, &reset);
	put(3, PCIO_SEND_COMMAND, &set[1]);
	put(3, PCIO_SEND_WATCHDOG, &watchdog);
	put(3, PCIO_SEND_MOVE, &old_move);
	put(3, PCIO_SEND_MOVE, &move);
	put(3, PCIO_SEND_HALT, &halt);
	expect_next(&halt);
	expect_next(&move);
	expect_next(&watchdog);
	expect_next(&set[0]);
	expect_next(&reset);
	expect_next(&set[1]);
	expect_next(&get[0]);
	expect_next(&get[1]);
	TEST_ASSERT_NULL(slots_take(&slots, 2));
	TEST_ASSERT_EQUAL_UINT64(1, slots_counts(&slots)->replaced);
}

TEST(rows_are_what_the_driver_declares)
{
	static const struct pcio_send_row expected[PCIO_SENDS] = {
		{ 0x0E0, SLOTS_URGENT, { 0xFF }, 1, 1, false, false, false },
		{ 0x0E0, SLOTS_LATEST, { 0xFF }, 8, 2, true, false, false },
		{ 0x100, SLOTS_LATEST, { 0xFF }, 1, 0, false, true, true },
		{ 0x0E0, SLOTS_COMMAND, { 0xFF, 0xFF }, 6, 2, false, false, false },
		{ 0x0E0, SLOTS_COMMAND, { 0xFF }, 1, 1, true, false, false },
		{ 0x0C0, SLOTS_QUEUE, { 0xFF, 0xFF }, 2, 2, false, true, false },
	};

	for (enum pcio_send send = 0; send < PCIO_SENDS; send++) {
		TEST_ASSERT_EQUAL_HEX32(expected[send].id, pcio_send_rows[send].id);
		TEST_ASSERT_EQUAL(expected[send].class, pcio_send_rows[send].class);
		TEST_ASSERT_EQUAL_HEX8_ARRAY(expected[send].key, pcio_send_rows[send].key, FRAME_DATA_MAX);
		TEST_ASSERT_EQUAL(expected[send].len, pcio_send_rows[send].len);
		TEST_ASSERT_EQUAL(expected[send].reply_bytes, pcio_send_rows[send].reply_bytes);
		TEST_ASSERT_EQUAL(expected[send].moves, pcio_send_rows[send].moves);
		TEST_ASSERT_EQUAL(expected[send].harmless, pcio_send_rows[send].harmless);
		TEST_ASSERT_EQUAL(expected[send].shared, pcio_send_rows[send].shared);
	}
}
