#include "server/storage/nul_check.h"

#include <google/protobuf/descriptor.h>

#include <vector>

namespace telemetry::storage {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

// Checks each text, or each message, of a field that is set.
std::optional<std::string> FieldWithNulIn(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const int count = field.is_repeated() ? reflection.FieldSize(message, &field) : 1;
  std::string scratch;
  for (int i = 0; i < count; ++i) {
    if (field.type() == FieldDescriptor::TYPE_STRING) {
      const std::string& text = field.is_repeated()
                                    ? reflection.GetRepeatedStringReference(message, &field, i, &scratch)
                                    : reflection.GetStringReference(message, &field, &scratch);
      if (HasNul(text)) return field.name();
    } else if (field.type() == FieldDescriptor::TYPE_MESSAGE) {
      std::optional<std::string> inner =
          FieldWithNul(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, i)
                                           : reflection.GetMessage(message, &field));
      if (inner) return inner;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FieldWithNul(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (std::optional<std::string> name = FieldWithNulIn(message, *field)) return name;
  }
  return std::nullopt;
}

}  // namespace telemetry::storage
