#include "sextant/serving/rest_text.h"

#include <google/protobuf/util/json_util.h>

#include "sextant/base/error.h"
#include "sextant/formats/json_tensor.h"
#include "sextant/proto/serving.pb.h"

namespace sextant::serving {
namespace {

JsonStyle StyleOf(const std::string& output) { return {.base64 = output.ends_with("_bytes")}; }

void AppendNamed(const std::string& name, std::string* text) {
  AppendJsonString(name, text);
  text->append(": ");
}

// The number of rows that all outputs have.
int64_t CommonRows(const ServableSignature& signature, const std::vector<Tensor>& outputs) {
  int64_t rows = -1;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = signature.outputs()[i];
    if (outputs[i].rank() == 0) {
      throw InvalidArgument(
          "output '{}' is a single value, which has no rows; ask with \"inputs\" "
          "instead of \"instances\"",
          name);
    }
    if (rows >= 0 && outputs[i].dim(0) != rows) {
      throw InvalidArgument(
          "output '{}' has {} rows, others have {}; ask with \"inputs\" instead "
          "of \"instances\"",
          name, outputs[i].dim(0), rows);
    }
    rows = outputs[i].dim(0);
  }
  return rows;
}

}  // namespace

std::string ErrorText(const Status& status) {
  std::string text = "{\"error\": ";
  AppendJsonString(status.message(), &text);
  return text + "}";
}

std::string StatusText(const std::vector<VersionStatus>& statuses) {
  std::string text = "{\"model_version_status\": [";
  for (const VersionStatus& status : statuses) {
    if (text.back() != '[') text += ", ";
    text += fmt::format(
        "{{\"version\": \"{}\", \"state\": \"{}\", \"status\": {{\"error_code\": \"{}\", "
        "\"error_message\": ",
        status.version, VersionStateName(status.state), CodeName(status.status.code()));
    AppendJsonString(status.status.message(), &text);
    text += "}";
    if (!status.warm_up.empty()) {
      text += ", \"warm_up\": ";
      AppendJsonString(status.warm_up, &text);
    }
    text += "}";
  }
  return text + "]}";
}

std::string MetadataText(const Servable& servable) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string signatures;
  const auto status =
      google::protobuf::util::MessageToJsonString(SignatureDefs(servable), &signatures, options);
  if (!status.ok()) throw Internal("signatures as JSON: {}", status.ToString());
  std::string text = "{\"model_spec\": {\"name\": ";
  AppendJsonString(servable.model(), &text);
  return text + fmt::format(
                    ", \"signature_name\": \"\", \"version\": \"{}\"}}, \"metadata\": "
                    "{{\"signature_def\": {}}}}}",
                    servable.version(), signatures);
}

std::string PredictionsText(const ServableSignature& signature, JsonRequest::Form form,
                            const std::vector<Tensor>& outputs) {
  const bool rows = form == JsonRequest::Form::kRows;
  const int64_t count = rows ? CommonRows(signature, outputs) : 0;
  std::string text;
  text.reserve(256);
  text += rows ? "{\"predictions\": " : "{\"outputs\": ";
  const std::vector<std::string>& names = signature.outputs();
  if (outputs.size() == 1) {
    AppendJson(outputs[0], StyleOf(names[0]), &text);
  } else if (rows) {
    text += '[';
    for (int64_t row = 0; row < count; ++row) {
      text += row == 0 ? "{" : ", {";
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (i > 0) text += ", ";
        AppendNamed(names[i], &text);
        AppendJsonRow(outputs[i], row, StyleOf(names[i]), &text);
      }
      text += '}';
    }
    text += ']';
  } else {
    text += '{';
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i > 0) text += ", ";
      AppendNamed(names[i], &text);
      AppendJson(outputs[i], StyleOf(names[i]), &text);
    }
    text += '}';
  }
  text += '}';
  return text;
}

std::string ClassesText(const std::vector<Classes>& rows) {
  std::string text = "{\"results\": [";
  for (const Classes& classes : rows) {
    if (text.back() != '[') text += ", ";
    text += '[';
    for (const auto& [label, score] : classes) {
      if (text.back() != '[') text += ", ";
      text += '[';
      AppendJsonString(label, &text);
      text += ", ";
      AppendJsonNumber(score, &text);
      text += ']';
    }
    text += ']';
  }
  return text + "]}";
}

std::string RegressionsText(const std::vector<float>& values) {
  std::string text = "{\"results\": [";
  for (const float value : values) {
    if (text.back() != '[') text += ", ";
    AppendJsonNumber(value, &text);
  }
  return text + "]}";
}

}  // namespace sextant::serving
