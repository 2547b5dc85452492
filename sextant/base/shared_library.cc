#include "sextant/base/shared_library.h"

#include <dlfcn.h>

#include "sextant/base/error.h"

namespace sextant {

SharedLibrary::SharedLibrary(const std::string& name, const std::string& package)
    : name_(name), handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* const reason = dlerror();
  throw MakeError<Code::kUnavailable>("{} cannot be loaded ({}); install the package {}", name,
                                      reason == nullptr ? "unknown error" : reason, package);
}

void* SharedLibrary::Address(const char* function) const {
  void* const address = dlsym(handle_, function);
  if (address == nullptr) {
    throw MakeError<Code::kUnavailable>("{} has no function {}; install its newest version", name_,
                                        function);
  }
  return address;
}

}  // namespace sextant
