#include "sextant/base/free_ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sextant/base/error.h"

namespace sextant {

std::vector<int> FreePorts(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets.push_back(fd);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd, generic, size) == 0 && ::getsockname(fd, generic, &size) == 0) {
      ports.push_back(ntohs(address.sin_port));
    }
  }
  for (const int fd : sockets) ::close(fd);
  if (ports.size() < sockets.size()) throw ResourceExhausted("there are not {} free ports", count);
  return ports;
}

}  // namespace sextant
