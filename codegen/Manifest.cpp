//===- Manifest.cpp - writing what is in a library ------------------------===//
#include "codegen/Manifest.h"
#include "codegen/DispatchTables.h"
#include "codegen/JsonText.h"
#include "codegen/LiteralJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

namespace {

class ManifestWriter {
public:
  ManifestWriter(const LibraryModel &model, const LibrarySizes &sizes, raw_ostream &out)
      : model(model), sizes(sizes), json(out, 1) {}

  void write() {
    json.object([&] {
      json.attribute("kiln_manifest", kManifestVersion);
      json.attribute("library", model.name);
      if (!model.prefix.empty())
        json.attribute("prefix", model.prefix);
      json.attributeObject("tools", [&] {
        for (const auto &[tool, version] : model.tools)
          json.attribute(utf8(tool), utf8(version));
      });
      json.attributeArray("inputs", [&] {
        for (const InputFile &input : model.inputs)
          json.object([&] {
            json.attribute("path", utf8(input.path));
            json.attribute("sha256", input.sha256);
          });
      });
      json.attributeArray("targets", [&] {
        for (const TargetInfo &target : model.targets)
          json.object([&] {
            json.attribute("name", target.name);
            json.attribute("resolved", target.resolved());
          });
      });
      if (model.isCompressed)
        json.attribute("compress", "zstd");
      json.attributeArray("entries", [&] {
        for (const auto &[entry, tables] : zip(model.entries, sizes.tables))
          writeEntry(entry, tables);
      });
      json.attributeArray("sizes", [&] {
        for (const TargetSize &size : sizes.targets)
          json.object([&] {
            json.attribute("target", size.target);
            json.attribute("code_bytes", static_cast<int64_t>(size.code));
            json.attribute("stored_bytes", static_cast<int64_t>(size.stored));
            if (!size.pack.empty())
              json.attribute("pack", size.pack);
          });
      });
      json.attribute("image_bytes", static_cast<int64_t>(sizes.code()));
    });
  }

private:
  const LibraryModel &model;
  const LibrarySizes &sizes;
  json::OStream json;

  void writeEntry(const EntryModel &entry, uint64_t tableBytes) {
    json.object([&] {
      json.attribute("name", entry.name);
      json.attribute("source", utf8(entry.source));
      json.attribute("kernel", utf8(entry.kernel));
      json.attributeArray("arguments", [&] {
        for (unsigned i : callerArguments(entry))
          json.object([&] {
            json.attribute("name", entry.arguments[i].name);
            json.attribute("type", callerType(entry, i));
            if (entry.arguments[i].isForLaunch) // the kernel does not take it
              json.attribute("launch", true);
            const EntryDescriptor *descriptor = descriptorAt(entry, i);
            if (!descriptor)
              json.attribute("bytes", entry.arguments[i].type.bytes());
            else // what the kernel takes of it
              json.attributeArray("parts", [&] {
                for (unsigned part = 0; part < descriptor->size(); ++part)
                  json.value(entry.arguments[i + part].name);
              });
          });
      });
      if (!entry.grid.empty())
        json.attributeArray("grid", [&] {
          for (const Expression &dimension : entry.grid)
            json.value(utf8(dimension.text()));
        });
      writeRanges(entry);
      if (!entry.dispatchKey.empty())
        json.attributeArray("dispatch_key", [&] {
          for (const std::string &key : entry.dispatchKey)
            json.value(key);
        });
      if (!entry.measured.empty())
        json.attributeArray("tuning", [&] {
          for (const TuningSummary &tuning : summarizeTuning(model, entry))
            json.object([&] { writeTuning(json, tuning); });
        });
      json.attributeArray("variants", [&] {
        for (const VariantModel &variant : entry.variants)
          writeVariant(entry, variant);
      });
      json.attribute("table_bytes", static_cast<int64_t>(tableBytes));
    });
  }

  /// As in the spec; and what is proven of all calls within them.
  void writeRanges(const EntryModel &entry) {
    if (!entry.ranges.empty())
      json.attributeObject("ranges", [&] {
        for (const EntryRange &declared : entry.ranges)
          json.attributeObject(entry.arguments[declared.argument].name, [&] {
            const ArgumentRange &range = declared.range;
            if (range.minimum)
              json.attribute("min", *range.minimum);
            if (range.maximum)
              json.attribute("max", *range.maximum);
            if (range.multipleOf > 1)
              json.attribute("multiple_of", range.multipleOf);
            if (!range.values.empty())
              json.attribute("values", json::Array(range.values));
          });
      });
    if (!entry.dispatch)
      return;
    using Coverage = DispatchSummary::Coverage;
    Coverage coverage = entry.dispatch->coverage;
    json.attributeObject("dispatch", [&] {
      json.attribute("total", coverage == Coverage::Proven    ? "proven"
                              : coverage == Coverage::HasGaps ? "has gaps"
                                                              : "undecided");
      json.attribute("must_be_total", entry.isTotal);
      json.attribute("lists_all_overlaps", entry.dispatch->listsAllOverlaps);
      json.attributeArray("overlaps", [&] {
        for (const VariantOverlap &overlap : entry.dispatch->overlaps)
          json.object([&] {
            json.attribute("variants", json::Array(overlap.variants));
            json.attribute("example", overlap.example);
            json.attribute("chosen_by", overlap.chosenBy);
          });
      });
    });
  }

  void writeVariant(const EntryModel &entry, const VariantModel &variant) {
    json.object([&] {
      json.attribute("name", utf8(variantName(entry, variant)));
      json.attribute("id", variantId(entry, variant));
      json.attributeObject("config", [&] {
        for (const NamedLiteral &value : variant.config) {
          json.attributeBegin(value.first);
          writeLiteral(json, value.second, NonFinite::AsPython);
          json.attributeEnd();
        }
      });
      json.attributeObject("requested", [&] { writeOptions(variant.options); });
      json.attributeObject("constants", [&] {
        for (const NamedLiteral &value : variant.constants) {
          json.attributeBegin(value.first);
          writeLiteral(json, value.second, NonFinite::AsPython);
          json.attributeEnd();
        }
      });
      json.attributeArray("relies_on", [&] {
        for (const std::string &text : needTexts(entry, variant))
          json.value(text);
      });
      json.attributeArray("binaries", [&] {
        for (const VariantBinary &binary : variant.binaries)
          writeBinary(entry, variant, binary);
      });
    });
  }

  void writeOptions(const SpecOptions &options) {
    auto write = [&](StringRef key, const std::optional<int64_t> &value) {
      if (value)
        json.attribute(key, *value);
    };
    write("num_warps", options.numWarps);
    write("num_stages", options.numStages);
    write("num_ctas", options.numCtas);
    write("maxnreg", options.maxRegisters);
    write("waves_per_eu", options.wavesPerEu);
    write("matrix_instr_nonkdim", options.matrixInstrNonKDim);
    write("kpack", options.kpack);
    if (options.launchesEarly)
      json.attribute("launch_pdl", true);
    if (options.isCooperative)
      json.attribute("launch_cooperative_grid", true);
    if (!options.fusesProducts)
      json.attribute("enable_fp_fusion", false);
  }

  /// The names and numbers that a launcher makes the maps of, in the order in which it passes them
  /// behind the kernel's arguments.
  void writeTensorMaps(const EntryModel &entry, const VariantModel &variant,
                       const DeviceBinary &binary) {
    std::vector<unsigned> parameters = kernelParameters(entry, variant);
    auto nameOf = [&](uint32_t parameter) { return entry.arguments[parameters[parameter]].name; };
    auto writeFactors = [&](const LaunchNumber &number) {
      for (std::optional<uint32_t> parameter : {number.parameter, number.factor})
        if (parameter)
          json.value(nameOf(*parameter));
      if (!number.parameter || number.constant != 1)
        json.value(number.constant);
    };
    auto writeNumbers = [&](StringRef key, const std::vector<LaunchNumber> &numbers) {
      json.attributeArray(key, [&] {
        for (const LaunchNumber &number : numbers)
          if (number.parameter && (number.factor || number.constant != 1))
            json.array([&] { writeFactors(number); });
          else
            writeFactors(number);
      });
    };
    json.attributeArray("tensor_maps", [&] {
      for (const TensorMapFacts &map : binary.launch.tensorMaps)
        json.object([&] {
          json.attribute("name", utf8(map.name));
          json.attribute("base", nameOf(map.base));
          json.attribute("element", elementName(map.element));
          writeNumbers("extents", map.extents);
          writeNumbers("strides", map.strides);
          json.attributeArray("box", [&] {
            for (uint32_t extent : map.box)
              json.value(extent);
          });
          json.attribute("swizzle_bytes", map.swizzleBytes);
          json.attribute("fill", map.fillsWithNaN ? "nan" : "zero");
          json.attribute("access", map.isWritten ? "write" : "read");
        });
    });
  }

  void writeImage(const DeviceBinary &binary) {
    StringRef bytes(binary.bytes.data(), binary.bytes.size());
    json.attribute("symbol", utf8(binary.symbol));
    json.attribute("bytes", static_cast<int64_t>(bytes.size()));
    json.attribute("sha256", sha256Of(bytes));
  }

  void writeMainLoop(const MainLoop &loop) {
    json.attributeObject("main_loop", [&] {
      json.attribute("of", loop.isMachineCode ? "machine code" : "ptx");
      json.attribute("instructions", loop.instructions);
      json.attribute("matrix", loop.matrix);
      json.attribute("shared", loop.shared);
      json.attribute("global", loop.global);
      json.attribute("waits", loop.waits);
    });
  }

  void writeResources(const EntryModel &entry, const VariantModel &variant,
                      const DeviceBinary &binary) {
    if (binary.ptxasLevel)
      json.attribute("ptxas_level", binary.ptxasLevel);
    if (binary.registerLimit)
      json.attribute("register_limit", binary.registerLimit);
    if (binary.mainLoop)
      writeMainLoop(*binary.mainLoop);
    json.attribute("threads", binary.launch.threadsPerBlock);
    json.attribute("registers", binary.resources.registers);
    if (binary.resources.scalarRegisters)
      json.attribute("scalar_registers", binary.resources.scalarRegisters);
    json.attribute("spill_store_bytes", binary.resources.spillStoreBytes);
    json.attribute("spill_load_bytes", binary.resources.spillLoadBytes);
    json.attribute("stack_bytes", binary.resources.stackBytes);
    json.attribute("static_shared_bytes", binary.resources.staticSharedBytes);
    json.attribute("dynamic_shared_bytes", binary.launch.dynamicSharedBytes);
    if (binary.launch.arenaBytes)
      json.attribute("arena_bytes", binary.launch.arenaBytes);
    const auto &cluster = binary.launch.clusterDims;
    if (cluster[0] * cluster[1] * cluster[2] > 1)
      json.attributeArray("cluster", [&] {
        for (uint32_t extent : cluster)
          json.value(extent);
      });
    if (binary.launch.isCooperative)
      json.attribute("cooperative", true);
    if (binary.launch.waitsForEarlier)
      json.attribute("programmatic_dependent_launch", true);
    if (!binary.launch.tensorMaps.empty())
      writeTensorMaps(entry, variant, binary);
  }

  void writeBinary(const EntryModel &entry, const VariantModel &variant,
                   const VariantBinary &variantBinary) {
    const DeviceBinary &binary = variantBinary.binary;
    json.object([&] {
      json.attribute("target", model.targets[variantBinary.target].name);
      json.attribute("format", formatName(binary.format));
      writeImage(binary);
      json.attributeObject("effective", [&] {
        for (const auto &[name, value] : variantBinary.effective)
          json.attribute(name, value);
      });
      writeResources(entry, variant, binary);
      if (binary.fallback) // of the same target, format and options
        json.attributeObject("fallback", [&] {
          writeImage(*binary.fallback);
          writeResources(entry, variant, *binary.fallback);
        });
    });
  }
};

} // namespace

std::string writeManifest(const LibraryModel &model, const LibrarySizes &sizes) {
  std::string text;
  raw_string_ostream out(text);
  ManifestWriter(model, sizes, out).write();
  out << "\n";
  return text;
}

} // namespace kiln
