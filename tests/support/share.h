/* Tests that go the same ways through the code with one case after the other run fewer of them where a case takes long: see
 * DORY_TEST_SHARE in tests/CMakeLists.txt. */
#ifndef DORY_TEST_SHARE_H
#define DORY_TEST_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Of so many cases, those that run here: at least one. */
static inline uint32_t share_of(uint32_t cases) { return (cases * DORY_TEST_SHARE + 99) / 100; }

/* For a case of its own that is large, but not another way. */
static inline bool share_is_all(void) { return DORY_TEST_SHARE >= 100; }

#endif
