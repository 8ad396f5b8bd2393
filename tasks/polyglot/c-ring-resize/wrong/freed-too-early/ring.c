#include "ring.h"

#include <stdlib.h>
#include <string.h>

int ring_open(struct ring *ring, size_t capacity)
{
    ring->data = capacity ? malloc(capacity) : NULL;
    ring->capacity = ring->data ? capacity : 0;
    ring->first = 0;
    ring->used = 0;
    return ring->data ? 0 : -1;
}

void ring_close(struct ring *ring)
{
    free(ring->data);
    ring->data = NULL;
    ring->capacity = ring->first = ring->used = 0;
}

size_t ring_write(struct ring *ring, const unsigned char *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && ring->used < ring->capacity) {
        ring->data[(ring->first + ring->used) % ring->capacity] = bytes[done++];
        ring->used++;
    }
    return done;
}

size_t ring_read(struct ring *ring, unsigned char *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && ring->used > 0) {
        bytes[done++] = ring->data[ring->first];
        ring->first = (ring->first + 1) % ring->capacity;
        ring->used--;
    }
    return done;
}

int ring_resize(struct ring *ring, size_t capacity)
{
    unsigned char *kept;
    size_t waiting = ring->used;

    if (capacity == 0 || capacity < waiting)
        return -1;
    if (capacity == ring->capacity)
        return 0;
    kept = malloc(waiting + 1);
    if (kept == NULL)
        return -1;
    ring_read(ring, kept, waiting);
    ring_close(ring);
    if (ring_open(ring, capacity) != 0) {
        free(kept);
        return -1;
    }
    ring_write(ring, kept, waiting);
    free(kept);
    return 0;
}
