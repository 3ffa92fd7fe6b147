// libxxhash 0.8, for the XXH3 checksums of chunks and of source ranges.
#ifndef CXXHASH_SHIM_H
#define CXXHASH_SHIM_H

#include <xxhash.h>

#endif
