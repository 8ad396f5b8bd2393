/* The compiled shim: stands in for one command inside the box, runs the real one, and tells the recorder outside.
 *
 * One binary serves every command. What it needs to know stands in a small text file (see policy.py) whose path is
 * written into CONFIG when an attempt is prepared, so no environment variable can turn it off. Streams pass through
 * unchanged; up to `cap` bytes of each are copied to the recorder. Every fd of its own lies at 100 or above.
 * The messages are described in wire.py.
 */
#include "shim_state.h"
#include "shim_setup.h"
#include "shim_streams.h"
#include "shim_signals.h"

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
    if (got > 0 && WIFSTOPPED(*status)) stop_by(WSTOPSIG(*status));
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

static int settle(int status) { /* as if the command itself had met what we met when writing for it */
    int number = refused_by == EPIPE ? SIGPIPE : refused_by == EFBIG ? SIGXFSZ : 0;
    if (!refused_by || (status != 0 && status != SIGPIPE)) return status;
    if (number && first_action[number].sa_handler == SIG_DFL) return number;
    if (refused_by == EPIPE) return status;
    dprintf(2, "%s: write error: %s\n", command, strerror(refused_by));
    return 1 << 8;
}

static int finish(int status, int byte, int late) {
    status = settle(status);
    tell_end(WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (!byte) byte = answer(PATIENCE);
    if (byte == 'w') answer(300);
    if (late) leave_pump();
    if (WIFSIGNALED(status)) die_by(WTERMSIG(status));
    return WEXITSTATUS(status);
}

static int run(char **given, char **argv, long long started) {
    volatile int error = 0;
    int ends[2], status = 0, byte = 0, late;
    char flags[8] = "";
    if (open_streams(ends)) { /* no descriptor is left for us */
        tell_start(given, started, "n");
        answer(PATIENCE);
        return become_real(argv, environ);
    }
    if (streams[0].out > 0) strcat(flags, "o");
    if (streams[1].out > 0) strcat(flags, "e");
    if (merged) strcat(flags, "m");
    tell_start(given, started, flags);
    if (sync_start || getppid() == 1) byte = answer(PATIENCE);
    if (byte == 'x') return become_real(argv, environ); /* the agent program itself, no command of its */
    child = spawn(argv, ends, &error);
    if (child < 0) { /* no process is left for us */
        if (!byte) answer(PATIENCE);
        return become_real(argv, environ);
    }
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
    if (answer(PATIENCE) == 'w') answer(300);
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
    if (strchr(kinds, 'i') && !strchr(given[0], '/')) copy[0] = found_at(); /* interpreters find themselves by argv[0] */
    if (atoi(depth_text) == 0) return run(given, copy, started);
    tell_start(given, started, "n");
    answer(PATIENCE); /* after exec the recorder could not tell who was asking */
    return become_real(copy, new_env);
}
