// OpenSSL's libcrypto, 3.0 or newer, for the SHA-256 of generated identifiers.
#ifndef CCRYPTO_SHIM_H
#define CCRYPTO_SHIM_H

#include <openssl/err.h>
#include <openssl/evp.h>

#endif
