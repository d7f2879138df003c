#include "lockstep/cluster/manifest/storage.h"

#include <fmt/format.h>

#include <string_view>

namespace lockstep::cluster::manifest {
namespace {

std::string partition_of(const std::string& region) {
  if (region.starts_with("cn-")) return "aws-cn";
  return region.starts_with("us-gov-") ? "aws-us-gov" : "aws";
}

}  // namespace

Json bucket_policy(const std::string& uri, const std::string& region) {
  std::string path = uri.substr(std::string_view("s3://").size());
  while (path.ends_with('/')) path.pop_back();
  const std::string bucket = path.substr(0, path.find('/'));
  const std::string prefix = path.substr(bucket.size() + 1);
  const std::string arn = fmt::format("arn:{}:s3:::{}", partition_of(region), bucket);
  const Json list = {{"Effect", "Allow"},
                     {"Action", Json::array({"s3:ListBucket"})},
                     {"Resource", arn},
                     {"Condition", {{"StringLike", {{"s3:prefix", Json::array({prefix, prefix + "/*"})}}}}}};
  const Json use = {{"Effect", "Allow"},
                    {"Action", Json::array({"s3:GetObject", "s3:PutObject", "s3:DeleteObject",
                                            "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"})},
                    {"Resource", fmt::format("{}/{}/*", arn, prefix)}};
  return {{"Version", "2012-10-17"}, {"Statement", Json::array({list, use})}};
}

ManifestFile fsx_volume(const eks::Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  const eks::StorageSettings& storage = settings.storage;
  const std::string volume_name = fmt::format("{}-fsx", settings.ray_cluster);
  // Kubernetes wants a size; of a static volume of a shared file system it limits nothing.
  const Json size = {{"storage", "1200Gi"}};
  const Json volume = {
      {"apiVersion", "v1"},
      {"kind", "PersistentVolume"},
      {"metadata", {{"name", volume_name}}},
      {"spec",
       {{"capacity", size},
        {"accessModes", Json::array({"ReadWriteMany"})},
        {"persistentVolumeReclaimPolicy", "Retain"},
        {"storageClassName", ""},
        {"mountOptions", Json::array({"flock"})},
        {"csi",
         {{"driver", "fsx.csi.aws.com"},
          {"volumeHandle", storage.fsx_id},
          {"volumeAttributes",
           {{"dnsname", fmt::format("{}.fsx.{}.amazonaws.com", storage.fsx_id, settings.region)},
            {"mountname", storage.fsx_mount_name}}}}}}}};
  const Json claim = {{"apiVersion", "v1"},
                      {"kind", "PersistentVolumeClaim"},
                      {"metadata", {{"name", kFsxClaim}, {"namespace", settings.namespace_name}}},
                      {"spec",
                       {{"accessModes", Json::array({"ReadWriteMany"})},
                        {"storageClassName", ""},
                        {"volumeName", volume_name},
                        {"resources", {{"requests", size}}}}}};
  return {"storage.yaml", "The runs' file system: kubectl apply -f storage.yaml", {volume, claim}};
}

}  // namespace lockstep::cluster::manifest
