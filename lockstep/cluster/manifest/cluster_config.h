// eksctl's ClusterConfig (eksctl.io/v1alpha5; schema: eksctl's
// pkg/apis/eksctl.io/v1alpha5/assets/schema.json).
//
// Two files: the cluster with its system nodes, and the GPU nodes. The second is made, made again and taken
// away without the first.
#pragma once

#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/manifest/manifest_file.h"

namespace lockstep::cluster::manifest {

ManifestFile cluster_config(const eks::Deployment& deployment);
ManifestFile gpu_nodes_config(const eks::Deployment& deployment);
// The service account that may reach the runs' prefix of the bucket, for a cluster that is there already (in
// a new one cluster_config has it).
ManifestFile service_account_config(const eks::Deployment& deployment);

// Both in one, for eksctl's dry run.
ManifestFile whole_config(const eks::Deployment& deployment);

}  // namespace lockstep::cluster::manifest
