/* windows.test: what of the runtime is Windows' own, in a program. */
#include "vector_add.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdio.h>

enum { THREADS = 8, LAUNCHES = 500 };

static void say(const char *what, kiln_status status) {
  printf("%s: %s %s\n", what, kiln_status_string(status),
         status == KILN_SUCCESS ? "" : kiln_last_error());
}

static void step(void *const *params, const uint32_t program_id[3], const uint32_t num_programs[3],
                 void *arena) {
  (void)program_id, (void)num_programs;
  ((char *)arena)[0] = 1;
  InterlockedIncrement(*(LONG *volatile *)params[0]);
}

/* A kernel of the CPU, by hand: Kiln makes none for Windows. */
extern const kiln_library own_library;
static kiln_entry_state state;
static const kiln_param params[] = {{"count", KILN_PARAM_POINTER, 8, 0}};
static const kiln_variant variants[] = {{"v", params, 1, 0, NULL}};
static const kiln_target targets[] = {{KILN_DRIVER_CPU, KILN_FORM_HOST, "x86-64", NULL}};
static const kiln_binary binaries[] = {{.host = step, .symbol = "v", .arena_bytes = 4096}};
static const kiln_entry own_entry = {
    &own_library, "step", variants, targets, binaries, &state, 1, 1, NULL, NULL, NULL, 0};
static const kiln_entry *const entries[] = {&own_entry};
const kiln_library own_library = {KILN_ABI_VERSION, 1, "own", entries, NULL, NULL, 0};

static DWORD WINAPI launch_many(void *count) {
  static float data[1000];
  const int64_t grid[3] = {1, 1, 1};
  void *arguments[] = {&count};
  for (int i = 0; i < LAUNCHES; ++i)
    if (vector_add_f32(kiln_hip_stream(NULL), data, data, data, 1000) != KILN_SUCCESS ||
        kiln_launch(&own_entry, 0, kiln_cpu_stream(NULL), grid, arguments) != KILN_SUCCESS)
      printf("%s\n", kiln_last_error());
  return 0;
}

static kiln_status count_shapes(void) {
  kiln_status status = kiln_count_shapes(&vector_add_library, 1);
  for (int i = 0; i < 2 && status == KILN_SUCCESS; ++i) /* the second replaces the first */
    status = kiln_dump_shapes(&vector_add_library, "shapes.json");
  return status;
}

int main(void) {
  HANDLE threads[THREADS];
  volatile LONG count = 0;
  kiln_device none;
  say("no driver", kiln_stream_device(kiln_cuda_stream(NULL), &none));
  for (int i = 0; i < THREADS; ++i)
    threads[i] = CreateThread(NULL, 0, launch_many, (void *)&count, 0, NULL);
  WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
  long launches = 0;
  FARPROC function = GetProcAddress(GetModuleHandleA("amdhip64.dll"), "fake_launches");
  if (function)
    launches = ((long (*)(void))(void (*)(void))function)();
  printf("launches: %ld of %d\n", launches == count ? launches : -1, THREADS * LAUNCHES);
  say("files", count_shapes());
  say("shutdown", kiln_shutdown());
  return 0;
}
