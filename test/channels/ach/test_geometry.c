/* test_geometry.c: any geometry, any mix of sizes, against a model in plain C of what must be retained:
 * the newest messages, at most cnt of them and at most cnt*size bytes. */
#define _GNU_SOURCE

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define MIB ((size_t)1 << 20)

struct model {
	size_t cnt, lsize;
	uint64_t newest, first; /* retained: first..newest */
	size_t bytes;		/* of them */
	size_t *len;		/* len[k]: of message k */
	char name[LIB_NAME_LEN];
	ach_channel_t writer, reader;
	uint64_t cursor; /* of the reader */
	uint8_t *buf, *expected;
};

static uint64_t seed = 88172645463325252u;

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

/* Bytes that differ from message to message and from place to place. */
static void fill(uint8_t *bytes, size_t len, uint64_t number)
{
	uint8_t run[251]; /* a prime: no period of pages or powers of two */
	size_t n = len < sizeof run ? len : sizeof run;

	for (size_t i = 0; i < n; i++)
		run[i] = (uint8_t)(number * 31 + i + (i * number >> 5));
	for (size_t i = 0; i < len; i += n)
		memcpy(bytes + i, run, len - i < n ? len - i : n);
}

static void begin(struct model *m, size_t cnt, size_t size, size_t messages)
{
	*m = (struct model){ .cnt = cnt, .lsize = cnt * size, .first = 1 };
	m->len = calloc(messages + 1, sizeof *m->len);
	m->buf = malloc(m->lsize + 1);
	m->expected = malloc(m->lsize + 1);
	LIB_CHECK(m->len && m->buf && m->expected);
	LIB_STATUS(ACH_OK, ach_create(lib_name(m->name, "geometry"), cnt, size, NULL));
	LIB_STATUS(ACH_OK, ach_open(&m->writer, m->name, NULL));
	LIB_STATUS(ACH_OK, ach_open(&m->reader, m->name, NULL));
}

static void end(struct model *m)
{
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&m->writer));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&m->reader));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(m->name));
	free(m->len);
	free(m->buf);
	free(m->expected);
}

static void put(struct model *m, size_t len)
{
	uint64_t number = m->newest + 1;

	fill(m->buf, len, number);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&m->writer, m->buf, len));
	m->newest = number;
	m->len[number] = len;
	m->bytes += len;
	while (m->bytes > m->lsize || m->newest - m->first + 1 > m->cnt)
		m->bytes -= m->len[m->first++];
}

static void assert_message(struct model *m, uint64_t number, size_t len)
{
	TEST_ASSERT_EQUAL_size_t(m->len[number], len);
	fill(m->expected, len, number);
	TEST_ASSERT_EQUAL_INT(0, memcmp(m->expected, m->buf, len));
}

/* A fresh handle reads exactly what the model retains. */
static void assert_retained(struct model *m)
{
	ach_channel_t fresh;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_open(&fresh, m->name, NULL));
	for (uint64_t k = m->first; k <= m->newest; k++) {
		bool missed = k == m->first && k > 1;

		LIB_ASSERT_STATUS(missed ? ACH_MISSED_FRAME : ACH_OK, ach_get(&fresh, m->buf, m->lsize, &len, NULL, 0));
		TEST_ASSERT_EQUAL_UINT64(k, fresh.seq_num);
		assert_message(m, k, len);
	}
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&fresh, m->buf, m->lsize, &len, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&fresh));
}

/* The reader that stays does one get with random options: status, message and cursor as the contract says. */
static void read_some(struct model *m)
{
	int options = (lib_random(&seed) % 3 ? 0 : ACH_O_LAST) | (lib_random(&seed) % 3 ? 0 : ACH_O_COPY);
	bool unseen = m->cursor < m->newest, small = lib_random(&seed) % 8 == 0;
	uint64_t want = m->cursor + 1 > m->first ? m->cursor + 1 : m->first;
	enum ach_status expected;
	size_t len = SIZE_MAX, room;

	if (!unseen && (!(options & ACH_O_COPY) || !m->newest)) {
		LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&m->reader, m->buf, m->lsize, &len, NULL, options));
		TEST_ASSERT_EQUAL_size_t(SIZE_MAX, len);
		return;
	}
	if (!unseen || (options & ACH_O_LAST))
		want = m->newest;
	room = small ? m->len[want] - 1 : m->lsize;
	expected = small ? ACH_OVERFLOW : unseen && want > m->cursor + 1 ? ACH_MISSED_FRAME : ACH_OK;
	LIB_ASSERT_STATUS(expected, ach_get(&m->reader, m->buf, room, &len, NULL, options));
	TEST_ASSERT_EQUAL_size_t(m->len[want], len);
	if (!small) {
		assert_message(m, want, len);
		m->cursor = want;
	}
	TEST_ASSERT_EQUAL_UINT64(m->cursor, m->reader.seq_num);
}

static size_t random_len(const struct model *m)
{
	size_t few = m->lsize < 40 ? m->lsize : 40;

	switch (lib_random(&seed) % 6) {
	case 0:
		return m->lsize;
	case 1:
		return 1;
	case 2: /* what the geometry was meant for */
		return m->lsize / m->cnt;
	case 3:
		return 1 + lib_random(&seed) % few;
	case 4:
		return m->lsize - lib_random(&seed) % few;
	default:
		return 1 + lib_random(&seed) % m->lsize;
	}
}

static void play(size_t cnt, size_t size, size_t messages)
{
	struct model m;

	begin(&m, cnt, size, messages);
	assert_retained(&m);
	while (m.newest < messages) {
		put(&m, random_len(&m));
		if (lib_random(&seed) % 4 == 0)
			assert_retained(&m);
		while (lib_random(&seed) % 2)
			read_some(&m);
		if (lib_random(&seed) % 16 == 0)
			LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_put(&m.writer, m.buf, m.lsize + 1));
	}
	assert_retained(&m);
	end(&m);
}

TEST(test_chosen_geometries)
{
	static const size_t geometries[][2] = { { 1, 1 },    { 1, 2 },	 { 2, 1 },   { 1, 3744 }, { 8, 2 },
						{ 3, 7 },    { 1, 15 },	 { 1, 16 },  { 1, 17 },	  { 7, 1 },
						{ 16, 512 }, { 255, 1 }, { 256, 1 }, { 257, 3 } };

	for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
		play(geometries[i][0], geometries[i][1], 300);
}

/* The data area is a multiple of the page: sizes around it, and around what makes it one page more. */
TEST(test_page_boundaries)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t pages = 1; pages <= 16; pages *= 4)
		for (size_t less = 0; less < 48; less += 7) {
			play(1, pages * page - less, 20);
			play(1, pages * page + less, 20);
			play(1, pages * page / 2 - less, 20);
			play(1, pages * page / 2 + less, 20);
		}
	play(page, 1, 40);
	play(page / 32, 32, 100);
	play(page - 1, 3, 40);
}

TEST(test_random_geometries)
{
	for (int i = 0; i < 150; i++) {
		size_t cnt = 1 + lib_random(&seed) % (i % 2 ? 8 : 200);

		play(cnt, 1 + lib_random(&seed) % (i % 3 ? 64 : 4000), 60);
	}
}

/* ---- 64 MiB ---- */

TEST(test_64_mib_in_one)
{
	struct model m;

	begin(&m, 1, 64 * MIB, 8);
	put(&m, 64 * MIB);
	assert_retained(&m);
	put(&m, 1);
	put(&m, 64 * MIB - 1);
	assert_retained(&m);
	put(&m, 64 * MIB);
	assert_retained(&m);
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_put(&m.writer, m.buf, 64 * MIB + 1));
	end(&m);
}

TEST(test_64_mib_in_many)
{
	struct model m;
	size_t messages = MIB + 10;

	begin(&m, MIB, 64, messages + 3);
	while (m.newest < messages)
		put(&m, 64);
	assert_retained(&m); /* 2^20 of them, the first 10 gone */
	TEST_ASSERT_EQUAL_UINT64(11, m.first);
	put(&m, 32 * MIB); /* drops half a million at once */
	TEST_ASSERT_EQUAL_UINT64(m.newest - MIB / 2, m.first);
	assert_retained(&m);
	put(&m, 64 * MIB);
	assert_retained(&m);
	put(&m, 1);
	assert_retained(&m);
	end(&m);
}
