/*
 * Reading tables of measured shapes.
 *
 * The file is text, lines of words (codegen/TuningTable.h). It may come from anybody, so every word
 * is looked at before it is believed: first all entries of the file are read into tables of their
 * own, and only a file without a mistake is published.
 */
#include "runtime/tuning_table.h"

#include "runtime/binding.h"
#include "runtime/mutex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_KEYS = 8,         /* of an entry, as the spec says */
  MAX_SHAPES = 1 << 20, /* of an entry */
  LINE_CAPACITY = 1 << 16
};

/* One table, before it is published. */
typedef struct draft {
  const kiln_entry *entry;
  kiln_tuning_table *table;
} draft;

/* What is read, and where; shapes of the entry that is being read. */
typedef struct reader {
  const kiln_library *library;
  const char *path;
  FILE *file;
  unsigned line;
  char text[LINE_CAPACITY];
  char *rest; /* of the line */

  draft *drafts;
  uint32_t num_drafts;

  int64_t *keys; /* logarithms */
  int64_t last[MAX_KEYS];
  uint32_t *target; /* by shape */
  uint32_t *places, *ranks;
  uint16_t *variants;
  uint32_t num_shapes, num_variants, room, variant_room;
} reader;

#define malformed(reader, ...)                                                                     \
  kiln_error_within(kiln_error(KILN_ERROR_INVALID_ARGUMENT, __VA_ARGS__), "%s:%u", (reader)->path, \
                    (reader)->line)

static kiln_status no_memory(const reader *reader) {
  return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory for its tables", reader->path);
}

/* --- lines and words --- */

static kiln_status next_line(reader *reader) {
  ++reader->line;
  if (!fgets(reader->text, sizeof reader->text, reader->file))
    return malformed(reader, "the file is cut short: expected a line 'end'");
  size_t length = strlen(reader->text);
  if (length == 0 || reader->text[length - 1] != '\n')
    return malformed(reader, "expected a line of text with an end, of less than %d characters",
                     LINE_CAPACITY);
  reader->text[length - 1] = '\0';
  reader->rest = reader->text;
  return KILN_SUCCESS;
}

/* The next word of the line, "" at its end. */
static const char *next_word(reader *reader) {
  char *word = reader->rest + strspn(reader->rest, " ");
  reader->rest = word + strcspn(word, " ");
  if (*reader->rest)
    *reader->rest++ = '\0';
  return word;
}

static kiln_status expect_word(reader *reader, const char *expected) {
  const char *word = next_word(reader);
  return strcmp(word, expected) == 0
             ? KILN_SUCCESS
             : malformed(reader, "expected '%s', got '%.64s'", expected, word);
}

/* --- shapes --- */

/* keyLogarithm of codegen/DispatchTables.h. */
static int64_t logarithm_of(int64_t value) {
  if (value <= 0)
    return -(INT64_C(1) << 48);
  int whole = 63 - __builtin_clzll((unsigned long long)value);
  uint64_t fraction = (uint64_t)value << (63 - whole) << 1;
  return ((int64_t)whole << 48) + (int64_t)(fraction >> 16);
}

static bool grow(void **array, size_t room, size_t bytes) {
  void *larger = realloc(*array, room * bytes);
  if (larger)
    *array = larger;
  return larger;
}

static bool make_room(reader *reader, uint32_t num_keys) {
  bool fits = true;
  if (reader->num_shapes == reader->room) {
    reader->room = reader->room ? 2 * reader->room : 64;
    fits = grow((void **)&reader->keys, (size_t)reader->room * num_keys, sizeof *reader->keys) &&
           grow((void **)&reader->target, reader->room, sizeof *reader->target) &&
           grow((void **)&reader->places, reader->room, sizeof *reader->places) &&
           grow((void **)&reader->ranks, reader->room, sizeof *reader->ranks);
  }
  return fits;
}

static bool add_variant(reader *reader, uint16_t variant) {
  if (reader->num_variants == reader->variant_room) {
    reader->variant_room = reader->variant_room ? 2 * reader->variant_room : 256;
    if (!grow((void **)&reader->variants, reader->variant_room, sizeof *reader->variants))
      return false;
  }
  reader->variants[reader->num_variants++] = variant;
  return true;
}

static kiln_status read_key(reader *reader, const kiln_dispatch_key *key, bool is_first) {
  int64_t values[MAX_KEYS];
  int order = is_first ? 1 : 0;
  for (uint32_t i = 0; i < key->num_keys; ++i) {
    const char *word = next_word(reader);
    char *end;
    errno = 0;
    values[i] = strtoimax(word, &end, 10);
    if (!*word || *end || errno)
      return malformed(reader, "expected an integer for %s, got '%.64s'", key->names[i], word);
    if (order == 0)
      order = values[i] < reader->last[i] ? -1 : values[i] > reader->last[i];
  }
  if (order <= 0)
    return malformed(reader, "expected shapes in order of their keys, each once");
  for (uint32_t i = 0; i < key->num_keys; ++i) {
    reader->last[i] = values[i];
    reader->keys[(size_t)reader->num_shapes * key->num_keys + i] = logarithm_of(values[i]);
  }
  return KILN_SUCCESS;
}

static bool is_variant_id(const char *word) {
  return strlen(word) == 12 && strspn(word, "0123456789abcdef") == 12;
}

/* The variants of a shape, the fastest first. Those that the library lacks are passed over. */
static kiln_status read_variants(reader *reader, const kiln_entry *entry, uint32_t *rank) {
  const char *word;
  *rank = UINT32_MAX;
  while (*(word = next_word(reader))) {
    if (!is_variant_id(word))
      return malformed(reader, "expected a variant's lasting name, got '%.64s'", word);
    uint32_t variant = 0;
    while (variant < entry->num_variants &&
           (!entry->variants[variant].id || strcmp(entry->variants[variant].id, word) != 0))
      ++variant;
    if (variant == entry->num_variants)
      continue;
    uint32_t its_rank = entry->key->ranks ? entry->key->ranks[variant] : 0;
    *rank = its_rank < *rank ? its_rank : *rank;
    if (!add_variant(reader, (uint16_t)variant))
      return no_memory(reader);
  }
  return KILN_SUCCESS;
}

/* A line "16 4096 : 5f0c9e21d3aa 0123456789ab". `target` may be none of the library's. */
static kiln_status read_shape(reader *reader, const kiln_entry *entry, uint32_t target,
                              bool is_first) {
  uint32_t place = reader->num_variants, rank;
  if (reader->num_shapes == MAX_SHAPES)
    return malformed(reader, "expected at most %d shapes of an entry", MAX_SHAPES);
  if (!make_room(reader, entry->key->num_keys))
    return no_memory(reader);
  kiln_status status = read_key(reader, entry->key, is_first);
  if (status == KILN_SUCCESS)
    status = expect_word(reader, ":");
  if (status == KILN_SUCCESS)
    status = read_variants(reader, entry, &rank);
  if (status != KILN_SUCCESS)
    return status;
  if (reader->num_variants == place || target == entry->num_targets) {
    reader->num_variants = place;
    return KILN_SUCCESS;
  }
  if (!add_variant(reader, UINT16_MAX))
    return no_memory(reader);
  reader->target[reader->num_shapes] = target;
  reader->places[reader->num_shapes] = place;
  reader->ranks[reader->num_shapes++] = rank;
  return KILN_SUCCESS;
}

/* --- targets and entries --- */

/* The target's index; num_targets where the library has none of that name. */
static uint32_t find_target(const kiln_entry *entry, const char *name) {
  static const char *const drivers[] = {"", "cuda", "hip", "cpu", "emu"};
  uint32_t index = 0;
  for (; index < entry->num_targets; ++index) {
    const kiln_target *target = &entry->targets[index];
    size_t length = strlen(drivers[target->driver]);
    if (strncmp(name, drivers[target->driver], length) == 0 && name[length] == ':' &&
        strcmp(name + length + 1, target->arch) == 0)
      break;
  }
  return index;
}

/* Copies what was read into one block of memory, for one free(). */
static kiln_tuning_table *make_table(const reader *reader, const kiln_entry *entry) {
  uint32_t num_keys = entry->key->num_keys, shapes = reader->num_shapes;
  size_t key_bytes = (size_t)shapes * num_keys * sizeof(int64_t);
  size_t words = (size_t)entry->num_targets + 1 + 2 * (size_t)shapes;
  size_t list_bytes = reader->num_variants * sizeof(uint16_t);
  char *memory =
      malloc(sizeof(kiln_tuning_table) + key_bytes + words * sizeof(uint32_t) + list_bytes);
  if (!memory)
    return NULL;
  kiln_tuning_table *table = (kiln_tuning_table *)memory;
  int64_t *keys = (int64_t *)(memory + sizeof *table);
  uint32_t *begin = (uint32_t *)((char *)keys + key_bytes);
  uint32_t *places = begin + entry->num_targets + 1, *ranks = places + shapes;
  uint16_t *variants = (uint16_t *)(ranks + shapes);
  uint32_t next = 0; /* targets come in order */
  for (uint32_t target = 0; target <= entry->num_targets; ++target) {
    while (next < shapes && reader->target[next] < target)
      ++next;
    begin[target] = next;
  }
  if (shapes) {
    memcpy(keys, reader->keys, key_bytes);
    memcpy(places, reader->places, shapes * sizeof *places);
    memcpy(ranks, reader->ranks, shapes * sizeof *ranks);
  }
  if (list_bytes)
    memcpy(variants, reader->variants, list_bytes);
  *table = (kiln_tuning_table){.shapes = {keys, begin, places, variants, ranks}};
  return table;
}

static kiln_status find_entry(reader *reader, const char *name, const kiln_entry **entry) {
  for (uint32_t i = 0; i < reader->num_drafts; ++i)
    if (strcmp(reader->drafts[i].entry->name, name) == 0)
      return malformed(reader, "%.64s stands twice", name);
  for (uint32_t i = 0; i < reader->library->num_entries; ++i)
    if (strcmp(reader->library->entries[i]->name, name) == 0) {
      *entry = reader->library->entries[i];
      return (*entry)->key ? KILN_SUCCESS
                           : malformed(reader, "%.64s has no dispatch key of integers", name);
    }
  return malformed(reader, "%s has no function '%.64s'", reader->library->name, name);
}

/* "entry NAME KEY ..." is read to its end; then its targets and shapes, to the first other line. */
static kiln_status read_entry(reader *reader) {
  const kiln_entry *entry = NULL;
  kiln_status status = find_entry(reader, next_word(reader), &entry);
  for (uint32_t i = 0; status == KILN_SUCCESS && i < entry->key->num_keys; ++i)
    status = expect_word(reader, entry->key->names[i]);
  if (status == KILN_SUCCESS)
    status = expect_word(reader, "");
  uint32_t target = UINT32_MAX, num_seen = 0;
  bool is_first = true;
  reader->num_shapes = reader->num_variants = reader->room = 0; /* of another number of keys */
  while (status == KILN_SUCCESS && (status = next_line(reader)) == KILN_SUCCESS) {
    if (strncmp(reader->rest, "target ", 7) == 0) {
      (void)next_word(reader);
      target = find_target(entry, next_word(reader));
      if (target < num_seen)
        return malformed(reader, "expected targets in the library's order, each once");
      if (target != entry->num_targets)
        num_seen = target + 1;
      is_first = true;
      status = expect_word(reader, "");
    } else if (*reader->rest == 'e') {
      break;
    } else if (target == UINT32_MAX) {
      return malformed(reader, "expected 'target NAME', got '%.64s'", reader->rest);
    } else {
      status = read_shape(reader, entry, target, is_first);
      is_first = false;
    }
  }
  if (status != KILN_SUCCESS)
    return status;
  kiln_tuning_table *table = make_table(reader, entry);
  if (!table)
    return no_memory(reader);
  reader->drafts[reader->num_drafts++] = (draft){entry, table};
  return KILN_SUCCESS;
}

static kiln_status read_header(reader *reader) {
  kiln_status status = next_line(reader);
  if (status == KILN_SUCCESS && strcmp(reader->text, "kiln table 1") != 0)
    return malformed(reader, "expected 'kiln table 1', got '%.64s'", reader->text);
  if (status == KILN_SUCCESS)
    status = next_line(reader);
  if (status == KILN_SUCCESS)
    status = expect_word(reader, "library");
  if (status == KILN_SUCCESS)
    status = expect_word(reader, reader->library->name);
  if (status != KILN_SUCCESS)
    return status;
  const char *hash = next_word(reader);
  if (!reader->library->dispatch_hash || strcmp(hash, reader->library->dispatch_hash) != 0)
    return malformed(reader,
                     "the table is for another version of %s: it is of %.64s, the library of %s",
                     reader->library->name, hash,
                     reader->library->dispatch_hash ? reader->library->dispatch_hash : "none");
  return expect_word(reader, "");
}

static kiln_status read_all(reader *reader) {
  kiln_status status = read_header(reader);
  if (status == KILN_SUCCESS)
    status = next_line(reader);
  while (status == KILN_SUCCESS) {
    const char *word = next_word(reader);
    if (strcmp(word, "end") == 0) {
      status = expect_word(reader, "");
      if (status == KILN_SUCCESS && fgetc(reader->file) != EOF)
        return malformed(reader, "expected nothing behind the line 'end'");
      return status;
    }
    status = strcmp(word, "entry") == 0
                 ? read_entry(reader)
                 : malformed(reader, "expected 'entry NAME' or 'end', got '%.64s'", word);
  }
  return status;
}

/* --- publishing --- */

/* One change at a time; launches do not wait for it. */
static kiln_mutex publishing;

static void publish(reader *reader) {
  kiln_lock(&publishing);
  for (uint32_t i = 0; i < reader->num_drafts; ++i) {
    kiln_entry_state *state = reader->drafts[i].entry->state;
    reader->drafts[i].table->older = state->tables;
    kiln_store_release(&state->tables, (void *)reader->drafts[i].table);
  }
  reader->num_drafts = 0;
  kiln_unlock(&publishing);
}

static void close_reader(reader *reader) {
  for (uint32_t i = 0; i < reader->num_drafts; ++i)
    free(reader->drafts[i].table);
  if (reader->file)
    fclose(reader->file);
  free(reader->drafts);
  free(reader->keys);
  free(reader->target);
  free(reader->places);
  free(reader->ranks);
  free(reader->variants);
  free(reader);
}

static kiln_status open_reader(const kiln_library *library, const char *path, reader **result) {
  reader *made = calloc(1, sizeof *made);
  draft *drafts = calloc(library->num_entries + 1, sizeof *drafts);
  if (!made || !drafts) {
    free(made);
    free(drafts);
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", path);
  }
  made->library = library;
  made->path = path;
  made->drafts = drafts;
  *result = made;
  made->file = fopen(path, "rb");
  return made->file ? KILN_SUCCESS
                    : kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: cannot be read: %s", path,
                                 strerror(errno));
}

kiln_status kiln_load_tuning(const kiln_library *library, const char *path) {
  reader *reader = NULL;
  kiln_status status = kiln_check_abi(library);
  if (status != KILN_SUCCESS)
    return status;
  if (!path)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_load_tuning: the path is null");
  status = open_reader(library, path, &reader);
  if (status == KILN_SUCCESS)
    status = read_all(reader);
  if (status == KILN_SUCCESS)
    publish(reader);
  if (reader)
    close_reader(reader);
  return status;
}

void kiln_free_tuning_tables(kiln_tuning_table *table) {
  while (table) {
    kiln_tuning_table *older = table->older;
    free(table);
    table = older;
  }
}
