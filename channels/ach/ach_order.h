/* ach_order.h: bytes and index entries that change under a reader.
 *
 * A reader may copy what a writer is changing.  It finds out afterwards, if
 * the processor keeps two orders: the writer's store of `reclaim` before its
 * first changed byte (P2), and the reader's copies before its load of
 * `reclaim` (R3).  Two fences do that, around plain copies.
 *
 * ThreadSanitizer understands neither fences nor this kind of race.  Under it
 * every word is stored with release and loaded with acquire, which gives the
 * same two orders without a fence.
 */
#pragma once

#include <stdatomic.h>

#include "config/base/base.h"

#if defined(__SANITIZE_THREAD__)
#define ACH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ACH_TSAN 1
#endif
#endif

#ifndef ACH_TSAN

#define ACH_LOAD_UNCHECKED memory_order_relaxed
#define ACH_STORE_UNCHECKED memory_order_relaxed

static inline void ach_fence_before_change(void) /* P2 */
{
#ifdef __aarch64__
	__asm__ volatile("dmb ishst" ::: "memory"); /* the half of a release fence that is needed, 6 ns cheaper */
#else
	atomic_thread_fence(memory_order_release);
#endif
}

static inline void ach_fence_after_copy(void) /* R3 */
{
	atomic_thread_fence(memory_order_acquire);
}

static inline void ach_copy_in(uint8_t *to, const void *from, size_t len)
{
	memcpy(to, from, len);
}

static inline void ach_copy_out(void *to, const uint8_t *from, size_t len)
{
	memcpy(to, from, len);
}

#else

#define ACH_LOAD_UNCHECKED memory_order_acquire
#define ACH_STORE_UNCHECKED memory_order_release

static inline void ach_fence_before_change(void)
{
}

static inline void ach_fence_after_copy(void)
{
}

/* Messages start on multiples of ACH_ALIGN, so whole words of them are aligned. */
static inline void ach_copy_in(uint8_t *to, const void *from, size_t len)
{
	const uint8_t *f = from;
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word), to += sizeof(word), f += sizeof(word)) {
		memcpy(&word, f, sizeof(word));
		atomic_store_explicit((_Atomic uint64_t *)to, word, memory_order_release);
	}
	for (; len; len--)
		atomic_store_explicit((_Atomic uint8_t *)to++, *f++, memory_order_release);
}

static inline void ach_copy_out(void *to, const uint8_t *from, size_t len)
{
	uint8_t *t = to;
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word), t += sizeof(word), from += sizeof(word)) {
		word = atomic_load_explicit((const _Atomic uint64_t *)from, memory_order_acquire);
		memcpy(t, &word, sizeof(word));
	}
	for (; len; len--)
		*t++ = atomic_load_explicit((const _Atomic uint8_t *)from++, memory_order_acquire);
}

#endif
