#include <voussoir/framework/io/safe_text.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/detail/xml_text.hpp>

namespace voussoir {
namespace {

using namespace std::string_literals;

TEST(SafeText, ATerminalGetsNothingToObey) {
  EXPECT_EQ(printable_text("plain ä 梁 text\n\twith lines"), "plain ä 梁 text\n\twith lines");
  EXPECT_EQ(printable_text("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable_text("a\rb\bc\x7f\0d"s), "a\\x0db\\x08c\\x7f\\x00d");
  EXPECT_EQ(printable_text("\xc2\x9b"
                           "31m"),
            "\\u009b31m");  // CSI as one character
  EXPECT_EQ(printable_text("\xe2\x80\xae"
                           "fdp.exe"),
            "\\u202efdp.exe");                                  // writes from right to left
  EXPECT_EQ(printable_text("caf\xe9 \x9b"), "caf\\xe9 \\x9b");  // Latin-1
  EXPECT_EQ(printable_text("\xc0\x9b"), "\\xc0\\x9b");          // ESC in too many bytes
  EXPECT_EQ(printable_text("\xe2\x82"), "\\xe2\\x82");          // cut short
}

TEST(SafeText, OneLineStaysOneLine) {
  EXPECT_EQ(printable_line("a\nb\tc \x1b[2J"), "a\\x0ab\\x09c \\x1b[2J");
  EXPECT_EQ(printable_text("a\nb\tc"), "a\nb\tc");
}

TEST(SafeText, JsonKeepsItsMeaningWithoutControlCharacters) {
  const nlohmann::json document{{"name", "\x1b[2J \x7f \xc2\x9b \xe2\x80\xae ä"}, {"bad", "caf\xe9"}};
  const std::string dumped = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string safe = printable_json(dumped);
  EXPECT_EQ(printable_text(safe), safe);
  EXPECT_EQ(nlohmann::json::parse(safe), nlohmann::json::parse(dumped));
  EXPECT_NE(safe.find("\\u009b"), std::string::npos);
}

TEST(SafeText, XmlHasNoCharactersThatItForbids) {
  using detail::xml_escaped;
  EXPECT_EQ(xml_escaped("a<b>&\"c\" ä"), "a&lt;b&gt;&amp;&quot;c&quot; ä");
  EXPECT_EQ(xml_escaped("\x1b\x07\0"s), "___");
  EXPECT_EQ(xml_escaped("\xef\xbf\xbe|\xef\xbf\xbf|\xef\xbf\xbd"), "_|_|\xef\xbf\xbd");  // U+FFFE, U+FFFF, U+FFFD
  EXPECT_EQ(xml_escaped("\xc2\x9b|\xc2\xa0"), "_|\xc2\xa0");
  EXPECT_EQ(xml_escaped("\xed\xa0\x80"), "___");  // half of a surrogate pair
}

TEST(SafeText, CellsHaveNoControlCharacters) {
  CsvTable table({"name", "\x1b[2J"});
  table.row().add("\x1b]0;x\x07 \xc2\x9b \xe9").add(1.0);
  EXPECT_EQ(table.text(), "name,\\x1b[2J\n\\x1b]0;x\\x07 \\u009b \\xe9,1\n");
}

TEST(SafeText, SpreadsheetsGetNoFormulas) {
  CsvTable table({"name", "value", "=1+1"});
  table.row().add("=HYPERLINK(\"http://x\")").add(-1.5).add(-3);
  table.row().add("+A1").add(1.0).add(1);
  table.row().add("-SET").add(1.0).add(1);
  table.row().add("@SUM(A1)").add(1.0).add(1);
  table.row().add("\tx").add(1.0).add(1);
  table.row().add("a=b").add(1.0).add(1);
  EXPECT_EQ(
      table.text(),
      "name,value,'=1+1\n\"'=HYPERLINK(\"\"http://x\"\")\",-1.5,-3\n'+A1,1,1\n'-SET,1,1\n'@SUM(A1),1,1\n'\tx,1,1\n"
      "a=b,1,1\n");
}

}  // namespace
}  // namespace voussoir
