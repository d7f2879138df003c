// A status as one screen, and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/cluster/status/cluster_status.h"

namespace lockstep::cluster::status {
namespace {

std::string row(const std::string& name, const std::string& text) {
  return fmt::format("{:<12} {}\n", name, text);
}

std::string groups_text(const eks::World& world) {
  std::vector<std::string> texts;
  for (const auto& [name, group] : world.node_groups)
    texts.push_back(fmt::format("{} {} x {}", name, group.desired, group.status));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string reservation_text(const eks::Reservation& one) {
  return fmt::format("{}: {} x {} in {}, {}, {} unused, until {}", one.id, one.total, one.type, one.zone,
                     one.state, one.available, one.end.empty() ? "it is cancelled" : one.end);
}

std::string pod_text(const PodRow& pod) {
  return fmt::format("{:<7} {} on {}: {}{}{}", pod.role, pod.name, pod.node.empty() ? "no node" : pod.node,
                     pod.phase, pod.restarts > 0 ? fmt::format(", {} restarts", pod.restarts) : "",
                     pod.why.empty() ? "" : ": " + pod.why);
}

template <typename Row, typename Fields>
Json list_of(const std::vector<Row>& rows, Fields fields) {
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(fields(row));
  return list;
}

Json groups_json(const eks::World& world) {
  Json groups = Json::array();
  for (const auto& [name, group] : world.node_groups)
    groups.push_back(
        {{"name", name}, {"status", group.status}, {"nodes", group.desired}, {"issues", group.issues}});
  return groups;
}

}  // namespace

std::string ClusterStatus::to_text() const {
  std::string text =
      fmt::format("{} in {}: {}\n", name, region,
                  world.cluster_status.empty()
                      ? "there is no cluster"
                      : fmt::format("{}, Kubernetes {}", world.cluster_status, world.cluster_version));
  if (!world.cluster_status.empty()) text += row("node groups", groups_text(world));
  for (const eks::Reservation& one : world.reservations) text += row("reservation", reservation_text(one));
  text += row("price", fmt::format("{:.4f} dollars an hour, by list prices{}", price.dollars_per_hour(),
                                   price.unknown.empty() ? "" : ", and more that has no price here"));
  for (const NodeRow& node : nodes)
    text += row("node", fmt::format("{}: {} in {}, {} GPUs, {} EFA{}", node.name, node.type, node.zone,
                                    node.gpus, node.efa, node.is_ready ? "" : ", not ready"));
  for (const PartRow& part : parts)
    text +=
        row("part", fmt::format("{} {}: {} of {} ready", part.name, part.version, part.ready, part.wanted));
  for (const RayRow& ray : ray_clusters)
    text += row("ray", fmt::format("{}: {}, {} of {} workers ready, {} GPUs", ray.name,
                                   ray.state.empty() ? "not ready" : ray.state, ray.ready_workers,
                                   ray.wanted_workers, ray.gpus));
  for (const PodRow& pod : pods) text += row("pod", pod_text(pod));
  for (const JobRow& job : jobs) text += row("job", fmt::format("{}: {}: {}", job.id, job.status, job.what));
  if (is_healthy()) return text + "healthy\n";
  text += "not healthy:\n";
  for (const std::string& trouble : troubles) text += fmt::format("  {}\n", trouble);
  for (const std::string& what : not_told) text += fmt::format("  not known: {}\n", what);
  return text;
}

Json ClusterStatus::to_json() const {
  return {{"version", 1},
          {"name", name},
          {"region", region},
          {"namespace", name_space},
          {"cluster", world.cluster_status.empty() ? Json() : Json(world.cluster_status)},
          {"kubernetes_version", world.cluster_version},
          {"healthy", is_healthy()},
          {"troubles", troubles},
          {"not_told", not_told},
          {"dollars_per_hour", price.dollars_per_hour()},
          {"node_groups", groups_json(world)},
          {"reservations", list_of(world.reservations,
                                   [](const eks::Reservation& one) {
                                     return Json{{"id", one.id},       {"state", one.state},
                                                 {"type", one.type},   {"zone", one.zone},
                                                 {"total", one.total}, {"available", one.available},
                                                 {"end", one.end}};
                                   })},
          {"nodes", list_of(nodes,
                            [](const NodeRow& node) {
                              return Json{{"name", node.name}, {"type", node.type}, {"zone", node.zone},
                                          {"gpus", node.gpus}, {"efa", node.efa},   {"ready", node.is_ready}};
                            })},
          {"parts", list_of(parts,
                            [](const PartRow& part) {
                              return Json{{"name", part.name},
                                          {"version", part.version},
                                          {"ready", part.ready},
                                          {"wanted", part.wanted}};
                            })},
          {"ray_clusters", list_of(ray_clusters,
                                   [](const RayRow& ray) {
                                     return Json{{"name", ray.name},
                                                 {"state", ray.state},
                                                 {"ready_workers", ray.ready_workers},
                                                 {"wanted_workers", ray.wanted_workers}};
                                   })},
          {"pods", list_of(pods,
                           [](const PodRow& pod) {
                             return Json{{"name", pod.name}, {"role", pod.role},
                                         {"node", pod.node}, {"phase", pod.phase},
                                         {"why", pod.why},   {"restarts", pod.restarts}};
                           })},
          {"jobs", list_of(jobs, [](const JobRow& job) {
             return Json{{"id", job.id}, {"status", job.status}, {"what", job.what}};
           })}};
}

}  // namespace lockstep::cluster::status
