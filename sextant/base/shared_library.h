// SharedLibrary: a library that is loaded when it is first needed. Linking libcurl or libarchive
// would make every program start milliseconds later, also those that never download.
//
//   static const SharedLibrary curl("libcurl.so.4", "libcurl4");
//   const auto init = curl.Find<decltype(curl_easy_init)>("curl_easy_init");
#pragma once

#include <string>

namespace sextant {

class SharedLibrary {
 public:
  // Throws UNAVAILABLE, naming the package to install, when it cannot be loaded. It stays loaded.
  SharedLibrary(const std::string& name, const std::string& package);

  // Throws UNAVAILABLE when the library has no such function.
  template <typename Function>
  Function* Find(const char* function) const {
    return reinterpret_cast<Function*>(Address(function));
  }

 private:
  void* Address(const char* function) const;

  const std::string name_;
  void* handle_ = nullptr;
};

}  // namespace sextant
