// The images that pods really run, against the lock.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/image/image_lock.h"

namespace lockstep::cluster {

enum class ImageState {
  kLocked,
  kOther,
  kNotStarted,  // the container runs no image yet, or the node does not tell which
};

struct RunningImage {
  std::string pod, node, container;
  std::string asked;     // as the pod's manifest names it
  std::string image_id;  // as the node's container runtime tells; empty while nothing runs
  ImageState state = ImageState::kNotStarted;
  std::string remark;  // what is wrong, or may become so; empty when nothing is
};

// Of `pods`, as `kubectl get pods -o json` prints it: each pod's first container (KubeRay's rule for Ray's
// own), and all others, init containers too, that come from the lock's repository. An image id is the locked
// one when it ends with the digest of the index, of the platform's image or of its config: which of them a
// runtime tells depends on how it got the image. Throws CommandError when `pods` is no such list.
std::vector<RunningImage> running_images(const Json& pods, const ImageLock& lock);

// "other       pod/container on node: ..." a line each; without the last newline.
std::string running_images_text(const std::vector<RunningImage>& images);
// A list of objects: pod, node, container, asked, image_id, state ("locked", "other", "not started"), remark.
Json running_images_json(const std::vector<RunningImage>& images);

}  // namespace lockstep::cluster
