// Which sanitizer the tests run under.
#pragma once

#include <cstddef>  // libstdc++ defines _GLIBCXX_TSAN

namespace sextant {

// Delivers signals late, and lets forked processes start no threads.
#if defined(_GLIBCXX_TSAN) || defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

// Their allocators keep freed memory.
inline constexpr bool kSanitizerKeepsMemory = kThreadSanitizer || kAddressSanitizer;

}  // namespace sextant
