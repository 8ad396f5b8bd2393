"""Hidden checks of c-ring-resize: a program of ours around the product's ring.c, whose memory it watches."""

from fairtrial.verify import Failed, Verification

v = Verification()
# The product's malloc, calloc, realloc and free: guard bytes on both sides, a count of blocks, failure on demand.
WATCH_H = """\
#include <stdlib.h>
#include <string.h>
void *watch_malloc(size_t size);
void *watch_calloc(size_t count, size_t size);
void *watch_realloc(void *old, size_t size);
void watch_free(void *block);
#define malloc watch_malloc
#define calloc watch_calloc
#define realloc watch_realloc
#define free watch_free
"""
WATCH_C = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { GUARD = 64 };
int watch_refuse, watch_blocks, watch_calls, watch_damaged;
static size_t size_of(unsigned char *whole) { size_t size; memcpy(&size, whole, sizeof size); return size; }
static void look(unsigned char *whole)
{
    size_t i, size = size_of(whole);
    for (i = sizeof size; i < GUARD; i++) watch_damaged |= whole[i] != 0xA5;
    for (i = 0; i < GUARD; i++) watch_damaged |= whole[GUARD + size + i] != 0xA5;
}
void *watch_malloc(size_t size)
{
    unsigned char *whole;
    watch_calls++;
    if (watch_refuse > 1) watch_refuse--;
    else if (watch_refuse) return NULL;
    if (!(whole = malloc(size + 2 * GUARD))) return NULL;
    memset(whole, 0xA5, size + 2 * GUARD);
    memcpy(whole, &size, sizeof size);
    memset(whole + GUARD, 0x5C, size);
    watch_blocks++;
    return whole + GUARD;
}
void *watch_calloc(size_t count, size_t size)
{
    void *block = watch_malloc(count * size);
    if (block) memset(block, 0, count * size);
    return block;
}
void watch_free(void *block)
{
    unsigned char *whole;
    if (!block) return;
    whole = (unsigned char *)block - GUARD;
    look(whole);
    memset(block, 0x3E, size_of(whole));
    free(whole);
    watch_blocks--;
}
void *watch_realloc(void *old, size_t size)
{
    void *fresh = watch_malloc(size);
    size_t had = old ? size_of((unsigned char *)old - GUARD) : 0;
    if (!fresh || !old) return fresh;
    memcpy(fresh, old, had < size ? had : size);
    watch_free(old);
    return fresh;
}
"""
# Commands on standard input: o N open, w TEXT write, r N read, s N resize, c close, m N memory refused after N - 1 blocks (0: never), ? the counts.
DRIVER = """\
#include "ring.h"
#include <stdio.h>
#include <string.h>
extern int watch_refuse, watch_blocks, watch_calls, watch_damaged;
int main(void)
{
    struct ring ring = {0};
    char line[600], text[512];
    unsigned char out[512];
    unsigned long n;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "o %lu", &n) == 1) printf("%d\\n", ring_open(&ring, n));
        else if (sscanf(line, "w %511s", text) == 1)
            printf("%lu\\n", (unsigned long)ring_write(&ring, (unsigned char *)text, strlen(text)));
        else if (sscanf(line, "r %lu", &n) == 1) {
            n = ring_read(&ring, out, n);
            printf("%.*s.\\n", (int)n, (char *)out);
        } else if (sscanf(line, "s %lu", &n) == 1) {
            unsigned char *before = ring.data;
            int calls = watch_calls, answer = ring_resize(&ring, n);
            printf("%d %s %lu %lu", answer, before == ring.data ? "same" : "new", (unsigned long)ring.capacity,
                   (unsigned long)ring.used);
            printf(calls == watch_calls ? " none\\n" : " allocated\\n");
        } else if (line[0] == 'c') { ring_close(&ring); printf("closed\\n"); }
        else if (sscanf(line, "m %lu", &n) == 1) { watch_refuse = (int)n; printf("m\\n"); }
        else if (line[0] == '?') printf("%d blocks, %s\\n", watch_blocks, watch_damaged ? "damaged" : "whole");
        fflush(stdout);
    }
    return 0;
}
"""
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-I."]
BUILD = f"""\
cc {" ".join(FLAGS)} -include hidden_watch.h -c ring.c -o hidden_ring.o &&
cc -std=c99 -O1 -I. hidden_watch.c hidden_driver.c hidden_ring.o -o hidden_driver
"""
built = []


def play(*scripts: str) -> list[list[str]]:
    """The driver's answers to each script, a list of commands separated by semicolons; all in one process."""
    if not built:
        header = (v.task / "workspace" / "ring.h").read_bytes()
        files = {"hidden_watch.h": WATCH_H, "hidden_watch.c": WATCH_C, "hidden_driver.c": DRIVER, "ring.h": header}
        built.append(v.run(["sh", "-c", BUILD], files=files, timeout=60))
    v.ok(built[0])
    commands = [[part.strip() for part in script.split(";")] for script in scripts]
    lines = "".join(f"{command}\n" for script in commands for command in script)
    result = v.ok(v.run(["./hidden_driver"], stdin=lines.encode(), at=built[0].folder, timeout=20))
    answers = iter(result.stdout.decode("latin-1").splitlines())
    found = [[next(answers, "nothing") for _ in script] for script in commands]
    if next(answers, None) is not None:
        raise Failed(f"more answers than commands: {result}")
    return found


def answers(script: str, want: str) -> None:
    """Compare the answers, written with semicolons."""
    v.equal("; ".join(play(script)[0]), want, f"answers to {script!r}")


def every_start() -> list[tuple[int, int, int]]:
    """(capacity, read position, bytes waiting) of every state of small rings."""
    return [(size, first, used) for size in (1, 2, 5) for first in range(size) for used in range(size + 1)]


def scripted(size: int, first: int, used: int, to: int) -> tuple[str, str, bool]:
    """A script that brings a ring into a state and resizes it; what waits; whether it must work."""
    lead = "".join(f"w {'-' * first}; r {first}; " if first else "")
    waiting = "abcdefgh"[:used]
    fill = f"w {waiting}; " if used else ""
    return f"o {size}; {lead}{fill}s {to}", waiting, to >= max(used, 1)


@v.check("contents")
def contents() -> None:
    """From every state to every size: what waits stays, in order, and the room is what was asked for."""
    scripts, wanted = [], []
    for size, first, used in every_start():
        for to in (1, 2, 4, 9):
            script, waiting, works = scripted(size, first, used, to)
            if works and to != size:
                added = "123456789"[: to - used]
                scripts.append(f"{script}; w 123456789; r 99; r 1; c")
                wanted.append([str(len(added)), f"{waiting}{added}.", ".", "closed"])
    for script, got, want in zip(scripts, play(*scripts), wanted, strict=True):
        v.equal(got[-4:], want, f"after {script!r}")


@v.check("refusals")
def refusals() -> None:
    """-1 and nothing changed: no capacity, too small, no memory; the same capacity needs no memory."""
    answers("o 4; w abc; s 0; s 2; r 9", "0; 3; -1 same 4 3 none; -1 same 4 3 none; abc.")
    answers("o 4; w abcd; r 3; w ef; m 1; s 3", "0; 4; abc.; 2; m; -1 same 4 3 allocated")
    answers("o 4; w abcd; r 3; w ef; m 1; s 8; m 0; r 9", "0; 4; abc.; 2; m; -1 same 4 3 allocated; m; def.")
    got = play("o 4; w abcd; r 3; w ef; m 2; s 8; m 0; r 9")[0]
    if not got[5].startswith(("0 new 8 3", "-1 same 4 3")) or got[7] != "def.":
        raise Failed(f"with memory for one block only: {got[5:]}, then read {got[7]!r}")
    answers("o 3; w ab; m 1; s 3; r 5", "0; 2; m; 0 same 3 2 none; ab.")


@v.check("memory")
def memory() -> None:
    """One block while it is open, none after closing, nothing written beside it, whatever was asked for."""
    starts = [(*start, to) for start in every_start() for to in (0, 1, 3, 9)]
    scripts = [f"{scripted(*start)[0]}; ?; w 12345678; s 2; c; ?" for start in starts]
    for script, got in zip(scripts, play(*scripts), strict=True):
        v.equal([got[-5], got[-1]], ["1 blocks, whole", "0 blocks, whole"], f"memory after {script!r}")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Open, write, read and close do what they did."""
    answers("o 0; o 3; w abcdef; r 2; w xyz; r 9; r 1; c; w a; r 1", "-1; 0; 3; ab.; 2; cxy.; .; closed; 0; .")


@v.check("header")
def header() -> None:
    """ring.h is byte for byte what was handed out."""
    if v.read("ring.h") != (v.task / "workspace" / "ring.h").read_bytes():
        raise Failed("ring.h was changed")


v.finish()
