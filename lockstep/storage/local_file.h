// Files and folders, durably and with errors as IoError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lockstep/storage/read_into.h"

namespace lockstep::storage {

// All of `bytes`, at the file's position. `path` is for the message.
void write_all(int fd, std::span<const std::byte> bytes, const std::string& path);

// All of `bytes`, into a file that is empty, and down to the disk, which takes the first of them while the
// others are still written.
void write_durably(int fd, std::span<const std::byte> bytes, const std::string& path);

// Fills `parts` from `offset` on; returns how many bytes there were before the file's end.
int64_t read_parts(int fd, int64_t offset, Parts parts, const std::string& path);

// Brings the file's bytes to the disk; file systems that cannot say so are taken at their word.
void flush(int fd, const std::string& path);
// The same for a folder's entries: new names and renames.
void flush_folder(const std::string& folder);

// Makes the folder and those above it, durably. Nothing happens when it is there.
void make_folders(const std::string& folder);

// The folder that holds `path`: "." for "a", "/" for "/a".
std::string folder_of(const std::string& path);

}  // namespace lockstep::storage
