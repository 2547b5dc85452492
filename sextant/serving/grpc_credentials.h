// ReloadableCredentials: TLS of a gRPC server whose certificates can be replaced while it runs.
#pragma once

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <mutex>
#include <string>

#include "sextant/serving/model_config.h"

namespace sextant::serving {

// For one listening address. Thread-safe.
class ReloadableCredentials final : public grpc::ServerCredentials {
 public:
  // Throws INVALID_ARGUMENT for texts that do not fit.
  explicit ReloadableCredentials(const TlsFiles& files);
  ~ReloadableCredentials() override;

  // For connections made from now on. Throws INVALID_ARGUMENT and keeps what it had, also when
  // clients would newly have to show certificates, or no longer.
  void Set(const TlsFiles& files);

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) override;

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override;
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);

  std::mutex mutex_;
  TlsFiles files_;
  bool changed_ = true;  // since gRPC fetched them
  grpc_server_credentials* credentials_;
};

}  // namespace sextant::serving
