// Makes the n-th system call of a kind fail, be short, or be the last one, or stops the process there. scripts/fault-test and
// the tests build it and preload it (ld.so(8), LD_PRELOAD).
//
//   FAULTS_FOLDER   only calls on files below this folder count, threads and standard input wherever they are
//   FAULTS_CALL     write, sync, open, rename, unlink, truncate, read, thread; or change: all but open, read and thread
//   FAULTS_AT       which of them, from 1; 0 or nothing for none
//   FAULTS_HOW      error: that one fails; errors: that and all later ones; short: half of it is done;
//                   before, after: the process is killed there; stop: it stops itself (SIGSTOP) right before that one,
//                   the one as many further, and so on, as long as there is a file FAULTS_WHILE
//   FAULTS_ERRNO    the number that a failed call leaves in errno
//   FAULTS_NOTES    a file that gets the fault, and at the end how many calls there were of each kind
//
// The functions interposed are those by which the program, Swift's Foundation, SQLite and libarchive call the system. What
// the C library calls inside of itself (fopen, opendir) is not seen.

#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE, SYNC, OPEN, RENAME, UNLINK, TRUNCATE, READ, THREAD, CHANGE, KINDS };
static const char *const names[KINDS] = {
    "write", "sync", "open", "rename", "unlink", "truncate", "read", "thread", "change",
};

enum answer { GO, FAIL, SHORT, DIE };

const char *folder;
static size_t folder_length;
static enum kind wanted = KINDS;
static long wanted_at;
static const char *how = "";
static int fault = EIO;
static const char *notes, *stops;
static atomic_long counts[KINDS];
static pthread_mutex_t stopping = PTHREAD_MUTEX_INITIALIZER;

static void note(const char *text) {
    if (!notes) return;
    int file = (int)syscall(SYS_openat, AT_FDCWD, notes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    syscall(SYS_write, file, text, strlen(text));
    syscall(SYS_close, file);
}

__attribute__((constructor)) static void start(void) {
    // A program that this one starts runs without faults.
    unsetenv("LD_PRELOAD");
    const char *call = getenv("FAULTS_CALL"), *at = getenv("FAULTS_AT"), *number = getenv("FAULTS_ERRNO");
    for (int kind = 0; call && kind < KINDS; kind++)
        if (strcmp(call, names[kind]) == 0) wanted = (enum kind)kind;
    if (at) wanted_at = atol(at);
    if (number) fault = atoi(number);
    if (getenv("FAULTS_HOW")) how = getenv("FAULTS_HOW");
    notes = getenv("FAULTS_NOTES");
    stops = getenv("FAULTS_WHILE");
    folder = getenv("FAULTS_FOLDER");
    folder_length = folder ? strlen(folder) : 0;
}

__attribute__((destructor)) static void finish(void) {
    char text[512] = "";
    size_t length = 0;
    for (int kind = 0; kind < KINDS; kind++)
        length += (size_t)snprintf(
            text + length, sizeof text - length, "%s %ld\n", names[kind], atomic_load(&counts[kind]));
    note(text);
}

// Whether to be killed, where this is the call.
static bool is_meant(enum kind kind) {
    long count = atomic_fetch_add(&counts[kind], 1) + 1;
    if (wanted != kind || wanted_at <= 0) return false;
    if (strcmp(how, "stop") == 0) return count % wanted_at == 0;
    return count == wanted_at || (count > wanted_at && strcmp(how, "errors") == 0);
}

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

// What is to become of a call of a kind that works on what `path` names.
static enum answer answer(enum kind kind, const char *path) {
    bool changes = kind != OPEN && kind != READ && kind != THREAD;
    bool meant = is_meant(kind);
    if (changes) meant = is_meant(CHANGE) || meant;
    if (!meant) return GO;
    if (strcmp(how, "stop") == 0) {
        // To this thread: it does nothing more before it is stopped. One thread at a time: one that was about to stop when the
        // process was stopped looks again whether it still is to.
        pthread_mutex_lock(&stopping);
        if (stops && syscall(SYS_faccessat, AT_FDCWD, stops, F_OK) == 0) raise(SIGSTOP);
        pthread_mutex_unlock(&stopping);
        return GO;
    }
    char text[PATH_ROOM + 64];
    snprintf(text, sizeof text, "fault %s %s\n", names[kind], path);
    note(text);
    if (strcmp(how, "before") == 0) die();
    if (strcmp(how, "after") == 0) return DIE;
    if (strcmp(how, "short") == 0) return SHORT;
    return FAIL;
}

// The folder itself is `.`.
static bool is_inside(const char *path, char *result) {
    if (!folder || strncmp(path, folder, folder_length) != 0) return false;
    if (!path[folder_length]) {
        strcpy(result, ".");
        return true;
    }
    if (path[folder_length] != '/') return false;
    memmove(result, path + folder_length + 1, strlen(path + folder_length + 1) + 1);
    return true;
}

bool path_of(int descriptor, char *path) {
    if (!folder) return false;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_ROOM - 1);
    if (length < 0) return false;
    path[length] = 0;
    if (descriptor == 0 && strncmp(path, "pipe:", 5) == 0) return true;
    return is_inside(path, path);
}

bool path_at(int directory, const char *path, char *result) {
    if (!folder || !path) return false;
    if (path[0] == '/') return strlen(path) < PATH_ROOM && is_inside(path, result);
    char link[64], whole[PATH_ROOM];
    if (directory == AT_FDCWD) strcpy(link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, whole, PATH_ROOM - 2);
    if (length < 0 || (size_t)length + strlen(path) + 2 > PATH_ROOM) return false;
    whole[length] = '/';
    strcpy(whole + length + 1, path);
    return is_inside(whole, result);
}

#define REAL(result, name, ...)                                        \
    static result (*real)(__VA_ARGS__);                                \
    if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define FAILED (errno = fault, -1)

// MARK: Writing

#define WRITING(offset, length, call, half)                                       \
    char path[PATH_ROOM];                                                         \
    if (!path_of(file, path) || file == 0) return call;                           \
    bool journals = power_begin();                                                \
    enum answer what = answer(WRITE, path);                                       \
    ssize_t count;                                                                \
    if (what == FAIL) {                                                           \
        count = FAILED;                                                           \
    } else {                                                                      \
        if (journals) power_write(file, offset, length);                          \
        count = what == SHORT ? half : call;                                      \
    }                                                                             \
    if (what == DIE) die();                                                       \
    power_end();                                                                  \
    return count

static off_t place_of(int file) {
    if (fcntl(file, F_GETFL) & O_APPEND) {
        struct stat status;
        return fstat(file, &status) == 0 ? status.st_size : 0;
    }
    return lseek(file, 0, SEEK_CUR);
}

static size_t half_of(size_t length) { return length > 1 ? length / 2 : length; }

ssize_t write(int file, const void *bytes, size_t length) {
    REAL(ssize_t, write, int, const void *, size_t);
    WRITING(place_of(file), length, real(file, bytes, length), real(file, bytes, half_of(length)));
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    WRITING(offset, length, real(file, bytes, length, offset), real(file, bytes, half_of(length), offset));
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    return pwrite(file, bytes, length, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count_of_parts) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    size_t length = 0;
    for (int i = 0; i < count_of_parts; i++) length += parts[i].iov_len;
    WRITING(place_of(file), length, real(file, parts, count_of_parts), real(file, parts, 1));
}

// MARK: Reading

#define READING(call, half)                                     \
    char path[PATH_ROOM];                                       \
    if (!path_of(file, path)) return call;                      \
    enum answer what = answer(READ, path);                      \
    if (what == FAIL) return FAILED;                            \
    ssize_t count = what == SHORT ? half : call;                \
    if (what == DIE) die();                                     \
    return count

ssize_t read(int file, void *bytes, size_t length) {
    REAL(ssize_t, read, int, void *, size_t);
    READING(real(file, bytes, length), real(file, bytes, half_of(length)));
}

ssize_t pread(int file, void *bytes, size_t length, off_t offset) {
    REAL(ssize_t, pread, int, void *, size_t, off_t);
    READING(real(file, bytes, length, offset), real(file, bytes, half_of(length), offset));
}

ssize_t pread64(int file, void *bytes, size_t length, off64_t offset) { return pread(file, bytes, length, offset); }

ssize_t readv(int file, const struct iovec *parts, int count_of_parts) {
    REAL(ssize_t, readv, int, const struct iovec *, int);
    READING(real(file, parts, count_of_parts), real(file, parts, 1));
}

// MARK: Calls that are done or not

// `keep` is what the journal needs beforehand.
#define WHOLE(kind, inside, keep, call)                         \
    char path[PATH_ROOM];                                       \
    if (!(inside)) return call;                                 \
    bool journals = power_begin();                              \
    enum answer what = answer(kind, path);                      \
    int result;                                                 \
    if (what == FAIL || what == SHORT) {                        \
        result = FAILED;                                        \
    } else {                                                    \
        if (journals) keep;                                     \
        result = call;                                          \
        if (journals) power_done(result == 0);                  \
    }                                                           \
    if (what == DIE) die();                                     \
    power_end();                                                \
    return result

// Noted afterwards: what was written before it began is on the disk.
#define SYNCING(call)                                           \
    char path[PATH_ROOM];                                       \
    if (!path_of(file, path)) return call;                      \
    bool journals = power_begin();                              \
    enum answer what = answer(SYNC, path);                      \
    int result = what == FAIL || what == SHORT ? FAILED : call; \
    if (journals && result == 0) power_sync(file);              \
    if (what == DIE) die();                                     \
    power_end();                                                \
    return result

int fsync(int file) {
    REAL(int, fsync, int);
    SYNCING(real(file));
}

int fdatasync(int file) {
    REAL(int, fdatasync, int);
    SYNCING(real(file));
}

int ftruncate(int file, off_t length) {
    REAL(int, ftruncate, int, off_t);
    WHOLE(TRUNCATE, path_of(file, path), power_truncate(file, length), real(file, length));
}

int ftruncate64(int file, off64_t length) { return ftruncate(file, length); }

int unlinkat(int directory, const char *name, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    if (flags & AT_REMOVEDIR) {
        WHOLE(UNLINK, path_at(directory, name, path), power_remove_directory(path), real(directory, name, flags));
    }
    WHOLE(UNLINK, path_at(directory, name, path), power_unlink(path), real(directory, name, flags));
}

int unlink(const char *name) {
    REAL(int, unlink, const char *);
    WHOLE(UNLINK, path_at(AT_FDCWD, name, path), power_unlink(path), real(name));
}

int rmdir(const char *name) {
    REAL(int, rmdir, const char *);
    WHOLE(UNLINK, path_at(AT_FDCWD, name, path), power_remove_directory(path), real(name));
}

static void keep_rename(int new_directory, const char *new_name, const char *path) {
    char to[PATH_ROOM];
    if (path_at(new_directory, new_name, to)) power_rename(path, to);
}

int renameat2(int old_directory, const char *old_name, int new_directory, const char *new_name, unsigned flags) {
    REAL(int, renameat2, int, const char *, int, const char *, unsigned);
    WHOLE(
        RENAME, path_at(old_directory, old_name, path), keep_rename(new_directory, new_name, path),
        real(old_directory, old_name, new_directory, new_name, flags));
}

int renameat(int old_directory, const char *old_name, int new_directory, const char *new_name) {
    REAL(int, renameat, int, const char *, int, const char *);
    WHOLE(
        RENAME, path_at(old_directory, old_name, path), keep_rename(new_directory, new_name, path),
        real(old_directory, old_name, new_directory, new_name));
}

int rename(const char *old_name, const char *new_name) {
    return renameat(AT_FDCWD, old_name, AT_FDCWD, new_name);
}

int mkdirat(int directory, const char *name, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    WHOLE(OPEN, path_at(directory, name, path), power_make_directory(path), real(directory, name, mode));
}

int mkdir(const char *name, mode_t mode) {
    return mkdirat(AT_FDCWD, name, mode);
}

// MARK: Opening

static int open_file(int directory, const char *name, int flags, mode_t mode) {
    REAL(int, openat, int, const char *, int, ...);
    char path[PATH_ROOM];
    if (!path_at(directory, name, path)) return real(directory, name, flags, mode);
    enum answer what = answer(OPEN, path);
    if (what == FAIL || what == SHORT) return FAILED;
    bool journals = power_begin();
    struct stat status;
    bool is_there = fstatat(directory, name, &status, 0) == 0;
    if (journals && is_there && (flags & O_TRUNC)) {
        int file = (int)syscall(SYS_openat, directory, name, O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            power_truncate(file, 0);
            syscall(SYS_close, file);
        }
    }
    int result = real(directory, name, flags, mode);
    if (journals && result >= 0 && !is_there && (flags & O_CREAT)) {
        power_create(path);
        power_done(true);
    }
    if (what == DIE) die();
    power_end();
    return result;
}

#define MODE                                            \
    mode_t mode = 0;                                    \
    if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { \
        va_list rest;                                   \
        va_start(rest, flags);                          \
        mode = va_arg(rest, mode_t);                    \
        va_end(rest);                                   \
    }

int open(const char *name, int flags, ...) {
    MODE;
    return open_file(AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...) {
    MODE;
    return open_file(AT_FDCWD, name, flags | O_LARGEFILE, mode);
}

int openat(int directory, const char *name, int flags, ...) {
    MODE;
    return open_file(directory, name, flags, mode);
}

int openat64(int directory, const char *name, int flags, ...) {
    MODE;
    return open_file(directory, name, flags | O_LARGEFILE, mode);
}

int __open_2(const char *name, int flags) { return open_file(AT_FDCWD, name, flags, 0); }
int __open64_2(const char *name, int flags) { return open_file(AT_FDCWD, name, flags, 0); }
int __openat_2(int directory, const char *name, int flags) { return open_file(directory, name, flags, 0); }
int __openat64_2(int directory, const char *name, int flags) { return open_file(directory, name, flags, 0); }
int creat(const char *name, mode_t mode) { return open_file(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *name, mode_t mode) { return creat(name, mode); }

// MARK: Threads

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    enum answer what = answer(THREAD, "");
    if (what == FAIL || what == SHORT) return fault;
    int result = real(thread, attributes, body, context);
    if (what == DIE) die();
    return result;
}
