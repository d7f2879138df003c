#include "lockstep/base/sha256.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/io_error.h"

namespace lockstep {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

}  // namespace

struct Sha256::State {
  Context context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  const int ok = EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr);
  LOCKSTEP_CHECK(ok == 1) << "OpenSSL has no SHA-256";
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  const int ok = EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size());
  LOCKSTEP_CHECK(ok == 1);
}

void Sha256::update(std::string_view text) { update(std::as_bytes(std::span(text.data(), text.size()))); }

std::string Sha256::hex() const {
  // Finishing a copy leaves the original open for more.
  const Context copy(EVP_MD_CTX_new());
  std::array<unsigned char, 32> digest{};
  const int ok = EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1 &&
                 EVP_DigestFinal_ex(copy.get(), digest.data(), nullptr) == 1;
  LOCKSTEP_CHECK(ok);
  std::string text;
  for (unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

std::string sha256_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_io_error("open", path, errno);
  Sha256 hash;
  std::vector<std::byte> piece(1 << 20);
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_io_error("read", path, errno);
    if (got == 0) return hash.hex();
    hash.update(std::span(piece).first(static_cast<size_t>(got)));
  }
}

}  // namespace lockstep
