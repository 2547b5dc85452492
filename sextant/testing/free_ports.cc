#include "sextant/testing/free_ports.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sextant {

std::vector<int> FreePorts(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0)
      ports.push_back(ntohs(address.sin_port));
    sockets.push_back(fd);
  }
  for (const int fd : sockets) close(fd);
  return ports;
}

}  // namespace sextant
