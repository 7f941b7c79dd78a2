/* test_sha256.c: the examples of FIPS 180-4, and others that sha256sum(1) agrees with. */
#include "test/lib/testcase.h"

#include "config/base/sha256.h"

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

/* Around the end of a block, where the length has room or has not. */
TEST(lengths_around_a_block)
{
	expect("9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318", "a", 55);
	expect("b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a", "a", 56);
	expect("7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34", "a", 63);
	expect("ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb", "a", 64);
	expect("635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0", "a", 65);
	expect("31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb", "a", 119);
	expect("2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c", "a", 120);
}
