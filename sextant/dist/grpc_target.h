// Sessions whose target is "grpc://host:port".
#pragma once

namespace sextant::dist {

// Makes such targets known to Session. A program that links this library calls it; one that uses
// libsextant need not: libsextant finds the library when it meets the first such target.
void RegisterGrpcTargets();

}  // namespace sextant::dist
