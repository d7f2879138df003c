#include "lockstep/cluster/image/running_image.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::cluster {
namespace {

const char* word(ImageState state) {
  switch (state) {
    case ImageState::kLocked:
      return "locked";
    case ImageState::kOther:
      return "other";
    case ImageState::kNotStarted:
      return "not started";
  }
  return "";
}

std::string digest_in(const std::string& image_id) {
  const size_t at = image_id.rfind("sha256:");
  return at == image_id.npos ? "" : image_id.substr(at);
}

bool is_from(const std::string& image, const std::string& repository) {
  try {
    return ImageReference::parse(image).name() == repository;
  } catch (const ConfigError&) {
    return false;  // another tool's way to write it
  }
}

void judge(RunningImage& image, const ImageLock& lock) {
  const std::string digest = digest_in(image.image_id);
  if (digest.empty()) {
    image.remark = fmt::format("runs nothing yet, or its node does not tell what; its manifest asks for {}",
                               image.asked);
  } else if (digest == ImageReference::parse(lock.image).digest || digest == lock.manifest ||
             digest == lock.config) {
    image.state = ImageState::kLocked;
    if (image.asked.find('@') == image.asked.npos) {
      image.remark =
          fmt::format("but its manifest asks for {}, a tag: the next start may bring another", image.asked);
    }
  } else {
    image.state = ImageState::kOther;
    image.remark = fmt::format("runs {}, locked is {}", image.image_id, lock.image);
  }
}

// Of `containers`, with the ids that `statuses` tells.
void add(const Json& pod, const Json& containers, const Json& statuses, bool first_counts,
         const ImageLock& lock, std::vector<RunningImage>& images) {
  const std::string repository = ImageReference::parse(lock.image).name();
  for (size_t i = 0; i < containers.size(); ++i) {
    RunningImage image{.pod = pod.at("metadata").at("name").get<std::string>(),
                       .node = pod.at("spec").value("nodeName", ""),
                       .container = containers[i].at("name").get<std::string>(),
                       .asked = containers[i].at("image").get<std::string>()};
    if (!(first_counts && i == 0) && !is_from(image.asked, repository)) continue;
    for (const Json& status : statuses) {
      if (status.at("name") == image.container) image.image_id = status.value("imageID", "");
    }
    judge(image, lock);
    images.push_back(std::move(image));
  }
}

}  // namespace

std::vector<RunningImage> running_images(const Json& pods, const ImageLock& lock) {
  try {
    std::vector<RunningImage> images;
    const Json none = Json::array();
    for (const Json& pod : pods.at("items")) {
      const Json& spec = pod.at("spec");
      const Json status = pod.value("status", Json::object());
      add(pod, spec.at("containers"), status.value("containerStatuses", none), /*first_counts=*/true, lock,
          images);
      add(pod, spec.value("initContainers", none), status.value("initContainerStatuses", none),
          /*first_counts=*/false, lock, images);
    }
    return images;
  } catch (const Json::exception& error) {
    throw CommandError(fmt::format("image: kubectl's list of pods cannot be understood: {}", error.what()));
  }
}

std::string running_images_text(const std::vector<RunningImage>& images) {
  std::string text;
  for (const RunningImage& image : images) {
    text += fmt::format("{}{:<11}  {}/{} on {}{}{}", text.empty() ? "" : "\n", word(image.state), image.pod,
                        image.container, image.node.empty() ? "no node yet" : image.node,
                        image.remark.empty() ? "" : ": ", image.remark);
  }
  return text;
}

Json running_images_json(const std::vector<RunningImage>& images) {
  Json rows = Json::array();
  for (const RunningImage& image : images) {
    rows.push_back({{"pod", image.pod},
                    {"node", image.node},
                    {"container", image.container},
                    {"asked", image.asked},
                    {"image_id", image.image_id},
                    {"state", word(image.state)},
                    {"remark", image.remark}});
  }
  return rows;
}

}  // namespace lockstep::cluster
