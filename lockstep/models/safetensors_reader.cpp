#include "lockstep/models/safetensors_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/models/json_file.h"

namespace lockstep::models {
namespace {

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

// Reads up to out.size() bytes; fewer only at the end of the file.
size_t read_at(int descriptor, int64_t offset, std::span<std::byte> out, const std::string& path) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        pread(descriptor, out.data() + done, out.size() - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_io_error("read", path, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

// tensor name -> shard, as the index says.
std::map<std::string, std::string> read_weight_map(const std::string& index_path) {
  const Json index = load_json(index_path);
  std::map<std::string, std::string> shards;
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object() || map->empty()) {
    throw ConfigError(fmt::format("model: {} has no weight_map. Download it again", index_path));
  }
  for (const auto& [name, shard] : map->items()) {
    // A shard lies beside its index; anything else would read files elsewhere.
    const bool plain = shard.is_string() && !shard.get<std::string>().empty() &&
                       shard.get<std::string>().find_first_of("/\\") == std::string::npos &&
                       shard.get<std::string>().find('\0') == std::string::npos;
    if (!plain) {
      throw ConfigError(fmt::format("model: {}: weight_map sends {} to {}, which is no file name", index_path,
                                    json_words(name), json_words(shard)));
    }
    shards[name] = shard.get<std::string>();
  }
  return shards;
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::string& folder) {
  const std::string single = folder + "/" + kSingleFile;
  const std::string index = folder + "/" + kIndexFile;
  const bool has_single = std::filesystem::exists(single);
  const bool has_index = std::filesystem::exists(index);
  if (has_single && has_index) {
    throw ConfigError(fmt::format("model: {} holds both {} and {}, and either could be meant. Remove one",
                                  folder, kSingleFile, kIndexFile));
  }
  if (!has_single && !has_index) {
    throw ConfigError(
        fmt::format("model: {} holds neither {} nor {}. Give model.source a Hugging Face folder "
                    "with safetensors weights, or set model.init=random",
                    folder, kSingleFile, kIndexFile));
  }
  has_index ? open_index(folder, index) : open_file(single);
}

SafetensorsReader SafetensorsReader::file(const std::string& path) {
  SafetensorsReader reader;
  reader.open_file(path);
  return reader;
}

void SafetensorsReader::open_file(const std::string& path) {
  FileDescriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!descriptor || fstat(descriptor.get(), &status) != 0) {
    throw ConfigError(fmt::format("model: cannot open {}: {}", path, errno_words(errno)));
  }
  if (!S_ISREG(status.st_mode)) throw ConfigError(fmt::format("model: {} is not a file", path));
  std::byte length[kHeaderLengthBytes];
  const size_t got = read_at(descriptor.get(), 0, length, path);
  const int64_t json_bytes = header_json_bytes({length, got}, status.st_size, path);
  std::string json(static_cast<size_t>(json_bytes), '\0');
  read_at(descriptor.get(), kHeaderLengthBytes, std::as_writable_bytes(std::span(json)), path);

  for (StoredTensor& tensor : parse_header(json, status.st_size, path)) {
    tensor.file = files_.size();
    const auto [earlier, added] = by_name_.emplace(tensor.name, tensors_.size());
    if (!added) {
      throw ConfigError(fmt::format("model: {} is in {} and in {}. Remove the shard that is not the model's",
                                    tensor.name, file_of(tensors_[earlier->second]), path));
    }
    tensors_.push_back(std::move(tensor));
  }
  files_.push_back({path, std::move(descriptor)});
}

void SafetensorsReader::open_index(const std::string& folder, const std::string& index_path) {
  const auto weight_map = read_weight_map(index_path);
  std::set<std::string> shards;
  for (const auto& [name, shard] : weight_map) shards.insert(shard);
  for (const std::string& shard : shards) {
    const std::string path = folder + "/" + shard;
    if (!std::filesystem::exists(path)) {
      throw ConfigError(fmt::format("model: {} names {}, which is not there. Download the missing shard",
                                    index_path, shard));
    }
    open_file(path);
  }
  for (const auto& [name, shard] : weight_map) {
    const StoredTensor* tensor = find(name);
    if (tensor == nullptr || file_of(*tensor) != folder + "/" + shard) {
      throw ConfigError(fmt::format("model: {} says that {} holds {}, but it does not. Download both again",
                                    index_path, shard, name));
    }
  }
  for (const StoredTensor& tensor : tensors_) {
    if (!weight_map.contains(tensor.name)) {
      throw ConfigError(fmt::format("model: {} holds {}, which {} does not name. Download both again",
                                    file_of(tensor), tensor.name, index_path));
    }
  }
}

const StoredTensor* SafetensorsReader::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

void SafetensorsReader::read(const StoredTensor& tensor, int64_t first_byte, std::span<std::byte> out) const {
  LOCKSTEP_CHECK(first_byte >= 0 && first_byte + static_cast<int64_t>(out.size()) <= tensor.num_bytes)
      << tensor.name << ": bytes " << first_byte << " + " << out.size() << " of " << tensor.num_bytes;
  const File& file = files_[tensor.file];
  const size_t got = read_at(file.descriptor.get(), tensor.offset + first_byte, out, file.path);
  if (got != out.size()) {
    throw ConfigError(
        fmt::format("model: {} became shorter while {} was read: {} of {} bytes. Put the file back",
                    file.path, tensor.name, got, out.size()));
  }
}

}  // namespace lockstep::models
