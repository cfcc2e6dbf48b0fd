/*
 * A pack is a header of 64 bytes and frames, each at a place that the library's own records know:
 *
 *    0   8  "KILNPACK"
 *    8   4  version of the format, 1
 *   12   4  0
 *   16   8  bytes of the file
 *   24  32  what the library calls it: digits of the hash of all frames
 *   56   8  0
 *
 * Numbers have the least significant byte first. So nothing in a file leads anywhere: its identity
 * has to be the library's, and of each frame that is read the checksum.
 */
#include "runtime/pack.h"

#include "runtime/binding.h"
#include "runtime/mutex.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 64, FORMAT_VERSION = 1, PATH_CAPACITY = 4096 };

static kiln_mutex mutex;
static const kiln_pack *named_packs; /* those with a path */

static uint64_t read_number(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  while (count-- > 0)
    value = value << 8 | bytes[count];
  return value;
}

/* FNV-1a. */
static uint64_t checksum_of(const unsigned char *bytes, uint64_t size) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (uint64_t i = 0; i < size; ++i)
    sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
  return sum;
}

typedef struct pack_header {
  uint64_t size;
  char identity[KILN_PACK_IDENTITY_DIGITS + 1];
} pack_header;

static kiln_status read_header(FILE *file, const char *path, pack_header *header) {
  unsigned char bytes[HEADER_BYTES];
  if (fread(bytes, 1, sizeof bytes, file) != sizeof bytes || memcmp(bytes, "KILNPACK", 8) != 0)
    return kiln_error(KILN_ERROR_LOAD, "%s: not a pack of Kiln's", path);
  uint64_t version = read_number(bytes + 8, 4);
  if (version != FORMAT_VERSION)
    return kiln_error(KILN_ERROR_LOAD, "%s: a pack of version %llu, this runtime reads %d", path,
                      (unsigned long long)version, FORMAT_VERSION);
  header->size = read_number(bytes + 16, 8);
  memcpy(header->identity, bytes + 24, KILN_PACK_IDENTITY_DIGITS);
  header->identity[KILN_PACK_IDENTITY_DIGITS] = '\0';
  for (char *c = header->identity; *c; ++c) /* it goes into messages */
    if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')))
      *c = '?';
  return KILN_SUCCESS;
}

/* The file is as long as it says, and as the library does. */
static kiln_status check_size(FILE *file, const char *path, uint64_t stated, uint64_t expected) {
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end < 0)
    return kiln_error(KILN_ERROR_LOAD, "%s: cannot be read: %s", path, strerror(errno));
  if ((uint64_t)end == expected && stated == expected)
    return KILN_SUCCESS;
  return kiln_error(KILN_ERROR_LOAD, "%s: damaged: it has %ld bytes, expected %llu", path, end,
                    (unsigned long long)expected);
}

static kiln_status check_pack(FILE *file, const char *path, const kiln_pack *pack) {
  pack_header header;
  kiln_status status = read_header(file, path, &header);
  if (status != KILN_SUCCESS)
    return status;
  if (strcmp(header.identity, pack->identity) != 0)
    return kiln_error(KILN_ERROR_LOAD,
                      "%s: of another build than the library: it is %s, the library's %s is %s",
                      path, header.identity, pack->file, pack->identity);
  return check_size(file, path, header.size, pack->size);
}

/* --- where packs are --- */

/* Under the mutex. */
static void forget(const kiln_pack *pack) {
  const kiln_pack **link = &named_packs;
  while (*link && *link != pack)
    link = &(*link)->state->next;
  if (!*link)
    return;
  *link = pack->state->next;
  free(pack->state->path);
  *pack->state = (kiln_pack_state){0};
}

static kiln_status remember(const kiln_pack *pack, const char *path) {
  char *copy = malloc(strlen(path) + 1);
  if (!copy)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory for its name", path);
  strcpy(copy, path);
  kiln_lock(&mutex);
  forget(pack);
  *pack->state = (kiln_pack_state){.path = copy, .next = named_packs};
  named_packs = pack;
  kiln_unlock(&mutex);
  return KILN_SUCCESS;
}

void kiln_forget_packs(const kiln_library *library) {
  kiln_lock(&mutex);
  for (uint32_t i = 0; i < library->num_packs; ++i)
    forget(library->packs[i]);
  kiln_unlock(&mutex);
}

void kiln_forget_all_packs(void) {
  kiln_lock(&mutex);
  while (named_packs)
    forget(named_packs);
  kiln_unlock(&mutex);
}

/* Where the pack is to be looked for; its name alone where the system does not tell what folder the
 * library is in. */
static void path_of(const kiln_pack *pack, char path[PATH_CAPACITY]) {
  kiln_lock(&mutex);
  if (pack->state->path) {
    snprintf(path, PATH_CAPACITY, "%s", pack->state->path);
  } else {
    char folder[PATH_CAPACITY];
    bool is_known = kiln_os_folder_of(pack, folder, sizeof folder);
    int length = snprintf(path, PATH_CAPACITY, "%s%s", is_known ? folder : "", pack->file);
    if (length < 0 || length >= PATH_CAPACITY)
      snprintf(path, PATH_CAPACITY, "%s", pack->file);
  }
  kiln_unlock(&mutex);
}

static const kiln_pack *find_pack(const kiln_library *library, const char *identity) {
  for (uint32_t i = 0; i < library->num_packs; ++i)
    if (strcmp(library->packs[i]->identity, identity) == 0)
      return library->packs[i];
  return NULL;
}

static kiln_status take_pack(const kiln_library *library, FILE *file, const char *path) {
  pack_header header;
  kiln_status status = read_header(file, path, &header);
  if (status != KILN_SUCCESS)
    return status;
  const kiln_pack *pack = find_pack(library, header.identity);
  if (!pack)
    return kiln_error(KILN_ERROR_LOAD,
                      "%s: of another library or build than %s, which has %u packs and none that "
                      "is %s",
                      path, library->name, library->num_packs, header.identity);
  status = check_size(file, path, header.size, pack->size);
  return status == KILN_SUCCESS ? remember(pack, path) : status;
}

kiln_status kiln_load_pack(const kiln_library *library, const char *path) {
  kiln_status status = kiln_check_abi(library);
  if (status != KILN_SUCCESS)
    return status;
  if (!path || strlen(path) >= PATH_CAPACITY)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_load_pack: expected a path of at most %d bytes", PATH_CAPACITY - 1);
  FILE *file = fopen(path, "rb");
  if (!file)
    return kiln_error(KILN_ERROR_LOAD, "%s: cannot be opened: %s", path, strerror(errno));
  status = take_pack(library, file, path);
  fclose(file);
  return status;
}

/* --- frames --- */

static kiln_status read_bytes(FILE *file, const char *path, const kiln_frame *frame,
                              unsigned char *bytes) {
  bool is_within = frame->size <= frame->pack->size &&
                   frame->pack_offset <= frame->pack->size - frame->size &&
                   frame->pack_offset <= LONG_MAX;
  if (!is_within)
    return kiln_error(KILN_ERROR_ABI, "%s: the library's frame is not within it", path);
  if (fseek(file, (long)frame->pack_offset, SEEK_SET) != 0 ||
      fread(bytes, 1, (size_t)frame->size, file) != frame->size)
    return kiln_error(KILN_ERROR_LOAD, "%s: cannot be read: %s", path, strerror(errno));
  if (checksum_of(bytes, frame->size) != frame->checksum)
    return kiln_error(KILN_ERROR_LOAD, "%s: damaged: wrong checksum of %llu bytes at %llu", path,
                      (unsigned long long)frame->size, (unsigned long long)frame->pack_offset);
  return KILN_SUCCESS;
}

static kiln_status read_frame(FILE *file, const char *path, const kiln_frame *frame, void **read) {
  kiln_status status = check_pack(file, path, frame->pack);
  if (status != KILN_SUCCESS)
    return status;
  *read = malloc(frame->size ? (size_t)frame->size : 1);
  if (!*read)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory to read %llu bytes", path,
                      (unsigned long long)frame->size);
  status = read_bytes(file, path, frame, *read);
  if (status == KILN_SUCCESS)
    return status;
  free(*read);
  *read = NULL;
  return status;
}

kiln_status kiln_frame_bytes(const kiln_frame *frame, const void **data, void **read) {
  *data = frame->data;
  *read = NULL;
  if (!frame->pack)
    return KILN_SUCCESS;
  char path[PATH_CAPACITY];
  path_of(frame->pack, path);
  FILE *file = fopen(path, "rb");
  if (!file)
    return kiln_error(KILN_ERROR_LOAD,
                      "%s: cannot be opened: %s: it belongs beside the program or shared library "
                      "that holds the kernels, or kiln_load_pack says where it is",
                      path, strerror(errno));
  kiln_status status = read_frame(file, path, frame, read);
  fclose(file);
  *data = *read;
  return status;
}
