#include "sextant/dist/fragment_messages.h"

#include "sextant/device/device.h"
#include "sextant/dist/wire.h"
#include "sextant/net/channel.h"

namespace sextant::dist {
namespace {

void Set(google::protobuf::RepeatedPtrField<std::string>* field,
         const std::vector<std::string>& values) {
  field->Assign(values.begin(), values.end());
}

std::vector<std::string> Get(const google::protobuf::RepeatedPtrField<std::string>& field) {
  return {field.begin(), field.end()};
}

}  // namespace

FragmentDef ToMessage(const Fragment& fragment) {
  FragmentDef message;
  message.set_fingerprint(fragment.fingerprint);
  Set(message.mutable_feeds(), fragment.feeds);
  for (const Fragment::KeptInput& input : fragment.kept_inputs) {
    KeptInput* out = message.add_kept_inputs();
    out->set_tensor(input.tensor);
    out->set_task(input.task);
    out->set_maker(input.maker);
    out->set_position(input.position);
  }
  Set(message.mutable_fetches(), fragment.fetches);
  Set(message.mutable_kept(), fragment.kept);
  Set(message.mutable_targets(), fragment.targets);
  Set(message.mutable_variables(), fragment.variables);
  if (fragment.sum) {
    SumDef* sum = message.mutable_sum();
    sum->set_replicas(fragment.sum->replicas);
    sum->set_part(fragment.sum->part);
    sum->set_num_parts(fragment.sum->num_parts);
    sum->set_stage(fragment.sum->stage);
    for (const bool gradient : fragment.sum->gradient) sum->add_gradient(gradient);
    sum->set_key(fragment.sum->key);
  }
  return message;
}

Fragment FromMessage(const FragmentDef& message, std::string_view task) {
  Fragment fragment;
  fragment.task = std::string(task);
  fragment.fingerprint = message.fingerprint();
  fragment.graph_def = message.graph_def();
  fragment.feeds = Get(message.feeds());
  for (const KeptInput& input : message.kept_inputs()) {
    fragment.kept_inputs.push_back({.tensor = input.tensor(),
                                    .task = input.task(),
                                    .maker = input.maker(),
                                    .position = input.position()});
  }
  fragment.fetches = Get(message.fetches());
  fragment.kept = Get(message.kept());
  fragment.targets = Get(message.targets());
  fragment.variables = Get(message.variables());
  if (message.has_sum()) {
    const SumDef& sum = message.sum();
    fragment.sum = Fragment::Sum{.replicas = sum.replicas(),
                                 .part = sum.part(),
                                 .num_parts = sum.num_parts(),
                                 .stage = sum.stage(),
                                 .gradient = {sum.gradient().begin(), sum.gradient().end()},
                                 .key = sum.key()};
  }
  return fragment;
}

grpc::Status CheckReceiver(const Stamp& stamp, std::string_view task, uint64_t incarnation) {
  if (stamp.receiver() == 0 || stamp.receiver() == incarnation) return grpc::Status::OK;
  return {grpc::StatusCode::ABORTED, ShortTaskName(task) + " was restarted",
          std::string(kRestarted) + std::to_string(incarnation)};
}

grpc::Status AnswerStatus(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const grpc::Status answer = net::ToGrpcStatus(status);
  return {answer.error_code(), answer.error_message(), std::string(kAnswered)};
}

void ListDevices(std::span<const Device* const> devices,
                 google::protobuf::RepeatedPtrField<DeviceAttributes>* list) {
  for (const Device* device : devices) {
    DeviceAttributes* attributes = list->Add();
    attributes->set_name(device->name());
    attributes->set_type(device->type());
  }
}

}  // namespace sextant::dist
