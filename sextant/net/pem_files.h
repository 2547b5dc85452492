// The files of TLS, read and looked at before they are used: gRPC does not say what is wrong with
// them, a server only cannot listen and a client waits.
#pragma once

#include <string>

namespace sextant::net {

// All throw what reading a file throws, and INVALID_ARGUMENT, naming the files, for what follows.
// Nobody is asked for a password.

// The PEM text of a file with certificates. Throws when it has none, or one that is damaged.
std::string ReadCertificates(const std::string& path);

struct KeyPair {
  std::string certificate, key;  // PEM
};

// A certificate, followed by those that lead to its CA, and its key. Throws as above, also for a
// key that is damaged, encrypted or of another certificate, for the two files swapped, and for what
// OpenSSL takes for too weak.
KeyPair ReadKeyPair(const std::string& cert_file, const std::string& key_file);

}  // namespace sextant::net
