#include "ring.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void check(int good, const char *what)
{
    printf("%s - %s\n", good ? "ok" : "not ok", what);
    failed |= !good;
}

int main(void)
{
    struct ring ring;
    unsigned char out[16] = {0};

    check(ring_open(&ring, 4) == 0, "open");
    check(ring_write(&ring, (const unsigned char *)"abcd", 4) == 4, "write four");
    check(ring_read(&ring, out, 2) == 2, "read two");
    check(ring_write(&ring, (const unsigned char *)"ef", 2) == 2, "write two more, wrapped");
    check(ring_resize(&ring, 3) == -1, "too small for what waits");
    check(ring_resize(&ring, 8) == 0, "larger");
    check(ring_write(&ring, (const unsigned char *)"ghijk", 5) == 4, "room for four more");
    check(ring_read(&ring, out, 16) == 8 && memcmp(out, "cdefghij", 8) == 0, "the bytes in their order");
    check(ring_resize(&ring, 0) == -1, "no capacity");
    ring_close(&ring);
    return failed;
}
