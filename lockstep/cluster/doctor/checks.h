// The checks of `lockstep cluster doctor`: each a function of what was observed, which asks nobody. A file
// each for capacity, devices, network, pods, jobs and what is left.
#pragma once

#include <vector>

#include "lockstep/cluster/doctor/finding.h"
#include "lockstep/cluster/doctor/observation.h"

namespace lockstep::cluster::doctor {

// Throws Unanswered where it needs an answer that is not there.
using LookAt = Finding (*)(const Observation&);

Finding check_gpu_quota(const Observation& seen);
Finding check_capacity(const Observation& seen);
Finding check_placement_group(const Observation& seen);
Finding check_reservation_target(const Observation& seen);
Finding check_nodes_join(const Observation& seen);

Finding check_node_image(const Observation& seen);
Finding check_gpu_plugin(const Observation& seen);
Finding check_head_node(const Observation& seen);
Finding check_efa_on_nodes(const Observation& seen);
Finding check_huge_pages_of_nodes(const Observation& seen);

Finding check_efa_in_pods(const Observation& seen);
Finding check_network_in_use(const Observation& seen);
Finding check_network_plugin(const Observation& seen);
Finding check_security_group(const Observation& seen);
Finding check_locked_memory_of_pods(const Observation& seen);
Finding check_interfaces(const Observation& seen);

Finding check_driver_of_pods(const Observation& seen);
Finding check_head_reached(const Observation& seen);
Finding check_readiness_probe(const Observation& seen);
Finding check_head_memory(const Observation& seen);
Finding check_shared_memory_of_pods(const Observation& seen);

Finding check_job_status(const Observation& seen);
Finding check_job_submitter(const Observation& seen);
Finding check_ray_definitions(const Observation& seen);
Finding check_leftovers(const Observation& seen);

}  // namespace lockstep::cluster::doctor
