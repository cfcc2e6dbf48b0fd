#include "runtime/choice_cache.h"

#include "runtime/binding.h"
#include "runtime/sequence_lock.h"

/* A slot is its version, the choice, and the words that it was made for. */
enum { NUM_SLOTS = 8192, HEAD_WORDS = 2 };

static size_t slot_words(const kiln_entry *entry) { return HEAD_WORDS + entry->num_choice_words; }

size_t kiln_choice_cache_words(const kiln_entry *entry) {
  return entry->num_choice_words ? NUM_SLOTS * slot_words(entry) : 0;
}

/* The number of the first of two slots. */
static inline uint32_t slot_of(const uint64_t *words, uint32_t count) {
  uint64_t sum = 0, factor = UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t i = 0; i < count; ++i, factor += UINT64_C(0xd1342543de82ef96))
    sum += words[i] * factor;
  return (uint32_t)(sum >> 40) % NUM_SLOTS;
}

static inline bool read_slot(const uint64_t *slot, const uint64_t *words, uint32_t count,
                             uint32_t *choice) {
  uint64_t version;
  if (!kiln_begin_reading(&slot[0], &version))
    return false;
  for (uint32_t i = 0; i < count; ++i)
    if (kiln_load_acquire(&slot[HEAD_WORDS + i]) != words[i])
      return false;
  *choice = (uint32_t)kiln_load_acquire(&slot[1]);
  return kiln_end_reading(&slot[0], version);
}

uint32_t kiln_recall(const kiln_call *call, const uint64_t *words) {
  const uint64_t *slots = ((const kiln_binding *)call->binding)->choices;
  uint32_t count = call->entry->num_choice_words, slot = slot_of(words, count), choice;
  size_t size = slot_words(call->entry);
  if (read_slot(slots + slot * size, words, count, &choice) ||
      read_slot(slots + (slot ^ 1) * size, words, count, &choice))
    return choice;
  return KILN_NO_CHOICE;
}

void kiln_remember(const kiln_call *call, const uint64_t *words, uint32_t choice) {
  uint64_t *slots = ((const kiln_binding *)call->binding)->choices, version;
  uint32_t count = call->entry->num_choice_words, slot = slot_of(words, count);
  size_t size = slot_words(call->entry);
  /* The one that was written less often. */
  if (__atomic_load_n(&slots[(slot ^ 1) * size], __ATOMIC_RELAXED) <
      __atomic_load_n(&slots[slot * size], __ATOMIC_RELAXED))
    slot ^= 1;
  uint64_t *to = slots + slot * size;
  if (!kiln_begin_writing(&to[0], &version))
    return;
  kiln_store_release(&to[1], (uint64_t)choice);
  for (uint32_t i = 0; i < count; ++i)
    kiln_store_release(&to[HEAD_WORDS + i], words[i]);
  kiln_end_writing(&to[0], version);
}
