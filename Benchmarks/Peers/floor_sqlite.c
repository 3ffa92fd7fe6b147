/* Rows that are ready, bound and stepped into a new store on one connection: what writing them costs SQLite at least.

   usage: floor_sqlite STORE ROWS COMMIT_EVERY PRAGMAS CREATE INSERT

   ROWS is a file of values, made beforehand: a byte that tells the kind (0 null, 1 integer, 2 double, 3 text), then
   eight bytes for a number, or four for a text's length and the text; all in the machine's byte order. It is read into
   memory before the clock starts. INSERT has a parameter for each value of a row.

   Prints "seconds_counted", the time of BEGIN, bind, step, reset and COMMIT, with the checkpoints that commits make;
   and, not in it, "open_seconds" for opening the store and making the table, and "close_seconds" for closing it with
   the last checkpoint. */

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(int code, int expected, sqlite3 *store) {
    if (code == expected) return;
    fprintf(stderr, "floor_sqlite: %s\n", store == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(store));
    exit(74);
}

static char *contents(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        long end = ftell(file);
        rewind(file);
        *size = end < 0 ? 0 : (size_t)end;
        bytes = malloc(*size + 1);
        if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (bytes == NULL) {
        fprintf(stderr, "floor_sqlite: %s: %s\n", path, strerror(errno));
        exit(66);
    }
    fclose(file);
    return bytes;
}

/* Binds the value at `at` and gives back where the next one begins. */
static const char *bind(sqlite3_stmt *insert, int parameter, const char *at) {
    char kind = *at++;
    int64_t integer;
    double number;
    uint32_t length;
    int code = SQLITE_ERROR;

    switch (kind) {
        case 0:
            code = sqlite3_bind_null(insert, parameter);
            break;
        case 1:
            memcpy(&integer, at, sizeof integer);
            at += sizeof integer;
            code = sqlite3_bind_int64(insert, parameter, integer);
            break;
        case 2:
            memcpy(&number, at, sizeof number);
            at += sizeof number;
            code = sqlite3_bind_double(insert, parameter, number);
            break;
        case 3:
            memcpy(&length, at, sizeof length);
            at += sizeof length;
            code = sqlite3_bind_text(insert, parameter, at, (int)length, SQLITE_STATIC);
            at += length;
            break;
    }
    check(code, SQLITE_OK, sqlite3_db_handle(insert));
    return at;
}

int main(int argc, char **argv) {
    sqlite3 *store = NULL;
    sqlite3_stmt *insert, *begin, *commit;
    size_t size = 0;
    unsigned long long rows = 0;

    if (argc != 7) {
        fprintf(stderr, "usage: floor_sqlite STORE ROWS COMMIT_EVERY PRAGMAS CREATE INSERT\n");
        return 64;
    }
    char *bytes = contents(argv[2], &size);
    const char *at = bytes, *end = bytes + size;
    unsigned long long commit_every = strtoull(argv[3], NULL, 10);

    double before_open = now();
    /* One thread has the connection to itself, as each of the importer's workers has. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(sqlite3_open_v2(argv[1], &store, flags, NULL), SQLITE_OK, store);
    check(sqlite3_exec(store, argv[4], NULL, NULL, NULL), SQLITE_OK, store);
    check(sqlite3_exec(store, argv[5], NULL, NULL, NULL), SQLITE_OK, store);
    check(sqlite3_prepare_v2(store, argv[6], -1, &insert, NULL), SQLITE_OK, store);
    check(sqlite3_prepare_v2(store, "BEGIN IMMEDIATE", -1, &begin, NULL), SQLITE_OK, store);
    check(sqlite3_prepare_v2(store, "COMMIT", -1, &commit, NULL), SQLITE_OK, store);
    int columns = sqlite3_bind_parameter_count(insert);

    double start = now();
    while (at < end) {
        check(sqlite3_step(begin), SQLITE_DONE, store);
        check(sqlite3_reset(begin), SQLITE_OK, store);
        for (unsigned long long row = 0; row < commit_every && at < end; row++, rows++) {
            for (int column = 1; column <= columns; column++) at = bind(insert, column, at);
            check(sqlite3_step(insert), SQLITE_DONE, store);
            check(sqlite3_reset(insert), SQLITE_OK, store);
        }
        check(sqlite3_step(commit), SQLITE_DONE, store);
        check(sqlite3_reset(commit), SQLITE_OK, store);
    }
    double stop = now();
    sqlite3_finalize(insert);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    check(sqlite3_close(store), SQLITE_OK, NULL);
    double closed = now();
    free(bytes);
    printf("{\"seconds_counted\": %.6f, \"open_seconds\": %.6f, \"close_seconds\": %.6f, \"rows\": %llu}\n",
           stop - start, start - before_open, closed - stop, rows);
    return 0;
}
