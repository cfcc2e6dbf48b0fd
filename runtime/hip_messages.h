/*
 * What kernels on AMD's GPUs say while they run: a buffer in the host's memory, which they write
 * and the host empties when a launch has ended (hipLaunchHostFunc).
 *
 * The buffer: a word with the number of bytes of records that are taken, one with the number of
 * messages that had no room, and from KILN_HIP_MESSAGES_HEAD on records, each of whole words of 8
 * bytes:
 *
 *   0    bytes of the record, and from bit 32 on its kind; written last, 0 until then
 *   8    the number of values
 *   16   the values, as kiln_device_print takes them
 *   ...  the format, or the text, with a zero byte
 */
#ifndef KILN_RUNTIME_HIP_MESSAGES_H
#define KILN_RUNTIME_HIP_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* The variable of a module that says where the buffer is. */
#define KILN_HIP_MESSAGES_SYMBOL "kiln_messages"

enum {
  KILN_HIP_MESSAGES_HEAD = 64,
  KILN_HIP_MESSAGES_RECORDS = (1 << 20) - KILN_HIP_MESSAGES_HEAD, /* bytes */

  KILN_HIP_MESSAGE_LINE = 1,    /* a format and its values */
  KILN_HIP_MESSAGE_FAILURE = 2, /* a text, and the program's three numbers */
  KILN_HIP_MESSAGE_NONE = 3,    /* there was no room from here on */
  KILN_HIP_MESSAGE_SAID = 4     /* by the host: was printed */
};

/* Prints what is complete, in order, and makes room again where nobody is writing. */
void kiln_hip_messages_print(void *buffer);

/* The first failure since kiln_hip_messages_forget, by copying; false: none. */
bool kiln_hip_messages_failure(char *text, uint32_t capacity);
void kiln_hip_messages_forget(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_HIP_MESSAGES_H */
