// The clients of `sextant load`: each asks the same again and again, by REST or by gRPC.
#pragma once

#include <functional>
#include <string>

namespace sextant::cli {

struct LoadTarget {
  // "http://HOST:PORT/v1/models/NAME:predict", or with https; "grpc://HOST:PORT/NAME", or grpcs.
  std::string url;
  std::string body;  // JSON as for REST; by gRPC its values are sent as tensors
  std::string token = {};
  std::string ca = {};  // PEM
};

// Makes a client with a connection of its own, which throws what the server says. By gRPC the
// signature is asked for here. Throws INVALID_ARGUMENT for what cannot be asked.
std::function<std::function<void()>()> LoadClients(const LoadTarget& target);

}  // namespace sextant::cli
