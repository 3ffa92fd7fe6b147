// What glibc adds to C's allocation, which no module of Swift's has. Other C libraries have none of it.
#ifndef CMALLOC_SHIM_H
#define CMALLOC_SHIM_H

#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static inline void cmalloc_give_back(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

#endif
