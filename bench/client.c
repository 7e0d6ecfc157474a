/* The load: requests built beforehand, one under way on each connection, every octet of every answer checked.
 *
 * One process, one thread, epoll and OpenSSL, so that it costs less than any server that it asks. It reads a file of
 * exchanges (bench/client.py writes it, and says how), opens --connections, and prints one line of JSON. The first
 * answer that is not the expected one, in status, length or any octet, ends it with code 1 and the reason on stderr.
 * It reads the processor time of the server's processes itself (--pids), at the moments its own interval begins and
 * ends, so that nothing before or after counts.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SCRATCH = 1 << 18, HEAD_LIMIT = 1 << 16, OPENING = 64, EVENTS = 256, PIDS = 64, STAMP = 12 };
enum kind { EQUAL, CONTAINS };
enum state { CLOSED, CONNECTING, TUNNEL, HANDSHAKE, READY, RESTING };

struct body { const char *data; uint32_t size; };
struct exchange { const char *request; uint32_t size, status, kind, body; int32_t stamp; };

struct connection {
    int fd;
    enum state state;
    SSL *ssl;
    char *out; uint32_t out_size, out_room, out_sent;      /* what is to be sent */
    char *in; uint32_t in_size, in_room;                   /* a head that is not whole, or a body to look into */
    int in_body; uint64_t left, offset;                    /* of the body under way */
    const struct exchange **asked; uint64_t *asked_at; uint32_t first, waiting;
    uint64_t opened_at, wake_at;
    uint32_t events;
};

static struct {
    const char *address, *tunnel, *name, *ca, *plan; int port, tls, fresh, hold, resume, spin;
    uint32_t connections, depth; uint64_t requests, first, stamp, pause_ns; double seconds, warm;
    pid_t pids[PIDS]; int pid_count;
} option = { .connections = 1, .depth = 1 };

static struct body *bodies;
static struct exchange *exchanges;
static uint64_t exchange_count, sent, answered, wanted, handshakes, resumed, source, spun;
static struct connection *connections;
static uint32_t opened, opening;
static uint32_t *took; static size_t took_room, took_count;
static int poll_fd, counting;
static SSL_CTX *tls;
static SSL_SESSION *session;
static char scratch[SCRATCH];

static void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("client: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

static void *room(void *old, size_t size) {
    void *found = realloc(old, size);
    if (!found) die("no memory for %zu octets", size);
    return found;
}

static uint64_t clock_ns(clockid_t id) {
    struct timespec at;
    if (clock_gettime(id, &at)) die("the processor time of a server cannot be read: %s", strerror(errno));
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static uint64_t now(void) { return clock_ns(CLOCK_MONOTONIC); }

/* Of all threads of the processes, those that have ended included; the clock's number is as clock_getcpuclockid(3) makes it. */
static uint64_t server_ns(void) {
    uint64_t total = 0;
    for (int index = 0; index < option.pid_count; index++)
        total += clock_ns((clockid_t)((~(unsigned)option.pids[index] << 3) | 2));
    return total;
}

/* ---- what to ask -------------------------------------------------------------------------------------------- */

static uint32_t number(const char **at) {
    uint32_t value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return value;
}

static void read_plan(void) {
    struct stat about;
    int fd = open(option.plan, O_RDONLY);
    if (fd < 0 || fstat(fd, &about)) die("%s: %s", option.plan, strerror(errno));
    const char *at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED) die("%s: %s", option.plan, strerror(errno));
    uint32_t count = number(&at);
    bodies = room(NULL, count * sizeof *bodies);
    for (uint32_t index = 0; index < count; index++) {
        bodies[index].size = number(&at);
        bodies[index].data = at;
        at += bodies[index].size;
    }
    exchange_count = number(&at);
    if (!exchange_count) die("%s holds no exchange", option.plan);
    exchanges = room(NULL, exchange_count * sizeof *exchanges);
    for (uint64_t index = 0; index < exchange_count; index++) {
        struct exchange *one = &exchanges[index];
        one->size = number(&at); one->status = number(&at); one->kind = number(&at); one->body = number(&at);
        one->request = at;
        const char *mark = memmem(at, one->size, "@@@@@@@@@@@@", STAMP);
        one->stamp = mark ? (int32_t)(mark - at) : -1;
        at += one->size;
    }
}

/* ---- one connection ----------------------------------------------------------------------------------------- */

static void watch(struct connection *on, uint32_t events) {
    if (on->events == events) return;
    struct epoll_event event = { .events = events, .data.ptr = on };
    if (epoll_ctl(poll_fd, on->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, on->fd, &event)) die("epoll: %s", strerror(errno));
    on->events = events;
}

static void put(struct connection *on, const char *data, uint32_t size) {
    if (on->out_size + size > on->out_room) on->out = room(on->out, on->out_room = (on->out_size + size) * 2);
    memcpy(on->out + on->out_size, data, size);
    on->out_size += size;
}

static void open_one(struct connection *on) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)option.port) };
    inet_pton(AF_INET, option.address, &to.sin_addr);
    on->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (on->fd < 0) die("socket: %s", strerror(errno));
    int yes = 1;
    setsockopt(on->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (option.fresh) { /* many addresses of ours, or the ports of one would run out */
        struct sockaddr_in from = { .sin_family = AF_INET };
        from.sin_addr.s_addr = htonl(0x7f000101u + (uint32_t)(source++ % 200));
        setsockopt(on->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
        if (bind(on->fd, (struct sockaddr *)&from, sizeof from)) die("bind: %s", strerror(errno));
    }
    on->opened_at = now();
    on->events = on->first = on->waiting = on->in_size = on->out_size = on->out_sent = 0;
    on->in_body = 0;
    if (connect(on->fd, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS) die("connect: %s", strerror(errno));
    on->state = CONNECTING;
    watch(on, EPOLLOUT);
    opening++;
}

static void close_one(struct connection *on) {
    if (on->ssl) {
        SSL_shutdown(on->ssl);
        SSL_free(on->ssl);
        on->ssl = NULL;
    }
    close(on->fd);
    on->state = CLOSED;
}

static void flush_out(struct connection *on) {
    while (on->out_sent < on->out_size) {
        const char *data = on->out + on->out_sent;
        uint32_t size = on->out_size - on->out_sent;
        ssize_t done;
        if (on->ssl && on->state >= READY) {
            done = SSL_write(on->ssl, data, (int)size);
            if (done <= 0) {
                int why = SSL_get_error(on->ssl, (int)done);
                if (why != SSL_ERROR_WANT_WRITE && why != SSL_ERROR_WANT_READ) die("TLS broke while sending");
                watch(on, EPOLLIN | EPOLLOUT);
                return;
            }
        } else if ((done = send(on->fd, data, size, MSG_NOSIGNAL)) < 0) {
            if (errno != EAGAIN) die("send: %s", strerror(errno));
            watch(on, EPOLLIN | EPOLLOUT);
            return;
        }
        on->out_sent += (uint32_t)done;
    }
    on->out_sent = on->out_size = 0;
    watch(on, EPOLLIN);
}

/* Asks until as many requests are under way as may be. */
static void ask(struct connection *on) {
    while (on->waiting < option.depth && (!wanted || sent < wanted)) {
        const struct exchange *one = &exchanges[(option.first + sent) % exchange_count];
        uint32_t start = on->out_size;
        put(on, one->request, one->size);
        if (one->stamp >= 0) {
            char digits[STAMP + 1];
            snprintf(digits, sizeof digits, "%012llu", (unsigned long long)(option.stamp + sent));
            memcpy(on->out + start + one->stamp, digits, STAMP);
        }
        uint32_t slot = (on->first + on->waiting++) % option.depth;
        on->asked[slot] = one;
        on->asked_at[slot] = option.fresh ? on->opened_at : now();
        sent++;
    }
    if (on->out_size) flush_out(on);
}

static void ready(struct connection *on) {
    on->state = READY;
    opening--;
    watch(on, EPOLLIN);
    ask(on);
}

static void shake(struct connection *on) {
    int done = SSL_connect(on->ssl);
    if (done == 1) {
        handshakes++;
        resumed += (uint64_t)SSL_session_reused(on->ssl);
        ready(on);
        return;
    }
    int why = SSL_get_error(on->ssl, done);
    if (why == SSL_ERROR_WANT_READ) watch(on, EPOLLIN);
    else if (why == SSL_ERROR_WANT_WRITE) watch(on, EPOLLOUT);
    else {
        long verdict = SSL_get_verify_result(on->ssl);
        if (verdict != X509_V_OK) die("TLS handshake: %s", X509_verify_cert_error_string(verdict));
        die("TLS handshake: %s", ERR_reason_error_string(ERR_get_error()) ?: "the server closed the connection");
    }
}

static void start_tls(struct connection *on) {
    on->ssl = SSL_new(tls);
    SSL_set_fd(on->ssl, on->fd);
    SSL_set_tlsext_host_name(on->ssl, option.name);
    SSL_set1_host(on->ssl, option.name);
    if (option.resume && session) SSL_set_session(on->ssl, session);
    on->state = HANDSHAKE;
    shake(on);
}

static void connected(struct connection *on) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(on->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) die("connect: %s", strerror(error));
    if (option.tunnel) {
        put(on, option.tunnel, (uint32_t)strlen(option.tunnel));
        on->state = TUNNEL;
        watch(on, EPOLLIN);
        flush_out(on);
    } else if (option.tls) start_tls(on);
    else ready(on);
}

static void read_tunnel(struct connection *on) {
    ssize_t size = recv(on->fd, scratch, sizeof scratch - 1, MSG_PEEK);
    if (size <= 0) die("the server closed the connection on CONNECT");
    scratch[size] = 0;
    const char *end = memmem(scratch, (size_t)size, "\r\n\r\n", 4);
    if (!end) return; /* peeked at: what there is now comes again with the rest */
    if (strncmp(scratch, "HTTP/1.1 200", 12) && strncmp(scratch, "HTTP/1.0 200", 12)) die("CONNECT: %.40s", scratch);
    if (recv(on->fd, scratch, (size_t)(end + 4 - scratch), 0) != end + 4 - scratch) die("CONNECT: a short read");
    start_tls(on);
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

static void note(uint64_t since) {
    if (!counting) return;
    if (took_count == took_room) took = room(took, (took_room = took_room ? took_room * 2 : 65536) * sizeof *took);
    uint64_t micros = (now() - since) / 1000;
    took[took_count++] = micros > UINT32_MAX ? UINT32_MAX : (uint32_t)micros;
}

static void open_next(void) {
    while (opened < option.connections && opening < OPENING) open_one(&connections[opened++]);
}

/* An answer is whole and right. Returns whether the connection goes on. */
static int whole(struct connection *on) {
    note(on->asked_at[on->first]);
    on->first = (on->first + 1) % option.depth;
    on->waiting--;
    on->in_body = 0;
    on->in_size = 0;
    answered++;
    if (option.hold) {
        on->state = RESTING;
        return 0;
    }
    if (option.fresh) {
        close_one(on);
        if (!wanted || sent < wanted) open_one(on);
        return 0;
    }
    if (option.pause_ns) {
        on->state = RESTING;
        on->wake_at = now() + option.pause_ns;
        return 0;
    }
    return 1;
}

static int64_t length_of(const char *head, const char *end) {
    for (const char *line = head; line && line < end; line = memmem(line, (size_t)(end - line), "\r\n", 2)) {
        if (*line == '\r') line += 2;
        if (end - line > 15 && !strncasecmp(line, "content-length:", 15)) return strtoll(line + 15, NULL, 10);
    }
    return -1;
}

/* Begins the body behind the head that ends at END. */
static void begin_body(struct connection *on, const char *head, const char *end) {
    const struct exchange *one = on->asked[on->first];
    const struct body *body = &bodies[one->body];
    if (strncmp(head, "HTTP/1.", 7)) die("no HTTP answer: %.40s", head);
    long status = strtol(head + 9, NULL, 10);
    if (status != one->status) die("wrong answer: %.40s instead of %u to %.60s", head, one->status, one->request);
    int64_t length = length_of(head, end);
    if (length < 0) die("wrong answer: it states no length: %.*s", (int)(end - head), head);
    if (one->kind == EQUAL && length != body->size)
        die("wrong answer: %lld octets instead of %u", (long long)length, body->size);
    if (one->kind == CONTAINS && (length > HEAD_LIMIT || length < body->size))
        die("wrong answer: %lld octets", (long long)length);
    on->in_body = 1;
    on->left = (uint64_t)length;
    on->offset = 0;
    on->in_size = 0;
}

static void keep(struct connection *on, const char *data, size_t size) {
    if (on->in_size + size > HEAD_LIMIT) die("wrong answer: a head of more than %d octets", HEAD_LIMIT);
    if (on->in_size + size > on->in_room) on->in = room(on->in, on->in_room = (uint32_t)(on->in_size + size) * 2);
    memcpy(on->in + on->in_size, data, size);
    on->in_size += (uint32_t)size;
}

/* Checks the octets of a body; returns how many were its. */
static size_t take_body(struct connection *on, const char *data, size_t size) {
    const struct exchange *one = on->asked[on->first];
    const struct body *body = &bodies[one->body];
    size_t part = size < on->left ? size : (size_t)on->left;
    if (one->kind == CONTAINS) keep(on, data, part);
    else if (memcmp(body->data + on->offset, data, part))
        die("wrong answer: a body that is not the recorded one, to %.60s", one->request);
    on->offset += part;
    on->left -= part;
    if (!on->left && one->kind == CONTAINS && body->size && !memmem(on->in, on->in_size, body->data, body->size))
        die("wrong answer: a body without %.*s", (int)body->size, body->data);
    return part;
}

/* Returns whether the connection is to be read on. */
static int take(struct connection *on, const char *data, size_t size) {
    while (size || (on->in_body && !on->left)) {
        if (!on->waiting) die("an answer that nobody asked for");
        if (!on->in_body) {
            size_t before = on->in_size;
            const char *head = data, *end = before ? NULL : memmem(data, size, "\r\n\r\n", 4);
            size_t used = end ? (size_t)(end + 4 - data) : 0;
            if (!end) { /* split over reads: the rare case, so it may copy */
                keep(on, data, size);
                head = on->in;
                end = memmem(on->in, on->in_size, "\r\n\r\n", 4);
                if (!end) return 1;
                used = (size_t)(end + 4 - on->in) - before;
            }
            begin_body(on, head, end);
            data += used;
            size -= used;
        }
        size_t part = take_body(on, data, size);
        data += part;
        size -= part;
        if (!on->left && !whole(on)) {
            if (size) die("octets behind the answer");
            return 0;
        }
        if (on->left) return 1;
    }
    return on->waiting > 0;
}

static void receive(struct connection *on) {
    int going = 1;
    while (going) {
        ssize_t size;
        if (on->ssl) {
            size = SSL_read(on->ssl, scratch, sizeof scratch);
            if (size <= 0) {
                if (SSL_get_error(on->ssl, (int)size) == SSL_ERROR_WANT_READ) break;
                die("the server closed a kept-alive connection (%u requests waiting)", on->waiting);
            }
        } else {
            size = recv(on->fd, scratch, sizeof scratch, 0);
            if (size < 0 && errno == EAGAIN) break;
            if (size <= 0) die("the server closed a kept-alive connection (%u requests waiting)", on->waiting);
        }
        going = take(on, scratch, (size_t)size);
        if (!on->ssl && size < SCRATCH) break;
    }
    if (on->state == READY && on->waiting < option.depth) ask(on);
}

static void serve(struct connection *on) {
    switch (on->state) {
    case CONNECTING: connected(on); break;
    case TUNNEL: on->out_size ? flush_out(on) : read_tunnel(on); break;
    case HANDSHAKE: shake(on); break;
    case READY:
        if (on->out_size) flush_out(on);
        receive(on);
        break;
    case RESTING: die("the server broke a connection that was at rest");
    case CLOSED: break;
    }
}

/* ---- the run ------------------------------------------------------------------------------------------------ */

static void wake(void) {
    for (uint32_t index = 0; option.pause_ns && index < opened; index++) {
        struct connection *on = &connections[index];
        if (on->state == RESTING && now() >= on->wake_at) {
            on->state = READY;
            ask(on);
        }
    }
}

/* Turns until UNTIL (0: until all that is wanted has been answered).
 *
 * With `spin` it looks for answers without sleeping, and counts apart the time in which there are none: to wake a load
 * that sleeps on another core costs the server's own system call more than the request does on a virtual machine, so
 * that a load which is faster than its server would make the server look slower. */
static void turn(uint64_t until) {
    struct epoll_event events[EVENTS];
    uint64_t seen = answered, since = now();
    int wait = option.spin ? 0 : option.pause_ns ? 1 : 50;
    while (until ? now() < until : answered < wanted) {
        uint64_t began = option.spin ? now() : 0;
        open_next();
        int count = epoll_wait(poll_fd, events, EVENTS, wait);
        if (option.spin && !count) spun += now() - began;
        for (int index = 0; index < count; index++) serve(events[index].data.ptr);
        wake();
        if (answered != seen) seen = answered, since = now();
        else if (now() - since > 60000000000u) die("no answer within 60 s");
    }
}

static int by_size(const void *left, const void *right) {
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    return (one > other) - (one < other);
}

static uint32_t part_of(double share) {
    if (!took_count) return 0;
    size_t index = (size_t)(share * (double)took_count);
    return took[index < took_count ? index : took_count - 1];
}

/* A chain is verified once; the same leaf again needs no more than its signature over the handshake, which OpenSSL
 * checks in any case. Or the load would cost more than the servers whose handshakes it measures. */
static int verify(X509_STORE_CTX *store, void *unused) {
    (void)unused;
    static unsigned char *known;
    static int known_size;
    unsigned char *leaf = NULL;
    int size = i2d_X509(X509_STORE_CTX_get0_cert(store), &leaf);
    if (size > 0 && size == known_size && !memcmp(leaf, known, (size_t)size)) {
        OPENSSL_free(leaf);
        X509_STORE_CTX_set_error(store, X509_V_OK);
        return 1;
    }
    if (X509_verify_cert(store) != 1) {
        OPENSSL_free(leaf);
        return 0;
    }
    OPENSSL_free(known);
    known = leaf;
    known_size = size;
    return 1;
}

static int keep_session(SSL *on, SSL_SESSION *given) {
    (void)on;
    SSL_SESSION_free(session);
    session = given;
    return 1;
}

static void prepare(void) {
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if ((poll_fd = epoll_create1(0)) < 0) die("epoll: %s", strerror(errno));
    connections = room(NULL, option.connections * sizeof *connections);
    memset(connections, 0, option.connections * sizeof *connections);
    for (uint32_t index = 0; index < option.connections; index++) {
        connections[index].asked = room(NULL, option.depth * sizeof *connections->asked);
        connections[index].asked_at = room(NULL, option.depth * sizeof *connections->asked_at);
    }
    if (!option.tls) return;
    static const unsigned char protocol[] = "\x08http/1.1";
    tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION);
    SSL_CTX_set1_groups_list(tls, "X25519:P-256");
    SSL_CTX_set_alpn_protos(tls, protocol, sizeof protocol - 1);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(tls, 1);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(tls, verify, NULL);
    if (!SSL_CTX_load_verify_locations(tls, option.ca, NULL)) die("%s holds no CA", option.ca);
    SSL_CTX_set_session_cache_mode(tls, option.resume ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (option.resume) SSL_CTX_sess_set_new_cb(tls, keep_session);
}

static void read_options(int count, char **words) {
    for (int index = 1; index < count; index++) {
        char *name = words[index], *value = strchr(name, '=');
        if (!value) die("%s: NAME=VALUE is wanted", name);
        *value++ = 0;
        if (!strcmp(name, "address")) option.address = value;
        else if (!strcmp(name, "port")) option.port = atoi(value);
        else if (!strcmp(name, "plan")) option.plan = value;
        else if (!strcmp(name, "tunnel")) option.tunnel = value;
        else if (!strcmp(name, "tls")) option.tls = atoi(value);
        else if (!strcmp(name, "name")) option.name = value;
        else if (!strcmp(name, "ca")) option.ca = value;
        else if (!strcmp(name, "fresh")) option.fresh = atoi(value);
        else if (!strcmp(name, "spin")) option.spin = atoi(value);
        else if (!strcmp(name, "hold")) option.hold = atoi(value);
        else if (!strcmp(name, "resume")) option.resume = atoi(value);
        else if (!strcmp(name, "connections")) option.connections = (uint32_t)atoi(value);
        else if (!strcmp(name, "depth")) option.depth = (uint32_t)atoi(value);
        else if (!strcmp(name, "requests")) option.requests = strtoull(value, NULL, 10);
        else if (!strcmp(name, "first")) option.first = strtoull(value, NULL, 10);
        else if (!strcmp(name, "stamp")) option.stamp = strtoull(value, NULL, 10);
        else if (!strcmp(name, "pause_us")) option.pause_ns = strtoull(value, NULL, 10) * 1000;
        else if (!strcmp(name, "seconds")) option.seconds = atof(value);
        else if (!strcmp(name, "warm")) option.warm = atof(value);
        else if (!strcmp(name, "pid") && option.pid_count < PIDS) option.pids[option.pid_count++] = atoi(value);
        else die("no option %s", name);
    }
    if (!option.address || !option.plan) die("address and plan are wanted");
    if (!option.requests == !(option.seconds > 0)) die("either requests or seconds are wanted");
}

int main(int count, char **words) {
    read_options(count, words);
    read_plan();
    prepare();
    if (option.warm > 0) turn(now() + (uint64_t)(option.warm * 1e9));
    while (option.seconds > 0 && (opened < option.connections || opening > (option.fresh ? option.connections : 0)))
        turn(now() + 10000000);
    counting = 1;
    spun = 0;
    uint64_t before = answered, shaken = handshakes, again = resumed;
    uint64_t started = now(), client = clock_ns(CLOCK_PROCESS_CPUTIME_ID), server = server_ns();
    if (option.requests) wanted = sent + option.requests;
    turn(option.requests ? 0 : started + (uint64_t)(option.seconds * 1e9));
    uint64_t server_took = server_ns() - server, client_took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - client - spun;
    uint64_t wall = now() - started;
    if (took_count) qsort(took, took_count, sizeof *took, by_size);
    printf("{\"requests\": %llu, \"seconds\": %.6f, \"server_cpu\": %.6f, \"client_cpu\": %.6f, \"sent\": %llu, "
           "\"handshakes\": %llu, \"resumed\": %llu, \"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u}\n",
           (unsigned long long)(answered - before), (double)wall / 1e9, (double)server_took / 1e9, (double)client_took / 1e9,
           (unsigned long long)sent, (unsigned long long)(handshakes - shaken), (unsigned long long)(resumed - again),
           part_of(0.5), part_of(0.99), part_of(1.0));
    fflush(stdout);
    if (option.hold)
        while (read(0, scratch, sizeof scratch) > 0) {}
    return 0;
}
