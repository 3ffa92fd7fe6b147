// What faults.c (which calls fail) and power.c (what a power cut leaves) share.

#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Longest path that is looked at.
#define PATH_ROOM 4096

// The working folder's absolute path, without a slash at the end; NULL where nothing is to be done.
extern const char *folder;

// The path of what a descriptor is open on, relative to the working folder; false if it is not in there.
bool path_of(int descriptor, char *path);

// The same of a path as `openat` takes it; false if it is not in there.
bool path_at(int directory, const char *path, char *result);

// power.c: keeps what a call is about to change, so that it can be undone. All of them do nothing unless FAULTS_JOURNAL
// is set. Between `power_begin` and `power_end` no other thread changes anything.
bool power_begin(void);
void power_end(void);
void power_write(int descriptor, off_t offset, size_t length);
void power_truncate(int descriptor, off_t length);
void power_sync(int descriptor);
void power_create(const char *path);
void power_make_directory(const char *path);
void power_remove_directory(const char *path);
void power_rename(const char *from, const char *to);
void power_unlink(const char *path);
// What was said of names since the last time counts only if the call has succeeded.
void power_done(bool has_succeeded);

#endif
