#include "server/web/api/stored_bytes.h"

#include "absl/strings/numbers.h"
#include "proto/record/ids.h"
#include "proto/record/utf8.h"

namespace telemetry::web::api {
namespace {

constexpr size_t kLongestCodePoint = 4;  // bytes

}  // namespace

void WriteBytes(json::JsonWriter& out, std::string_view key, std::string_view shown, int64_t size) {
  const bool is_cut = static_cast<int64_t>(shown.size()) < size;
  const size_t invalid = record::FindInvalidUtf8(shown);
  // The last code point of a text may be cut.
  const bool is_text = invalid == std::string_view::npos || (is_cut && invalid + kLongestCodePoint > shown.size());
  out.BeginObject(key);
  if (is_text && shown.find('\0') == std::string_view::npos) {
    out.Field("text", json::Whole{shown.substr(0, invalid)});
    out.Field("hex", nullptr);
  } else {
    out.Field("text", nullptr);
    out.Field("hex", json::Whole{record::HexEncode(shown)});
  }
  out.Field("bytes", size);
  out.Field("truncated", is_cut);
  out.EndObject();
}

absl::StatusOr<int64_t> KeyInPath(const Call& call) {
  int64_t key = 0;
  if (!absl::SimpleAtoi(call.path.front(), &key)) return absl::NotFoundError("there is no such object");
  return key;
}

}  // namespace telemetry::web::api
