#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/runtime/argument.h"
#include "worker/runtime/signature.h"

namespace telemetry::worker::runtime {

// The inputs of a kernel's trace as text. Two calls with equal keys may share their code, unless the traced function
// requested more values (extra_keys.h). The text is readable and canonical: strings are preceded by their length, so
// that different arguments never give the same text.
//
//   tensor                with static_shapes: tensor(f16,cuda,[4096,5120],[5120,1])
//                         without:            tensor(f16,cuda,[2+,1])    each size as 0, 1 or 2+
//   number                its type: int, int64 (if an int32 cannot hold the value), float, bool
//   string, dtype, device by value: str(4:gelu), dtype(f16), device(cuda:0)
//   constexpr             type and value: int=3, float=0.5, bool=true
//   ConstExpr             of another parameter: constexpr(int=3)
//   None                  None
//   list, tuple, map, struct   recursively with their type: list[..], tuple[..], map{..}, struct(4:Opts){..}
//   key of a map          a string, or type and value: 1:a, int=3, float=0.5, bool=true, tuple[int=3,1:a,]
//   function              identity and captures: function(94532,[..])
//
// Parameters are separated by semicolons. INVALID_ARGUMENT: an argument contains a value of an unknown kind; the
// message names its type and the parameter.

// `arguments` are complete (Signature::Normalize).
absl::StatusOr<std::string> SpecializationKey(const Signature& signature, absl::Span<const Argument> arguments,
                                              bool static_shapes);

// Writes the key to a string that the caller owns, for calls that must not allocate. Replaces its contents.
absl::Status WriteSpecializationKey(const Signature& signature, absl::Span<const Argument> arguments,
                                    bool static_shapes, std::string* key);

}  // namespace telemetry::worker::runtime
