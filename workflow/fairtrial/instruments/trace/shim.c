/* The compiled shim: stands in for one command inside the box, runs the real one, and tells the recorder outside.
 *
 * One binary serves every command. What it needs to know stands in a small text file (see policy.py) whose path is
 * written into CONFIG when an attempt is prepared, so no environment variable can turn it off. Streams pass through
 * unchanged; up to `cap` bytes of each are copied to the recorder. Every fd of its own lies at 100 or above.
 * The messages are described in wire.py.
 */
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
static char conf[1 << 16], pump_buffer[1 << 16];
static char *real_path, *seen_path, *socket_path, *command = "", *kinds = "";
static char *parent_span = "", *parent_command = "", *depth_text = "0";
static char **new_env, span[64];
static long long cap = 1 << 20;
static int sync_start, merged, sock = -1, broken, names_in_env, has_shlvl;
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
    close(fd);
    return moved;
}

static void fail(const char *what) {
    dprintf(2, "fairtrial: %s\n", what);
    _exit(127);
}

/* ---- configuration --------------------------------------------------------------------------------------- */

static int words(char *line, char **part, int most) {
    int n = 0;
    while (n < most) {
        part[n++] = line;
        line = strchr(line, '\t');
        if (!line) break;
        *line++ = 0;
    }
    return n;
}

static const char *base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void take_line(char *line, const char *name) {
    char *part[8];
    int n = words(line, part, 8);
    if (n >= 2 && !strcmp(part[0], "socket")) socket_path = part[1];
    else if (n >= 2 && !strcmp(part[0], "cap")) cap = atoll(part[1]);
    else if (n >= 2 && !strcmp(part[0], "sync")) sync_start = atoi(part[1]);
    else if (n >= 5 && !strcmp(part[0], "command") && !strcmp(part[1], name))
        command = part[1], real_path = part[2], seen_path = part[3], kinds = part[4];
}

static char config_text[1 << 16]; /* lines still whole, for the refusals */

static void load_config(const char *argv0) {
    volatile char *where = CONFIG;
    const char *names[2] = {(const char *)getauxval(AT_EXECFN), argv0};
    int fd = high(open((const char *)where, O_RDONLY | O_CLOEXEC));
    ssize_t n = fd < 0 ? -1 : read(fd, config_text, sizeof config_text - 1);
    if (n <= 0) fail("the command trace is not set up here");
    close(fd);
    for (int i = 0; i < 2 && !real_path; i++) {
        if (!names[i]) continue;
        memcpy(conf, config_text, sizeof conf);
        for (char *line = conf, *end; *line; line = end) {
            end = strchr(line, '\n');
            if (end) *end++ = 0; else end = line + strlen(line);
            take_line(line, base(names[i]));
        }
    }
    if (!real_path) fail("no traced command has this name");
}

static int takes_value(const char *option) { /* an option whose value is the next word, such as git -C */
    char want[300];
    if (snprintf(want, sizeof want, "\nvalue\t%s\t%s\n", command, option) >= (int)sizeof want) return 0;
    return strstr(config_text, want) != NULL;
}

static int matches(char *pattern, char **argv) { /* every word of the pattern, in order, against the plain words */
    char *save = NULL, *word = strtok_r(pattern, " ", &save);
    if (word && !strcmp(word, "*")) return 1;
    for (int i = 1; argv[i] && word; i++) {
        if (argv[i][0] == '-') {
            if (takes_value(argv[i]) && argv[i + 1]) i++;
            continue;
        }
        if (strcmp(argv[i], word)) return 0;
        word = strtok_r(NULL, " ", &save);
    }
    return word == NULL;
}

/* Why the policy forbids this call, or NULL; what a traced version-control tool calls itself passes. */
static char *refusal(char **argv) {
    static char line[4096];
    const char *at = config_text;
    if (atoi(depth_text) > 0 && !strncmp(parent_command, "v:", 2)) return NULL;
    while ((at = strstr(at, "\nrefuse\t"))) {
        char *part[4], *end = strchr(++at, '\n');
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (length >= sizeof line) continue;
        memcpy(line, at, length);
        line[length] = 0;
        if (words(line, part, 4) == 4 && !strcmp(part[1], command) && matches(part[2], argv)) return part[3];
    }
    return NULL;
}

static void read_environment(long long started) {
    size_t n = 0, used = 0;
    char *value = NULL, *own;
    for (char **e = environ; *e; e++, n++) {
        if (!strncmp(*e, SPAN, sizeof SPAN - 1)) value = *e + sizeof SPAN - 1;
        else names_in_env++;
        if (!strncmp(*e, "SHLVL=", 6)) has_shlvl = 1;
    }
    if (value) { /* depth:span:kind:command of the nearest traced command above */
        char *part[3], *at = strdup(value);
        for (int i = 0; at && i < 3; i++) {
            part[i] = at;
            at = i < 2 ? strchr(at, ':') : at;
            if (at && i < 2) *at++ = 0;
            if (i == 2) depth_text = part[0], parent_span = part[1], parent_command = part[2];
        }
    }
    snprintf(span, sizeof span, "%llx-%x", started, (unsigned)getpid());
    new_env = malloc((n + 2) * sizeof *new_env);
    own = malloc(512);
    snprintf(own, 512, SPAN "%d:%s:%c:%.300s", atoi(depth_text) + 1, span, strchr(kinds, 'v') ? 'v' : 'p', command);
    new_env[used++] = own;
    for (char **e = environ; *e; e++)
        if (strncmp(*e, SPAN, sizeof SPAN - 1)) new_env[used++] = *e;
    new_env[used] = NULL;
}

/* ---- talking to the recorder ----------------------------------------------------------------------------- */

static void drop_recorder(void) {
    if (sock >= 0) close(sock);
    sock = -1;
}

static void tell(const char *head, size_t head_size, const char *body, size_t body_size) {
    struct iovec piece[2] = {{(void *)head, head_size}, {(void *)body, body_size}};
    struct msghdr message = {.msg_iov = piece, .msg_iovlen = 2};
    ssize_t n;
    if (sock < 0) return;
    do n = sendmsg(sock, &message, MSG_NOSIGNAL); while (n < 0 && errno == EINTR);
    if (n < 0) drop_recorder(); /* a silent recorder must not stop the command */
}

static void call_recorder(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {1, 0};
    if (!socket_path || strlen(socket_path) >= sizeof address.sun_path) return;
    strcpy(address.sun_path, socket_path);
    sock = high(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (sock < 0) return;
    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(sock, (struct sockaddr *)&address, sizeof address)) drop_recorder();
}

static int answer(int wait_ms) { /* one byte; 0 when none came */
    struct pollfd p = {sock, POLLIN, 0};
    char byte = 0;
    int n;
    if (sock < 0) return 0;
    do n = poll(&p, 1, wait_ms); while (n < 0 && errno == EINTR);
    if (n <= 0 || recv(sock, &byte, 1, 0) != 1) {
        drop_recorder();
        return 0;
    }
    return byte;
}

static void tell_start(char **argv, long long started, const char *flags) {
    static char head[PIECE];
    char cwd[PATH_MAX];
    size_t total = 0, used, count = 0;
    char *all, *at;
    for (char **a = argv; *a; a++, count++) total += strlen(*a) + 1;
    at = all = malloc(total + 1);
    for (char **a = argv; *a; a++) at = stpcpy(at, *a) + 1;
    if (!getcwd(cwd, sizeof cwd)) strcpy(cwd, "");
    used = (size_t)snprintf(head, sizeof head, "S%cc%c%s%c%.100s%c%d%c%s%c%lld%c%d%c%d%c%d%c%d%c%d%c%d%c%s%c%zu%c%zu%c%s", 0, 0,
                            span, 0, parent_span, 0, atoi(depth_text), 0, command, 0, started, 0, (int)getpid(), 0,
                            (int)getppid(), 0, (int)getsid(0), 0, (int)getpgrp(), 0, has_shlvl, 0, names_in_env, 0, flags,
                            0, count, 0, total, 0, cwd) + 1;
    size_t first = total < PIECE - used ? total : PIECE - used;
    tell(head, used, all, first);
    for (size_t done = first; done < total; done += PIECE)
        tell("A", 1, all + done, total - done < PIECE ? total - done : PIECE);
    free(all);
}

static void tell_end(int exit_status, int by_signal) {
    char head[256];
    struct stream *o = &streams[0], *e = &streams[1];
    static char body[2 * KEEP];
    size_t used = (size_t)snprintf(head, sizeof head, "E%c%lld%c%d%c%d%c%lld%c%lld%c%zu%c%zu", 0, now(), 0, exit_status, 0,
                                   by_signal, 0, o->out < 0 ? -1 : o->total, 0, e->out < 0 ? -1 : e->total, 0, o->held, 0,
                                   e->held) + 1;
    if (o->held + e->held > PIECE - 512) { /* one message would not fit */
        tell("O", 1, o->hold, o->held);
        used = (size_t)snprintf(head, sizeof head, "E%c%lld%c%d%c%d%c%lld%c%lld%c%d%c%zu", 0, now(), 0, exit_status, 0,
                                by_signal, 0, o->out < 0 ? -1 : o->total, 0, e->out < 0 ? -1 : e->total, 0, 0, 0, e->held) + 1;
        o->held = 0;
    }
    memcpy(body, o->hold, o->held);
    memcpy(body + o->held, e->hold, e->held);
    tell(head, used, body, o->held + e->held);
}

/* ---- streams --------------------------------------------------------------------------------------------- */

static void send_held(struct stream *s) {
    if (s->held) tell(&s->kind, 1, s->hold, s->held);
    s->held = 0;
}

static void keep(struct stream *s, const char *data, size_t size) {
    s->total += (long long)size;
    while (size && s->kept < cap && sock >= 0) {
        size_t room = KEEP - s->held, take = size < room ? size : room;
        if ((long long)take > cap - s->kept) take = (size_t)(cap - s->kept);
        memcpy(s->hold + s->held, data, take);
        s->held += take, s->kept += (long long)take, data += take, size -= take;
        if (s->held == KEEP) send_held(s);
    }
}

static int put(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n >= 0) data += n, size -= (size_t)n;
        else if (errno == EAGAIN) {
            struct pollfd p = {fd, POLLOUT, 0};
            poll(&p, 1, -1);
        } else if (errno != EINTR) return -1;
    }
    return 0;
}

static void shut(struct stream *s) {
    if (s->pipe >= 0) close(s->pipe);
    s->pipe = -1;
}

/* Move at most `most` bytes; the command gets SIGPIPE where it would have got it from the reader itself. */
static ssize_t move(struct stream *s, size_t most, int record) {
    ssize_t n;
    do n = read(s->pipe, pump_buffer, most < sizeof pump_buffer ? most : sizeof pump_buffer); while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN) return -1;
    if (n <= 0) {
        shut(s);
        return 0;
    }
    if (record) keep(s, pump_buffer, (size_t)n);
    if (put(s->out, pump_buffer, (size_t)n)) {
        broken = errno == EPIPE;
        shut(s);
        return 0;
    }
    return n;
}

static int captured(int fd, struct stat *st) { return !fstat(fd, st) && !S_ISCHR(st->st_mode); }

static int open_streams(int ends[2]) {
    struct stat one, two;
    int have[2] = {captured(1, &one), captured(2, &two)};
    merged = have[0] && have[1] && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
    for (int i = 0; i < 2; i++) {
        int p[2];
        streams[i].out = streams[i].pipe = ends[i] = -1;
        streams[i].kind = i ? 'R' : 'O';
        if (!have[i] || (i && merged)) continue;
        if (pipe2(p, O_CLOEXEC)) return -1;
        streams[i].pipe = high(p[0]), ends[i] = high(p[1]);
        streams[i].out = i + 1;
    }
    if (merged) ends[1] = ends[0];
    return 0;
}

/* ---- signals --------------------------------------------------------------------------------------------- */

static void on_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    if (number == SIGCHLD || child <= 0) return;
    if (has_tty && info->si_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT || number == SIGTSTP ||
        number == SIGHUP || number == SIGWINCH || number == SIGCONT)) return; /* the terminal reached the child too */
    kill(child, number);
}

static int fatal_here(int n) { return n == SIGSEGV || n == SIGBUS || n == SIGFPE || n == SIGILL || n == SIGTRAP || n == SIGSYS; }

static void catch_signals(void) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t only_child;
    sigfillset(&action.sa_mask);
    for (int n = 1; n < 65; n++) {
        if (n == SIGKILL || n == SIGSTOP || n == SIGPIPE || n == SIGCHLD || fatal_here(n)) continue;
        if (first_action[n].sa_handler == SIG_DFL) sigaction(n, &action, NULL);
    }
    sigemptyset(&only_child);
    sigaddset(&only_child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &only_child, NULL);
}

static void save_signals(void) {
    struct sigaction on_child = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &first_mask);
    for (int n = 1; n < 65; n++) sigaction(n, NULL, &first_action[n]);
    sigaction(SIGCHLD, &on_child, NULL); /* ignored SIGCHLD would eat the exit status */
    signal(SIGPIPE, SIG_IGN);
}

static void restore_signals(void) {
    sigaction(SIGCHLD, &first_action[SIGCHLD], NULL);
    sigaction(SIGPIPE, &first_action[SIGPIPE], NULL);
    sigprocmask(SIG_SETMASK, &first_mask, NULL);
}

static void die_by(int number) {
    struct rlimit none = {0, 0};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none); /* the command's own core file must stay the newest */
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), number);
    _exit(128 + number);
}

/* ---- the command ----------------------------------------------------------------------------------------- */

static int start_real(char **argv, char **env) { /* returns errno */
    execve(real_path, argv, env);
    if (errno == ENOEXEC) { /* a script without its first line: what every shell does */
        size_t n = 0;
        while (argv[n]) n++;
        char *plain[n + 2];
        plain[0] = "/bin/sh", plain[1] = real_path;
        for (size_t i = 1; i <= n; i++) plain[i + 1] = argv[i];
        execve("/bin/sh", plain, env);
        errno = ENOEXEC;
    }
    return errno;
}

static int become_real(char **argv, char **env) {
    int error;
    restore_signals();
    error = start_real(argv, env);
    dprintf(2, "fairtrial: %s: %s\n", seen_path, strerror(error));
    return error == ENOENT ? 127 : 126;
}

static pid_t spawn(char **argv, const int ends[2], volatile int *error) {
    pid_t parent = getpid(), pid = vfork();
    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0 && dup2(ends[i], i + 1) < 0) _exit(127);
    restore_signals();
    *error = start_real(argv, new_env);
    _exit(127);
}

static int reap(int flags, int *status) { /* 1: the command has ended */
    sigset_t all, before;
    pid_t got;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* no handler may signal a number that is free again */
    do got = waitpid(child, status, flags | (has_tty ? WUNTRACED : 0)); while (got < 0 && errno == EINTR);
    if (got == child && !WIFSTOPPED(*status)) child = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (got > 0 && WIFSTOPPED(*status)) raise(SIGSTOP);
    return child == 0 || got < 0;
}

static void pump(int *status) {
    struct timespec tick = {0, 500000000};
    sigset_t none;
    sigemptyset(&none);
    while (streams[0].pipe >= 0 || streams[1].pipe >= 0) {
        struct pollfd p[2] = {{streams[0].pipe, POLLIN, 0}, {streams[1].pipe, POLLIN, 0}};
        int n = ppoll(p, 2, streams[0].held || streams[1].held ? &tick : NULL, &none);
        if (n < 0 && reap(WNOHANG, status)) return;
        for (int i = 0; i < 2; i++) {
            if (n > 0 && p[i].revents) move(&streams[i], sizeof pump_buffer, 1);
            else if (n == 0) send_held(&streams[i]); /* so that a command that is killed later left its output */
        }
    }
    while (!reap(0, status)) continue;
}

static int drain(void) { /* what stood in the pipes when the command ended; 1: someone still holds one */
    int open = 0;
    for (int i = 0; i < 2; i++) {
        struct stream *s = &streams[i];
        int left = 0;
        if (s->pipe < 0) continue;
        fcntl(s->pipe, F_SETFL, O_NONBLOCK);
        ioctl(s->pipe, FIONREAD, &left);
        while (left > 0 && s->pipe >= 0) {
            ssize_t n = move(s, (size_t)left, 1);
            if (n <= 0) break;
            left -= (int)n;
        }
        if (s->pipe < 0) continue;
        struct pollfd p = {s->pipe, POLLIN, 0};
        poll(&p, 1, 0);
        if ((p.revents & POLLHUP) && !(p.revents & POLLIN)) shut(s);
        else open = 1;
    }
    return open;
}

static void leave_pump(void) { /* late background writers: the bytes still arrive, the caller need not wait */
    if (fork()) return;
    drop_recorder();
    close(0);
    for (int i = 0; i < 2; i++) {
        if (streams[i].pipe < 0) close(i + 1);
        else fcntl(streams[i].pipe, F_SETFL, 0);
    }
    if (chdir("/")) _exit(0);
    for (int n = 1; n < 65; n++)
        if (n != SIGPIPE) sigaction(n, &first_action[n], NULL);
    while (streams[0].pipe >= 0 || streams[1].pipe >= 0) {
        struct pollfd p[2] = {{streams[0].pipe, POLLIN, 0}, {streams[1].pipe, POLLIN, 0}};
        if (poll(p, 2, -1) <= 0) continue;
        for (int i = 0; i < 2; i++)
            if (p[i].revents) move(&streams[i], sizeof pump_buffer, 0);
    }
    _exit(0);
}

static void stand_aside(void) {
    /* Leave the command's process group, so that a signal to the group reaches it once and not twice. With a
     * terminal, job control needs us in it; a group leader cannot leave. */
    int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    has_tty = tty >= 0;
    if (has_tty) close(tty);
    else if (getpgrp() != getpid()) setpgid(0, 0);
}

static int finish(int status, int byte, int late) {
    if (broken && status == 0 && first_action[SIGPIPE].sa_handler == SIG_DFL) status = SIGPIPE; /* its reader is gone */
    tell_end(WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (!byte) byte = answer(1000);
    if (byte == 'w') answer(300);
    if (late) leave_pump();
    if (WIFSIGNALED(status)) die_by(WTERMSIG(status));
    return WEXITSTATUS(status);
}

static int run(char **given, char **argv, long long started) {
    volatile int error = 0;
    int ends[2], status = 0, byte = 0, late;
    char flags[8] = "";
    if (open_streams(ends)) return become_real(argv, environ);
    if (streams[0].out > 0) strcat(flags, "o");
    if (streams[1].out > 0) strcat(flags, "e");
    if (merged) strcat(flags, "m");
    tell_start(given, started, flags);
    if (sync_start || getppid() == 1) byte = answer(2000);
    if (byte == 'x') return become_real(argv, environ); /* the agent program itself, no command of its */
    child = spawn(argv, ends, &error);
    if (child < 0) return become_real(argv, environ);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0 && !(i && merged)) close(ends[i]);
    stand_aside();
    catch_signals();
    pump(&status);
    late = drain();
    if (error) {
        errno = error;
        perror(seen_path);
        status = (error == ENOENT ? 127 : 126) << 8;
    }
    return finish(status, byte, late);
}

static int refuse(char **argv, long long started, const char *why) {
    streams[0].out = streams[1].out = -1;
    tell_start(argv, started, "r");
    tell_end(REFUSED, 0);
    if (answer(1000) == 'w') answer(300);
    dprintf(2, "fairtrial: %s: %s\n", command, why);
    return REFUSED;
}

int main(int argc, char **argv) {
    long long started = now();
    char *why, *nothing[] = {"", NULL}, **given = argc > 0 ? argv : nothing, **copy;
    size_t count = argc > 0 ? (size_t)argc : 1;
    save_signals();
    load_config(given[0]);
    read_environment(started);
    why = refusal(given);
    call_recorder();
    if (why) return refuse(given, started, why);
    copy = malloc((count + 1) * sizeof *copy);
    memcpy(copy, given, (count + 1) * sizeof *copy);
    if (strchr(kinds, 'i') && !strchr(given[0], '/')) copy[0] = seen_path; /* interpreters find themselves by argv[0] */
    if (atoi(depth_text) == 0) return run(given, copy, started);
    tell_start(given, started, "n");
    answer(2000); /* after exec the recorder could not tell who was asking */
    return become_real(copy, new_env);
}
