/* Reading back and replacing the file of results. */
#define _GNU_SOURCE
#include "tuner/results.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ending[] = "]}\n]}\n";
static char message[1024];

static void reserve(kiln_tuner_text *text, size_t more) {
  while (text->length + more + 1 > text->capacity) {
    text->capacity = text->capacity ? 2 * text->capacity : 4096;
    text->bytes = realloc(text->bytes, text->capacity);
    if (!text->bytes) {
      fputs("not enough memory\n", stderr);
      exit(1);
    }
  }
}

void kiln_tuner_add(kiln_tuner_text *text, const char *format, ...) {
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0)
    return;
  reserve(text, (size_t)length);
  va_start(arguments, format);
  vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)length;
}

void kiln_tuner_add_string(kiln_tuner_text *text, const char *string) {
  kiln_tuner_add(text, "\"");
  for (; *string; ++string) {
    unsigned char c = (unsigned char)*string;
    if (c == '"' || c == '\\')
      kiln_tuner_add(text, "\\%c", c);
    else if (c < 0x20 || c >= 0x7f)
      kiln_tuner_add(text, "\\u%04x", c);
    else
      kiln_tuner_add(text, "%c", c);
  }
  kiln_tuner_add(text, "\"");
}

static bool read_file(const char *path, kiln_tuner_text *text, bool *is_there) {
  FILE *file = fopen(path, "rb");
  size_t count;
  *is_there = file || errno != ENOENT;
  if (!file)
    return false;
  do {
    reserve(text, 65536);
    count = fread(text->bytes + text->length, 1, 65536, file);
    text->length += count;
  } while (count);
  text->bytes[text->length] = 0;
  count = (size_t)ferror(file);
  fclose(file);
  return count == 0;
}

/* The line in which two texts first differ, of the second. */
static const char *differing_line(const char *a, const char *b, int *length) {
  const char *line = b;
  for (; *a && *a == *b; ++a, ++b)
    if (*b == '\n')
      line = b + 1;
  *length = (int)strcspn(line, "\n");
  return line;
}

const char *kiln_tuner_resume(kiln_tuner_results *results) {
  kiln_tuner_text text = {0};
  bool is_there;
  size_t header = results->header.length;
  if (!read_file(results->path, &text, &is_there)) {
    free(text.bytes);
    if (!is_there)
      return NULL;
    snprintf(message, sizeof message, "cannot read '%s': %s", results->path, strerror(errno));
    return message;
  }
  if (text.length < header || memcmp(text.bytes, results->header.bytes, header) != 0) {
    int length;
    const char *line = differing_line(results->header.bytes, text.bytes, &length);
    snprintf(message, sizeof message,
             "'%s' is of another device or library, its line %.*s%s differs: name another file, or "
             "--restart it",
             results->path, length > 200 ? 200 : length, line, length > 200 ? "…" : "");
    free(text.bytes);
    return message;
  }
  /* A line of the file ends with a comma, but for the last. */
  for (char *line = text.bytes + header; *line == '{';) {
    size_t length = strcspn(line, "\n"),
           kept = length && line[length - 1] == ',' ? length - 1 : length;
    kiln_tuner_add(&results->lines, "%.*s\n", (int)kept, line);
    line += length + (line[length] != 0);
  }
  free(text.bytes);
  return NULL;
}

bool kiln_tuner_has(const kiln_tuner_results *results, const char *beginning) {
  size_t length = strlen(beginning);
  for (const char *line = results->lines.bytes; line && *line; line = strchr(line, '\n') + 1)
    if (strncmp(line, beginning, length) == 0)
      return true;
  return false;
}

static bool write_all(FILE *file, const kiln_tuner_results *results) {
  const char *line = results->lines.bytes;
  fwrite(results->header.bytes, 1, results->header.length, file);
  while (line && *line) {
    size_t length = strcspn(line, "\n");
    fwrite(line, 1, length, file);
    line += length + 1;
    fputs(*line ? ",\n" : "\n", file);
  }
  fputs(ending, file);
  return fflush(file) == 0 && !ferror(file);
}

const char *kiln_tuner_save(const kiln_tuner_results *results) {
  kiln_tuner_text name = {0};
  FILE *file;
  bool is_good;
  kiln_tuner_add(&name, "%s.%ld.tmp", results->path, (long)getpid());
  file = fopen(name.bytes, "wb");
  is_good = file && write_all(file, results);
  if (file)
    is_good &= fclose(file) == 0;
  is_good = is_good && rename(name.bytes, results->path) == 0;
  if (!is_good) {
    snprintf(message, sizeof message, "cannot write '%s': %s", results->path, strerror(errno));
    if (file)
      remove(name.bytes);
  }
  free(name.bytes);
  return is_good ? NULL : message;
}
