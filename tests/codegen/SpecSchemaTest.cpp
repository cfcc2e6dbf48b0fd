// The published schema and the reader agree on every key, option and range.
#include "codegen/JsonText.h"
#include "tests/codegen/SpecText.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <set>

namespace kiln::test {
namespace {

std::set<std::string> keysOf(const JsonValue &object) {
  std::set<std::string> keys;
  for (const JsonMember &member : object.members)
    keys.insert(member.key);
  return keys;
}

std::set<std::string> requiredOf(const JsonValue &object) {
  std::set<std::string> keys;
  for (const JsonValue &key : object.find("required")->value.elements)
    keys.insert(key.text);
  return keys;
}

class SpecSchema : public ::testing::Test {
protected:
  void SetUp() override {
    auto file = llvm::MemoryBuffer::getFile("codegen/kiln.schema.json");
    ASSERT_TRUE(bool(file));
    text = (*file)->getBuffer().str();
    std::vector<JsonError> errors;
    auto parsed = parseJson(text, errors);
    ASSERT_TRUE(parsed && errors.empty());
    schema = *parsed;
  }

  const JsonValue &object(llvm::StringRef name) const {
    return name == "Library" ? schema : schema.find("$defs")->value.find(name)->value;
  }

  std::string text;
  JsonValue schema;
};

struct Key {
  const char *object, *name;
  bool isRequired;
};
const Key kKeys[] = {
#define KILN_SPEC_KEY(Object, Name, Required) {#Object, Name, Required},
#include "codegen/SpecKeys.def"
};

TEST_F(SpecSchema, HasTheReadersKeys) {
  for (const char *name : {"Library", "Kernel", "Signature", "Argument", "Dispatch", "Array"}) {
    std::set<std::string> known, required;
    for (const Key &key : kKeys)
      if (key.object == std::string(name)) {
        known.insert(key.name);
        if (key.isRequired)
          required.insert(key.name);
      }
    EXPECT_EQ(keysOf(object(name).find("properties")->value), known) << name;
    EXPECT_FALSE(object(name).find("additionalProperties")->value.boolean) << name;
    if (!required.empty())
      EXPECT_EQ(requiredOf(object(name)), required) << name;
  }
}

/// The reader accepts `value` for an option of a config.
bool accepts(const std::string &option, int64_t value) {
  return read(kernelSpec("\"signature\": {}, \"configs\": [{\"" + option +
                         "\": " + std::to_string(value) + "}]"))
      .spec.has_value();
}

TEST_F(SpecSchema, HasTheReadersOptionsAndRanges) {
  const JsonValue &options = object("config").find("properties")->value;
  EXPECT_EQ(keysOf(options),
            (std::set<std::string>{"targets", "num_warps", "num_stages", "num_ctas", "maxnreg",
                                   "waves_per_eu", "matrix_instr_nonkdim", "kpack", "launch_pdl",
                                   "launch_cooperative_grid", "enable_fp_fusion", "extern_libs"}));
  for (const JsonMember &option : options.members) {
    const JsonMember *type = option.value.find("type");
    bool isInteger = option.value.find("enum") || (type && type->value.text == "integer");
    if (!isInteger)
      continue;
    for (int64_t value = -1; value < 600; ++value) {
      bool isInSchema = false;
      if (const JsonMember *values = option.value.find("enum"))
        for (const JsonValue &allowed : values->value.elements)
          isInSchema |= allowed.integer == value;
      else
        isInSchema = value >= option.value.find("minimum")->value.integer &&
                     value <= option.value.find("maximum")->value.integer;
      EXPECT_EQ(accepts(option.key, value), isInSchema) << option.key << " " << value;
    }
  }
}

/// The keys below `value` that editors would show without a word, by their paths.
void findUndescribed(const JsonValue &value, const std::string &path,
                     std::vector<std::string> &found) {
  for (const JsonMember &member : value.members) {
    if (member.key == "properties")
      for (const JsonMember &property : member.value.members)
        if (const JsonMember *text = property.value.find("description");
            !text || text->value.text.empty())
          found.push_back(path + "/" + property.key);
    findUndescribed(member.value, path + "/" + member.key, found);
  }
  for (const JsonValue &element : value.elements)
    findUndescribed(element, path + "/*", found);
}

TEST_F(SpecSchema, DescribesEveryKey) {
  std::vector<std::string> undescribed;
  findUndescribed(schema, "", undescribed);
  EXPECT_EQ(undescribed, std::vector<std::string>());
}

} // namespace
} // namespace kiln::test
