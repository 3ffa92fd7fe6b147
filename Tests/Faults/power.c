// Keeps a journal of what could be lost if the power failed: of each change the bytes before it, and when it was synced.
// scripts/fault-test takes changes back from it after the process was killed (FAULTS_JOURNAL names its folder).
//
// A line per event in `events`, the bytes before a change in `bytes`:
//
//   W inode size offset length place   a write; size is the file's before it, place is that of the bytes in `bytes`
//   T inode size length place          a truncation to length; what is cut off is in `bytes` from place on
//   S inode                            everything before it in that file, or of the names in that folder, is on the disk
//   C path                             a file was made
//   D path                             a folder was made
//   X path                             a folder was removed
//   R from TAB to TAB kept             a rename; kept is what was there before, a link in the journal's folder, or empty
//   U path TAB kept                    a removal
//
// The WAL's index (-shm) is left out: SQLite makes it again.

#define _GNU_SOURCE
#include "faults.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const char *journal;
static int events = -1, bytes = -1;
static long long bytes_written;
static long kept_count;

__attribute__((constructor)) static void start(void) {
    const char *place = getenv("FAULTS_JOURNAL");
    if (!place) return;
    char name[PATH_ROOM];
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    // Far from the numbers that the program gets, as some of them are printed.
    snprintf(name, sizeof name, "%s/events", place);
    int file = (int)syscall(SYS_openat, AT_FDCWD, name, flags, 0600);
    events = fcntl(file, F_DUPFD_CLOEXEC, 900);
    syscall(SYS_close, file);
    snprintf(name, sizeof name, "%s/bytes", place);
    file = (int)syscall(SYS_openat, AT_FDCWD, name, flags, 0600);
    bytes = fcntl(file, F_DUPFD_CLOEXEC, 900);
    syscall(SYS_close, file);
    if (events >= 0 && bytes >= 0) journal = place;
}

bool power_begin(void) {
    if (journal) pthread_mutex_lock(&mutex);
    return journal != NULL;
}

void power_end(void) {
    if (journal) pthread_mutex_unlock(&mutex);
}

static void note(const char *text) { syscall(SYS_write, events, text, strlen(text)); }

static bool is_index(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

// Copies part of a file to `bytes` and says where it is there.
static long long keep(int descriptor, long long offset, long long length) {
    long long place = bytes_written;
    char link[64], block[65536];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int file = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    if (file < 0) return place;
    while (length > 0) {
        size_t part = length < (long long)sizeof block ? (size_t)length : sizeof block;
        ssize_t count = syscall(SYS_pread64, file, block, part, offset);
        if (count <= 0) break;
        syscall(SYS_write, bytes, block, count);
        bytes_written += count;
        offset += count;
        length -= count;
    }
    syscall(SYS_close, file);
    return place;
}

static bool is_kept(int descriptor, struct stat *status) {
    char path[PATH_ROOM];
    return path_of(descriptor, path) && !is_index(path) && fstat(descriptor, status) == 0 && S_ISREG(status->st_mode);
}

void power_write(int descriptor, off_t offset, size_t length) {
    struct stat status;
    if (!is_kept(descriptor, &status)) return;
    long long before = status.st_size - offset;
    if (before < 0) before = 0;
    if (before > (long long)length) before = (long long)length;
    long long place = keep(descriptor, offset, before);
    char text[256];
    snprintf(
        text, sizeof text, "W %llu %lld %lld %zu %lld\n", (unsigned long long)status.st_ino,
        (long long)status.st_size, (long long)offset, length, place);
    note(text);
}

void power_truncate(int descriptor, off_t length) {
    struct stat status;
    if (!is_kept(descriptor, &status)) return;
    long long place = bytes_written;
    if (status.st_size > length) place = keep(descriptor, length, status.st_size - length);
    char text[256];
    snprintf(
        text, sizeof text, "T %llu %lld %lld %lld\n", (unsigned long long)status.st_ino, (long long)status.st_size,
        (long long)length, place);
    note(text);
}

void power_sync(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return;
    char text[64];
    snprintf(text, sizeof text, "S %llu\n", (unsigned long long)status.st_ino);
    note(text);
}

// What is noted of a name once the call has succeeded.
static char pending[2 * PATH_ROOM + 128];

void power_done(bool has_succeeded) {
    if (journal && has_succeeded && pending[0]) note(pending);
    pending[0] = 0;
}

static void note_path(char event, const char *path) {
    if (!is_index(path)) snprintf(pending, sizeof pending, "%c %s\n", event, path);
}

void power_create(const char *path) { note_path('C', path); }
void power_make_directory(const char *path) { note_path('D', path); }
void power_remove_directory(const char *path) { note_path('X', path); }

// Links what is about to go into the journal's folder; an empty name if there is nothing.
static void keep_file(const char *path, char *kept, size_t room) {
    char from[2 * PATH_ROOM], to[2 * PATH_ROOM];
    snprintf(kept, room, "kept-%ld", ++kept_count);
    snprintf(from, sizeof from, "%s/%s", folder, path);
    snprintf(to, sizeof to, "%s/%s", journal, kept);
    if (syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0) != 0) kept[0] = 0;
}

void power_rename(const char *from, const char *to) {
    char kept[64];
    keep_file(to, kept, sizeof kept);
    snprintf(pending, sizeof pending, "R %s\t%s\t%s\n", from, to, kept);
}

void power_unlink(const char *path) {
    if (is_index(path)) return;
    char kept[64];
    keep_file(path, kept, sizeof kept);
    snprintf(pending, sizeof pending, "U %s\t%s\n", path, kept);
}
