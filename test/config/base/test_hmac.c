/* test_hmac.c: the examples of RFC 4231. */
#include "test/lib/testcase.h"

#include "config/base/hmac.h"

TEST(the_examples_of_rfc_4231)
{
	static uint8_t aa[131], dd[50], cd[50];
	static const uint8_t counted[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
					   14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25 };
	static const char last[] =
		"This is a test using a larger than block-size key and a larger than block-size data. "
		"The key needs to be hashed before being used by the HMAC algorithm.";
	const struct {
		const void *key;
		size_t key_len;
		const void *text;
		size_t len;
		const char *hex;
	} rows[] = {
		{ "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", 20, "Hi There", 8,
		  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
		{ "Jefe", 4, "what do ya want for nothing?", 28,
		  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
		{ aa, 20, dd, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
		{ counted, 25, cd, 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
		{ aa, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
		  "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
		{ aa, 131, last, sizeof(last) - 1, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
	};

	memset(aa, 0xaa, sizeof(aa));
	memset(dd, 0xdd, sizeof(dd));
	memset(cd, 0xcd, sizeof(cd));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t digest[SHA256_BYTES];
		char text[SHA256_TEXT_MAX];
		struct hmac h;

		hmac_start(&h, rows[i].key, rows[i].key_len);
		for (size_t at = 0; at < rows[i].len; at++) /* in pieces */
			hmac_add(&h, (const char *)rows[i].text + at, 1);
		hmac_end(&h, digest);
		for (size_t n = 0; n < sizeof(digest); n++)
			snprintf(text + 2 * n, 3, "%02x", digest[n]);
		TEST_ASSERT_EQUAL_STRING(rows[i].hex, text);
	}
}
