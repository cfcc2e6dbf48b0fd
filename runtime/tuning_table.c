/*
 * Reading decision trees.
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
  MAX_NODES = 1 << 20, /* of an entry */
  LINE_CAPACITY = 1 << 16
};

#define NONE UINT32_MAX

/* One table, before it is published. */
typedef struct draft {
  const kiln_entry *entry;
  kiln_tuning_table *table;
} draft;

/* What is read, and where; trees of the entry that is being read. */
typedef struct reader {
  const kiln_library *library;
  const char *path;
  FILE *file;
  unsigned line;
  char text[LINE_CAPACITY];
  char *rest; /* of the line */

  draft *drafts;
  uint32_t num_drafts;

  uint32_t *roots; /* by target and rank */
  kiln_tree_node *nodes;
  uint16_t *variants;
  uint32_t *costs; /* beside the variants */
  uint32_t num_nodes, num_variants, node_room, variant_room, cost_room;
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

/* --- trees --- */

/* Room for one more of `count` elements. */
static bool make_room(void **array, uint32_t count, uint32_t *room, size_t bytes) {
  if (count < *room)
    return true;
  uint32_t larger = *room ? 2 * *room : 256;
  void *memory = realloc(*array, larger * bytes);
  if (!memory)
    return false;
  *array = memory;
  *room = larger;
  return true;
}

static bool add_variant(reader *reader, uint16_t variant, uint32_t cost) {
  if (!make_room((void **)&reader->variants, reader->num_variants, &reader->variant_room,
                 sizeof *reader->variants) ||
      !make_room((void **)&reader->costs, reader->num_variants, &reader->cost_room,
                 sizeof *reader->costs))
    return false;
  reader->costs[reader->num_variants] = cost;
  reader->variants[reader->num_variants++] = variant;
  return true;
}

static bool is_variant_id(const char *word) {
  return strlen(word) == 12 && strspn(word, "0123456789abcdef") == 12;
}

/* The next lasting name of the line; *variant: num_variants where the library lacks it, NONE at the
 * line's end. */
static kiln_status next_variant(reader *reader, const kiln_entry *entry, uint32_t *variant) {
  const char *word = next_word(reader);
  *variant = NONE;
  if (!*word)
    return KILN_SUCCESS;
  if (!is_variant_id(word))
    return malformed(reader, "expected a variant's lasting name, got '%.64s'", word);
  for (*variant = 0; *variant < entry->num_variants; ++*variant) {
    const char *id = entry->variants[*variant].id;
    if (id && strcmp(id, word) == 0)
      break;
  }
  return KILN_SUCCESS;
}

/* "tree ID ...", of variants that promise as much as each other: how much that is here. NONE: the
 * library has none of them. */
static kiln_status read_rank(reader *reader, const kiln_entry *entry, uint32_t *rank) {
  uint32_t variant;
  *rank = NONE;
  kiln_status status = expect_word(reader, "tree");
  while (status == KILN_SUCCESS) {
    status = next_variant(reader, entry, &variant);
    if (status != KILN_SUCCESS || variant == NONE)
      break;
    if (variant < entry->num_variants)
      *rank = entry->key->ranks ? entry->key->ranks[variant] : 0;
  }
  return status;
}

static kiln_status read_cost(reader *reader, uint32_t *cost) {
  const char *word = next_word(reader);
  size_t digits = strspn(word, "0123456789");
  uint64_t value = digits && digits <= 10 && !word[digits] ? strtoull(word, NULL, 10) : UINT64_MAX;
  *cost = (uint32_t)value;
  return value <= UINT32_MAX ? KILN_SUCCESS
                             : malformed(reader, "expected what a wave costs, got '%.64s'", word);
}

/* ": ID COST ...". Variants that the library lacks are passed over. */
static kiln_status read_leaf(reader *reader, const kiln_entry *entry, kiln_tree_node *leaf) {
  uint32_t variant, cost;
  *leaf = (kiln_tree_node){0, KILN_TREE_LEAF, reader->num_variants};
  kiln_status status = expect_word(reader, ":");
  while (status == KILN_SUCCESS) {
    status = next_variant(reader, entry, &variant);
    if (status != KILN_SUCCESS || variant == NONE)
      break;
    status = read_cost(reader, &cost);
    if (status == KILN_SUCCESS && variant < entry->num_variants &&
        !add_variant(reader, (uint16_t)variant, cost))
      return no_memory(reader);
  }
  if (status == KILN_SUCCESS && !add_variant(reader, UINT16_MAX, 0))
    return no_memory(reader);
  return status;
}

/* "KEY BOUND". */
static kiln_status read_bound(reader *reader, const kiln_entry *entry, kiln_tree_node *node) {
  const char *name = next_word(reader);
  node->key = 0;
  while (node->key < entry->key->num_keys && strcmp(entry->key->names[node->key], name) != 0)
    ++node->key;
  if (node->key == entry->key->num_keys)
    return malformed(reader, "expected ':' or an argument of %s's key, got '%.64s'", entry->name,
                     name);
  const char *word = next_word(reader);
  char *end;
  errno = 0;
  node->bound = strtoimax(word, &end, 10);
  if (!*word || *end || errno)
    return malformed(reader, "expected an integer for %s, got '%.64s'", name, word);
  return expect_word(reader, "");
}

/* The lines of a tree, a node each: its first child, with all that is below it, and then the other.
 * A node that waits for the latter has in `above` the one that waited before it. */
static kiln_status read_nodes(reader *reader, const kiln_entry *entry) {
  uint32_t waiting = NONE;
  kiln_status status = KILN_SUCCESS;
  while (status == KILN_SUCCESS && (status = next_line(reader)) == KILN_SUCCESS) {
    kiln_tree_node node;
    if (reader->num_nodes == MAX_NODES)
      return malformed(reader, "expected at most %d nodes of an entry", MAX_NODES);
    bool is_leaf = *reader->rest == ':';
    status = is_leaf ? read_leaf(reader, entry, &node) : read_bound(reader, entry, &node);
    if (status != KILN_SUCCESS)
      break;
    if (!make_room((void **)&reader->nodes, reader->num_nodes, &reader->node_room,
                   sizeof *reader->nodes))
      return no_memory(reader);
    if (!is_leaf)
      node.above = waiting;
    reader->nodes[reader->num_nodes] = node;
    uint32_t place = reader->num_nodes++, parent = waiting;
    if (!is_leaf) {
      waiting = place;
    } else if (parent == NONE) {
      return KILN_SUCCESS;
    } else {
      waiting = reader->nodes[parent].above;
      reader->nodes[parent].above = reader->num_nodes;
    }
  }
  return status;
}

/* `target` may be none of the library's. */
static kiln_status read_tree(reader *reader, const kiln_entry *entry, uint32_t target) {
  uint32_t root = reader->num_nodes, variants = reader->num_variants, rank;
  kiln_status status = read_rank(reader, entry, &rank);
  bool is_known = target != entry->num_targets && rank != NONE;
  uint32_t *place = is_known ? &reader->roots[target * entry->key->num_ranks + rank] : NULL;
  if (status == KILN_SUCCESS && place && *place != NONE)
    return malformed(reader, "a tree for calls of these variants stands before");
  if (status == KILN_SUCCESS)
    status = read_nodes(reader, entry);
  if (status != KILN_SUCCESS)
    return status;
  if (place) {
    *place = root;
  } else {
    reader->num_nodes = root;
    reader->num_variants = variants;
  }
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
  size_t node_bytes = reader->num_nodes * sizeof *reader->nodes;
  size_t root_bytes = (size_t)entry->num_targets * entry->key->num_ranks * sizeof *reader->roots;
  size_t cost_bytes = reader->num_variants * sizeof *reader->costs;
  size_t list_bytes = reader->num_variants * sizeof *reader->variants;
  char *memory =
      malloc(sizeof(kiln_tuning_table) + node_bytes + root_bytes + cost_bytes + list_bytes);
  if (!memory)
    return NULL;
  kiln_tuning_table *table = (kiln_tuning_table *)memory;
  kiln_tree_node *nodes = (kiln_tree_node *)(memory + sizeof *table);
  uint32_t *roots = (uint32_t *)((char *)nodes + node_bytes);
  uint32_t *costs = (uint32_t *)((char *)roots + root_bytes);
  uint16_t *variants = (uint16_t *)((char *)costs + cost_bytes);
  if (node_bytes)
    memcpy(nodes, reader->nodes, node_bytes);
  memcpy(roots, reader->roots, root_bytes);
  if (list_bytes) {
    memcpy(costs, reader->costs, cost_bytes);
    memcpy(variants, reader->variants, list_bytes);
  }
  *table = (kiln_tuning_table){.trees = {nodes, roots, variants, costs}};
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

static bool clear_trees(reader *reader, const kiln_entry *entry) {
  size_t count = (size_t)entry->num_targets * entry->key->num_ranks;
  uint32_t *roots = realloc(reader->roots, count * sizeof *roots);
  if (!roots)
    return false;
  reader->roots = roots;
  for (size_t i = 0; i < count; ++i)
    roots[i] = NONE;
  reader->num_nodes = reader->num_variants = 0;
  return true;
}

/* "entry NAME KEY ..." is read to its end; then its targets and trees, to the first other line. */
static kiln_status read_entry(reader *reader) {
  const kiln_entry *entry = NULL;
  kiln_status status = find_entry(reader, next_word(reader), &entry);
  for (uint32_t i = 0; status == KILN_SUCCESS && i < entry->key->num_keys; ++i)
    status = expect_word(reader, entry->key->names[i]);
  if (status == KILN_SUCCESS)
    status = expect_word(reader, "");
  if (status == KILN_SUCCESS && !clear_trees(reader, entry))
    return no_memory(reader);
  uint32_t target = NONE, num_seen = 0;
  while (status == KILN_SUCCESS && (status = next_line(reader)) == KILN_SUCCESS) {
    if (strncmp(reader->rest, "target ", 7) == 0) {
      (void)next_word(reader);
      target = find_target(entry, next_word(reader));
      if (target < num_seen)
        return malformed(reader, "expected targets in the library's order, each once");
      if (target != entry->num_targets)
        num_seen = target + 1;
      status = expect_word(reader, "");
    } else if (*reader->rest == 'e') {
      break;
    } else if (target == NONE) {
      return malformed(reader, "expected 'target NAME', got '%.64s'", reader->rest);
    } else {
      status = read_tree(reader, entry, target);
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
  free(reader->roots);
  free(reader->nodes);
  free(reader->variants);
  free(reader->costs);
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
