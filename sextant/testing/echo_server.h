// EchoServer: a gRPC server by our rules that answers every call of any method with what it got.
#pragma once

#include <memory>
#include <string>

#include "sextant/net/credentials.h"

namespace sextant {

class EchoServer {
 public:
  // Listens on the loopback interface, at a port that the system chooses unless one is given.
  explicit EchoServer(const net::CredentialOptions& credentials = {}, int port = 0);
  ~EchoServer();

  int port() const;
  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Sends a message and waits for its echo. The status of the call, as the caller sees it.
grpc::Status Echo(const std::string& address, const net::CredentialOptions& credentials,
                  const std::string& message, std::string* answer);

}  // namespace sextant
