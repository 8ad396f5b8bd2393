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

    if (count > ring->capacity - ring->used)
        return 0;
    while (done < count) {
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
    unsigned char *data;
    size_t straight;

    if (capacity == 0 || capacity < ring->used)
        return -1;
    if (capacity == ring->capacity)
        return 0;
    data = malloc(capacity);
    if (data == NULL)
        return -1;
    straight = ring->capacity - ring->first;
    if (straight > ring->used)
        straight = ring->used;
    memcpy(data, ring->data + ring->first, straight);
    memcpy(data + straight, ring->data, ring->used - straight);
    free(ring->data);
    ring->data = data;
    ring->capacity = capacity;
    ring->first = 0;
    return 0;
}
