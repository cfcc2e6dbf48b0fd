#include "runtime/hip_messages.h"
#include "runtime/kiln.h"
#include "runtime/mutex.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 8, FAILURE_CAPACITY = 512 };

static kiln_mutex mutex; /* held while a program's function prints */
static kiln_mutex failure_mutex;
static char failure[FAILURE_CAPACITY];

static uint64_t *word_at(char *records, uint64_t offset) { return (uint64_t *)(records + offset); }

/* The first one is said at once, too, as by NVIDIA's driver: no launch may follow that fails. */
static void note_failure(const char *text, const uint64_t *program) {
  kiln_lock(&failure_mutex);
  if (!failure[0]) {
    snprintf(failure, sizeof failure, "%s, program (%u, %u, %u)", text, (unsigned)program[0],
             (unsigned)program[1], (unsigned)program[2]);
    fprintf(stderr, "%s\n", failure);
  }
  kiln_unlock(&failure_mutex);
}

static void mark_said(uint64_t *record, uint64_t bytes) {
  *record = bytes | (uint64_t)KILN_HIP_MESSAGE_SAID << 32;
}

/* The bytes of a record that is printed now; 0 where it is not complete. */
static uint64_t say(uint64_t *record, uint64_t left) {
  uint64_t header = __atomic_load_n(record, __ATOMIC_ACQUIRE);
  uint64_t bytes = header & UINT32_MAX, kind = header >> 32;
  if (bytes > left || bytes % WORD || bytes < 3 * WORD)
    return 0;
  if (kind == KILN_HIP_MESSAGE_SAID)
    return bytes;
  uint64_t values = record[1];
  if ((kind != KILN_HIP_MESSAGE_LINE && kind != KILN_HIP_MESSAGE_FAILURE) ||
      values > (bytes - 3 * WORD) / WORD)
    return 0;
  const char *text = (const char *)(record + 2 + values);
  if (!memchr(text, 0, bytes - (2 + values) * WORD))
    return 0;
  if (kind == KILN_HIP_MESSAGE_LINE)
    kiln_device_print(text, record + 2);
  else if (values == 3)
    note_failure(text, record + 2);
  mark_said(record, bytes);
  return bytes;
}

/* Under the mutex. What was printed becomes zeros, as the next records expect, and is free again
 * unless somebody has begun to write behind it. */
static void make_room(char *buffer, uint64_t said) {
  char *records = buffer + KILN_HIP_MESSAGES_HEAD;
  uint64_t *used = (uint64_t *)buffer, seen = __atomic_load_n(used, __ATOMIC_ACQUIRE);
  bool is_full = seen > KILN_HIP_MESSAGES_RECORDS;
  if (!is_full && said < seen)
    return; /* somebody is writing */
  uint64_t filled = is_full ? KILN_HIP_MESSAGES_RECORDS : seen;
  if (is_full && said + WORD <= filled && *word_at(records, said) >> 32 != KILN_HIP_MESSAGE_NONE)
    return;
  memset(records, 0, filled);
  if (!__atomic_compare_exchange_n(used, &seen, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    /* A new record lies behind these. */
    if (filled)
      mark_said(word_at(records, 0), filled);
    return;
  }
  uint64_t lost = __atomic_exchange_n((uint64_t *)buffer + 1, 0, __ATOMIC_ACQ_REL);
  if (lost)
    kiln_device_print("%llu messages of kernels had no room\n", &lost);
}

void kiln_hip_messages_print(void *buffer) {
  char *records = (char *)buffer + KILN_HIP_MESSAGES_HEAD;
  kiln_lock(&mutex);
  uint64_t used = __atomic_load_n((uint64_t *)buffer, __ATOMIC_ACQUIRE), said = 0;
  if (used > KILN_HIP_MESSAGES_RECORDS)
    used = KILN_HIP_MESSAGES_RECORDS;
  while (said + 3 * WORD <= used) {
    uint64_t bytes = say(word_at(records, said), used - said);
    if (!bytes)
      break;
    said += bytes;
  }
  make_room(buffer, said);
  kiln_unlock(&mutex);
}

bool kiln_hip_messages_failure(char *text, uint32_t capacity) {
  kiln_lock(&failure_mutex);
  bool has_failed = failure[0] != 0;
  if (has_failed)
    snprintf(text, capacity, "%s", failure);
  kiln_unlock(&failure_mutex);
  return has_failed;
}

void kiln_hip_messages_forget(void) {
  kiln_lock(&failure_mutex);
  failure[0] = 0;
  kiln_unlock(&failure_mutex);
}
