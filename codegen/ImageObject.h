//===- ImageObject.h - device binaries as linkable objects ------*- C++ -*-===//
//
// Kiln runs no C compiler, and a C array of a cubin costs a compiler four bytes of source and far
// more memory per byte. So the images become relocatable ELF objects directly: one read-only
// section, one symbol per image, no relocations and no code. Refused: LLVM's MC layer, which would
// need a registered back end per host architecture to copy bytes into a section.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_IMAGEOBJECT_H
#define KILN_CODEGEN_IMAGEOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace kiln {

/// Architecture of the programs that link a library.
enum class HostArch : uint8_t { X86_64, AArch64 };

/// "x86_64" or "aarch64".
llvm::StringRef hostArchName(HostArch arch);
/// The architecture that this tool was built for.
HostArch thisHostArch();

struct Image {
  /// Name of the symbol at the first byte. Hidden: visible to the link, not outside its result.
  std::string symbol;
  llvm::StringRef bytes;
};

/// The section that holds a library's manifest, for `kiln inspect`; linkers leave it out.
inline constexpr llvm::StringLiteral kManifestSection = ".kiln.manifest";

/// An ELF64 little-endian relocatable object with `images`, each aligned to 64 bytes, and, where
/// `manifest` is not empty, the manifest section. Deterministic.
std::string writeImageObject(HostArch arch, llvm::ArrayRef<Image> images,
                             llvm::StringRef manifest = "");

} // namespace kiln

#endif // KILN_CODEGEN_IMAGEOBJECT_H
