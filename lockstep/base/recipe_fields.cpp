#include "lockstep/base/recipe_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lockstep/base/recipe_keys.h"
#include "lockstep/base/recipe_reader.h"

namespace lockstep {
namespace {

void read_betas(Recipe& recipe, const RecipeValue& value) {
  const auto betas = RecipeType<std::vector<double>>::read(value);
  const bool in_range =
      std::all_of(betas.begin(), betas.end(), [](double beta) { return beta >= 0 && beta < 1; });
  if (betas.size() != 2 || !in_range) {
    value.complain(fmt::format("must be two numbers from 0 to below 1, such as [0.9, 0.999], got {}",
                               Json(betas).dump()));
  }
  recipe.optimizer.beta1 = betas[0];
  recipe.optimizer.beta2 = betas[1];
}

void read_num_workers(Recipe& recipe, const RecipeValue& value) {
  constexpr std::string_view kMustBe = "auto, a whole number of at least 1, or [min, max]";
  ScalingConfig& scaling = recipe.scaling;
  scaling.num_workers.reset();
  scaling.elastic.reset();
  if (value.node.IsSequence()) {
    const auto bounds = RecipeType<std::vector<int64_t>>::read(value);
    if (bounds.size() != 2 || bounds[0] < 1 || bounds[0] > bounds[1]) value.refuse(kMustBe);
    scaling.elastic = {bounds[0], bounds[1]};
  } else if (!value.node.IsScalar() || value.node.Scalar() != "auto") {
    int64_t count = 0;
    const std::string text = value.node.IsScalar() ? value.node.Scalar() : "";
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || stop != text.data() + text.size() || count < 1) value.refuse(kMustBe);
    scaling.num_workers = count;
  }
}

Json write_num_workers(const Recipe& recipe) {
  const auto& [count, elastic, use_gpu] = recipe.scaling;
  if (elastic) return {elastic->first, elastic->second};
  return count ? Json(*count) : Json("auto");
}

// The format that a file's name says it has; empty when it says none.
std::string format_by_name(const std::string& path) {
  if (path.ends_with(".jsonl")) return "jsonl";
  if (path.ends_with(".parquet")) return "parquet";
  return "";
}

DataSourceConfig read_source(const RecipeValue& value) {
  if (!value.node.IsMap()) value.refuse("a mapping with a path, such as {path: chats.jsonl}");
  const RecipeSettings settings = flatten(value.node, value.name, value.origin, paths_of(data_source_keys()));
  DataSourceConfig source;
  read_keys(data_source_keys(), settings, source);
  if (source.path.empty()) value.complain("has no path");
  if (!source.format.empty()) return source;
  source.format = format_by_name(source.path);
  const RecipeValue& path = settings.at("path");
  if (source.format.empty()) path.refuse("a file that ends in .jsonl (or say format: jsonl)");
  if (source.format != "jsonl")
    path.complain(fmt::format("has the format {}, which is not supported yet; use jsonl", source.format));
  return source;
}

void read_sources(Recipe& recipe, const RecipeValue& value) {
  recipe.data.sources.clear();
  for (const RecipeValue& entry : list_entries(value, "a list of sources, each with a path")) {
    recipe.data.sources.push_back(read_source(entry));
  }
  if (recipe.data.sources.empty()) value.complain("is empty: name at least one file");
}

Json write_sources(const Recipe& recipe) {
  Json list = Json::array();
  for (const DataSourceConfig& source : recipe.data.sources) {
    Json entry = Json::object();
    for (const auto& key : data_source_keys()) entry[key.path] = key.field.write(source);
    list.push_back(std::move(entry));
  }
  return list.empty() ? Json() : list;
}

}  // namespace

RecipeField<Recipe> betas_field() {
  return {"two numbers", read_betas, [](const Recipe& recipe) {
            return Json{recipe.optimizer.beta1, recipe.optimizer.beta2};
          }};
}

RecipeField<Recipe> num_workers_field() { return {"auto or a count", read_num_workers, write_num_workers}; }

RecipeField<Recipe> data_sources_field() { return {"a list of sources", read_sources, write_sources}; }

RecipeRange folder_name() {
  const auto holds = [](const Json& value) {
    if (value.is_null()) return true;
    const auto& name = value.get_ref<const std::string&>();
    const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
    return std::all_of(name.begin(), name.end(), fits) && std::isalnum(static_cast<unsigned char>(name[0])) &&
           name.size() <= 100;
  };
  return {
      " of letters, digits, '-', '_' and '.', beginning with a letter or digit, at most 100 long", holds, {}};
}

RecipeRange of_numbers() {
  const auto holds = [](const Json& value) {
    return std::all_of(value.begin(), value.end(),
                       [](const Json& entry) { return entry.is_number() && entry.get<double>() >= 0; });
  };
  return {" of numbers of at least 0", holds, {}};
}

RecipeRange share_or_file() {
  const auto holds = [](const Json& value) {
    if (value.is_null()) return true;
    const auto& text = value.get_ref<const std::string&>();
    double share = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), share);
    const bool is_path = error == std::errc::invalid_argument || stop != text.data() + text.size();
    return is_path || (share > 0 && share < 1);
  };
  return {": a share between 0 and 1, or a file", holds, {}};
}

}  // namespace lockstep
