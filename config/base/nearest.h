/* nearest.h: which word did they mean?
 *
 *	nearest_word("torque_limti", keys)  ->  "torque_limit"
 */
#pragma once

#include <stddef.h>

#define NEAREST_LEN_MAX 64 /* longer words are near nothing */

/* Letters to insert, remove, replace or swap with a neighbour to make b of a; NEAREST_LEN_MAX + 1 for long words.
 * Declared for tests. */
size_t nearest_distance(const char *a, const char *b);

/* Is candidate nearer to word than *best (NULL: nothing yet), and near enough for a slip of the finger?  Then it is
 * the new *best.  Called once for each word there is. */
void nearest_try(const char *word, const char *candidate, const char **best);

/* The nearest of words, which end with NULL, or NULL. */
const char *nearest_word(const char *word, const char *const *words);
