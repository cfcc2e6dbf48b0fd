#include "runtime/choice_cache.h"

#include "runtime/binding.h"
#include "runtime/sequence_lock.h"

/* A slot is its version, the choice, and the words that it was made for. */
enum { NUM_SETS = 2048, NUM_WAYS = 4, HEAD_WORDS = 2 };

/* What a call looks at first: 16 bits of the hash of what is in each of its slots, and of what was
 * asked for lately and not kept, the last one lowest. Where threads write at once a tag may get
 * lost, or stay for what is no longer there, which costs a choice. */
typedef struct tag_set {
  uint64_t kept, missed;
} tag_set;

enum { TAG_BITS = 16, TAG_WORDS = NUM_SETS * sizeof(tag_set) / sizeof(uint64_t) };

static size_t slot_words(const kiln_entry *entry) { return HEAD_WORDS + entry->num_choice_words; }

size_t kiln_choice_cache_words(const kiln_entry *entry) {
  return entry->num_choice_words ? TAG_WORDS + NUM_SETS * NUM_WAYS * slot_words(entry) : 0;
}

/* Where a call's choice is kept, if it is. */
typedef struct location {
  tag_set *tags;
  uint64_t *slots; /* the first of the set */
  size_t slot_words;
  uint64_t tag; /* not 0, which is none */
} location;

static inline location locate(const kiln_call *call, uint64_t hash) {
  uint64_t *table = ((const kiln_binding *)call->binding)->choices;
  size_t size = slot_words(call->entry), set = hash >> 53;
  return (location){(tag_set *)table + set, table + TAG_WORDS + set * NUM_WAYS * size, size,
                    (hash >> 32 & UINT16_MAX) | 1};
}

static inline uint64_t load_tags(const uint64_t *tags) {
  return __atomic_load_n(tags, __ATOMIC_RELAXED);
}

/* Not 0 if one of four tags is this one; the lowest bit is then the highest of the first such. */
static inline uint64_t find_tag(uint64_t tags, uint64_t tag) {
  const uint64_t ones = UINT64_C(0x0001000100010001), differences = tags ^ tag * ones;
  return (differences - ones) & ~differences & ones << (TAG_BITS - 1);
}

static inline uint32_t way_of(uint64_t found) {
  return (uint32_t)__builtin_ctzll(found) / TAG_BITS;
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
  location at = locate(call, hash);
  uint64_t found = find_tag(load_tags(&at.tags->kept), at.tag);
  uint32_t choice;
  if (found && read_slot(at.slots + way_of(found) * at.slot_words, words,
                         call->entry->num_choice_words, &choice))
    return choice;
  return KILN_NO_CHOICE;
}

/* The slot that has the tag already, else the one that was written least often. */
static uint32_t way_to_write(const location *at, uint64_t kept) {
  uint64_t found = find_tag(kept, at->tag), least = UINT64_MAX;
  if (found)
    return way_of(found);
  uint32_t least_way = 0;
  for (uint32_t way = 0; way < NUM_WAYS; ++way) {
    uint64_t version = __atomic_load_n(&at->slots[way * at->slot_words], __ATOMIC_RELAXED);
    least_way = version < least ? way : least_way;
    least = version < least ? version : least;
  }
  return least_way;
}

static KILN_RARE void keep(const kiln_call *call, const location *at, const uint64_t *words,
                           uint32_t choice) {
  uint64_t kept = load_tags(&at->tags->kept), version;
  uint32_t way = way_to_write(at, kept);
  uint64_t *slot = at->slots + way * at->slot_words;
  if (!kiln_begin_writing(&slot[0], &version))
    return;
  kiln_store_release(&slot[1], (uint64_t)choice);
  for (uint32_t i = 0; i < call->entry->num_choice_words; ++i)
    kiln_store_release(&slot[HEAD_WORDS + i], words[i]);
  kept &= ~((uint64_t)UINT16_MAX << way * TAG_BITS);
  __atomic_store_n(&at->tags->kept, kept | at->tag << way * TAG_BITS, __ATOMIC_RELAXED);
  kiln_end_writing(&slot[0], version);
}

void kiln_remember(const kiln_call *call, const uint64_t *words, uint64_t hash, uint32_t choice) {
  location at = locate(call, hash);
  uint64_t missed = load_tags(&at.tags->missed);
  if (find_tag(missed, at.tag))
    keep(call, &at, words, choice);
  else
    __atomic_store_n(&at.tags->missed, missed << TAG_BITS | at.tag, __ATOMIC_RELAXED);
}
