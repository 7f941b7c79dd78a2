/* test_unheard.c: when a driver that is read by libendplate is said to publish no state. */
#include "daemons/drv/drv_unheard.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define NOW (5000 * MS)

static int64_t paused_ns, asked_ns;

int64_t drv_paused_ns(const struct drv *drv, unsigned int bus, int64_t t_ns)
{
	(void)drv;
	TEST_ASSERT_EQUAL_HEX32(DRV_CHANNEL, bus);
	asked_ns = t_ns;
	return paused_ns;
}

TEST(a_pause_of_the_own_process_is_no_silence)
{
	static const struct {
		uint32_t doubts;
		int64_t silent_ns, paused_ns;
		bool unheard;
	} rows[] = {
		{ 0, 3 * MS, 0, false },
		{ ENDPLATE_OLD, 300 * MS, 0, false },
		{ ENDPLATE_SILENT, 101 * MS, 0, true },
		{ ENDPLATE_SILENT, 131 * MS, 31 * MS, false },
		{ ENDPLATE_SILENT, 131 * MS, 31 * MS - 1, true },
		{ ENDPLATE_SILENT | ENDPLATE_OLD, 500 * MS, 100 * MS, true },
		{ ENDPLATE_SILENT, INT64_MAX, 100 * MS, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct endplate_view view = { .doubts = rows[i].doubts,
						    .silent_ns = rows[i].silent_ns,
						    .now_ns = NOW };

		paused_ns = rows[i].paused_ns;
		asked_ns = NOW - rows[i].silent_ns;
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].unheard, unheard(NULL, &view), "a row");
		TEST_ASSERT_EQUAL_INT64(NOW - rows[i].silent_ns, asked_ns);
	}
}
