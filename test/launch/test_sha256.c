/* test_sha256.c: the examples of FIPS 180-4, and others that sha256sum(1) agrees with. */
#include "test/channels/testcase.h"

#include "launch/blackbox/sha256.h"

static void expect(const char *hash, const char *part, int times)
{
	char text[SHA256_TEXT_MAX];
	struct sha256 s;

	sha256_start(&s);
	for (int i = 0; i < times; i++)
		sha256_add(&s, part, strlen(part));
	sha256_text(&s, text);
	TEST_ASSERT_EQUAL_STRING(hash, text);
}

TEST(vectors)
{
	expect("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "", 1);
	expect("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc", 1);
	expect("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
	       "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1);
	expect("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "a", 1000000);
}
