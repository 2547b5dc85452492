// ClusterSpec: the tasks of a cluster, by job, and where each listens.
//
//   ClusterSpec cluster = ParseClusterSpec("worker|a:2500;b:2500,ps|c:2500");
//   ClusterSpec same = ParseClusterSpec(R"({"worker": ["a:2500", "b:2500"], "ps": ["c:2500"]})");
//   AddressOf(cluster, "worker", 1) == "b:2500"
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::dist {

// Job → addresses "host:port", by index.
using ClusterSpec = std::map<std::string, std::vector<std::string>>;

// The grammar of ParseClusterSpec, for messages of programs.
extern const char kClusterSpecGrammar[];

// Jobs separated by commas, each a name, a bar and addresses separated by semicolons; or a JSON
// object of lists. Throws INVALID_ARGUMENT, saying what is wrong and where: an empty spec, a job
// named twice or not [a-z][a-z0-9_]*, a job without tasks, an address that is none, an address
// that two tasks have.
ClusterSpec ParseClusterSpec(std::string_view text);

struct SEXTANT_API Address {
  std::string host;  // a name, an IPv4 or an IPv6 address, this without brackets
  int port = 0;      // 0: one that the system chooses
};

// Of "host:port" or "[::1]:port". Throws INVALID_ARGUMENT.
Address ParseAddress(std::string_view text);
std::string ToString(const Address& address);

// Throws INVALID_ARGUMENT, naming the jobs there are, when the cluster has no such task.
const std::string& AddressOf(const ClusterSpec& cluster, const std::string& job, int index);

// "/job:worker/replica:0/task:1"
std::string TaskName(std::string_view job, int index);

// Whether other machines cannot reach it.
bool IsLoopback(std::string_view host);

// Where a task with this address of its own listens: the loopback interface when its host is one
// of it, else all interfaces, for the name in a cluster spec may be that of a service in front; or
// the host that the environment variable SEXTANT_BIND names.
Address BindAddress(const Address& own);

}  // namespace sextant::dist

#pragma GCC visibility pop
