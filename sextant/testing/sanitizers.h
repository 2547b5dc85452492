// Whether the tests run under a sanitizer, whose allocator keeps freed memory.
#pragma once

#include <cstddef>  // libstdc++ says whether threads are watched, where the compiler's word is taken back

namespace sextant {

#if defined(__SANITIZE_ADDRESS__) || defined(_GLIBCXX_TSAN)
inline constexpr bool kSanitizerKeepsMemory = true;
#elif defined(__has_feature)
inline constexpr bool kSanitizerKeepsMemory =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitizerKeepsMemory = false;
#endif

}  // namespace sextant
