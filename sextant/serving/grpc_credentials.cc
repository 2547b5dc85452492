// gRPC's C++ interface takes certificates once, or from files that it watches, but TensorFlow
// Serving's ssl_config_file holds their texts. So this is written on the C interface, which asks
// for them with every handshake.
#include "sextant/serving/grpc_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include "sextant/base/error.h"
#include "sextant/net/http_server.h"

namespace sextant::serving {
namespace {

void CheckFiles(const TlsFiles& files) {
  net::CheckTls({files.certificate, files.private_key, files.client_ca, files.verify_client});
}

}  // namespace

ReloadableCredentials::ReloadableCredentials(const TlsFiles& files) : files_(files) {
  CheckFiles(files);
  credentials_ = grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(
          files.verify_client ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                              : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
          &Fetch, this));
}

ReloadableCredentials::~ReloadableCredentials() { grpc_server_credentials_release(credentials_); }

void ReloadableCredentials::Set(const TlsFiles& files) {
  CheckFiles(files);
  const std::lock_guard lock(mutex_);
  if (files.verify_client != files_.verify_client) {
    throw InvalidArgument("client_verify cannot change while the server runs");
  }
  files_ = files;
  changed_ = true;
}

void ReloadableCredentials::SetAuthMetadataProcessor(
    const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/) {}

int ReloadableCredentials::AddPortToServer(const std::string& address, grpc_server* server) {
  return grpc_server_add_http2_port(server, address.c_str(), credentials_);
}

grpc_ssl_certificate_config_reload_status ReloadableCredentials::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  auto& own = *static_cast<ReloadableCredentials*>(self);
  const std::lock_guard lock(own.mutex_);
  if (!own.changed_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{own.files_.private_key.c_str(),
                                        own.files_.certificate.c_str()};
  // gRPC wants to know who signs certificates of clients also where it asks for none.
  const std::string& ca =
      own.files_.client_ca.empty() ? own.files_.certificate : own.files_.client_ca;
  *config = grpc_ssl_server_certificate_config_create(ca.c_str(), &pair, 1);
  own.changed_ = false;
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace sextant::serving
