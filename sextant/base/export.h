// What libsextant exports: the names of its public headers, and no others.
//
// The library is compiled with -fvisibility=hidden. A public header, one that sextant.h includes,
// directly or through others, holds its declarations between
//   #pragma GCC visibility push(default)
//   #pragma GCC visibility pop
// which exports its functions; these headers are installed. Its classes also say SEXTANT_API: g++
// takes the visibility of a class from its first declaration, which may be a forward declaration
// in a header that is not public. tools/check keeps both so.
#pragma once

#define SEXTANT_API __attribute__((visibility("default")))
