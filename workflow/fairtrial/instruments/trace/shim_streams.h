/* Messages to the recorder, and the streams on their way through. Part of shim.c. */

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
    struct timeval patience = {PATIENCE / 1000, 0};
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
        refused_by = errno;
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
