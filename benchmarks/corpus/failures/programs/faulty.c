/* LD_PRELOAD: makes one system call fail on files whose path holds FAULT_PATH, with error number FAULT_ERRNO, after FAULT_AFTER calls.
   FAULT_CALL is open, read, write or fsync. What a program makes of the error is its own, real reaction. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls;

static int fails(const char *call, const char *path) {
  const char *wanted = getenv("FAULT_CALL"), *part = getenv("FAULT_PATH"), *after = getenv("FAULT_AFTER");
  if (!wanted || !part || strcmp(wanted, call) || !strstr(path, part)) return 0;
  if (calls++ < (after ? atoi(after) : 0)) return 0;
  errno = atoi(getenv("FAULT_ERRNO"));
  return 1;
}

static int fails_on(const char *call, int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(call, path);
}

ssize_t write(int fd, const void *data, size_t size) {
  ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  return fails_on("write", fd) ? -1 : real(fd, data, size);
}

ssize_t read(int fd, void *data, size_t size) {
  ssize_t (*real)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
  return fails_on("read", fd) ? -1 : real(fd, data, size);
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  return fails_on("fsync", fd) ? -1 : real(fd);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
  return fails("open", path) ? -1 : real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  return fails("open", path) ? -1 : real(path, flags, mode);
}
