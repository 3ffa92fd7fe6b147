// Nettle, 3.4 or newer, for the SHA-256 of generated identifiers. libarchive uses it as well.
#ifndef CNETTLE_SHIM_H
#define CNETTLE_SHIM_H

#include <nettle/sha2.h>
#include <nettle/version.h>

// Writes the 32 bytes of the hash, and begins another one. Nettle 4 knows by itself how many they are.
static inline void cnettle_sha256_digest(struct sha256_ctx *context, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR >= 4
    nettle_sha256_digest(context, digest);
#else
    nettle_sha256_digest(context, SHA256_DIGEST_SIZE, digest);
#endif
}

#endif
