// Fragments as messages.
#pragma once

#include <grpcpp/support/status.h>

#include <span>

#include "sextant/base/error.h"
#include "sextant/device/remote_task.h"
#include "sextant/proto/cluster.pb.h"

namespace sextant::dist {

// All but the graph, which may be too large for a message.
FragmentDef ToMessage(const Fragment& fragment);
// "task" is the one that has received it.
Fragment FromMessage(const FragmentDef& message, std::string_view task);

// Of a frame. Throws DATA_LOSS when the bytes are no such message.
template <typename Message>
Message ParseHeader(const std::string& bytes) {
  Message message;
  if (!message.ParseFromString(bytes)) throw DataLoss("a frame whose message cannot be read");
  return message;
}

// ABORTED, with the details that Peer::Restarted reads, for a message to an earlier process of the
// task.
grpc::Status CheckReceiver(const Stamp& stamp, std::string_view task, uint64_t incarnation);

// What a call has ended with.
grpc::Status AnswerStatus(const Status& status);

// Names and types.
void ListDevices(std::span<const Device* const> devices,
                 google::protobuf::RepeatedPtrField<DeviceAttributes>* list);

}  // namespace sextant::dist
