#include "server/web/api/endpoints.h"
namespace telemetry::web::api {
absl::Status Compare(const Call&, json::JsonWriter&) { return absl::UnimplementedError("compare"); }
}
