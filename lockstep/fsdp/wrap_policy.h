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

// Asked for each candidate, children before parents. `num_parameters`: elements under the
// module that no unit below it has taken. A parameter that is used outside the module too
// (tied weights) is not among them: it belongs to the unit that encloses all its uses.
using WrapPolicy = std::function<bool(const torch::nn::Module& module, int64_t num_parameters)>;

inline constexpr int64_t kDefaultMinParameters = 10'000'000;

// Modules with at least `min_parameters` elements.
WrapPolicy wrap_by_size(int64_t min_parameters = kDefaultMinParameters);
// Modules whose name() is one of these, for example "DecoderLayer": the C++ type's name
// without namespaces and the "Impl" at its end, unless the module says otherwise.
WrapPolicy wrap_by_type(std::vector<std::string> type_names);

// The name that wrap_by_type compares.
std::string type_name_of(const torch::nn::Module& module);

}  // namespace lockstep::fsdp
