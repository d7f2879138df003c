// `lockstep image update --accept`: a live cluster is moved to a lock's next image, with evidence, or stays
// where it is.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/accept/compare.h"
#include "lockstep/cluster/accept/measure.h"

namespace lockstep::cluster::accept {

struct Update {
  std::string lock_path;
  ImageLock before, after;        // the file's, and what its tag is now
  eks::ClusterSettings settings;  // the cluster's
  MeasureOptions measure;
  Allowance allowance;
  std::string way_back;  // the command that brings the cluster to the locked image
};

struct Decision {
  std::vector<ComparedRow> rows;
  Acceptance evidence;   // of what could be measured
  std::string not_back;  // not accepted, and why the cluster may not be on the locked image; else empty
  bool is_accepted = false;
  bool is_network_refused = false;
};

// The settings with a lock's image, and with its Ray where it states one.
eks::ClusterSettings settings_with(const eks::ClusterSettings& settings, const ImageLock& lock);

// Throws what stands in the way: ConfigError for an image of another repository than the cluster's, a job
// that runs, or Ray that is not ready; GuardError for pods that run another image than the locked one.
void require_update_possible(eks::Kubernetes& kubernetes, const Update& update);

// Measures on the locked image as it runs, moves the RayCluster to the other, measures there, and replaces
// the lock, with the evidence, only where all holds. Else the RayCluster goes back, and the lock stays as it
// is. So it does after any failure on the way, and when the user asks to stop; where even that fails,
// `way_back` is said. Throws CommandError, ConfigError, InterruptedError, IoError of the lock; whatever it
// throws, the lock is as it was.
Decision accept_update(const Update& update, const eks::Surroundings& surroundings);

// Returns where it was accepted. Throws with each thing that does not hold and both figures: TransportError
// (exit code 5) when the gate refused the network, else GuardError (6); CommandError (8) when the cluster may
// not be on the locked image.
void require_accepted(const Update& update, const Decision& decision);

// For scripts: accepted, comparison, evidence.
Json to_json(const Decision& decision);
// Once it was accepted: what the file of settings must name now, where it names the former image by digest,
// or another Ray; a line each.
std::string settings_to_change(const Update& update, const std::string& cluster_file);

// Brings the cluster to the locked image, unless it is there, and waits until Ray is ready. Throws
// ConfigError where a job runs.
void go_back(const Update& update, const eks::Surroundings& surroundings);

// What accept_update() will do, for people.
std::string plan_text(const Update& update);
// The commands that change something, and those that measure by hand, in order.
std::vector<std::string> planned_commands(eks::Kubernetes& kubernetes, const Update& update,
                                          const std::string& cluster_file);

}  // namespace lockstep::cluster::accept
