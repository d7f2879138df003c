// Whether RayJobs are what they are called, and KubeRay's definitions what its operator takes them for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/cluster/doctor/checks.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/manifest/ray_cluster.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::condition_message;
using eks::is_true;
using eks::name_of;
using eks::part_of;
using eks::text_of;

// Fields of a RayCluster's spec by the release of KubeRay that brought them.
struct NewField {
  const char *release, *name;
};
constexpr NewField kNewFields[] = {
    {"1.5.1", "authOptions"}, {"1.6", "upgradeStrategy"}, {"1.7", "networkPolicy"}};

const Json& ray_jobs(const Observation& seen) {
  return part_of(seen.cluster.need().ray_jobs.need(), "items");
}

// "1.6.2" of "quay.io/kuberay/operator:v1.6.2"; "" where it is not told.
std::string operator_version(const Observation& seen) {
  for (const Json& deployment : part_of(seen.cluster.need().operators.need(), "items")) {
    if (name_of(deployment) != "kuberay-operator") continue;
    const Json& pod = part_of(part_of(part_of(deployment, "spec"), "template"), "spec");
    for (const Json& container : part_of(pod, "containers")) {
      const std::string tag = eks::tag_of(text_of(container, "image"));
      if (!tag.empty()) return tag.starts_with('v') ? tag.substr(1) : tag;
    }
  }
  return "";
}

const Json& known_fields(const Json& definition) {
  static const Json nothing;
  for (const Json& version : part_of(part_of(definition, "spec"), "versions")) {
    if (text_of(version, "name") != "v1") continue;
    const Json& schema = part_of(part_of(version, "schema"), "openAPIV3Schema");
    return part_of(part_of(part_of(schema, "properties"), "spec"), "properties");
  }
  return nothing;
}

// A line of the operator's that names a field it did not know; "" where there is none.
std::string unknown_field_line(const std::string& log) {
  const size_t at = log.find("unknown field");
  if (at == log.npos) return "";
  const size_t begin = at == 0 ? 0 : log.rfind('\n', at) + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

}  // namespace

Finding check_job_status(const Observation& seen) {
  const Json& jobs = ray_jobs(seen);
  if (jobs.empty()) return nothing_to_see("there is no RayJob");
  for (const Json& job : jobs) {
    const Json& status = part_of(job, "status");
    if (text_of(status, "jobDeploymentStatus") != "Failed" || text_of(status, "jobStatus") != "RUNNING")
      continue;
    const std::string id = text_of(status, "jobId");
    return fault(
        fmt::format("RayJob {} is Failed ({}), and its job {} is RUNNING", name_of(job),
                    text_of(status, "reason"), id),
        "the stream of logs to the submitter broke, and KubeRay takes that for the job's end",
        fmt::format("trust `ray job status {}` in the head; `lockstep submit` does not hang on a stream",
                    id));
  }
  return good(fmt::format("{} RayJobs, none called failed while it runs", jobs.size()));
}

Finding check_job_submitter(const Observation& seen) {
  const Json& jobs = part_of(seen.cluster.need().jobs.need(), "items");
  for (const Json& job : jobs) {
    const Json& owners = part_of(part_of(job, "metadata"), "ownerReferences");
    const bool is_of_ray_job = std::any_of(
        owners.begin(), owners.end(), [](const Json& owner) { return text_of(owner, "kind") == "RayJob"; });
    if (!is_of_ray_job || !is_true(job, "Failed")) continue;
    // One whose job runs all the same is another check's.
    const bool runs = std::any_of(ray_jobs(seen).begin(), ray_jobs(seen).end(), [&](const Json& ray_job) {
      return name_of(ray_job) == name_of(job) &&
             text_of(part_of(ray_job, "status"), "jobStatus") == "RUNNING";
    });
    if (runs) continue;
    return fault(
        fmt::format("submitter {} failed: {}", name_of(job), condition_message(job, "Failed")),
        "the head's job server was not there yet when the submitter had used up its tries",
        "raise submitterConfig.backoffLimit in the RayJob, or submit to a RayCluster that is up: `lockstep "
        "submit`");
  }
  if (ray_jobs(seen).empty()) return nothing_to_see("there is no RayJob");
  return good(fmt::format("{} RayJobs, no submitter gave up", ray_jobs(seen).size()));
}

Finding check_ray_definitions(const Observation& seen) {
  const Json& fields = known_fields(seen.cluster.need().ray_definition.need());
  const std::string version = operator_version(seen);
  const std::string fix =
      "`lockstep cluster up` applies the chart's definitions before the operator, server-side: Helm itself "
      "never "
      "updates them";
  std::vector<std::string> missing;
  const manifest::ManifestFile ours = manifest::ray_cluster(seen.deployment);
  for (const auto& [field, value] : ours.documents.front().at("spec").items()) {
    if (!fields.contains(field)) missing.push_back(field);
  }
  for (const NewField& field : kNewFields) {
    const bool is_listed = std::find(missing.begin(), missing.end(), field.name) != missing.end();
    if (!version.empty() && !eks::is_version_before(version, field.release) && !fields.contains(field.name) &&
        !is_listed)
      missing.push_back(field.name);
  }
  const std::string who = version.empty() ? "an operator of unknown version" : "operator " + version;
  if (!missing.empty())
    return fault(
        fmt::format("{}, and the definition of RayClusters knows no {}", who, fmt::join(missing, ", ")),
        "the definitions are older than the operator", fix);
  if (const std::string line = unknown_field_line(seen.cluster.need().operator_log.answer.value_or(""));
      !line.empty())
    return fault(fmt::format("{} says: {}", who, line),
                 "the definitions are older than what the operator writes", fix);
  const std::string& why_no_log = seen.cluster.need().operator_log.why_not;
  return good(fmt::format("{}, {} fields of a RayCluster known{}", who, fields.size(),
                          why_no_log.empty() ? "" : "; its log was not read: " + why_no_log));
}

}  // namespace lockstep::cluster::doctor
