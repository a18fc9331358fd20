#include "server/web/summary/named_text.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "proto/record/utf8.h"

namespace telemetry::web::summary {
namespace {

constexpr std::string_view kHashed = "sha256:";
constexpr size_t kDigestBytes = 16;
constexpr size_t kMostFilterBytes = 200;

bool IsPlain(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !text.empty() && text.size() <= kMostFilterBytes && text != kNullFilter && !text.starts_with(kHashed) &&
         std::none_of(text.begin(), text.end(), is_control) && record::FindInvalidUtf8(text) == std::string_view::npos;
}

}  // namespace

std::string TextDigest(std::string_view text) { return record::Sha256(text).substr(0, kDigestBytes); }

std::string FilterOf(std::string_view text) {
  return IsPlain(text) ? std::string(text) : record::Cat(kHashed, record::HexEncode(TextDigest(text)));
}

std::optional<std::string> DigestOfFilter(std::string_view filter) {
  if (filter == kNullFilter) return "";
  if (!record::TakePrefix(kHashed, &filter)) return TextDigest(filter);
  const absl::StatusOr<std::string> digest = record::HexDecode(filter);
  if (!digest.ok() || digest->size() != kDigestBytes) return std::nullopt;
  return *digest;
}

}  // namespace telemetry::web::summary
