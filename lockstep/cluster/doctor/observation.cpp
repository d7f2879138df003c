#include "lockstep/cluster/doctor/observation.h"

#include "lockstep/base/clock.h"

namespace lockstep::cluster::doctor {

bool Observation::is_older(const std::string& time, std::chrono::seconds age) const {
  constexpr size_t kToTheSecond = 19;
  return !time.empty() && time.substr(0, kToTheSecond) <= format_utc(now - age).substr(0, kToTheSecond);
}

Observation observe(const eks::Surroundings& surroundings, const eks::ClusterSettings& settings,
                    const std::string& run_folder) {
  eks::Aws aws(surroundings.runner, settings.region);
  Observation seen{.deployment = eks::assumed_deployment(settings), .now = surroundings.now()};
  surroundings.say("asking AWS");
  seen.account = look_at_account(aws, seen.deployment);
  if (!seen.has_cluster()) return seen;
  surroundings.say("asking Kubernetes");
  seen.cluster = ask([&] {
    eks::Kubernetes kubernetes(surroundings.runner, seen.deployment);
    ClusterView view = look_at_cluster(kubernetes, seen.deployment);
    if (view.pods.answer) {
      surroundings.say("looking into the worker pods");
      seen.workers = look_inside_pods(kubernetes, *view.pods.answer, seen.deployment, run_folder);
    }
    return view;
  });
  return seen;
}

}  // namespace lockstep::cluster::doctor
