/* yajl alone over a file, with callbacks that do nothing: what reading JSON with yajl costs at least.

   usage: floor_yajl SOURCE

   Prints how many values of each kind there were, so that the result can be checked. yajl is set as the importer sets
   it: several values are allowed, strings are not validated, numbers come as they are written. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>

enum { BLOCK = 256 * 1024 };

struct counts {
    unsigned long long maps, keys, strings, numbers;
};

static int on_null(void *context) {
    (void)context;
    return 1;
}

static int on_boolean(void *context, int value) {
    (void)context;
    (void)value;
    return 1;
}

static int on_number(void *context, const char *text, size_t length) {
    (void)text;
    (void)length;
    ((struct counts *)context)->numbers++;
    return 1;
}

static int on_string(void *context, const unsigned char *text, size_t length) {
    (void)text;
    (void)length;
    ((struct counts *)context)->strings++;
    return 1;
}

static int on_map(void *context) {
    ((struct counts *)context)->maps++;
    return 1;
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    (void)text;
    (void)length;
    ((struct counts *)context)->keys++;
    return 1;
}

static int on_end(void *context) {
    (void)context;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_end,
    .yajl_end_array = on_end,
};

int main(int argc, char **argv) {
    static unsigned char block[BLOCK];
    struct counts counts = {0, 0, 0, 0};
    ssize_t length;

    if (argc != 2) {
        fprintf(stderr, "usage: floor_yajl SOURCE\n");
        return 64;
    }
    int file = open(argv[1], O_RDONLY);
    if (file < 0) {
        fprintf(stderr, "floor_yajl: %s: %s\n", argv[1], strerror(errno));
        return 66;
    }
    yajl_handle parser = yajl_alloc(&callbacks, NULL, &counts);
    if (parser == NULL) return 71;
    yajl_config(parser, yajl_allow_multiple_values, 1);
    yajl_config(parser, yajl_dont_validate_strings, 1);
    yajl_status status = yajl_status_ok;
    while (status == yajl_status_ok && (length = read(file, block, sizeof block)) != 0) {
        if (length < 0) {
            if (errno == EINTR) continue;
            fprintf(stderr, "floor_yajl: %s: %s\n", argv[1], strerror(errno));
            return 74;
        }
        status = yajl_parse(parser, block, (size_t)length);
    }
    if (status == yajl_status_ok) status = yajl_complete_parse(parser);
    if (status != yajl_status_ok) {
        fprintf(stderr, "floor_yajl: %s: %s\n", argv[1], yajl_status_to_string(status));
        return 65;
    }
    yajl_free(parser);
    close(file);
    printf("{\"maps\": %llu, \"keys\": %llu, \"strings\": %llu, \"numbers\": %llu}\n", counts.maps, counts.keys,
           counts.strings, counts.numbers);
    return 0;
}
