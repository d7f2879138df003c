#include "lockstep/cluster/eks/daemonset_placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::eks {
namespace {

bool tolerates(const Json& tolerations, const Json& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Json& toleration) {
    const std::string key = text_of(toleration, "key"), effect = text_of(toleration, "effect");
    const bool is_of_key = key.empty() || key == text_of(taint, "key");
    const bool is_of_effect = effect.empty() || effect == text_of(taint, "effect");
    const bool is_of_value = text_of(toleration, "operator") == "Exists" ||
                             text_of(toleration, "value") == text_of(taint, "value");
    return is_of_key && is_of_effect && is_of_value;
  });
}

// The terms are alternatives; in one, all must hold. Operators other than In and Exists are taken to hold.
bool takes(const Json& term, const Json& node) {
  for (const Json& expression : part_of(term, "matchExpressions")) {
    const std::string value = label_of(node, text_of(expression, "key"));
    const std::string op = text_of(expression, "operator");
    const Json& values = part_of(expression, "values");
    if (op == "Exists" && value.empty()) return false;
    if (op == "In" && std::find(values.begin(), values.end(), Json(value)) == values.end()) return false;
  }
  return true;
}

}  // namespace

std::string why_not_placed(const Json& daemonset, const Json& node) {
  const Json& spec = part_of(part_of(part_of(daemonset, "spec"), "template"), "spec");
  for (const auto& [label, value] : part_of(spec, "nodeSelector").items()) {
    if (label_of(node, label) != value)
      return fmt::format("the node lacks the label {}={}", label, value.get<std::string>());
  }
  const Json& required = part_of(part_of(part_of(spec, "affinity"), "nodeAffinity"),
                                 "requiredDuringSchedulingIgnoredDuringExecution");
  const Json& terms = part_of(required, "nodeSelectorTerms");
  if (!terms.empty() &&
      std::none_of(terms.begin(), terms.end(), [&](const Json& term) { return takes(term, node); }))
    return "its affinity takes none of the node's labels";
  for (const Json& taint : part_of(part_of(node, "spec"), "taints")) {
    // Those of Kubernetes itself come and go, and DaemonSets tolerate them.
    if (text_of(taint, "effect") == "PreferNoSchedule" ||
        text_of(taint, "key").starts_with("node.kubernetes.io/"))
      continue;
    if (!tolerates(part_of(spec, "tolerations"), taint))
      return fmt::format("it does not tolerate the taint {}={}:{}", text_of(taint, "key"),
                         text_of(taint, "value"), text_of(taint, "effect"));
  }
  return "";
}

}  // namespace lockstep::cluster::eks
