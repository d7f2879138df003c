// Files for the head pod.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/pod/head_pod.h"
#include "lockstep/cluster/zip_archive.h"

namespace lockstep::cluster::pod {

// Makes the folder `name` in the pod's place for temporary files, unless it is there already, and returns its
// path. So the name has to stand for what is in it. It is there whole or not at all: what arrives is a zip,
// whose checksums are verified, unpacked beside it, then renamed. Throws CommandError.
std::string put_folder(HeadPod& head, const std::string& name, const std::vector<ArchiveFile>& files);

}  // namespace lockstep::cluster::pod
