#ifndef RING_H
#define RING_H

#include <stddef.h>

/* A queue of bytes. `data` holds `capacity` bytes; `used` of them wait, the first at `first`, wrapping at the end. */
struct ring {
    unsigned char *data;
    size_t capacity;
    size_t first;
    size_t used;
    size_t spare;
};

/* 0, or -1 when capacity is 0 or there is no memory. */
int ring_open(struct ring *ring, size_t capacity);

/* Frees the memory; the ring may be opened again. */
void ring_close(struct ring *ring);

/* Appends up to `count` bytes, as many as there is room for; returns how many. */
size_t ring_write(struct ring *ring, const unsigned char *bytes, size_t count);

/* Takes up to `count` bytes off the front; returns how many. */
size_t ring_read(struct ring *ring, unsigned char *bytes, size_t count);

/* Another capacity, the waiting bytes kept: 0, or -1 with nothing changed. */
int ring_resize(struct ring *ring, size_t capacity);

#endif
