// make-certificates DIR: keys and certificates for scenarios, as PEM files NAME.pem and NAME.key:
// "ca" and "other_ca", both without keys; "task", signed by ca; "expired", too; "stranger", signed
// by other_ca.
#include <fmt/format.h>

#include <fstream>
#include <string>

#include "sextant/testing/certificates.h"

int main(int argc, char** argv) {
  using sextant::CertificateAuthority;
  if (argc != 2) {
    fmt::print(stderr, "usage: make-certificates DIR\n");
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  const auto write = [&](const std::string& name, const CertificateAuthority::Pair& pair) {
    std::ofstream(folder + name + ".pem") << pair.certificate;
    std::ofstream(folder + name + ".key") << pair.key;
  };
  const CertificateAuthority ca("cluster"), other("elsewhere");
  std::ofstream(folder + "ca.pem") << ca.certificate();
  std::ofstream(folder + "other_ca.pem") << other.certificate();
  write("task", ca.Issue("task"));
  write("expired", ca.Issue("task", CertificateAuthority::Validity::kExpired));
  write("stranger", other.Issue("task"));
  return 0;
}
