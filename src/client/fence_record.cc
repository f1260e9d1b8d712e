#include "client/fence_record.h"

#include <openssl/sha.h>

#include <algorithm>

namespace holdfast::files {
namespace {

constexpr std::string_view kMagic = "HFFENCE1";

class Writer {
 public:
  void number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void raw(std::string_view value) { bytes_ += value; }
  void raw(const Digest& value) { bytes_.append(value.begin(), value.end()); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// After the first value that is not there, every other is empty too, and good() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_{bytes} {}

  std::string_view raw(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      good_ = false;
      at_ = bytes_.size();
      return {};
    }
    const auto value = bytes_.substr(at_, count);
    at_ += count;
    return value;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    int shift = 0;
    for (const char byte : raw(8)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  std::string text() { return std::string{raw(number())}; }
  Digest digest() {
    Digest value{};
    std::ranges::copy(raw(value.size()), value.begin());
    return value;
  }

  std::string_view before() const { return bytes_.substr(0, at_); }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  std::size_t at_{0};
  bool good_{true};
};

void put(Writer& to, const core::Fence& fence) {
  to.text(fence.domain);
  to.number(fence.policy == WritePolicy::strict ? 1 : 0);
  for (const core::Mark& mark : {fence.exclusive, fence.any}) {
    to.number(mark.token.value());
    to.text(mark.owner_fp);
  }
  to.number(fence.sequence);
  to.number(fence.written.value());
  to.number(fence.written_sequence);
}

core::Fence read_fence(Reader& from) {
  core::Fence fence;
  fence.domain = from.text();
  fence.policy = from.number() == 1 ? WritePolicy::strict : WritePolicy::many;
  for (core::Mark* mark : {&fence.exclusive, &fence.any}) {
    mark->token = Token{from.number()};
    mark->owner_fp = from.text();
  }
  fence.sequence = from.number();
  fence.written = Token{from.number()};
  fence.written_sequence = from.number();
  return fence;
}

void put(Writer& to, const Standing& standing) {
  to.number(standing.fence ? 1 : 0);
  if (standing.fence) put(to, *standing.fence);
  to.number(standing.content ? 1 : 0);
  if (standing.content) to.raw(*standing.content);
  to.number(standing.version);
}

Standing read_standing(Reader& from) {
  Standing standing;
  if (from.number() == 1) standing.fence = read_fence(from);
  if (from.number() == 1) standing.content = from.digest();
  standing.version = from.number();
  return standing;
}

}  // namespace

Digest digest_of(std::string_view bytes) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::optional<std::string> encode(const Slot& slot) {
  Writer to;
  to.raw(kMagic);
  to.number(slot.generation);
  put(to, slot.record.standing);
  to.number(slot.record.pending ? 1 : 0);
  if (slot.record.pending) {
    put(to, slot.record.pending->after);
    to.number(slot.record.pending->temporary);
  }
  to.raw(digest_of(to.bytes()));
  if (to.bytes().size() > kSlotBytes) return std::nullopt;
  std::string bytes = to.bytes();
  bytes.resize(kSlotBytes, '\0');
  return bytes;
}

std::optional<Slot> decode(std::string_view bytes) {
  Reader from{bytes};
  if (from.raw(kMagic.size()) != kMagic) return std::nullopt;
  Slot slot;
  slot.generation = from.number();
  slot.record.standing = read_standing(from);
  if (from.number() == 1) {
    slot.record.pending.emplace();
    slot.record.pending->after = read_standing(from);
    slot.record.pending->temporary = from.number();
  }
  const Digest sum = digest_of(from.before());
  if (from.digest() != sum || !from.good()) return std::nullopt;
  return slot;
}

}  // namespace holdfast::files
