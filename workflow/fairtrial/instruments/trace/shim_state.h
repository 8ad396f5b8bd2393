/* What the parts of the shim share. Part of shim.c. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP 32768    /* capture is sent on in pieces of this size */
#define PIECE 60000   /* a SOCK_SEQPACKET message must fit the send buffer */
#define LOW_FD 100
#define REFUSED 42
#define PATIENCE 10000 /* ms for the recorder to look at us: a record of a sender that is gone proves nothing */
#define SPAN "FAIRTRIAL_SPAN="

extern char **environ;
static char CONFIG[512] = "@fairtrial-trace-config@";

struct stream {
    int out;            /* the caller's fd, 1 or 2; -1: not captured */
    int pipe;           /* read end; -1: closed */
    char kind;          /* O or R in messages */
    long long total, kept;
    size_t held;        /* bytes in hold not yet sent */
    char hold[KEEP];
};

static struct stream streams[2];
static char pump_buffer[1 << 16];
static char *real_path, *seen_path, *socket_path, *command = "", *kinds = "";
static char *parent_span = "", *parent_command = "", *depth_text = "0";
static char **new_env, span[64];
static long long cap = 1 << 20;
static int sync_start, merged, sock = -1, refused_by, names_in_env, has_shlvl;
static volatile pid_t child;
static int has_tty;
static sigset_t first_mask;
static struct sigaction first_action[65];

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int high(int fd) { /* move an fd of ours out of the way of the command's own */
    int moved;
    if (fd < 0) return fd;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, LOW_FD);
    if (moved < 0) moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (moved < 0) return fd; /* no other is left */
    close(fd);
    return moved;
}

static void fail(const char *what) {
    dprintf(2, "fairtrial: %s\n", what);
    _exit(127);
}
