#include "lockstep/cluster/pod/run_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/sha256.h"

namespace lockstep::cluster::pod {
namespace {

namespace fs = std::filesystem;

// FOLDER [SKIPPED]: a JSON list of [name, bytes, SHA-256] of every file in it.
constexpr const char* kList = R"(
import hashlib, json, os, sys
root, skipped = sys.argv[1], sys.argv[2:]
if not os.path.isdir(root):
    sys.exit("no such folder")
found = []
for folder, names, files in os.walk(root):
    names[:] = [name for name in names if os.path.relpath(os.path.join(folder, name), root) not in skipped]
    for name in files:
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        digest, size = hashlib.sha256(), 0
        with open(path, "rb") as file:
            left = os.fstat(file.fileno()).st_size
            while left > 0 and (piece := file.read(min(left, 1 << 20))):
                digest.update(piece)
                size += len(piece)
                left -= len(piece)
        found.append([os.path.relpath(path, root), size, digest.hexdigest()])
json.dump(sorted(found), sys.stdout)
)";

// FOLDER, and a JSON list of [name, bytes] as input: the files' bytes, one after the other.
constexpr const char* kSend = R"(
import json, os, sys
for name, left in json.load(sys.stdin):
    with open(os.path.join(sys.argv[1], name), "rb") as file:
        while left > 0:
            piece = file.read(min(left, 1 << 20))
            if not piece:
                sys.exit(f"{name} has become shorter")
            sys.stdout.buffer.write(piece)
            left -= len(piece)
)";

constexpr int kTries = 30;  // in a row without a single file
constexpr std::chrono::seconds kBetweenTries{10};

struct File {
  std::string name;
  int64_t bytes = 0;
  std::string sha256;
};

void check_name(const std::string& name) {
  for (const fs::path& part : fs::path(name)) {
    if (part == ".." || part.is_absolute())
      throw CommandError(fmt::format("cluster: the pod names a file outside of the run: {}", name));
  }
}

std::vector<File> list_files(HeadPod& head, const FetchOptions& options) {
  std::vector<std::string> arguments = {options.run};
  if (options.leave_out_checkpoints) arguments.emplace_back("checkpoints");
  const Ran ran = head.run_python(kList, arguments, {.timeout = std::chrono::hours(1)});
  if (ran.lost.empty() && ran.exit_code != 0 && ran.words() == "no such folder")
    throw ConfigError(fmt::format(
        "cluster: Ray's head has no folder {}: give run.dir of the job, as the pods see it", options.run));
  const Json json = Json::parse(ran.out, nullptr, /*allow_exceptions=*/false);
  if (!ran.is_good() || !json.is_array())
    throw CommandError(fmt::format("cluster: {} could not be listed: {}", options.run, ran.words()));
  std::vector<File> files;
  for (const Json& entry : json) {
    files.push_back(
        {entry.at(0).get<std::string>(), entry.at(1).get<int64_t>(), entry.at(2).get<std::string>()});
    check_name(files.back().name);
  }
  return files;
}

bool has(const std::string& target, const File& file) {
  const std::string path = target + "/" + file.name;
  std::error_code error;
  return fs::is_regular_file(path, error) && static_cast<int64_t>(fs::file_size(path, error)) == file.bytes &&
         sha256_file(path) == file.sha256;
}

// Cuts a stream of bytes into the files that were asked for.
class Receiver {
 public:
  Receiver(std::string target, std::vector<File> files)
      : target_(std::move(target)), files_(std::move(files)) {
    finish_empty_ones();
  }
  ~Receiver() {
    std::error_code ignored;
    if (stream_.is_open()) fs::remove(unfinished(), ignored);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  void take(std::string_view bytes) {
    while (!bytes.empty() && next_ < files_.size()) {
      if (!stream_.is_open()) open();
      const auto left = static_cast<size_t>(files_[next_].bytes - written_);
      const std::string_view piece = bytes.substr(0, left);
      stream_.write(piece.data(), static_cast<std::streamsize>(piece.size()));
      if (!stream_) throw_io_error("write", unfinished(), errno);
      hash_.update(piece);
      written_ += static_cast<int64_t>(piece.size());
      bytes.remove_prefix(piece.size());
      if (written_ == files_[next_].bytes) finish();
      finish_empty_ones();
    }
  }
  const std::set<std::string>& whole() const { return whole_; }
  int64_t num_bytes() const { return num_bytes_; }

 private:
  std::string path() const { return target_ + "/" + files_[next_].name; }
  std::string unfinished() const { return path() + ".unfinished"; }

  void open() {
    std::error_code error;
    fs::create_directories(fs::path(path()).parent_path(), error);
    if (error) throw_io_error("make", fs::path(path()).parent_path().string(), error.value());
    stream_.open(unfinished(), std::ios::binary | std::ios::trunc);
    if (!stream_) throw_io_error("write", unfinished(), errno);
    hash_ = Sha256();
    written_ = 0;
  }

  void finish() {
    stream_.close();
    if (!stream_) throw_io_error("write", unfinished(), errno);
    std::error_code error;
    if (hash_.hex() == files_[next_].sha256) {
      fs::rename(unfinished(), path(), error);
      if (error) throw_io_error("write", path(), error.value());
      whole_.insert(files_[next_].name);
      num_bytes_ += written_;
    } else {
      fs::remove(unfinished(), error);  // replaced since it was listed: the next list has it anew
    }
    ++next_;
  }

  void finish_empty_ones() {
    while (next_ < files_.size() && files_[next_].bytes == 0) {
      open();
      finish();
    }
  }

  const std::string target_;
  const std::vector<File> files_;
  size_t next_ = 0;
  std::ofstream stream_;
  Sha256 hash_;
  int64_t written_ = 0;
  std::set<std::string> whole_;
  int64_t num_bytes_ = 0;
};

struct Received {
  std::set<std::string> whole;  // names
  int64_t bytes = 0;
  std::string why;  // not all of them
};

Received receive(HeadPod& head, const FetchOptions& options, const std::vector<File>& files) {
  Json wanted = Json::array();
  for (const File& file : files) wanted.push_back({file.name, file.bytes});
  Receiver receiver(options.target, files);
  const Ran ran = head.run_python(kSend, {options.run},
                                  {.input = wanted.dump(),
                                   .on_out = [&](std::string_view bytes) { receiver.take(bytes); },
                                   .timeout = std::chrono::hours(12)});
  return {.whole = receiver.whole(),
          .bytes = receiver.num_bytes(),
          .why = ran.is_good() ? "files were replaced meanwhile" : ran.words()};
}

// As they are by now: one may have been replaced, or removed. Left as it is while nobody answers.
void bring_up_to_date(HeadPod& head, const FetchOptions& options, std::vector<File>& missing) {
  std::set<std::string> names;
  for (const File& file : missing) names.insert(file.name);
  try {
    missing = list_files(head, options);
  } catch (const CommandError&) {
    return;
  }
  std::erase_if(missing, [&](const File& file) { return !names.contains(file.name); });
}

}  // namespace

Fetched fetch_run(HeadPod& head, const FetchOptions& options, const eks::Surroundings& surroundings) {
  if (!options.go_on && fs::exists(options.target))
    throw ConfigError(
        fmt::format("cluster: {} is there already: --continue brings what it lacks, or give another --output",
                    options.target));
  std::vector<File> missing = list_files(head, options);
  const auto num_listed = static_cast<int64_t>(missing.size());
  std::erase_if(missing, [&](const File& file) { return has(options.target, file); });
  Fetched fetched{.there = num_listed - static_cast<int64_t>(missing.size())};
  for (int tries = 0; !missing.empty();) {
    const Received received = receive(head, options, missing);
    const auto num_whole = static_cast<int64_t>(received.whole.size());
    fetched.files += num_whole;
    fetched.bytes += received.bytes;
    if (num_whole == static_cast<int64_t>(missing.size())) break;
    std::erase_if(missing, [&](const File& file) { return received.whole.contains(file.name); });
    tries = num_whole > 0 ? 0 : tries + 1;
    if (tries == kTries)
      throw CommandError(
          fmt::format("cluster: {} of {} files have come, all of them whole, then it broke off {} times: {}. "
                      "--continue goes on from here",
                      fetched.files + fetched.there, num_listed, kTries, received.why));
    surroundings.say(fmt::format("{} files are still to come ({}): going on", missing.size(), received.why));
    if (num_whole == 0) surroundings.pause(kBetweenTries);
    bring_up_to_date(head, options, missing);
  }
  return fetched;
}

}  // namespace lockstep::cluster::pod
