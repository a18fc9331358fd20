#pragma once

#include <string_view>

namespace telemetry::web::rows {

// The stage of the search that measured a row. kNone: the row has no details.
enum class Stage { kNone, kUnspecified, kScreening, kSearch, kFinal, kRebenchmark };

Stage ParseStage(std::string_view name);
// Returns the name of measurement_details.stage; empty for kNone.
std::string_view StageName(Stage stage);

}  // namespace telemetry::web::rows
