#include "tests/data_tests/fixtures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lockstep::data {

std::string write_lines(const std::string& name, const std::vector<std::string>& lines) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::path(::testing::TempDir()) / "lockstep-data" /
                      (std::string(test->test_suite_name()) + "." + test->name());
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / name, std::ios::binary);
  for (const auto& line : lines) out << line << "\n";
  return (folder / name).string();
}

const text::Tokenizer& character_tokenizer() {
  static const auto tokenizer = text::Tokenizer::from_pretrained(input("data/characters"));
  return *tokenizer;
}

const text::Tokenizer& chat_tokenizer() {
  static const auto tokenizer = text::Tokenizer::from_pretrained(input("text/tok"));
  return *tokenizer;
}

Recipe text_recipe(const std::string& path, int64_t sequence_length) {
  Recipe recipe;
  recipe.data.sources.push_back({.path = path});
  recipe.data.sequence_length = sequence_length;
  recipe.train.steps = 1;
  recipe.train.global_batch = 1;
  return recipe;
}

Recipe chat_recipe(const std::string& path, int64_t sequence_length) {
  auto recipe = text_recipe(path, sequence_length);
  recipe.data.shape = "messages";
  return recipe;
}

HostRow filled_row(const RowSource& source, int64_t row) {
  HostRow filled(source.sequence_length());
  source.fill(row, filled.view());
  return filled;
}

}  // namespace lockstep::data
