#include "compiler/Report/HtmlText.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

TEST(Numbers, AreReadable) {
  EXPECT_EQ(withSeparators(0), "0");
  EXPECT_EQ(withSeparators(999), "999");
  EXPECT_EQ(withSeparators(1000), "1,000");
  EXPECT_EQ(withSeparators(1234567), "1,234,567");
  EXPECT_EQ(withSeparators(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(withDigits(2.0 / 3, 2), "0.67");
  EXPECT_EQ(withPrefix(512), "512");
  EXPECT_EQ(withPrefix(1.5), "1.50");
  EXPECT_EQ(withPrefix(1234), "1.23 k");
  EXPECT_EQ(withPrefix(66.9e12), "66.9 T");
  EXPECT_EQ(withPrefix(999600), "1.00 M");
  EXPECT_EQ(withPrefix(1e20), "100000 P");
}

TEST(Numbers, TimesHaveTheirUnit) {
  EXPECT_EQ(duration(2), "2.00 s");
  EXPECT_EQ(duration(0.0123), "12.3 ms");
  EXPECT_EQ(duration(4.77e-7), "477 ns");
  EXPECT_EQ(duration(2.41e-6), "2.41 µs");
  EXPECT_EQ(duration(0), "0.00 ns");
}

TEST(Texts, AreSafeInHtmlAndXml) {
  EXPECT_EQ(escaped("a<b>&\"c\"\n"), "a&lt;b&gt;&amp;&quot;c&quot;\n");
  EXPECT_EQ(escaped(std::string("\x01\xff", 2)), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(asId("RX 7900/x"), "RX-7900-x");
}

} // namespace
