/* test_boot_id.c: the boot id. */
#include <stddef.h>

#include "config/base/boot_id.h"
#include "test/lib/testcase.h"

TEST(the_text_is_read_digit_by_digit)
{
	static const struct {
		const char *text;
		int status;
		uint64_t boot[2];
	} rows[] = {
		{ "01234567-89ab-cdef-FEDC-ba9876543210\n", 0, { 0x0123456789abcdef, 0xfedcba9876543210 } },
		{ "01234567-89ab-cdef-fedc-ba9876543210", 0, { 0x0123456789abcdef, 0xfedcba9876543210 } },
		{ "00000000-0000-0000-0000-000000000001\n", 0, { 0, 1 } },
		{ "00000000-0000-0000-0000-000000000000\n", -EINVAL, { 0 } },
		{ "01234567-89ab-cdef-fedc-ba98765432100", -EINVAL, { 0 } },
		{ "01234567-89ab-cdef-fedc-ba987654321", -EINVAL, { 0 } },
		{ "01234567-89ab-cdef-fedc-ba987654321g", -EINVAL, { 0 } },
		{ "0123456789ab-cdef-fedc-ba9876543210-", -EINVAL, { 0 } },
		{ "", -EINVAL, { 0 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t boot[2] = { 7, 7 };

		TEST_ASSERT_EQUAL_MESSAGE(rows[i].status, boot_id_parse(boot, rows[i].text), rows[i].text);
		TEST_ASSERT_EQUAL_HEX64_MESSAGE(rows[i].boot[0], boot[0], rows[i].text);
		TEST_ASSERT_EQUAL_HEX64_MESSAGE(rows[i].boot[1], boot[1], rows[i].text);
	}
}

TEST(this_boot_has_one)
{
	uint64_t a[2], b[2];

	TEST_ASSERT_EQUAL(0, boot_id_read(a));
	TEST_ASSERT_EQUAL(0, boot_id_read(b));
	TEST_ASSERT_TRUE(a[0] | a[1]);
	TEST_ASSERT_EQUAL_HEX64(a[0], b[0]);
	TEST_ASSERT_EQUAL_HEX64(a[1], b[1]);
}
