/* Runs a command and measures it from a process that is small itself: the kernel gives a new program the peak of memory
   of the process that it was made from, which would be Python's.

   usage: measure FILE COMMAND [ARGUMENT...]

   Writes to FILE what it took, children that the command waited for included, and ends with the command's exit code, or
   128 and the number of the signal that ended it. */

#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv) {
    struct timespec start, stop;
    struct rusage usage;
    int status;

    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND [ARGUMENT...]\n");
        return 64;
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    if (child < 0) {
        fprintf(stderr, "measure: %s\n", strerror(errno));
        return 71;
    }
    while (wait4(child, &status, 0, &usage) < 0) {
        if (errno != EINTR) return 71;
    }
    clock_gettime(CLOCK_MONOTONIC, &stop);
    FILE *file = fopen(argv[1], "w");
    if (file == NULL) {
        fprintf(stderr, "measure: %s: %s\n", argv[1], strerror(errno));
        return 73;
    }
    fprintf(file, "{\"wall\": %.6f, \"processor\": %.6f, \"memory\": %lld}\n",
            (double)(stop.tv_sec - start.tv_sec) + (double)(stop.tv_nsec - start.tv_nsec) / 1e9,
            seconds(usage.ru_utime) + seconds(usage.ru_stime), (long long)usage.ru_maxrss * 1024);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
