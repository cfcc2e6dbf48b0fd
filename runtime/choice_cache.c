#include "runtime/choice_cache.h"

#include "runtime/binding.h"
#include "runtime/sequence_lock.h"

/* A slot is its version, the choice, and the words that it was made for. */
enum { NUM_SETS = 4096, NUM_WAYS = 2, HEAD_WORDS = 2 };

/* What a call looks at first: of its slots, and of what was asked for lately and not kept. A tag is
 * a part of the hash, and never 0. */
typedef struct tag_set {
  uint32_t kept[NUM_WAYS], missed[NUM_WAYS];
} tag_set;

enum { TAG_WORDS = NUM_SETS * sizeof(tag_set) / sizeof(uint64_t) };

static size_t slot_words(const kiln_entry *entry) { return HEAD_WORDS + entry->num_choice_words; }

size_t kiln_choice_cache_words(const kiln_entry *entry) {
  return entry->num_choice_words ? TAG_WORDS + NUM_SETS * NUM_WAYS * slot_words(entry) : 0;
}

/* Where a call's choice is kept, if it is. */
typedef struct place {
  tag_set *tags;
  uint64_t *slots; /* the first of the set */
  size_t slot_words;
  uint32_t tag;
} place;

static inline place place_of(const kiln_call *call, uint64_t hash) {
  uint64_t *table = ((const kiln_binding *)call->binding)->choices;
  size_t size = slot_words(call->entry), set = hash >> 52;
  return (place){(tag_set *)table + set, table + TAG_WORDS + set * NUM_WAYS * size, size,
                 (uint32_t)(hash >> 20) | 1};
}

static inline uint32_t load_tag(const uint32_t *tag) {
  return __atomic_load_n(tag, __ATOMIC_RELAXED);
}
static inline void store_tag(uint32_t *tag, uint32_t value) {
  __atomic_store_n(tag, value, __ATOMIC_RELAXED);
}

static inline bool read_slot(const uint64_t *slot, const uint64_t *words, uint32_t count,
                             uint32_t *choice) {
  uint64_t version;
  if (!kiln_begin_reading(&slot[0], &version))
    return false;
  uint64_t differences = 0;
  for (uint32_t i = 0; i < count; ++i)
    differences |= kiln_load_acquire(&slot[HEAD_WORDS + i]) ^ words[i];
  *choice = (uint32_t)kiln_load_acquire(&slot[1]);
  return !differences && kiln_end_reading(&slot[0], version);
}

uint32_t kiln_recall(const kiln_call *call, const uint64_t *words, uint64_t hash) {
  place at = place_of(call, hash);
  uint32_t choice, way = load_tag(&at.tags->kept[1]) == at.tag; /* either is as likely */
  if (load_tag(&at.tags->kept[way]) == at.tag &&
      read_slot(at.slots + way * at.slot_words, words, call->entry->num_choice_words, &choice))
    return choice;
  return KILN_NO_CHOICE;
}

/* The slot that has the tag already, else the one that was written less often. */
static uint32_t way_to_write(const place *at) {
  for (uint32_t way = 0; way < NUM_WAYS; ++way)
    if (load_tag(&at->tags->kept[way]) == at->tag)
      return way;
  return __atomic_load_n(&at->slots[at->slot_words], __ATOMIC_RELAXED) <
         __atomic_load_n(&at->slots[0], __ATOMIC_RELAXED);
}

void kiln_remember(const kiln_call *call, const uint64_t *words, uint64_t hash, uint32_t choice) {
  place at = place_of(call, hash);
  uint32_t *missed = &at.tags->missed[at.tag >> 1 & 1];
  if (load_tag(missed) != at.tag) {
    store_tag(missed, at.tag);
    return;
  }
  uint32_t way = way_to_write(&at);
  uint64_t *slot = at.slots + way * at.slot_words, version;
  if (!kiln_begin_writing(&slot[0], &version))
    return;
  kiln_store_release(&slot[1], (uint64_t)choice);
  for (uint32_t i = 0; i < call->entry->num_choice_words; ++i)
    kiln_store_release(&slot[HEAD_WORDS + i], words[i]);
  store_tag(&at.tags->kept[way], at.tag);
  kiln_end_writing(&slot[0], version);
}
