// How a request is read: one pass over the text, whose events go to the builder of the input that
// they are for.
//
// The inputs must be known before the values, but "signature_name" may stand behind them. Values
// that come first are therefore read for the default signature. When a name follows, or when they
// do not fit that signature, the text is read again: once for the name, once for the values.
#include "sextant/formats/json_request.h"

#include "sextant/base/error.h"
#include "sextant/formats/json_request_events.h"

namespace sextant {
namespace {

// Only the name of the signature.
class SignatureNameEvents : public JsonEvents {
 public:
  const std::string& name() const { return name_; }

  void Null() override { Scalar(); }
  void Bool(bool) override { Scalar(); }
  void Integer(int64_t) override { Scalar(); }
  void Unsigned(uint64_t) override { Scalar(); }
  void Real(double) override { Scalar(); }
  void String(std::string_view text) override {
    if (depth_ == 1 && named_) name_ = text;
    Scalar();
  }
  void StartList() override { ++depth_; }
  void EndList() override { --depth_; }
  void StartObject() override { ++depth_; }
  void Key(std::string_view text) override { named_ = depth_ == 1 && text == "signature_name"; }
  void EndObject() override { --depth_; }

 private:
  void Scalar() {}

  int depth_ = 0;
  bool named_ = false;
  std::string name_;
};

JsonRequest ReadFor(const std::string& body, const FindJsonInputs& find, const std::string& name) {
  RequestEvents events(find, name);
  ReadJsonEvents(body, events);
  return events.Take();
}

}  // namespace

JsonRequest ReadJsonRequest(const std::string& body, const FindJsonInputs& find) {
  RequestEvents events(find, std::nullopt);
  try {
    ReadJsonEvents(body, events);
    if (!events.named_late()) return events.Take();
  } catch (const Error&) {
    if (!events.guessed()) throw;
    SignatureNameEvents late;
    try {
      ReadJsonEvents(body, late);
    } catch (const Error&) {  // no JSON: the first error stands
    }
    if (late.name().empty()) throw;
    return ReadFor(body, find, late.name());
  }
  SignatureNameEvents late;
  ReadJsonEvents(body, late);
  return ReadFor(body, find, late.name());
}

JsonInstances::JsonInstances(std::span<const JsonInput> inputs, FillMissing fill)
    : events_(std::make_unique<RequestEvents>(inputs, std::move(fill))) {}
JsonInstances::~JsonInstances() = default;

void JsonInstances::Add(const std::string& text) { ReadJsonEvents(text, *events_); }
int64_t JsonInstances::num_instances() const { return events_->num_rows(); }
std::vector<Tensor> JsonInstances::Take() { return events_->Take().inputs; }

}  // namespace sextant
