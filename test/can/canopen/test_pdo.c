/* test_pdo.c: a node is set up and read back: against a node of the test's own, which can misbehave. */
#include "can/canopen/pdo.h"
#include "test/lib/testcase.h"

/* ---- a node: answers expedited requests ---- */

#define OBJECTS_MAX 40

static struct {
	struct {
		uint32_t where, value;
	} objects[OBJECTS_MAX];
	unsigned int n;
	unsigned int reads, writes;
	uint32_t absent, stubborn; /* objects that do not exist, or keep their value */
	unsigned int deaf;	   /* requests that it does not answer */
	uint32_t order[64];	   /* objects in the order in which they were written */
	uint32_t values[64];	   /* and what was written */
} node;

static uint32_t *find(uint32_t where)
{
	for (unsigned int i = 0; i < node.n; i++)
		if (node.objects[i].where == where)
			return &node.objects[i].value;
	node.objects[node.n].where = where;
	return &node.objects[node.n++].value;
}

static uint32_t get32(const uint8_t *data)
{
	return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

/* false: no reply. */
static bool answer(const struct frame *request, struct frame *reply)
{
	const uint32_t where = (uint32_t)(request->data[1] | request->data[2] << 8) << 8 | request->data[3];

	if (node.deaf && node.deaf--)
		return false;
	*reply = *request;
	reply->id = 0x5A0;
	memset(reply->data + 4, 0, 4);
	if (where == node.absent) {
		reply->data[0] = 0x80;
		reply->data[6] = 0x02;
		reply->data[7] = 0x06;
	} else if (request->data[0] == 0x40) {
		reply->data[0] = 0x42;
		for (unsigned int i = 0; i < 4; i++)
			reply->data[4 + i] = (uint8_t)(*find(where) >> 8 * i);
		node.reads++;
	} else {
		reply->data[0] = 0x60;
		if (where != node.stubborn)
			*find(where) = get32(request->data + 4);
		node.order[node.writes % 64] = where;
		node.values[node.writes++ % 64] = get32(request->data + 4);
	}
	return true;
}

static uint32_t last_code;

static enum pdo_result run(struct pdo_script *script, enum pdo_mode mode)
{
	enum pdo_result result = PDO_BUSY;

	pdo_begin(script, mode);
	for (unsigned int i = 0; i < 1000; i++) {
		struct frame request, reply;
		uint32_t value;

		result = pdo_step(script, 0x20, &request);
		if (result != PDO_BUSY)
			break;
		last_code = sdo_reply(&request, answer(&request, &reply) ? &reply : NULL, &value);
		result = pdo_done(script, last_code, value);
		if (result != PDO_BUSY)
			break;
	}
	return result;
}

/* ---- cases ---- */

static const struct pdo tpdo26 = { .kind = PDO_SENT,
				   .number = 26,
				   .id = 0x2E3,
				   .type = 1,
				   .mapped = 3,
				   .object = { 0x60410010, 0x60640020, 0x60770010 } };
static struct pdo_script script;

static void begin(void)
{
	memset(&node, 0, sizeof(node));
	memset(&script, 0, sizeof(script));
	*find(0x20D80C) = 200;
	*find(0x180301) = 0x1A0;
	*find(0x180401) = PDO_OFF | 0x2A0;
	pdo_add(&script, PDO_STEP_READ, 0x20D8, 0x0C, 2, 0);
	pdo_off(&script, PDO_SENT, 4);
	pdo_off(&script, PDO_SENT, 5);
	pdo_map(&script, &tpdo26);
}

TEST(a_pdo_is_disabled_mapped_and_enabled)
{
	static const uint32_t order[] = { 0x180301, 0x181901, 0x1A1900, 0x1A1901, 0x1A1902,
					  0x1A1903, 0x1A1900, 0x181902, 0x181901 };
	static const uint32_t values[] = {
		PDO_OFF | 0x1A0, PDO_OFF | 0x2E3, 0, 0x60410010, 0x60640020, 0x60770010, 3, 1, 0x2E3
	};

	begin();
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_WRITE));
	TEST_ASSERT_EQUAL(9, node.writes);
	TEST_ASSERT_EQUAL_HEX32_ARRAY(order, node.order, 9);
	TEST_ASSERT_EQUAL_HEX32_ARRAY(values, node.values, 9);
	TEST_ASSERT_EQUAL_HEX32(0x2E3, *find(0x181901));
	TEST_ASSERT_EQUAL(1, *find(0x181902));
	TEST_ASSERT_EQUAL(3, *find(0x1A1900));
	TEST_ASSERT_EQUAL_HEX32(0x60640020, *find(0x1A1902));
	TEST_ASSERT_EQUAL_HEX32(PDO_OFF | 0x1A0, *find(0x180301));
	TEST_ASSERT_EQUAL_HEX32(PDO_OFF | 0x2A0, *find(0x180401));
	TEST_ASSERT_EQUAL(200, pdo_value(&script, 0x20D8, 0x0C));
	TEST_ASSERT_EQUAL(0, pdo_value(&script, 0x20D8, 0x0D));
	/* 2 before they are disabled; 1, 2, 3 of the mapping and its number, type and identifier after. */
	TEST_ASSERT_EQUAL(2 + 3 + 6, node.reads);
}

TEST(a_check_writes_nothing)
{
	begin();
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_WRITE));
	node.writes = 0;
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_CHECK));
	TEST_ASSERT_EQUAL_PTR(&script.steps[script.n - 1], pdo_at(&script)); /* the last, when all are done */
	*find(0x1A1902) = 0x606C0020;
	TEST_ASSERT_EQUAL(PDO_DIFFERS, run(&script, PDO_CHECK));
	TEST_ASSERT_EQUAL_HEX16(0x1A19, pdo_at(&script)->index);
	TEST_ASSERT_EQUAL(2, pdo_at(&script)->sub);
	*find(0x1A1902) = 0x60640020;
	*find(0x180401) = 0x2A0;
	TEST_ASSERT_EQUAL(PDO_DIFFERS, run(&script, PDO_CHECK));
	TEST_ASSERT_EQUAL_HEX16(0x1804, pdo_at(&script)->index);
	TEST_ASSERT_EQUAL(0, node.writes);
}

/* The node may be another one by then: what it was before must not count. */
TEST(what_was_read_is_forgotten_by_the_next_beginning)
{
	begin();
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_WRITE));
	TEST_ASSERT_EQUAL(200, pdo_value(&script, 0x20D8, 0x0C));
	pdo_begin(&script, PDO_WRITE);
	TEST_ASSERT_EQUAL(0, pdo_value(&script, 0x20D8, 0x0C));
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_CHECK)); /* what is to be written stays */
}

TEST(a_value_that_does_not_stay_is_found)
{
	begin();
	node.stubborn = 0x181902;
	TEST_ASSERT_EQUAL(PDO_DIFFERS, run(&script, PDO_WRITE));
	TEST_ASSERT_EQUAL_HEX16(0x1819, pdo_at(&script)->index);
	TEST_ASSERT_EQUAL(2, pdo_at(&script)->sub);
}

TEST(another_object_shows_what_was_written)
{
	begin();
	script.n = 0;
	pdo_add(&script, PDO_STEP_WRITE, 0x6060, 0, 1, 4);
	pdo_add(&script, PDO_STEP_CHECK, 0x6061, 0, 1, 4);
	*find(0x606100) = 0xFFFFFF04; /* only one byte counts */
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_WRITE));
	*find(0x606100) = 3;
	TEST_ASSERT_EQUAL(PDO_DIFFERS, run(&script, PDO_WRITE));
}

TEST(an_absent_object_is_an_error_unless_it_is_to_be_off)
{
	begin();
	node.absent = 0x180301;
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_WRITE));
	node.absent = 0x1A1901;
	TEST_ASSERT_EQUAL(PDO_REFUSED, run(&script, PDO_WRITE));
	TEST_ASSERT_EQUAL_HEX32(SDO_ABSENT, last_code);
}

TEST(a_request_that_is_not_answered_is_repeated)
{
	begin();
	node.deaf = PDO_TRIES - 1;
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_WRITE));
	node.deaf = PDO_TRIES;
	TEST_ASSERT_EQUAL(PDO_SILENT, run(&script, PDO_WRITE));
}

TEST(a_fixed_mapping_is_left_alone)
{
	begin();
	script.n = 0;
	pdo_map(&script, &(struct pdo){ .kind = PDO_RECEIVED, .number = 5, .id = 0x2E2, .type = PDO_ASYNC });
	TEST_ASSERT_EQUAL(PDO_DONE, run(&script, PDO_WRITE));
	TEST_ASSERT_EQUAL(3, node.writes);
	TEST_ASSERT_EQUAL_HEX32(0x2E2, *find(0x140401));
	TEST_ASSERT_EQUAL_HEX32(PDO_ASYNC, *find(0x140402));
}

TEST(a_script_has_room_for_so_many_steps)
{
	begin();
	while (script.n < PDO_STEPS_MAX)
		pdo_off(&script, PDO_SENT, 1);
	TEST_ASSERT_FALSE(script.full);
	pdo_off(&script, PDO_SENT, 1);
	TEST_ASSERT_TRUE(script.full);
	TEST_ASSERT_EQUAL(PDO_STEPS_MAX, script.n);
	TEST_ASSERT_EQUAL(PDO_DONE, (script.n = 0, run(&script, PDO_CHECK)));
}
