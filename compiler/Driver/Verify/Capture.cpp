#include "compiler/Driver/Verify/Capture.h"
#include "compiler/Basic/JsonMembers.h"
#include "llvm/Support/Path.h"

namespace json = llvm::json;

namespace kiln {
namespace {

/// A folder that came from elsewhere names no file outside of itself.
bool isWithin(llvm::StringRef path) {
  return !path.empty() && !llvm::sys::path::is_absolute(path) &&
         llvm::none_of(llvm::make_range(llvm::sys::path::begin(path), llvm::sys::path::end(path)),
                       [](llvm::StringRef part) { return part == ".."; });
}

void readFile(JsonMembers &in, llvm::StringRef key, std::string &out) {
  in.read(key, out);
  if (!isWithin(out))
    in.refuse(key, "expected the name of a file in the capture's folder");
}

void readStorage(JsonMembers &in, CapturedStorage &out) {
  in.read("bytes", out.bytes);
  if (in.has("type"))
    in.read("type", out.type);
  readFile(in, "before", out.before);
  if (in.has("after"))
    readFile(in, "after", out.after);
  std::vector<std::vector<uint64_t>> pointers;
  if (in.has("pointers"))
    in.read("pointers", pointers);
  for (const std::vector<uint64_t> &pointer : pointers) {
    if (pointer.size() != 3 || pointer[0] % 8 || pointer[0] >= out.bytes ||
        out.bytes - pointer[0] < 8)
      return in.refuse("pointers", "expected three numbers each: a place of eight bytes, a storage "
                                   "and a byte there");
    out.pointers.push_back({pointer[0], pointer[1], pointer[2]});
  }
}

void readArgument(JsonMembers &in, CapturedArgument &out) {
  in.read("name", out.name);
  in.read("type", out.type);
  if (in.has("storage")) {
    in.read("storage", out.storage.emplace());
    in.read("offset", out.offset);
  } else if (in.has("bits")) {
    std::string text;
    in.read("bits", text);
    if (llvm::StringRef(text).getAsInteger(0, out.bits))
      in.refuse("bits", "expected a hexadecimal number in quotes: \"0x3f800000\"");
  } else if (out.type == "u64") {
    in.read("value", out.bits);
  } else if (!in.has("null")) {
    int64_t value = 0;
    in.read("value", value);
    out.bits = uint64_t(value);
  }
  if (in.has("shape")) {
    in.read("shape", out.shape);
    in.read("strides", out.strides);
    if (out.shape.size() != out.strides.size())
      in.refuse("strides", "expected as many as there are extents");
  }
}

/// Storages are named by number, and places lie within them.
void checkStorages(JsonMembers &in, const CapturedLaunch &launch) {
  auto isPlace = [&](uint64_t storage, uint64_t offset) {
    return storage < launch.storages.size() && offset <= launch.storages[storage].bytes;
  };
  for (const CapturedArgument &argument : launch.arguments)
    if (argument.storage && !isPlace(*argument.storage, argument.offset))
      in.refuse("arguments", "expected places in the launch's storages");
  for (const CapturedStorage &storage : launch.storages)
    for (const CapturedPointer &pointer : storage.pointers)
      if (!isPlace(pointer.storage, pointer.offset))
        in.refuse("storages", "expected pointers to places in the launch's storages");
}

void readLaunch(JsonMembers &in, CapturedLaunch &out) {
  in.read("function", out.function);
  std::vector<int64_t> grid;
  in.read("grid", grid);
  if (grid.size() == out.grid.size())
    std::copy(grid.begin(), grid.end(), out.grid.begin());
  else
    in.refuse("grid", "expected three numbers");
  in.within("constants", [&](JsonMembers &constants) {
    constants.names([&](llvm::StringRef name) {
      constants.read(name, out.constants.emplace_back(name.str(), 0).second);
    });
  });
  in.elements("storages", [&](JsonMembers &one) { readStorage(one, out.storages.emplace_back()); });
  in.elements("arguments",
              [&](JsonMembers &one) { readArgument(one, out.arguments.emplace_back()); });
  checkStorages(in, out);
}

} // namespace

llvm::Expected<std::vector<CapturedLaunch>> readCaptureIndex(llvm::StringRef text) {
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("kiln_capture") : std::nullopt;
  if (!version)
    return llvm::createStringError("it is no capture of kiln record");
  if (*version != kCaptureVersion)
    return llvm::createStringError("the capture has version " + std::to_string(*version) +
                                   ", this Kiln reads version " + std::to_string(kCaptureVersion));
  json::Path::Root root("capture");
  std::vector<CapturedLaunch> launches;
  JsonMembers members(*value, root);
  members.elements("launches", [&](JsonMembers &one) { readLaunch(one, launches.emplace_back()); });
  if (!members.isGood())
    return root.getError();
  return launches;
}

} // namespace kiln
