#include "lockstep/cluster/zip_archive.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zip.h>

#include <fstream>
#include <iterator>
#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/base/temporary_folder.h"

namespace lockstep::cluster {
namespace {

constexpr time_t kTime = 946684800;  // 2000-01-01: zip knows no time before 1980
// Of deflate. The library's default, 9, takes three times as long for programs and makes them 1 % smaller.
constexpr zip_uint32_t kLevel = 6;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

[[noreturn]] void fail(const std::string& what, const char* why) {
  throw IoError(fmt::format("ray: cannot put {} into the job's package: {}", what, why));
}

Archive open_archive(const std::string& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  fail(path, why.c_str());
}

void add(zip_t* archive, const ArchiveFile& file) {
  zip_source_t* source = file.path.empty()
                             ? zip_source_buffer(archive, file.text.data(), file.text.size(), /*freep=*/0)
                             : zip_source_file(archive, file.path.c_str(), 0, /*length: all*/ 0);
  if (source == nullptr) fail(file.name, zip_strerror(archive));
  const zip_int64_t index = zip_file_add(archive, file.name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    fail(file.name, zip_strerror(archive));
  }
  const auto position = static_cast<zip_uint64_t>(index);
  const zip_uint32_t mode = S_IFREG | (file.is_executable ? 0755 : 0644);
  if (zip_file_set_external_attributes(archive, position, 0, ZIP_OPSYS_UNIX, mode << 16) != 0 ||
      zip_file_set_mtime(archive, position, kTime, 0) != 0 ||
      zip_set_file_compression(archive, position, ZIP_CM_DEFLATE, kLevel) != 0) {
    fail(file.name, zip_strerror(archive));
  }
}

}  // namespace

std::string zip_archive(const std::vector<ArchiveFile>& files) {
  const TemporaryFolder folder;
  const std::string path = folder / "package.zip";
  Archive archive = open_archive(path);
  for (const ArchiveFile& file : files) add(archive.get(), file);
  if (zip_close(archive.get()) != 0) fail(path, zip_strerror(archive.get()));  // reads and writes all of it
  static_cast<void>(archive.release());
  std::ifstream written(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(written), std::istreambuf_iterator<char>()};
  if (!written || bytes.empty()) fail(path, "what was written cannot be read back");
  return bytes;
}

}  // namespace lockstep::cluster
