/* Stands for a profiler: libnvToolsExt.so.1, libroctx64.so.4, or the library that NVTX 3 is
 * injected with (FAKE_INJECTION), which goes through all of NVTX's tables as a profiler does. It
 * writes a line "push <label>" or "pop" for each call. */
#include <stdint.h>
#include <stdio.h>

static int push(const char *label) {
  fprintf(stderr, "push %s\n", label);
  return 0;
}

static int pop(void) {
  fprintf(stderr, "pop\n");
  return 0;
}

#ifdef FAKE_INJECTION
typedef struct callbacks {
  size_t size;
  int (*get_table)(int module, void ***table, unsigned *size);
} callbacks;

typedef struct version_info {
  size_t size;
  uint32_t version, reserved;
  void (*set_version)(uint32_t version);
} version_info;

/* As nvtxTypes.h has it: the number of functions of each module, with the invalid one. */
static const unsigned sizes[] = {0, 16, 9, 15, 7, 16, 7};

int InitializeInjectionNvtx2(const void *(*get)(uint32_t id)) {
  const version_info *version = get(3);
  const callbacks *table = get(1);
  void **functions;
  unsigned size;
  if (!version || version->size != sizeof *version || version->version != 3 || !table ||
      table->size != sizeof *table || get(2) || table->get_table(7, &functions, &size))
    return 0;
  version->set_version(3);
  for (int module = 6; module > 0; --module) {
    if (!table->get_table(module, &functions, &size) || size != sizes[module] || functions[0] ||
        functions[size])
      return 0;
    for (unsigned i = 1; i < size; ++i)
      if (!functions[i] || *(void **)functions[i])
        return 0;
  }
  *(int (**)(const char *))functions[9] = push;
  *(int (**)(void))functions[11] = pop;
  return 1;
}
#else
int nvtxRangePushA(const char *label) { return push(label); }
int nvtxRangePop(void) { return pop(); }
int roctxRangePushA(const char *label) { return push(label); }
int roctxRangePop(void) { return pop(); }
#endif
