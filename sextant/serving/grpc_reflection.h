// What grpc.reflection.v1.ServerReflection, and v1alpha, say of the services: tools such as grpcurl
// learn from it what there is to call.
#pragma once

#include <string>
#include <string_view>

namespace sextant::serving {

// Whether the method is the one of the reflection services, a stream of requests and answers.
bool IsReflectionMethod(std::string_view method);

// The bytes of the answer to a ServerReflectionRequest. What is not known is an answer too. The
// services have TensorFlow Serving's names, their messages those of our package
// (sextant/proto/README.md), which are the same on the wire.
std::string ReflectionAnswer(std::string_view request);

}  // namespace sextant::serving
