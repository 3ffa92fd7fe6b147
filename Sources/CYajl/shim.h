// Debian's yajl 2.1. `yajl_config` is variadic in C, which Swift cannot call: one shim per option used.
#ifndef CYAJL_SHIM_H
#define CYAJL_SHIM_H

#include <yajl/yajl_parse.h>
#include <yajl/yajl_version.h>

static inline int cyajl_allow_multiple_values(yajl_handle handle, int allowed) {
    return yajl_config(handle, yajl_allow_multiple_values, allowed);
}

static inline int cyajl_dont_validate_strings(yajl_handle handle, int unchecked) {
    return yajl_config(handle, yajl_dont_validate_strings, unchecked);
}

#endif
