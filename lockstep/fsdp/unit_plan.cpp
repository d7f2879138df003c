#include "lockstep/fsdp/unit_plan.h"

#include <torch/nn/modules/container/modulelist.h>

#include <algorithm>
#include <map>

#include "lockstep/nn/module.h"

namespace lockstep::fsdp {
namespace {

// The tree of modules as the root registers them; a module registered twice appears twice.
struct Node {
  std::string name;
  torch::nn::Module* module;
  Node* parent;
  bool is_unit = false;
  std::vector<std::unique_ptr<Node>> children;
};

std::unique_ptr<Node> tree_of(const std::string& name, torch::nn::Module& module, Node* parent) {
  auto node = std::make_unique<Node>(Node{name, &module, parent, false, {}});
  for (const auto& child : module.named_children()) {
    const std::string path = name.empty() ? child.key() : name + "." + child.key();
    node->children.push_back(tree_of(path, *child.value(), node.get()));
  }
  return node;
}

struct Use {
  std::string name;  // the first one; later ones are ties
  at::Tensor tensor;
  std::vector<const Node*> nodes;  // modules that registered it
};

void collect_uses(const Node& node, std::vector<Use>& uses, std::map<void*, size_t>& seen) {
  for (const auto& parameter : node.module->named_parameters(/*recurse=*/false)) {
    if (!parameter.value().defined()) continue;
    void* key = parameter.value().unsafeGetTensorImpl();
    const auto [entry, is_new] = seen.try_emplace(key, uses.size());
    if (is_new) {
      const std::string path = node.name.empty() ? parameter.key() : node.name + "." + parameter.key();
      uses.push_back({path, parameter.value(), {}});
    }
    uses[entry->second].nodes.push_back(&node);
  }
  for (const auto& child : node.children) collect_uses(*child, uses, seen);
}

bool encloses(const Node* outer, const Node* inner) {
  while (inner != nullptr && inner != outer) inner = inner->parent;
  return inner == outer;
}

// Innermost node at or above `node` for which `accept` holds and that encloses all uses.
template <typename Accept>
const Node* innermost(const Use& use, Accept accept) {
  for (const Node* node = use.nodes.front(); node != nullptr; node = node->parent) {
    const bool all = std::all_of(use.nodes.begin(), use.nodes.end(),
                                 [&](const Node* user) { return encloses(node, user); });
    if (all && accept(*node)) return node;
  }
  return nullptr;
}

// Parameters that are used inside `node` alone, whoever has taken them.
int64_t own_parameters(const Node& node, const std::vector<Use>& uses) {
  int64_t total = 0;
  for (const auto& use : uses) {
    if (encloses(&node, innermost(use, [](const Node&) { return true; }))) total += use.tensor.numel();
  }
  return total;
}

bool is_layer(const Node& node) {
  return node.parent != nullptr && dynamic_cast<torch::nn::ModuleListImpl*>(node.parent->module) != nullptr;
}

int64_t layer_parameters(const Node& node, const std::vector<Use>& uses) {
  if (is_layer(node)) return 0;
  for (const Node* around = node.parent; around != nullptr; around = around->parent) {
    if (is_layer(*around)) return own_parameters(*around, uses);
  }
  return 0;
}

int64_t untaken_parameters(const Node& node, const std::vector<Use>& uses) {
  int64_t total = 0;
  for (const auto& use : uses) {
    const Node* common = innermost(use, [](const Node&) { return true; });
    if (!encloses(&node, common)) continue;
    const Node* taker = innermost(use, [](const Node& candidate) { return candidate.is_unit; });
    if (taker == nullptr) total += use.tensor.numel();
  }
  return total;
}

void choose_units(Node& node, const std::vector<Use>& uses, const WrapPolicy& policy,
                  std::map<torch::nn::Module*, bool>& decided) {
  for (const auto& child : node.children) choose_units(*child, uses, policy, decided);
  if (node.parent == nullptr) {
    node.is_unit = true;
    return;
  }
  // A module that is registered twice runs for both: as one unit, at its first place.
  if (!decided.try_emplace(node.module, true).second) return;
  if (dynamic_cast<nn::Module*>(node.module) == nullptr) return;
  const int64_t untaken = untaken_parameters(node, uses);
  node.is_unit = untaken > 0 && policy({*node.module, untaken, layer_parameters(node, uses)});
}

void list_units(const Node& node, std::vector<const Node*>& units) {
  if (node.is_unit) units.push_back(&node);
  for (const auto& child : node.children) list_units(*child, units);
}

}  // namespace

std::vector<PlannedUnit> plan_units(torch::nn::Module& root, const WrapPolicy& policy) {
  const auto tree = tree_of("", root, nullptr);
  std::vector<Use> uses;
  std::map<void*, size_t> seen;
  collect_uses(*tree, uses, seen);
  std::map<torch::nn::Module*, bool> decided;
  choose_units(*tree, uses, policy, decided);

  std::vector<const Node*> nodes;
  list_units(*tree, nodes);
  std::vector<PlannedUnit> units;
  for (const Node* node : nodes) units.push_back({node->name, node->module, {}});
  for (const auto& use : uses) {
    const Node* unit = innermost(use, [](const Node& node) { return node.is_unit; });
    const auto index = std::find(nodes.begin(), nodes.end(), unit) - nodes.begin();
    units[static_cast<size_t>(index)].parameters.push_back({use.name, use.tensor});
  }
  return units;
}

}  // namespace lockstep::fsdp
