/* Signals: saved, passed on, restored, and raised again at the end. Part of shim.c. */

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

static void stop_by(int number) { /* until it is continued */
    struct sigaction before, first = {.sa_handler = SIG_DFL};
    int changed = !sigaction(number, &first, &before); /* not for SIGSTOP, which needs none */
    raise(number);
    if (changed) sigaction(number, &before, NULL);
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
