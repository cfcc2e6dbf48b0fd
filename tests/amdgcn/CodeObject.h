// An HSACO, loaded: its bytes at addresses of the host, its kernels' descriptors and instructions.
#ifndef KILN_TESTS_AMDGCN_CODEOBJECT_H
#define KILN_TESTS_AMDGCN_CODEOBJECT_H

#include "compiler/Target/AMD/HsacoReader.h"
#include "tests/amdgcn/Instruction.h"
#include <map>

namespace kiln::amdgcn {

/// What the descriptor says of a kernel (LLVM's "User Guide for AMDGPU Backend", "Kernel
/// Descriptor").
struct KernelDescriptor {
  uint32_t groupBytes = 0, privateBytes = 0, kernargBytes = 0;
  uint64_t entry = 0;
  unsigned numUserScalars = 0;
  /// Kernel arguments that are in scalar registers when the kernel starts: how many dwords, and
  /// from which on.
  unsigned preloadLength = 0, preloadOffset = 0;
  std::array<bool, 3> hasWorkgroupId = {};
  bool hasWorkgroupInfo = false, hasPrivateSegment = false, hasPrivateBuffer = false,
       hasDispatchPointer = false, hasQueuePointer = false, hasKernargPointer = false,
       hasDispatchId = false, hasFlatScratch = false, hasPrivateSize = false, isWave32 = false,
       flushesSingles = false;
};

struct LoadedKernel {
  HsacoKernel info;
  KernelDescriptor descriptor;
};

/// Changes an instruction's text before it is taken apart: tests put mistakes in.
using Edit = std::function<std::string(const std::string &text)>;

class CodeObject {
public:
  /// Throws a Fault where the bytes are no HSACO.
  explicit CodeObject(std::string bytes, const Edit &edit = nullptr);
  ~CodeObject();
  CodeObject(const CodeObject &) = delete;

  /// "gfx942"
  const std::string &processor() const { return cpu; }
  /// Null where there is none of that name.
  const LoadedKernel *kernel(const std::string &name) const;
  /// The address and size of a variable.
  std::optional<std::pair<uint64_t, uint64_t>> variable(const std::string &name) const;
  /// Null where none begins at that address.
  const Instruction *at(uint64_t address) const;

  /// What a kernel reads as memory.
  uint8_t *image() const { return memory.get(); }
  uint64_t imageBytes() const { return numBytes; }
  /// From the code's first byte.
  uint64_t offsetOf(uint64_t address) const;

private:
  struct File;
  void loadSegments(const File &file);
  void readDescriptors(const File &file, const HsacoInfo &info);
  void decodeFunctions(const File &file, const Edit &edit);

  std::string bytes, cpu;
  std::unique_ptr<uint8_t[], void (*)(void *)> memory;
  uint64_t numBytes = 0;
  std::map<std::string, LoadedKernel> kernels;
  std::map<std::string, std::pair<uint64_t, uint64_t>> variables;
  /// By dword of the image.
  std::vector<std::unique_ptr<Instruction>> instructions;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_CODEOBJECT_H
