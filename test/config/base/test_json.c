/* test_json.c: what json.h writes, byte by byte. */
#include <float.h>
#include <math.h>

#include "config/base/json.h"
#include "test/lib/testcase.h"

static char *text;
static size_t len;
static struct json j;

void setUp(void)
{
	j = json_to(open_memstream(&text, &len));
}

void tearDown(void)
{
	fclose(j.to);
	free(text);
}

static void wrote(const char *expected)
{
	fflush(j.to);
	TEST_ASSERT_EQUAL_STRING(expected, text);
}

TEST(test_values)
{
	json_array(&j, NULL);
	json_text(&j, NULL, "a \"word\"\\\n");
	json_text(&j, NULL, NULL);
	json_textf(&j, NULL, "%03X", 0x2au);
	json_int(&j, NULL, INT64_MIN);
	json_uint(&j, NULL, UINT64_MAX);
	json_bool(&j, NULL, true);
	json_bool(&j, NULL, false);
	json_null(&j, NULL);
	json_raw(&j, NULL, "{\"x\":1}");
	json_end(&j);
	wrote("[\"a \\\"word\\\"\\\\\\u000a\",null,\"02A\",-9223372036854775808,18446744073709551615,"
	      "true,false,null,{\"x\":1}]");
}

TEST(test_reals)
{
	json_array(&j, NULL);
	json_real(&j, NULL, 0.1);
	json_real(&j, NULL, DBL_MAX);
	json_real(&j, NULL, NAN);
	json_real(&j, NULL, -INFINITY);
	json_digits(&j, NULL, 3, 1.0 / 3);
	json_digits(&j, NULL, 3, INFINITY);
	json_fixed(&j, NULL, 2, 1.0 / 3);
	json_fixed(&j, NULL, 2, NAN);
	json_end(&j);
	wrote("[0.1,1.7976931348623157e+308,null,null,0.333,null,0.33,null]");
}

TEST(test_names_and_commas)
{
	json_object(&j, NULL);
	json_object(&j, "empty");
	json_end(&j);
	json_array(&j, "list");
	json_array(&j, NULL);
	json_end(&j);
	json_int(&j, NULL, 1);
	json_end(&j);
	json_int(&j, "a \"name\"", 2);
	json_end(&j);
	wrote("{\"empty\":{},\"list\":[[],1],\"a \\\"name\\\"\":2}");
}

TEST(test_lines)
{
	json_array(&j, NULL);
	for (int i = 0; i < 2; i++) {
		json_line(&j);
		json_int(&j, NULL, i);
	}
	json_end(&j);
	wrote("[\n 0,\n 1]");
}
