#include "sextant/runtime/session_target.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "sextant/base/error.h"

namespace sextant {
namespace {

// Schemes of libraries that are loaded when a target needs them.
struct SchemeLibrary {
  const char* scheme;
  const char* name;
};
constexpr SchemeLibrary kLibraries[] = {{"grpc", "libsextant_dist.so"}};

struct Openers {
  std::mutex mutex;
  std::map<std::string, TargetOpener, std::less<>> by_scheme;

  TargetOpener Find(std::string_view scheme) {
    const std::lock_guard lock(mutex);
    const auto found = by_scheme.find(scheme);
    return found == by_scheme.end() ? nullptr : found->second;
  }
};

Openers& AllOpeners() {
  static auto* openers = new Openers();
  return *openers;
}

// Beside libsextant, with the same version.
std::string PathOf(const SchemeLibrary& library) {
  constexpr std::string_view kOwnName = "libsextant.so";
  Dl_info own = {};
  if (dladdr(reinterpret_cast<const void*>(&PathOf), &own) == 0) return library.name;
  std::string path = own.dli_fname;
  const size_t at = path.rfind(kOwnName);
  return at == std::string::npos ? library.name : path.replace(at, kOwnName.size(), library.name);
}

void LoadLibrary(const SchemeLibrary& library) {
  const std::string path = PathOf(library);
  void* loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    throw FailedPrecondition("targets {}:// need the library {}: {}", library.scheme, path,
                             dlerror());
  }
  void* symbol = dlsym(loaded, "SextantRegisterTargets");
  if (symbol == nullptr)
    throw FailedPrecondition("{} does not fit this program: {}", path, dlerror());
  reinterpret_cast<RegisterTargetsFunction*>(symbol)();
}

}  // namespace

SEXTANT_API void RegisterTargetScheme(const std::string& scheme, TargetOpener open) {
  Openers& openers = AllOpeners();
  const std::lock_guard lock(openers.mutex);
  openers.by_scheme[scheme] = std::move(open);
}

void LoadTargetLibrary(const std::string& scheme) {
  if (AllOpeners().Find(scheme)) return;
  for (const SchemeLibrary& library : kLibraries) {
    if (scheme == library.scheme) LoadLibrary(library);
  }
}

SessionTarget OpenSessionTarget(const Graph& graph, const SessionOptions& options) {
  const std::string& target = options.target;
  const size_t end = target.find("://");
  const std::string scheme = target.substr(0, end == std::string::npos ? 0 : end);
  LoadTargetLibrary(scheme);
  const TargetOpener open = AllOpeners().Find(scheme);
  if (!open) {
    throw InvalidArgument(
        "the target '{}' is of no known kind: give grpc://host:port, or nothing "
        "to run in this process",
        target);
  }
  return open(graph, options);
}

}  // namespace sextant
