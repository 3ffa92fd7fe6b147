// What valgrind --tool=callgrind --instr-atstart=no is told: where counting begins and ends. Nothing happens outside of it,
// or where the package was built without valgrind's headers.
#ifndef CCALLGRIND_SHIM_H
#define CCALLGRIND_SHIM_H

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

static inline int ccallgrind_is_counting_possible(void) { return RUNNING_ON_VALGRIND ? 1 : 0; }
static inline void ccallgrind_start(void) { CALLGRIND_START_INSTRUMENTATION; }
static inline void ccallgrind_stop(void) { CALLGRIND_STOP_INSTRUMENTATION; }

#else

static inline int ccallgrind_is_counting_possible(void) { return 0; }
static inline void ccallgrind_start(void) {}
static inline void ccallgrind_stop(void) {}

#endif
#endif
