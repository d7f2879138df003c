// YAML text as a tree, all of it or an error.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace lockstep {

// The one document in `text`; a null node when there is none. Throws ConfigError with `origin` and
// line for text that is not UTF-8 or not YAML, and for anything after the first document.
YAML::Node parse_yaml(const std::string& text, const std::string& origin);

}  // namespace lockstep
