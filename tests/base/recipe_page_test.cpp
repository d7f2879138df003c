// docs/recipe.md says what the key table says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "lockstep/base/recipe_keys.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

struct Row {
  std::string values, default_value, text;
};

// The rows of the page's tables by the key in their first column.
std::map<std::string, Row> rows_of_page() {
  std::map<std::string, Row> rows;
  std::istringstream page(read_file(source_path("docs/recipe.md")));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
      const size_t begin = cell.find_first_not_of(' ');
      const size_t end = cell.find_last_not_of(' ');
      cells.push_back(begin == cell.npos ? "" : cell.substr(begin, end - begin + 1));
    }
    EXPECT_EQ(cells.size(), 4U) << line;
    cells.resize(4);
    const std::string& key = cells[0];
    const bool is_new = rows.emplace(key.substr(1, key.size() - 2), Row{cells[1], cells[2], cells[3]}).second;
    EXPECT_TRUE(is_new) << key << " has two rows";
  }
  return rows;
}

// Takes the rows of the table's keys out of `rows`.
template <typename Owner>
void expect_rows(const std::vector<RecipeKey<Owner>>& keys, const std::string& prefix,
                 std::map<std::string, Row>& rows) {
  for (const auto& key : keys) {
    const auto row = rows.extract(prefix + key.path);
    ASSERT_FALSE(row.empty()) << prefix << key.path << " is not on the page";
    const Json value = key.field.write(Owner{});
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    EXPECT_EQ(row.mapped().default_value, value.is_null() ? "–" : "`" + text + "`") << key.path;
    for (const std::string& choice : key.range.choices) {
      EXPECT_THAT(row.mapped().values, HasSubstr("`" + choice + "`")) << key.path;
    }
    const bool is_marked = row.mapped().text.find("*not yet*") != std::string::npos;
    EXPECT_EQ(is_marked, static_cast<bool>(key.built.holds)) << key.path;
  }
}

TEST(RecipePage, HasARowForEveryKeyWithItsDefaultAndNoOther) {
  std::map<std::string, Row> rows = rows_of_page();
  expect_rows(recipe_keys(), "", rows);
  expect_rows(data_source_keys(), "data.sources[].", rows);
  for (const auto& [key, row] : rows) ADD_FAILURE() << key << " is on the page but no key";
}

}  // namespace
}  // namespace lockstep
