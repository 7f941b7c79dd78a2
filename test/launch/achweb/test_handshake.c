/* test_handshake.c: SHA-1 and the accept key, by the vectors of FIPS 180-4 and RFC 6455. */
#include "test/lib/testcase.h"

#include "launch/achweb/handshake.h"

static void expect(const char *hex, const void *bytes, size_t len)
{
	uint8_t digest[20];
	char text[41];

	handshake_sha1(digest, bytes, len);
	for (int i = 0; i < 20; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
	TEST_ASSERT_EQUAL_STRING(hex, text);
}

TEST(sha1_of_known_texts)
{
	static char million[1000000];

	memset(million, 'a', sizeof(million));
	expect("da39a3ee5e6b4b0d3255bfef95601890afd80709", "", 0);
	expect("a9993e364706816aba3e25717850c26c9cd0d89d", "abc", 3);
	expect("84983e441c3bd26ebaae4aa1f95129e5e54670f1", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	       56);
	expect("34aa973cd4c4daa4f61eeb2bdbad27316534016f", million, sizeof(million));
	/* around the lengths at which one more block is needed */
	expect("c1c8bbdc22796e28c0e15163d20899b65621d65a", million, 55);
	expect("c2db330f6083854c99d4b5bfb6e8f29f201be699", million, 56);
	expect("0098ba824b5c16427bd7a1122a5a442a25ec644d", million, 64);
}

TEST(the_accept_key_of_the_rfc)
{
	char accept[HANDSHAKE_ACCEPT_MAX];

	TEST_ASSERT_TRUE(handshake_accept(accept, "dGhlIHNhbXBsZSBub25jZQ=="));
	TEST_ASSERT_EQUAL_STRING("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", accept);
}

TEST(bad_keys_are_refused)
{
	static const char *const cases[] = { "",
					     "dGhlIHNhbXBsZSBub25jZQ=",
					     "dGhlIHNhbXBsZSBub25jZQ",
					     "dGhlIHNhbXBsZSBub25jZQ===",
					     "dGhlIHNhbXBsZSBub25jZ===",
					     "dGhlIHNhbXBsZSBub25jZQx==",
					     "dGhlIHNhbXBsZSBub25 ZQ==",
					     "dGhlIHNhbXBsZSBub25jZQ==x" };
	char accept[HANDSHAKE_ACCEPT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		TEST_ASSERT_FALSE_MESSAGE(handshake_accept(accept, cases[i]), cases[i]);
}
