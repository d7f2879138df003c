// Which modules become units: modules whose parameters are gathered together.
//
// A module can be a unit when it derives from nn::Module, since only then can code run
// around its forward. Parameters of other modules belong to their nearest ancestor that is
// a unit; the root always is one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace lockstep::fsdp {

struct WrapCandidate {
  const torch::nn::Module& module;
  // Elements under the module that no unit below it has taken. A parameter that is used outside the
  // module too (tied weights) is not among them: it belongs to the unit that encloses all its uses.
  int64_t num_parameters = 0;
  // All elements of the layer that the module is a part of; 0: of none. A layer is an element of a
  // torch::nn::ModuleList, the nearest one around the module; it is no part of itself.
  int64_t layer_parameters = 0;
};

// Asked for each candidate, children before parents.
using WrapPolicy = std::function<bool(const WrapCandidate&)>;

inline constexpr int64_t kDefaultMinParameters = 10'000'000;

// Modules with at least `min_parameters` elements, but nothing inside a layer that has so many: a decoder's
// layers whole and not their largest matrices, so that few large messages hide behind much computing.
WrapPolicy wrap_by_size(int64_t min_parameters = kDefaultMinParameters);
// Modules whose name() is one of these, for example "DecoderLayer": the C++ type's name
// without namespaces and the "Impl" at its end, unless the module says otherwise.
WrapPolicy wrap_by_type(std::vector<std::string> type_names);

// The name that wrap_by_type compares.
std::string type_name_of(const torch::nn::Module& module);

}  // namespace lockstep::fsdp
