// What the fake libcuda and libamdhip64 share: the state that a test sets up and reads back.
//
// The fakes are shared libraries that the runtime opens as it would the vendors'. They keep
// devices, contexts, streams, images and kernels, are strict where the vendors' drivers are
// undefined (a handle of another context, an attribute that was not set), record every call and the
// bytes of every launch argument, and fail any call on request. A test opens the same file and gets
// the state through kilnFakeState().
//
// A fake image is text: "FAKE\n" and then, for each kernel, "name offset:size offset:size ...\n".
#ifndef KILN_TESTS_RUNTIME_FAKEDRIVER_H
#define KILN_TESTS_RUNTIME_FAKEDRIVER_H

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kiln::fake {

struct Device {
  int major = 9, minor = 0; // NVIDIA
  std::string arch;         // AMD: gcnArchName
  int processors = 132;
};

struct Context {
  int device = 0;
  unsigned long long id = 0;
  bool alive = true;
};

struct Stream {
  Context *context = nullptr; // NVIDIA
  int device = 0;
  int capturing = 0;
};

struct ParamSlot {
  size_t offset, size;
};

struct Image {
  const void *data = nullptr;
  std::string text;           // the driver's own copy
  Context *context = nullptr; // a module's
  unsigned long long contextId = 0;
  int device = -1; // AMD
  bool loaded = true;
  std::map<std::string, std::vector<ParamSlot>> layouts;
  void *messages = nullptr; // AMD: the variable of that name
};

struct Kernel {
  Image *image = nullptr;
  std::string name;
  std::vector<ParamSlot> layout;
  std::map<std::pair<int, int>, int> attributes; // (attribute, device; -1 for a module) -> value
};

// What the fake driver makes of a tensor map: all that it was told, and a sum that a mixture of two
// maps would not have. Axes as the driver counts them.
struct TensorMap {
  uint64_t address;
  uint64_t extents[5], strides[4];
  uint16_t box[5];
  uint8_t steps[5];
  uint8_t element, rank, interleave, swizzle, promotion, fill;
  uint8_t unused[19];
  uint64_t sum;

  uint64_t sumOfTheRest() const {
    uint64_t words[16], result = 1;
    std::memcpy(words, this, sizeof words);
    for (int i = 0; i < 15; ++i)
      result = result * 31 + words[i];
    return result;
  }
};
static_assert(sizeof(TensorMap) == 128, "a CUtensorMap");

// cuMemsetD8Async
struct Setting {
  unsigned long long address;
  unsigned char value;
  size_t bytes;
  void *stream;
};

struct Launch {
  std::string function; // the driver's function
  std::string kernel;
  const void *image = nullptr; // the address of the bytes that were loaded
  std::string code;            // what stood there
  int device = -1;
  void *context = nullptr;
  void *stream = nullptr;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared = 0;
  std::map<unsigned, std::array<unsigned, 3>> attributes;
  std::vector<std::vector<uint8_t>> arguments;
  void *messages = nullptr; // AMD: what the image's variable of that name points to
};

struct State {
  std::mutex mutex;
  std::vector<Device> devices;
  std::vector<std::string> calls;
  std::vector<Launch> launches;
  std::vector<Setting> settings;
  // In the order of a stream: by address the stream and the host's memory that stands for it.
  struct Allocation {
    void *stream;
    std::unique_ptr<char[]> memory;
  };
  std::map<uint64_t, Allocation> allocated;
  // What a kernel does when it is launched; where it is not set, nothing.
  std::function<void(const Launch &)> run;
  std::vector<std::string> broken; // rules of the driver that a call broke
  std::string jitLog;              // what a failing load writes into the error log buffer
  std::vector<Context *> primary;
  std::vector<int> primaryRetains;

  // The calling thread's context (NVIDIA) and device (AMD).
  void (*setCurrent)(void *) = nullptr;
  void *(*current)() = nullptr;
  void (*setDevice)(int) = nullptr;
  int (*device)() = nullptr;

  std::map<void *, std::unique_ptr<char[]>> hostMemory; // AMD

  void reset(std::vector<Device> newDevices) {
    std::lock_guard<std::mutex> lock(mutex);
    devices = std::move(newDevices);
    calls.clear();
    launches.clear();
    settings.clear();
    allocated.clear();
    hostMemory.clear();
    run = nullptr;
    broken.clear();
    jitLog.clear();
    failures.clear();
    callsToFailure = 0;
    failedCall.clear();
    contexts.clear();
    freeContexts.clear();
    streams.clear();
    images.clear();
    kernels.clear();
    primary.assign(devices.size(), nullptr);
    primaryRetains.assign(devices.size(), 0);
  }

  // The nth call of `name` from now on (1 is the next; 0: every one) returns `result`.
  void fail(const std::string &name, int result, int nth = 0) {
    std::lock_guard<std::mutex> lock(mutex);
    failures[name] = {result, nth};
  }
  // So does the nth call of all, once; which one that was is `failedCall`.
  void failCall(int result, int nth) {
    std::lock_guard<std::mutex> lock(mutex);
    callsToFailure = nth;
    failureOfCall = result;
    failedCall.clear();
  }
  std::string failedCall;
  void heal() {
    std::lock_guard<std::mutex> lock(mutex);
    failures.clear();
  }

  size_t count(const std::string &name) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t n = 0;
    for (const std::string &call : calls)
      n += call == name;
    return n;
  }

  // A context at the address of one that was destroyed, if there is one, as an allocator would.
  void *makeContext(int device) {
    std::lock_guard<std::mutex> lock(mutex);
    return newContext(device);
  }
  void destroyContext(void *context) {
    std::lock_guard<std::mutex> lock(mutex);
    static_cast<Context *>(context)->alive = false;
    freeContexts.push_back(static_cast<Context *>(context));
  }
  void *makeStream(void *context) {
    std::lock_guard<std::mutex> lock(mutex);
    streams.push_back(std::make_unique<Stream>());
    streams.back()->context = static_cast<Context *>(context);
    return streams.back().get();
  }
  void *makeDeviceStream(int device) {
    std::lock_guard<std::mutex> lock(mutex);
    streams.push_back(std::make_unique<Stream>());
    streams.back()->device = device;
    return streams.back().get();
  }

  size_t numLoadedImages() const {
    size_t n = 0;
    for (const auto &image : images)
      n += image->loaded;
    return n;
  }

  // --- for the fakes, under the mutex ---

  // Records the call; what it must return at once, or 0.
  int enter(const char *name) {
    calls.push_back(name);
    if (callsToFailure > 0 && --callsToFailure == 0) {
      failedCall = name;
      return failureOfCall;
    }
    auto failure = failures.find(name);
    if (failure == failures.end())
      return 0;
    if (failure->second.nth > 1) {
      --failure->second.nth;
      return 0;
    }
    int result = failure->second.result;
    if (failure->second.nth == 1)
      failures.erase(failure);
    return result;
  }

  int breakRule(int result, const std::string &rule) {
    broken.push_back(rule);
    return result;
  }

  uint64_t allocate(size_t bytes, void *stream) {
    auto memory = std::make_unique<char[]>(bytes + 256);
    uint64_t address = (reinterpret_cast<uintptr_t>(memory.get()) + 255) / 256 * 256;
    allocated[address] = {stream, std::move(memory)};
    return address;
  }
  // Copies of the one stream are made at once.
  void copy(uint64_t to, uint64_t from, size_t bytes) {
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  }
  // `invalid` where it was not allocated, or on another stream.
  int free(uint64_t address, void *stream, int invalid) {
    auto found = allocated.find(address);
    if (found == allocated.end() || found->second.stream != stream)
      return breakRule(invalid, "memory is freed that the stream does not have");
    allocated.erase(found);
    return 0;
  }

  Context *newContext(int device) {
    Context *context;
    if (!freeContexts.empty()) {
      context = freeContexts.back();
      freeContexts.pop_back();
    } else {
      contexts.push_back(std::make_unique<Context>());
      context = contexts.back().get();
    }
    *context = Context{device, ++lastContextId, true};
    return context;
  }

  // Null if `data` is no fake image.
  Image *newImage(const void *data) {
    const char *text = static_cast<const char *>(data);
    if (std::strncmp(text, "FAKE\n", 5) != 0)
      return nullptr;
    images.push_back(std::make_unique<Image>());
    Image *image = images.back().get();
    image->data = data;
    image->text = text;
    std::istringstream lines(text + 5);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, slot;
      words >> name;
      std::vector<ParamSlot> layout;
      while (words >> slot)
        layout.push_back({std::stoul(slot), std::stoul(slot.substr(slot.find(':') + 1))});
      image->layouts[name] = layout;
    }
    return image;
  }

  // Null if the image has no kernel of that name.
  Kernel *newKernel(Image *image, const char *name) {
    auto layout = image->layouts.find(name);
    if (layout == image->layouts.end())
      return nullptr;
    kernels.push_back(std::make_unique<Kernel>());
    *kernels.back() = Kernel{image, name, layout->second, {}};
    return kernels.back().get();
  }

  static std::vector<std::vector<uint8_t>> copyArguments(const Kernel &kernel, void **parameters) {
    std::vector<std::vector<uint8_t>> arguments;
    for (size_t i = 0; i < kernel.layout.size(); ++i) {
      const uint8_t *bytes = static_cast<const uint8_t *>(parameters[i]);
      arguments.emplace_back(bytes, bytes + kernel.layout[i].size);
    }
    return arguments;
  }

private:
  struct Failure {
    int result, nth;
  };
  std::map<std::string, Failure> failures;
  int callsToFailure = 0, failureOfCall = 0;
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<Context *> freeContexts;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Image>> images;
  std::vector<std::unique_ptr<Kernel>> kernels;
  unsigned long long lastContextId = 0;
};

} // namespace kiln::fake

// Exported by each fake.
extern "C" kiln::fake::State *kilnFakeState();

#endif // KILN_TESTS_RUNTIME_FAKEDRIVER_H
