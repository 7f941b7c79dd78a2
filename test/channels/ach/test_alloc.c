/* test_alloc.c: nothing in put or get allocates.
 *
 * This program has its own malloc and mmap, which count and then do what the C
 * library's do.  A sanitizer brings its own too, so there this test has nothing to say.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static int allocations; /* of this process, all threads */

#ifndef LIB_SANITIZED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

static void count(void)
{
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	count();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count();
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	count();
	return __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	count();
	return __libc_memalign(align, size);
}

int posix_memalign(void **memory, size_t align, size_t size)
{
	count();
	*memory = __libc_memalign(align, size);
	return *memory ? 0 : 12;
}

void *mmap(void *address, size_t len, int prot, int flags, int fd, off_t offset)
{
	count();
	return (void *)syscall(SYS_mmap, address, len, prot, flags, fd, offset);
}

#endif

#define ROUNDS 200

static ach_channel_t writer, chan, other;
static char name[LIB_NAME_LEN];

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "alloc"), 4, 4096, NULL));
	LIB_STATUS(ACH_OK, ach_open(&writer, name, NULL));
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_STATUS(ACH_OK, ach_open(&other, name, NULL));
#ifdef LIB_SANITIZED
	TEST_IGNORE_MESSAGE("a sanitizer has its own malloc");
#endif
}

void tearDown(void)
{
	(void)ach_close(&writer);
	(void)ach_close(&chan);
	(void)ach_close(&other);
}

TEST(test_the_counter_counts)
{
	int before = allocations;
	void *volatile memory = malloc(10);

	free(memory);
	TEST_ASSERT_EQUAL_INT(before + 1, allocations);
	memory = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TEST_ASSERT_TRUE(memory != MAP_FAILED);
	munmap(memory, 1);
	TEST_ASSERT_EQUAL_INT(before + 2, allocations);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&other));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&other, name, NULL)); /* this one may, and so it shows */
	TEST_ASSERT_GREATER_THAN_INT(before + 2, allocations);
}

static uint8_t buf[16384];

static void put_and_get(void)
{
	struct timespec past = { 0, 0 }, soon = lib_after_ms(CLOCK_MONOTONIC, 1);
	ach_channel_t *any[] = { &other, &chan };
	const void *peek;
	void *room;
	size_t len, which;

	LIB_STATUS(ACH_OK, ach_put(&writer, buf, 1 + lib_random(&(uint64_t){ 7 }) % sizeof buf));
	LIB_STATUS(ACH_OK, ach_reserve(&writer, 100, &room));
	memset(room, 1, 100);
	LIB_STATUS(ACH_OK, ach_commit(&writer, 100));
	LIB_STATUS(ACH_OK, ach_put(&writer, buf, 1));
	LIB_STATUS(ACH_OK, ach_wait_any(any, 2, NULL, &which));
	LIB_STATUS(ACH_OVERFLOW, ach_get(&chan, NULL, 0, &len, NULL, 0));
	(void)ach_get(&chan, buf, sizeof buf, &len, NULL, 0);
	(void)ach_peek(&chan, &peek, &len, NULL, 0);
	LIB_STATUS(ACH_OK, ach_peek_end(&chan));
	(void)ach_get(&chan, buf, sizeof buf, &len, NULL, ACH_O_LAST);
	LIB_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, &len, NULL, ACH_O_COPY));
	LIB_STATUS(ACH_EAGAIN, ach_get(&chan, buf, sizeof buf, &len, NULL, 0));
	LIB_STATUS(ACH_TIMEOUT, ach_get(&chan, buf, sizeof buf, &len, &past, ACH_O_WAIT));
	LIB_STATUS(ACH_TIMEOUT, ach_get(&chan, buf, sizeof buf, &len, &soon, ACH_O_WAIT));
	LIB_STATUS(ACH_OK, ach_flush(&other));
	LIB_STATUS(ACH_TIMEOUT, ach_wait_any(any, 2, &past, &which));
	LIB_STATUS(ACH_EINVAL, ach_put(&writer, NULL, 1));
	LIB_STATUS(ACH_OVERFLOW, ach_put(&writer, buf, sizeof buf + 1));
	LIB_STATUS(ACH_OK, ach_cancel(&chan, NULL));
	LIB_STATUS(ACH_CANCELED, ach_get(&chan, buf, sizeof buf, &len, NULL, 0));
	chan.cancel = 0;
}

TEST(test_put_and_get)
{
	int before = allocations;

	for (int i = 0; i < ROUNDS; i++) /* the first one included */
		put_and_get();
	TEST_ASSERT_EQUAL_INT(before, allocations);
}

static void descriptor(void)
{
	struct pollfd p = { .events = POLLIN };
	int before, i;

	LIB_STATUS(ACH_OK, ach_flush(&chan));
	LIB_STATUS(ACH_OK, ach_channel_fd(&chan, &p.fd));
	before = allocations;
	for (i = 0; i < ROUNDS && allocations == before; i++) {
		LIB_STATUS(ACH_OK, ach_put(&writer, buf, 10));
		LIB_CHECK(poll(&p, 1, LIB_HANG_S * 1000) == 1);
		LIB_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, NULL, NULL, ACH_O_LAST));
		LIB_STATUS(ACH_EAGAIN, ach_get(&chan, buf, sizeof buf, NULL, NULL, 0));
	}
	LIB_CHECK(i == ROUNDS);
	LIB_CHECK(allocations == before);
}

static int descriptor_child(void *unused)
{
	(void)unused;
	descriptor();
	return 0;
}

TEST(test_descriptor)
{
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(descriptor_child, NULL)));
}
