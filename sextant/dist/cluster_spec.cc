#include "sextant/dist/cluster_spec.h"

#include <arpa/inet.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"

namespace sextant::dist {
namespace {

using Json = nlohmann::json;

bool IsJobName(std::string_view name) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && lower(name[0]) && std::ranges::all_of(name, [&](char c) {
    return lower(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Error NamedTwice(std::string_view job) {
  return InvalidArgument("a cluster spec names job {} twice", job);
}

void AddJob(ClusterSpec& cluster, std::string_view job, std::vector<std::string> addresses) {
  if (!IsJobName(job)) {
    throw InvalidArgument(
        "\"{}\" in a cluster spec is no name of a job: letters a to z, digits and _, a letter "
        "first",
        job);
  }
  if (addresses.empty()) throw InvalidArgument("job {} of a cluster spec has no tasks", job);
  for (const std::string& address : addresses) {
    try {
      ParseAddress(address);
    } catch (const Error& error) {
      throw error.WithPrefix(fmt::format("job {} of a cluster spec: ", job));
    }
  }
  if (!cluster.emplace(job, std::move(addresses)).second) throw NamedTwice(job);
}

ClusterSpec ParseJson(std::string_view text) {
  std::set<std::string> jobs;
  std::string twice;  // of two members with one name the parser keeps the last
  const auto look = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth != 1 || event != Json::parse_event_t::key) return true;
    const auto& job = parsed.get_ref<const std::string&>();
    if (!jobs.insert(job).second) twice = job;
    return true;
  };
  const Json json = Json::parse(text, look, /*allow_exceptions=*/false);
  if (!json.is_object()) throw InvalidArgument("a cluster spec that begins with {{ is no JSON");
  if (!twice.empty()) throw NamedTwice(twice);
  ClusterSpec cluster;
  for (const auto& [job, tasks] : json.items()) {
    const bool texts = tasks.is_array() && std::ranges::all_of(tasks, [](const Json& task) {
                         return task.is_string();
                       });
    if (!texts) {
      throw InvalidArgument("job \"{}\" of a cluster spec must be a list [\"host:port\", ...]",
                            job);
    }
    AddJob(cluster, job, tasks.get<std::vector<std::string>>());
  }
  return cluster;
}

ClusterSpec ParseGrammar(std::string_view text) {
  ClusterSpec cluster;
  for (const std::string_view job : Split(text, ',')) {
    const size_t bar = job.find('|');
    if (bar == std::string_view::npos) {
      throw InvalidArgument("\"{}\" in a cluster spec has no bar between job and addresses", job);
    }
    std::vector<std::string> addresses;
    for (const std::string_view address : Split(job.substr(bar + 1), ';'))
      addresses.emplace_back(address);
    AddJob(cluster, job.substr(0, bar), std::move(addresses));
  }
  return cluster;
}

// One text for all spellings of a host: "a" for "A", "127.0.0.1" for "127.1".
std::string Canonical(std::string host) {
  in_addr v4 = {};
  in6_addr v6 = {};
  char text[INET6_ADDRSTRLEN] = {};
  if (inet_aton(host.c_str(), &v4) != 0) return inet_ntop(AF_INET, &v4, text, sizeof(text));
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1)
    return inet_ntop(AF_INET6, &v6, text, sizeof(text));
  std::ranges::transform(host, host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return host;
}

// Two tasks cannot listen at one address; port 0 is a new one each time.
void CheckDistinct(const ClusterSpec& cluster) {
  std::set<std::pair<std::string, int>> seen;
  for (const auto& [job, addresses] : cluster) {
    for (const std::string& text : addresses) {
      const Address address = ParseAddress(text);
      if (address.port != 0 && !seen.emplace(Canonical(address.host), address.port).second)
        throw InvalidArgument("two tasks of a cluster spec have the address {}", text);
    }
  }
}

}  // namespace

const char kClusterSpecGrammar[] =
    "<job>|<host:port>;<host:port>,<job>|<host:port>, for example "
    "'worker|a:2500;b:2500,ps|c:2500', or JSON {\"worker\": [\"a:2500\", \"b:2500\"]}";

ClusterSpec ParseClusterSpec(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  if (text.empty()) throw InvalidArgument("the cluster spec is empty");
  ClusterSpec cluster = text.front() == '{' ? ParseJson(text) : ParseGrammar(text);
  if (cluster.empty()) throw InvalidArgument("the cluster spec has no job");
  CheckDistinct(cluster);
  return cluster;
}

Address ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  const auto wrong = [text](std::string_view why) {
    return InvalidArgument("\"{}\" is no address host:port: {}", text, why);
  };
  if (colon == std::string_view::npos) throw wrong("it has no port");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    throw wrong("an IPv6 address is written in brackets, [::1]:2222");
  }
  const bool printable = std::ranges::all_of(host, [](char c) {
    return c > ' ' && c < 0x7F && c != '/' && c != '"' && c != '[' && c != ']';
  });
  if (host.empty() || host.size() > 253 || !printable) throw wrong("the host is missing or odd");
  const std::string_view digits = text.substr(colon + 1);
  int32_t port = -1;
  const bool number = !digits.empty() && digits.size() <= 5 &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }) &&
                      ParseNumber(digits, &port);
  if (!number || port > 65535) throw wrong("the port is no number from 0 to 65535");
  return {std::string(host), port};
}

std::string ToString(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

const std::string& AddressOf(const ClusterSpec& cluster, const std::string& job, int index) {
  const auto found = cluster.find(job);
  if (found == cluster.end()) {
    std::string jobs;
    for (const auto& [name, addresses] : cluster) jobs += (jobs.empty() ? "" : ", ") + name;
    throw InvalidArgument("the cluster spec has no job {}; it has {}", job, jobs);
  }
  if (index < 0 || index >= static_cast<int>(found->second.size())) {
    throw InvalidArgument("job {} has tasks 0 to {}, not {}", job, found->second.size() - 1, index);
  }
  return found->second[static_cast<size_t>(index)];
}

std::string TaskName(std::string_view job, int index) {
  return fmt::format("/job:{}/replica:0/task:{}", job, index);
}

bool IsLoopback(std::string_view host) {
  const std::string text(host);
  if (strcasecmp(text.c_str(), "localhost") == 0) return true;
  in_addr v4 = {};
  if (inet_aton(text.c_str(), &v4) != 0) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr v6 = {};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) ||
         (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == IN_LOOPBACKNET);
}

Address BindAddress(const Address& own) {
  if (const char* bind = std::getenv("SEXTANT_BIND"); bind != nullptr && *bind != '\0')
    return {bind, own.port};
  return {IsLoopback(own.host) ? own.host : "0.0.0.0", own.port};
}

}  // namespace sextant::dist
