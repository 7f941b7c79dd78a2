/* test_orion.c: the codec of an Orion cell broadcast says the vectors of its page. */
#include <errno.h>

#include "daemons/bms/orion.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

static void say_orion(char said[PAGE_LIB_TEXT], char *words)
{
	struct orion_cell cell = { 0 };
	struct frame frame;
	int status;

	TEST_ASSERT_TRUE(page_lib_frame(&words, &frame));
	status = orion_decode(&cell, &frame);
	if (status)
		strcpy(said, status == -EBADMSG ? "checksum" : status == -EMSGSIZE ? "length" : "?");
	else
		snprintf(said, PAGE_LIB_TEXT, "cell %u voltage %.4f open %.4f resistance %.5f shunting %s", cell.number,
			 cell.voltage_v, cell.open_v, cell.resistance_ohm, cell.shunting ? "yes" : "no");
}

TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(6, page_lib_each("hw-docs/devices/bms.md", "orion", say_orion));
}

/* Whatever the frame is, one other bit in it is found. */
TEST(a_wrong_bit_is_found_and_leaves_the_cell_alone)
{
	const struct frame good = page_lib_read("036#0382F180FA8340F1");

	for (unsigned int bit = 0; bit < 64; bit++) {
		struct orion_cell cell = { .number = 99 };
		struct frame frame = good;

		frame.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		TEST_ASSERT_EQUAL(-EBADMSG, orion_decode(&cell, &frame));
		TEST_ASSERT_EQUAL(99, cell.number);
	}
}
