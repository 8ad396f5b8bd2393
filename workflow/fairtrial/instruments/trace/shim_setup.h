/* Configuration, policy and environment. Part of shim.c. */

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

static int find_command(const char *name) { /* 1: there is a row of this name; it stands in the globals */
    char *copy = strdup(config_text);
    real_path = NULL;
    for (char *line = copy, *end; name && line && *line; line = end) {
        end = strchr(line, '\n');
        if (end) *end++ = 0; else end = line + strlen(line);
        take_line(line, name);
    }
    return real_path != NULL;
}

/* Which command are we? The file we run as knows it: a script's first line leaves us argv[0] and AT_EXECFN of
 * programs we are not. Another name of the same file (python, python3) is believed from argv[0]. */
static void load_config(const char *argv0) {
    volatile char *where = CONFIG;
    char self[PATH_MAX], *real;
    int fd = high(open((const char *)where, O_RDONLY | O_CLOEXEC));
    ssize_t n = fd < 0 ? -1 : read(fd, config_text, sizeof config_text - 1);
    if (n <= 0) fail("the command trace is not set up here");
    close(fd);
    n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    if (find_command(base(self))) {
        real = real_path;
        if (!find_command(base(argv0)) || strcmp(real_path, real)) find_command(base(self));
    } else if (!find_command(base(argv0))) fail("no traced command has this name");
}

static char *found_at(void) { /* where a name without a slash led: a path of ours stands for another, any other for itself */
    char *path = (char *)getauxval(AT_EXECFN), *slash = path ? strrchr(path, '/') : NULL;
    size_t folder = slash ? (size_t)(slash - path) : 0;
    return slash && (folder < 6 || strncmp(slash - 6, "/shims", 6)) ? path : seen_path;
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
