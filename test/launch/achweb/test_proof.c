/* test_proof.c: proofs: what they are of, and how they are read. */
#include "test/lib/testcase.h"

#include "launch/achweb/proof.h"

#define ID "00112233445566778899aabbccddeeff"
#define CLIENT "ffeeddccbbaa99887766554433221100"
#define CHALLENGE "0123456789abcdef0123456789abcdef"
#define ZEROES "0000000000000000000000000000000000000000000000000000000000000000"

static const uint8_t key[PROOF_KEY] = "a key of thirty-two bytes, that";

static void make(char proof[PROOF_MAX], const char *const *fields)
{
	proof_make(proof, key, fields);
}

/* Computed by another program, from "3:ask1:-32:..." */
TEST(a_proof_is_the_hmac_of_fields_with_their_lengths)
{
	char proof[PROOF_MAX], body[PROOF_MAX];

	proof_digest(body, "{}", 2);
	TEST_ASSERT_EQUAL_STRING("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", body);
	make(proof, (const char *const[]){ "ask", "-", CLIENT, "1", "POST", "/stop", body, NULL });
	TEST_ASSERT_EQUAL_STRING("beb61dd69502b6b30818db259e0ffb05949644f681aedc3cba594a5e12461499", proof);
}

TEST(fields_that_join_to_the_same_text_have_other_proofs)
{
	static const char *const lists[][5] = {
		{ "ab", "c" },	 { "a", "bc" },	  { "abc" },	 { "abc", "" }, { "", "abc" }, { "a", "b", "c" },
		{ "1:a", "bc" }, { "a1:b", "c" }, { "2:ab1:c" }, { "" },	{ NULL },
	};
	const size_t n = sizeof(lists) / sizeof(*lists);
	char proofs[sizeof(lists) / sizeof(*lists)][PROOF_MAX];

	for (size_t i = 0; i < n; i++) {
		make(proofs[i], lists[i]);
		for (size_t j = 0; j < i; j++)
			TEST_ASSERT_FALSE(proof_same(proofs[i], proofs[j], PROOF_MAX));
	}
}

/* A right claim in which each part is changed in turn. */
TEST(a_proof_with_any_field_changed_is_wrong)
{
	struct proof_claim right = { ID, CLIENT, "7", CHALLENGE, "", 7 }, c;
	static const char *const body = ZEROES;
	uint8_t other[PROOF_KEY];

	make(right.proof, (const char *const[]){ "ask", CHALLENGE, CLIENT, "7", "POST", "/act", body, NULL });
	TEST_ASSERT_TRUE(proof_is_right(&right, key, "POST", "/act", body));
	TEST_ASSERT_FALSE(proof_is_right(&right, key, "GET", "/act", body));
	TEST_ASSERT_FALSE(proof_is_right(&right, key, "POST", "/stop", body));
	TEST_ASSERT_FALSE(proof_is_right(&right, key, "POST", "/act", "1" ZEROES));
	memcpy(other, key, sizeof(other));
	other[PROOF_KEY - 1] ^= 1;
	TEST_ASSERT_FALSE(proof_is_right(&right, other, "POST", "/act", body));
	c = right;
	c.client[0] ^= 1;
	TEST_ASSERT_FALSE(proof_is_right(&c, key, "POST", "/act", body));
	c = right;
	c.count[0]++;
	TEST_ASSERT_FALSE(proof_is_right(&c, key, "POST", "/act", body));
	c = right;
	c.challenge[PROOF_WORD - 2] ^= 1;
	TEST_ASSERT_FALSE(proof_is_right(&c, key, "POST", "/act", body));
	for (size_t i = 0; i < PROOF_MAX - 1; i++) {
		c = right;
		c.proof[i] ^= 1;
		TEST_ASSERT_FALSE(proof_is_right(&c, key, "POST", "/act", body));
	}
	/* The answer to a request proves no request. */
	make(c.proof, (const char *const[]){ "answer", CHALLENGE, CLIENT, "7", "200", body, NULL });
	TEST_ASSERT_FALSE(proof_is_right(&c, key, "POST", "/act", body));
}

TEST(claims_are_read_strictly)
{
	static const struct {
		const char *text;
		bool fine;
	} rows[] = {
		{ ID " " CLIENT " 1 " CHALLENGE " " ZEROES, true },
		{ ID " " CLIENT " 999999999999999 - " ZEROES, true },
		{ ID " " CLIENT " 0 " CHALLENGE " " ZEROES, false },
		{ ID " " CLIENT " 01 " CHALLENGE " " ZEROES, false },
		{ ID " " CLIENT " -1 " CHALLENGE " " ZEROES, false },
		{ ID " " CLIENT " 1000000000000000 " CHALLENGE " " ZEROES, false },
		{ ID " " CLIENT "  1 " CHALLENGE " " ZEROES, false },
		{ ID " " CLIENT " 1 -- " ZEROES, false },
		{ ID " " CLIENT " 1 " ZEROES, false },
		{ ID " " CLIENT " 1 " CHALLENGE " " ZEROES " ", false },
		{ ID " " CLIENT " 1 " CHALLENGE " " ZEROES "0", false },
		{ ID " " CLIENT " 1 " CHALLENGE " " ZEROES " 0", false },
		{ ID " " CLIENT " 1 " CHALLENGE " ", false },
		{ ID " " CLIENT " 1 " CHALLENGE, false },
		{ ID "0 " CLIENT " 1 " CHALLENGE " " ZEROES, false },
		{ ID CLIENT " 1 " CHALLENGE " " ZEROES, false },
		{ " " ID " " CLIENT " 1 " CHALLENGE " " ZEROES, false },
		{ "00112233445566778899AABBCCDDEEFF " CLIENT " 1 " CHALLENGE " " ZEROES, false },
		{ "1", false },
		{ "", false },
	};
	struct proof_claim c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_INT_MESSAGE(rows[i].fine, proof_read(&c, rows[i].text), rows[i].text);
	TEST_ASSERT_TRUE(proof_read(&c, rows[1].text));
	TEST_ASSERT_EQUAL_UINT64(UINT64_C(999999999999999), c.number);
	TEST_ASSERT_EQUAL_STRING(ID, c.id);
	TEST_ASSERT_EQUAL_STRING(CLIENT, c.client);
	TEST_ASSERT_EQUAL_STRING("999999999999999", c.count);
	TEST_ASSERT_EQUAL_STRING(PROOF_NONE, c.challenge);
	TEST_ASSERT_EQUAL_STRING(ZEROES, c.proof);
}
