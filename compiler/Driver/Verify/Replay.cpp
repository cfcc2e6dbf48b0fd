#include "compiler/Driver/Verify/Replay.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Run/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

namespace kiln {
namespace {

/// What a storage may take, as an array of kiln run.
constexpr uint64_t maxStorageBytes = uint64_t(1) << 36;

llvm::Error mistake(const llvm::Twine &what) { return llvm::createStringError(what); }

/// Binds the arguments of one launch.
class Binder {
public:
  Binder(const CapturedLaunch &launch, const EntryModel &entry) : launch(launch), entry(entry) {}

  llvm::Expected<ReplayArguments> bind() {
    for (unsigned index : callerArguments(entry)) {
      const EntryArgument &argument = entry.arguments[index];
      const CapturedArgument *captured = find(argument.name);
      if (!captured)
        return mistake("it has no value for '" + argument.name + "'");
      const EntryDescriptor *descriptor = descriptorAt(entry, index);
      if (llvm::Error error =
              descriptor ? addDescriptor(*captured, *descriptor) : add(*captured, argument.type))
        return std::move(error);
    }
    for (const CapturedArgument &captured : launch.arguments)
      if (!isTaken(captured))
        return mistake("'" + captured.name + "' is no argument of '" + entry.name +
                       "' and no constant of that value");
    return std::move(bound);
  }

private:
  const CapturedArgument *find(llvm::StringRef name) const {
    auto found = llvm::find_if(
        launch.arguments, [&](const CapturedArgument &argument) { return argument.name == name; });
    return found == launch.arguments.end() ? nullptr : &*found;
  }

  /// A library may have compiled in what was an argument.
  bool isTaken(const CapturedArgument &captured) const {
    if (findArgument(entry, captured.name))
      return true;
    return llvm::any_of(entry.variants, [&](const VariantModel &variant) {
      std::optional<int64_t> value = findConstant(variant, captured.name);
      return value && !captured.storage && uint64_t(*value) == captured.bits;
    });
  }

  void push(uint64_t bits, const CapturedArgument *pointer) {
    bound.values.push_back({bits, std::nullopt, ""});
    bound.pointers.push_back(pointer);
  }

  llvm::Error add(const CapturedArgument &captured, const ArgumentType &type) {
    TextError error;
    std::optional<ArgumentType> own = parseArgumentType(captured.type, error);
    // A spec may promise that an array is not written.
    if (own)
      own->isConst = type.isConst;
    if (!own || !own->sameCType(type))
      return mistake("'" + captured.name + "' is of type '" + captured.type + "', '" + entry.name +
                     "' takes " + type.spelling());
    if (captured.storage) {
      push(captured.offset, &captured);
      return llvm::Error::success();
    }
    unsigned width = 8 * type.bytes();
    bool isSigned = !type.isPointer() && elementClass(type.element) == ElementClass::Signed;
    if (isSigned ? !llvm::isIntN(width, int64_t(captured.bits))
                 : !llvm::isUIntN(width, captured.bits))
      return mistake("the value of '" + captured.name + "' is none of type " + captured.type);
    push(width == 64 ? captured.bits : captured.bits & ((uint64_t(1) << width) - 1), nullptr);
    return llvm::Error::success();
  }

  llvm::Error addDescriptor(const CapturedArgument &captured, const EntryDescriptor &descriptor) {
    llvm::StringRef type(captured.type);
    bool isDescriptor = type.consume_front("tensordesc<") && type.take_until([](char c) {
      return c == '[' || c == '>';
    }) == elementName(descriptor.element);
    if (!isDescriptor || captured.shape.size() != descriptor.rank)
      return mistake("'" + captured.name + "' is of type '" + captured.type + "', '" + entry.name +
                     "' takes " + callerType(entry, descriptor.first));
    push(captured.offset, captured.storage ? &captured : nullptr);
    for (int64_t extent : captured.shape) {
      if (!llvm::isUInt<31>(uint64_t(extent)))
        return mistake("'" + captured.name + "' has an extent of " + llvm::Twine(extent));
      push(uint64_t(extent), nullptr);
    }
    for (int64_t stride : llvm::ArrayRef(captured.strides).drop_back())
      push(uint64_t(stride), nullptr);
    return llvm::Error::success();
  }

  const CapturedLaunch &launch;
  const EntryModel &entry;
  ReplayArguments bound;
};

} // namespace

llvm::Expected<ReplayArguments> bindReplay(const CapturedLaunch &launch, const EntryModel &entry) {
  return Binder(launch, entry).bind();
}

static llvm::Expected<llvm::StringRef> readStorageFile(llvm::StringRef folder,
                                                       const std::string &name, uint64_t bytes,
                                                       ReplayMemory &memory) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  auto file = readRegularFile(path, maxStorageBytes);
  if (!file)
    return mistake("cannot read '" + path + "': " + file.getError().message());
  auto array = readNpy((*file)->getBuffer());
  if (!array)
    return mistake("'" + path + "': " + llvm::toString(array.takeError()));
  if (array->data.size() != bytes)
    return mistake("'" + path + "' holds " + llvm::Twine(array->data.size()) + " bytes, expected " +
                   llvm::Twine(bytes));
  memory.files.push_back(std::move(*file));
  return array->data;
}

llvm::Expected<ReplayMemory> readReplayMemory(const CapturedLaunch &launch,
                                              llvm::StringRef folder) {
  ReplayMemory memory;
  for (const CapturedStorage &storage : launch.storages) {
    auto before = readStorageFile(folder, storage.before, storage.bytes, memory);
    if (!before)
      return before.takeError();
    memory.before.push_back(*before);
    memory.after.push_back(*before);
    if (storage.after.empty())
      continue;
    auto after = readStorageFile(folder, storage.after, storage.bytes, memory);
    if (!after)
      return after.takeError();
    memory.after.back() = *after;
  }
  return memory;
}

/// Puts the storages on the device; those that others' pointers lead to come first.
static llvm::Error placeStorages(const CapturedLaunch &launch, std::vector<RunArray> &arrays,
                                 RunDevice &device, std::vector<uint64_t> &addresses) {
  addresses.assign(arrays.size(), 0);
  for (bool withPointers : {false, true})
    for (auto [index, storage] : llvm::enumerate(launch.storages)) {
      if (storage.pointers.empty() == withPointers)
        continue;
      for (const CapturedPointer &pointer : storage.pointers) {
        if (!launch.storages[pointer.storage].pointers.empty())
          return mistake("it has pointers to a storage of pointers, which cannot be replayed");
        uint64_t address = addresses[pointer.storage] + pointer.offset;
        std::memcpy(arrays[index].data.get() + pointer.place, &address, sizeof address);
      }
      auto address = device.place(arrays[index]);
      if (!address)
        return address.takeError();
      addresses[index] = *address;
    }
  return llvm::Error::success();
}

/// Addresses that are as they were placed become the recorded ones.
static void restorePointers(const CapturedStorage &storage, llvm::StringRef before,
                            const std::vector<uint64_t> &addresses, RunArray &array) {
  for (const CapturedPointer &pointer : storage.pointers) {
    char *word = array.data.get() + pointer.place;
    uint64_t address = addresses[pointer.storage] + pointer.offset;
    if (std::memcmp(word, &address, sizeof address) == 0)
      std::memcpy(word, before.data() + pointer.place, sizeof address);
  }
}

llvm::Expected<std::vector<RunArray>>
replayLaunch(const CapturedLaunch &launch, const ReplayMemory &memory, ReplayArguments arguments,
             RunDevice &device, llvm::function_ref<llvm::Error(std::vector<RunValue> &)> run) {
  std::vector<RunArray> arrays;
  for (llvm::StringRef before : memory.before) {
    std::optional<RunArray> array = makeByteArray(before);
    if (!array)
      return mistake("there is not enough memory for it");
    arrays.push_back(std::move(*array));
  }
  std::vector<uint64_t> addresses;
  if (llvm::Error error = placeStorages(launch, arrays, device, addresses))
    return std::move(error);
  for (auto [value, captured] : llvm::zip(arguments.values, arguments.pointers))
    if (captured)
      value.bits = addresses[*captured->storage] + captured->offset;
  if (llvm::Error error = run(arguments.values))
    return std::move(error);
  for (size_t index = 0; index < arrays.size(); ++index)
    restorePointers(launch.storages[index], memory.before[index], addresses, arrays[index]);
  return arrays;
}

/// What an address points to: elements, or addresses.
static ElementType elementBehind(const ArgumentType &type) {
  return type.pointerDepth == 1 ? type.element : ElementType::UInt64;
}

std::vector<ElementView> viewsOf(const CapturedLaunch &launch, unsigned storage,
                                 const ReplayArguments &arguments, const EntryModel &entry) {
  std::vector<ElementView> views;
  for (auto [argument, captured] : llvm::zip(entry.arguments, arguments.pointers)) {
    if (!captured || *captured->storage != storage)
      continue;
    ElementType element = elementBehind(argument.type);
    uint64_t phase = captured->offset % elementBytes(element);
    if (llvm::none_of(views, [&](const ElementView &view) {
          return view.element == element && view.phase == phase;
        }))
      views.push_back({element, phase});
  }
  std::optional<ElementType> recorded = parseElementType(launch.storages[storage].type);
  if (views.empty() && recorded)
    views.push_back({*recorded, 0});
  return views;
}

/// The index of the element that lies `place` elements behind a tensor's first; empty: it has none
/// there.
static std::optional<std::vector<int64_t>> indexAt(int64_t place, llvm::ArrayRef<int64_t> shape,
                                                   llvm::ArrayRef<int64_t> strides) {
  std::vector<size_t> axes(shape.size());
  for (size_t axis = 0; axis < axes.size(); ++axis)
    axes[axis] = axis;
  llvm::sort(axes, [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  std::vector<int64_t> index(shape.size());
  for (size_t axis : axes) {
    if (strides[axis] <= 0 || shape[axis] <= 0)
      continue;
    index[axis] = std::min(place / strides[axis], shape[axis] - 1);
    place -= index[axis] * strides[axis];
  }
  return place == 0 ? std::optional(index) : std::nullopt;
}

std::string elementNameAt(unsigned storage, uint64_t place, ElementView view,
                          const ReplayArguments &arguments) {
  std::string owner;
  unsigned size = elementBytes(view.element);
  for (const CapturedArgument *captured : arguments.pointers) {
    if (!captured || *captured->storage != storage)
      continue;
    owner = owner.empty() ? captured->name : owner;
    if (place < captured->offset || (place - captured->offset) % size || captured->shape.empty())
      continue;
    auto index =
        indexAt(int64_t((place - captured->offset) / size), captured->shape, captured->strides);
    if (index)
      return captured->name + "[" +
             llvm::join(llvm::map_range(*index, [](int64_t i) { return std::to_string(i); }),
                        ", ") +
             "]";
  }
  return "byte " + std::to_string(place) + " of " +
         (owner.empty() ? "storage " + std::to_string(storage) : "the storage of " + owner);
}

} // namespace kiln
