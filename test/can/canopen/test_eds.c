/* test_eds.c: electronic data sheets: names, types, and what is wrong with a file. */
#include "can/canopen/eds.h"
#include "test/lib/testcase.h"

static char lines[2048];

static void keep(void *to, const char *line)
{
	(void)to;
	strcat(lines, line);
	strcat(lines, "\n");
}

static int parse(struct eds *eds, const char *text)
{
	struct error_sink errors = { keep, NULL, 0 };

	*lines = '\0';
	return eds_parse(eds, "x.eds", text, strlen(text), &errors);
}

static const char sheet[] = "; a drive\r\n"
			    "[FileInfo]\r\n"
			    "FileName=drive.eds\r\n"
			    "DataType=nonsense, but of another section\r\n"
			    "[6041]\r\n"
			    "ParameterName=Statusword\r\n"
			    "ObjectType=0x7\r\n"
			    "DataType=0x0006\r\n"
			    "AccessType=ro\r\n"
			    "\r\n"
			    "[1018sub1]\r\n"
			    "ParameterName=Vendor Id\r\n"
			    "DATATYPE=7\r\n"
			    "[1018]\r\n"
			    "ParameterName=Identity object with a name that is longer than any name in this table\r\n"
			    "DataType=\r\n"
			    "[1018Sub0]\n"
			    "  ParameterName=entries  \n"
			    "[1018x]\n"
			    "DataType=none\n"
			    "[20D8sub0C]\n"
			    "DataType=0x6";

TEST(objects_have_names_and_types)
{
	static const struct {
		uint16_t index;
		uint8_t sub;
		const char *name;
		uint16_t type;
		unsigned int bytes;
	} rows[] = {
		{ 0x6041, 0, "Statusword", 6, 2 },
		{ 0x1018, 1, "Vendor Id", 7, 4 },
		{ 0x20D8, 0x0C, "", 6, 2 },
	};
	struct eds eds;

	TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, parse(&eds, sheet), "[1018] and [1018sub0] are the same object");
	TEST_ASSERT_EQUAL_STRING("x.eds: object 0x1018.00 is there twice\n", lines);
	TEST_ASSERT_NULL(eds.objects);

	char *once = strdup(sheet);
	memcpy(strstr(once, "[1018Sub0]"), "[1018Sub2]", 10);
	TEST_ASSERT_EQUAL_MESSAGE(0, parse(&eds, once), lines);
	free(once);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct eds_object *o = eds_find(&eds, rows[i].index, rows[i].sub);

		TEST_ASSERT_NOT_NULL(o);
		TEST_ASSERT_EQUAL_STRING(rows[i].name, o->name);
		TEST_ASSERT_EQUAL_HEX16(rows[i].type, o->type);
		TEST_ASSERT_EQUAL(rows[i].bytes, eds_bytes(o->type));
	}
	TEST_ASSERT_EQUAL_STRING("ro", eds_find(&eds, 0x6041, 0)->access);
	TEST_ASSERT_EQUAL_STRING("entries", eds_find(&eds, 0x1018, 2)->name);
	TEST_ASSERT_EQUAL(EDS_NAME_MAX - 1, strlen(eds_find(&eds, 0x1018, 0)->name));
	TEST_ASSERT_NULL(eds_find(&eds, 0x6041, 1));
	eds_free(&eds);
	TEST_ASSERT_NULL(eds_find(&eds, 0x6041, 0));
}

TEST(errors_have_a_line)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{ "[6041]\nDataType=word\n", "x.eds:2: \"word\" is not a DataType; write a number such as 0x0007\n" },
		{ "[6041]\nDataType=0x10000\n",
		  "x.eds:2: \"0x10000\" is not a DataType; write a number such as 0x0007\n" },
		{ "[6041]\n\nnothing\n[60", "x.eds:3: \"nothing\" is neither a section nor key=value\n"
					    "x.eds:4: \"60\" has no ]\n" },
		{ "", "x.eds: no object such as [6041]; is it an EDS file?\n" },
		{ "[12345]\nDataType=1\n", "x.eds: no object such as [6041]; is it an EDS file?\n" },
	};
	struct eds eds;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, parse(&eds, rows[i].text), rows[i].text);
		TEST_ASSERT_EQUAL_STRING(rows[i].said, lines);
	}
}

TEST(files)
{
	struct error_sink errors = { keep, NULL, 0 };
	char path[] = "/tmp/test_eds.XXXXXX", said[128];
	struct eds eds;
	const int fd = mkstemp(path);

	*lines = '\0';
	TEST_ASSERT_EQUAL(14, write(fd, "[6041]\nDataTy=", 14));
	TEST_ASSERT_EQUAL(0, eds_read(&eds, path, &errors));
	TEST_ASSERT_EQUAL(1, eds.n);
	eds_free(&eds);
	TEST_ASSERT_EQUAL(0, ftruncate(fd, 4 * 1024 * 1024 + 1));
	TEST_ASSERT_EQUAL(-EFBIG, eds_read(&eds, path, &errors));
	close(fd);
	unlink(path);
	TEST_ASSERT_EQUAL(-ENOENT, eds_read(&eds, path, &errors));
	snprintf(said, sizeof(said), "%s:1: larger than 4194304 bytes\n%s: No such file or directory\n", path, path);
	TEST_ASSERT_EQUAL_STRING(said, lines);
}

TEST(many_objects)
{
	static char text[600 * 8 + 1];
	struct eds eds;

	for (unsigned int i = 0; i < 600; i++)
		sprintf(text + 7 * i, "[%04X]\n", 0x3000 + 599 - i);
	TEST_ASSERT_EQUAL(0, parse(&eds, text));
	TEST_ASSERT_EQUAL(600, eds.n);
	TEST_ASSERT_EQUAL_HEX16(0x3000, eds.objects[0].index);
	TEST_ASSERT_EQUAL(0, eds_bytes(0));
	TEST_ASSERT_EQUAL(1, eds_bytes(5));
	TEST_ASSERT_EQUAL(0, eds_bytes(9));
	eds_free(&eds);
}
