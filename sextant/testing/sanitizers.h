// Whether the tests run under a sanitizer, whose allocator keeps freed memory.
#pragma once

namespace sextant {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitizerKeepsMemory = true;
#else
inline constexpr bool kSanitizerKeepsMemory = false;
#endif

}  // namespace sextant
