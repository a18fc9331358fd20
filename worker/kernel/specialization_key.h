#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/kernel/argument.h"
#include "worker/kernel/signature.h"

namespace telemetry::worker {

// What a trace of a kernel depends on, as text: two calls whose keys are the same bytes may share their code, unless
// the traced function asked for more (extra_keys.h). Readable, and canonical: strings stand with their length before
// them, so that different arguments never print alike.
//
//   tensor                with static_shapes: tensor(f16,cuda,[4096,5120],[5120,1])
//                         without:            tensor(f16,cuda,[2+,1])    each size as 0, 1 or 2+
//   number                its type: int, float, bool
//   string, dtype, device by value: str(4:gelu), dtype(f16), device(cuda:0)
//   constexpr             type and value: int=3, float=0.5, bool=true
//   None                  None
//   list, tuple, map, struct   recursively with their type: list[..], tuple[..], map{..}, struct(4:Opts){..}
//   function              identity and captures: function(94532,[..])
//
// Parameters are separated by semicolons. INVALID_ARGUMENT: a value of another kind; names its type and the parameter.

// `arguments` are complete (Signature::Normalize).
absl::StatusOr<std::string> SpecializationKey(const Signature& signature, absl::Span<const Argument> arguments,
                                              bool static_shapes);

// The same into a string that the caller keeps, for a call that must not allocate. Replaces what it held.
absl::Status WriteSpecializationKey(const Signature& signature, absl::Span<const Argument> arguments,
                                    bool static_shapes, std::string* key);

}  // namespace telemetry::worker
