// zlib, libbz2, liblzma and zstd 1.4 or newer, for compressed sources. libarchive uses them as well.
#ifndef CCOMPRESSION_SHIM_H
#define CCOMPRESSION_SHIM_H

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#endif
