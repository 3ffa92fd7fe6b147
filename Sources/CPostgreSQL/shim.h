// libpq (https://www.postgresql.org/docs/current/libpq.html), loaded when the first server is asked for: with it come a dozen
// libraries, of TLS, Kerberos and LDAP, which take as long to load as the rest of the program's start. So nothing is linked, and
// only who imports into a server needs the library.
//
// Each function is called by a wrapper of the same name behind `c`. `cpostgresql_load` comes first: without the library, the
// wrappers must not be called.
#ifndef CPOSTGRESQL_SHIM_H
#define CPOSTGRESQL_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#ifdef __APPLE__
#define CPOSTGRESQL_LIBRARY "libpq.5.dylib"
#else
#define CPOSTGRESQL_LIBRARY "libpq.so.5"
#endif

/// The library, which stays loaded; NULL where it cannot be had (`dlerror` says why).
static inline void *cpostgresql_load(void) { return dlopen(CPOSTGRESQL_LIBRARY, RTLD_NOW); }

// A function's address is looked up once; two threads at once find the same.
#define CPOSTGRESQL_FUNCTION(name)                                                          \
    static __typeof__(&name) found;                                                         \
    __typeof__(&name) function = __atomic_load_n(&found, __ATOMIC_RELAXED);                 \
    if (!function) {                                                                        \
        function = (__typeof__(&name))dlsym(cpostgresql_load(), #name);                     \
        __atomic_store_n(&found, function, __ATOMIC_RELAXED);                               \
    }

#define CPOSTGRESQL_1(result, name, A)                                                      \
    static inline result c##name(A a) { CPOSTGRESQL_FUNCTION(name) return function(a); }
#define CPOSTGRESQL_2(result, name, A, B)                                                   \
    static inline result c##name(A a, B b) { CPOSTGRESQL_FUNCTION(name) return function(a, b); }
#define CPOSTGRESQL_3(result, name, A, B, C)                                                \
    static inline result c##name(A a, B b, C c) { CPOSTGRESQL_FUNCTION(name) return function(a, b, c); }

CPOSTGRESQL_3(int, PQcancel, PGcancel *, char *, int)
CPOSTGRESQL_1(int, PQbackendPID, const PGconn *)
CPOSTGRESQL_1(void, PQclear, PGresult *)
CPOSTGRESQL_1(char *, PQcmdStatus, PGresult *)
CPOSTGRESQL_1(char *, PQcmdTuples, PGresult *)
CPOSTGRESQL_1(PQconninfoOption *, PQconninfo, PGconn *)
CPOSTGRESQL_1(void, PQconninfoFree, PQconninfoOption *)
CPOSTGRESQL_2(PQconninfoOption *, PQconninfoParse, const char *, char **)
CPOSTGRESQL_1(PostgresPollingStatusType, PQconnectPoll, PGconn *)
CPOSTGRESQL_3(PGconn *, PQconnectStartParams, const char *const *, const char *const *, int)
CPOSTGRESQL_1(int, PQconnectionNeedsPassword, const PGconn *)
CPOSTGRESQL_1(int, PQconsumeInput, PGconn *)
CPOSTGRESQL_1(char *, PQerrorMessage, const PGconn *)
CPOSTGRESQL_3(char *, PQescapeIdentifier, PGconn *, const char *, size_t)
CPOSTGRESQL_1(void, PQfinish, PGconn *)
CPOSTGRESQL_1(int, PQflush, PGconn *)
CPOSTGRESQL_1(void, PQfreeCancel, PGcancel *)
CPOSTGRESQL_1(void, PQfreemem, void *)
CPOSTGRESQL_1(PGcancel *, PQgetCancel, PGconn *)
CPOSTGRESQL_1(PGresult *, PQgetResult, PGconn *)
CPOSTGRESQL_3(int, PQgetisnull, const PGresult *, int, int)
CPOSTGRESQL_3(int, PQgetlength, const PGresult *, int, int)
CPOSTGRESQL_3(char *, PQgetvalue, const PGresult *, int, int)
CPOSTGRESQL_1(char *, PQhost, const PGconn *)
CPOSTGRESQL_1(int, PQisBusy, PGconn *)
CPOSTGRESQL_1(int, PQnfields, const PGresult *)
CPOSTGRESQL_1(int, PQntuples, const PGresult *)
CPOSTGRESQL_1(char *, PQport, const PGconn *)
CPOSTGRESQL_3(int, PQputCopyData, PGconn *, const char *, int)
CPOSTGRESQL_2(int, PQputCopyEnd, PGconn *, const char *)
CPOSTGRESQL_2(char *, PQresultErrorField, const PGresult *, int)
CPOSTGRESQL_1(char *, PQresultErrorMessage, const PGresult *)
CPOSTGRESQL_1(ExecStatusType, PQresultStatus, const PGresult *)
CPOSTGRESQL_2(int, PQsendQuery, PGconn *, const char *)
CPOSTGRESQL_1(int, PQserverVersion, const PGconn *)
CPOSTGRESQL_2(PGVerbosity, PQsetErrorVerbosity, PGconn *, PGVerbosity)
CPOSTGRESQL_3(PQnoticeProcessor, PQsetNoticeProcessor, PGconn *, PQnoticeProcessor, void *)
CPOSTGRESQL_1(int, PQsetSingleRowMode, PGconn *)
CPOSTGRESQL_2(int, PQsetnonblocking, PGconn *, int)
CPOSTGRESQL_1(int, PQsocket, const PGconn *)
CPOSTGRESQL_1(ConnStatusType, PQstatus, const PGconn *)

static inline int cPQsendQueryParams(
    PGconn *connection, const char *command, int count, const Oid *types, const char *const *values, const int *lengths,
    const int *formats, int result_format) {
    CPOSTGRESQL_FUNCTION(PQsendQueryParams)
    return function(connection, command, count, types, values, lengths, formats, result_format);
}

// Several statements in one round trip (https://www.postgresql.org/docs/current/libpq-pipeline-mode.html), from version 14 on.
#ifdef LIBPQ_HAS_PIPELINING
CPOSTGRESQL_1(int, PQenterPipelineMode, PGconn *)
CPOSTGRESQL_1(int, PQexitPipelineMode, PGconn *)
CPOSTGRESQL_1(int, PQpipelineSync, PGconn *)

/// True if the library that is loaded has them.
static inline int cpostgresql_has_pipelines(void) { return dlsym(cpostgresql_load(), "PQenterPipelineMode") != NULL; }
static inline int cpostgresql_was_skipped(const PGresult *result) { return cPQresultStatus(result) == PGRES_PIPELINE_ABORTED; }
#else
static inline int cPQenterPipelineMode(PGconn *connection) { return 0; }
static inline int cPQexitPipelineMode(PGconn *connection) { return 0; }
static inline int cPQpipelineSync(PGconn *connection) { return 0; }
static inline int cpostgresql_has_pipelines(void) { return 0; }
static inline int cpostgresql_was_skipped(const PGresult *result) { return 0; }
#endif

#endif
