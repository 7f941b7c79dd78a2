/* test_yaml.c: the tree, and what is refused. */
#include "test/lib/testcase.h"

#include "config/settings/yaml.h"
#include "test/config/settings/lines.h"

static struct yaml *doc;

void setUp(void)
{
	doc = NULL;
}

void tearDown(void)
{
	yaml_close(doc);
}

static const struct yaml_node *parse(const char *text)
{
	int err = yaml_open_text(&doc, "t", text, strlen(text), lines_start());

	TEST_ASSERT_EQUAL_STRING("", lines);
	TEST_ASSERT_EQUAL_INT(0, err);
	return yaml_root(doc);
}

static void refused_len(const char *text, size_t len, const char *line)
{
	struct error_sink *errors = lines_start();
	int err = yaml_open_text(&doc, "t", text, len, errors);

	TEST_ASSERT_EQUAL_STRING(line, lines);
	TEST_ASSERT_EQUAL_UINT(1, errors->count);
	TEST_ASSERT_TRUE(err < 0);
	TEST_ASSERT_NULL(doc);
}

static void refused(const char *text, const char *line)
{
	refused_len(text, strlen(text), line);
}

/* ---- the tree ---- */

TEST(tree)
{
	const struct yaml_node *root = parse("a: 1\n"
					     "b:\n"
					     "  - x\n"
					     "  - [y, 'z']\n"
					     "c: {d: \"e f\"}\n"
					     "g: |\n"
					     "  7\n");
	const struct yaml_node *b = yaml_find(root, "b"), *d = yaml_find(yaml_find(root, "c"), "d");

	TEST_ASSERT_EQUAL_INT(YAML_MAP, root->kind);
	TEST_ASSERT_EQUAL_UINT(4, root->count);
	TEST_ASSERT_EQUAL_STRING("a", root->first->key);
	TEST_ASSERT_EQUAL_STRING("1", root->first->text);
	TEST_ASSERT_FALSE(root->first->quoted);
	TEST_ASSERT_EQUAL_INT(YAML_LIST, b->kind);
	TEST_ASSERT_EQUAL_UINT(2, b->count);
	TEST_ASSERT_EQUAL_UINT(2, b->line); /* of its key */
	TEST_ASSERT_NULL(b->first->key);
	TEST_ASSERT_EQUAL_UINT(3, b->first->line);
	TEST_ASSERT_EQUAL_UINT(5, b->first->column);
	TEST_ASSERT_EQUAL_STRING("z", b->first->next->first->next->text);
	TEST_ASSERT_TRUE(b->first->next->first->next->quoted);
	TEST_ASSERT_NULL(b->first->next->next);
	TEST_ASSERT_EQUAL_STRING("e f", d->text);
	TEST_ASSERT_TRUE(d->quoted);
	TEST_ASSERT_EQUAL_UINT(5, d->line);
	TEST_ASSERT_EQUAL_UINT(5, d->column);
	TEST_ASSERT_TRUE(yaml_find(root, "g")->quoted);
	TEST_ASSERT_EQUAL_STRING("7\n", yaml_find(root, "g")->text);
	TEST_ASSERT_EQUAL_STRING("t", d->file);
	TEST_ASSERT_NULL(yaml_find(root, "d"));
	TEST_ASSERT_NULL(yaml_find(b, "x"));
	TEST_ASSERT_NULL(yaml_find(NULL, "x"));
	TEST_ASSERT_NULL(yaml_first(NULL));
	TEST_ASSERT_NULL(yaml_first(d));
}

TEST(typed)
{
	const struct yaml_node *n = parse("[yes, 12, -1.5, '12', text, ~, null, '', 9223372036854775808, {}]")->first;
	bool b = false;
	int64_t i = 0;
	double r = 0;

	TEST_ASSERT_EQUAL_INT(0, yaml_bool(n, &b));
	TEST_ASSERT_TRUE(b);
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_int(n, &i));
	n = n->next;
	TEST_ASSERT_EQUAL_INT(0, yaml_int(n, &i));
	TEST_ASSERT_EQUAL_INT64(12, i);
	TEST_ASSERT_EQUAL_INT(0, yaml_real(n, &r));
	TEST_ASSERT_TRUE(r == 12);
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_bool(n, &b));
	n = n->next;
	TEST_ASSERT_EQUAL_INT(0, yaml_real(n, &r));
	TEST_ASSERT_TRUE(r == -1.5);
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_int(n, &i));
	n = n->next; /* '12' */
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_int(n, &i));
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_real(n, &r));
	n = n->next; /* text */
	TEST_ASSERT_FALSE(yaml_is_null(n));
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_real(n, &r));
	n = n->next;
	TEST_ASSERT_TRUE(yaml_is_null(n));
	n = n->next;
	TEST_ASSERT_TRUE(yaml_is_null(n));
	n = n->next; /* '' */
	TEST_ASSERT_FALSE(yaml_is_null(n));
	n = n->next;
	TEST_ASSERT_EQUAL_INT(-ERANGE, yaml_int(n, &i));
	n = n->next; /* {} */
	TEST_ASSERT_FALSE(yaml_is_null(n));
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_bool(n, &b));
	TEST_ASSERT_EQUAL_STRING("a mapping", yaml_kind_name(n));
}

TEST(line_ends)
{
	const struct yaml_node *root = parse("# dos\r\na: 1\r\nb:\r\n  c: '2'\r\n");

	TEST_ASSERT_EQUAL_UINT(2, yaml_find(root, "a")->line);
	TEST_ASSERT_EQUAL_STRING("1", yaml_find(root, "a")->text);
	TEST_ASSERT_EQUAL_UINT(4, yaml_find(yaml_find(root, "b"), "c")->line);
}

TEST(one_document_may_be_marked)
{
	TEST_ASSERT_EQUAL_STRING("1", yaml_find(parse("---\na: 1\n...\n"), "a")->text);
}

/* ---- refused ---- */

TEST(refusals)
{
	refused("", "t:1: nothing in it\n");
	refused("# only a comment\n", "t:1: nothing in it\n");
	refused("\xEF\xBB\xBF"
		"a: 1\n",
		"t:1: begins with a byte order mark; save it as UTF-8 without\n");
	refused("a: 1\nb: 2\na: 3\n", "t:3: a: said twice, first in line 1\n");
	refused("{a: 1, \"a\": 2}", "t:1: a: said twice, first in line 1\n");
	refused("a: &x 1\n", "t:1: anchors (&name) are not supported; write the value again where it is needed\n");
	refused("a: &x {}\n", "t:1: anchors (&name) are not supported; write the value again where it is needed\n");
	refused("a: &x []\n", "t:1: anchors (&name) are not supported; write the value again where it is needed\n");
	refused("a: *x\n", "t:1: aliases (*name) are not supported; write the value again\n");
	refused("a: !!int 1\n", "t:1: tags (!name) are not supported; quotes make text of anything\n");
	refused("a: !x {}\n", "t:1: tags (!name) are not supported; quotes make text of anything\n");
	refused("%YAML 1.1\n---\na: 1\n", "t:1: directives (%...) are not supported\n");
	refused("a: 1\n---\nb: 2\n", "t:2: a second document; one file holds one\n");
	refused("a:\n\tb: 1\n", "t:2: a tab at the start of the line; indent with blanks\n");
	refused("a:\n  b: 1\n\tc: 1\n", "t:3: a tab at the start of the line; indent with blanks\n");
	refused("[1]: 2\n", "t:1: a key must be text, not a mapping or list\n");
	refused("{a: 1}: 2\n", "t:1: a key must be text, not a mapping or list\n");
	refused("'': 2\n", "t:1: an empty key\n");
	refused("a: \"\\0\"\n", "t:1: a zero byte in text\n");
	refused("a: \"b\\0c\"\n", "t:1: a zero byte in text\n");
	refused("a: \"\\x\"\n",
		"t:1: while parsing a quoted scalar: did not find expected hexdecimal number in column 7\n");
	refused("a: 1\nb: \xFF\n", "t:2: not UTF-8: not a text file\n");
	refused("a: \033\n", "t:1: a control character: not a text file\n");
	refused_len("a: 1\n\0", 6, "t:2: a zero byte: not a text file\n");
	refused("a: [1, 2\n", "t:1: while parsing a flow sequence: did not find expected ',' or ']' at the end\n");
	refused("a: 1\n b: 2\n", "t:2: mapping values are not allowed in this context in column 3\n");
}

TEST(depth)
{
	char text[128] = "";

	for (int i = 0; i < YAML_DEPTH_MAX; i++)
		strcat(text, "[");
	for (int i = 0; i < YAML_DEPTH_MAX; i++)
		strcat(text, "]");
	parse(text);
	yaml_close(doc);
	memset(text, 0, sizeof(text));
	memset(text, '[', YAML_DEPTH_MAX + 1);
	refused(text, "t:1: nested deeper than 32 levels\n");
}

TEST(sizes)
{
	size_t len = YAML_SIZE_MAX;
	char *text = malloc(len + 1), *end;

	memset(text, '#', len + 1);
	memcpy(text, "a: b\n", 5);
	TEST_ASSERT_EQUAL_INT(0, yaml_open_text(&doc, "t", text, len, lines_start()));
	yaml_close(doc);
	refused_len(text, len + 1, "t:1: larger than 1048576 bytes\n");
	end = text;
	for (int i = 0; i < YAML_KEYS_MAX; i++)
		end += sprintf(end, "k%d: 1\n", i);
	parse(text);
	yaml_close(doc);
	sprintf(end, "one_more: 1\n");
	refused(text, "t:1001: more than 1000 keys in one mapping\n");
	free(text);
}

TEST(files)
{
	char path[] = "/tmp/test_yaml.XXXXXX", expected[256];
	int fd = mkstemp(path);

	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL_INT(-EINVAL, yaml_open_file(&doc, path, lines_start()));
	snprintf(expected, sizeof(expected), "%s:1: nothing in it\n", path);
	TEST_ASSERT_EQUAL_STRING(expected, lines);
	TEST_ASSERT_EQUAL_INT(5, write(fd, "a: b\n", 5));
	TEST_ASSERT_EQUAL_INT(0, yaml_open_file(&doc, path, lines_start()));
	TEST_ASSERT_EQUAL_STRING("b", yaml_find(yaml_root(doc), "a")->text);
	TEST_ASSERT_EQUAL_STRING(path, yaml_root(doc)->file);
	yaml_close(doc);
	TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, YAML_SIZE_MAX + 1));
	TEST_ASSERT_EQUAL_INT(-EFBIG, yaml_open_file(&doc, path, lines_start()));
	close(fd);
	unlink(path);
	TEST_ASSERT_EQUAL_INT(-ENOENT, yaml_open_file(&doc, path, lines_start()));
	snprintf(expected, sizeof(expected), "%s: No such file or directory\n", path);
	TEST_ASSERT_EQUAL_STRING(expected, lines);
	TEST_ASSERT_NULL(doc);
	TEST_ASSERT_EQUAL_INT(-EISDIR, yaml_open_file(&doc, "/tmp", lines_start()));
	TEST_ASSERT_EQUAL_STRING("/tmp: Is a directory\n", lines);
}
