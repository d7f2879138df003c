#include "lockstep/cluster/pod/put_folder.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/split.h"

namespace lockstep::cluster::pod {
namespace {

// NAME [put]: prints the folder's path where it is there or was put there, else nothing.
constexpr const char* kPut = R"(
import io, os, shutil, sys, tempfile, zipfile
parent = os.path.join(tempfile.gettempdir(), "lockstep")
target = os.path.join(parent, sys.argv[1])
if sys.argv[2:] == ["put"] and not os.path.isdir(target):
    os.makedirs(parent, exist_ok=True)
    made = tempfile.mkdtemp(dir=parent)
    try:
        with zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())) as archive:
            for entry in archive.infolist():
                os.chmod(archive.extract(entry, made), entry.external_attr >> 16 & 0o777)
        os.chmod(made, 0o755)
        os.rename(made, target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        if not os.path.isdir(target):
            raise
if os.path.isdir(target):
    print(target)
)";

}  // namespace

std::string put_folder(HeadPod& head, const std::string& name, const std::vector<ArchiveFile>& files) {
  Ran ran = head.run_python(kPut, {name});
  if (ran.is_good() && trimmed(ran.out).empty())
    ran = head.run_python(kPut, {name, "put"},
                          {.input = zip_archive(files), .timeout = std::chrono::minutes(15)});
  const std::string path = trimmed(ran.out);
  if (!ran.is_good() || path.empty())
    throw CommandError(
        fmt::format("cluster: {} could not be brought into Ray's head: {}", name, ran.words()));
  return path;
}

}  // namespace lockstep::cluster::pod
