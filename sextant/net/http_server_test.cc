#include "sextant/net/http_server.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/net/gzip.h"
#include "sextant/testing/http_client.h"
#include "sextant/testing/status_of.h"

namespace sextant::net {
namespace {

// Answers with what it was asked.
void AnswerByRequest(HttpRequest& request, const HttpResponder& responder) {
  responder.Send(
      {.body = fmt::format("{} {} {}", request.method(), request.target(), request.body())});
}

HttpServerOptions QuickOptions() {
  HttpServerOptions options;
  options.threads = 2;
  options.limits.header_timeout = options.limits.body_grace = std::chrono::milliseconds(300);
  options.limits.body_bytes = 1 << 20;
  return options;
}

TEST(HttpServer, AnswersRequestsOfOneConnectionInTurn) {
  HttpServer server(QuickOptions(), AnswerByRequest);
  TestHttpClient client(server.port());
  EXPECT_EQ(client.Get("/a?b=1").body, "GET /a?b=1 ");
  EXPECT_EQ(client.Post("/c", "text").body, "POST /c text");
  // Two at once.
  client.Send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Receive().body, "GET /1 ");
  EXPECT_EQ(client.Receive().body, "GET /2 ");
  const std::string large(900000, 'x');
  EXPECT_EQ(client.Post("/l", large).body, "POST /l " + large);
  EXPECT_EQ(server.counts().requests, 5);
}

TEST(HttpServer, TakesBodiesInChunksAndAfterContinue) {
  HttpServer server(QuickOptions(), AnswerByRequest);
  TestHttpClient client(server.port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.Send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.Receive().body, "POST / abcde");
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 100);
  client.Send("hi");
  EXPECT_EQ(client.Receive().body, "POST / hi");
}

TEST(HttpServer, AnswersFromOtherThreads) {
  std::vector<std::thread> threads;
  {
    HttpServer server(QuickOptions(), [&](HttpRequest&, const HttpResponder& responder) {
      threads.emplace_back(
          [responder] { responder.Send([] { return HttpReply{.body = "late"}; }); });
    });
    TestHttpClient client(server.port());
    EXPECT_EQ(client.Get("/").body, "late");
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(HttpServer, PacksAndUnpacksBodies) {
  HttpServerOptions options = QuickOptions();
  options.gzip_from = 100;
  HttpServer server(options, AnswerByRequest);
  TestHttpClient client(server.port());
  EXPECT_EQ(client.Post("/", Gzip("packed"), "Content-Encoding: gzip\r\n").body, "POST / packed");
  const HttpAnswer answer =
      client.Post("/", std::string(1000, 'a'), "Accept-Encoding: deflate, gzip\r\n");
  EXPECT_NE(answer.head.find("Content-Encoding: gzip"), std::string::npos);
  EXPECT_EQ(Gunzip(answer.body, 1 << 20), "POST / " + std::string(1000, 'a'));
  const std::string bomb = Gzip(std::string(64 << 20, '\0'));
  EXPECT_EQ(client.Post("/", bomb, "Content-Encoding: gzip\r\n").status, 413);
  EXPECT_EQ(TestHttpClient(server.port()).Post("/", "x", "Content-Encoding: gzip\r\n").status, 400);
  EXPECT_EQ(TestHttpClient(server.port()).Post("/", "x", "Content-Encoding: br\r\n").status, 415);
}

TEST(HttpServer, RefusesHostileLengths) {
  HttpServer server(QuickOptions(), AnswerByRequest);
  const auto status = [&](const std::string& request) {
    TestHttpClient client(server.port());
    client.Send(request);
    return client.Receive().status;
  };
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(status(post + "Content-Length: 1048577\r\n\r\n"), 413);
  EXPECT_EQ(status(post + "Content-Length: 1000000000000000000\r\n\r\n"), 413);
  EXPECT_EQ(status(post + "Content-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(status(post + "Content-Length: 1e18\r\n\r\n"), 400);
  EXPECT_EQ(status(post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), 400);
  EXPECT_EQ(status(post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(status(post + "X: " + std::string(20000, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status("nonsense\r\n\r\n"), 400);
  std::string chunks = post + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 70000; ++i) chunks += "1\r\na\r\n";
  EXPECT_EQ(status(chunks), 400);
  EXPECT_EQ(
      status(post + "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + std::string(0x200000, 'a')),
      413);
  EXPECT_EQ(TestHttpClient(server.port()).Get("/ok").status, 200);
}

TEST(HttpServer, ClosesWhatIsSlow) {
  HttpServer server(QuickOptions(), AnswerByRequest);
  TestHttpClient header(server.port()), body(server.port()), healthy(server.port());
  header.Send("GET / HTTP/1.1\r\nHo");
  body.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc");
  EXPECT_EQ(header.Receive().status, 408);
  EXPECT_EQ(body.Receive().status, 408);
  EXPECT_EQ(healthy.Get("/").status, 200);
}

TEST(HttpServer, BoundsBytesInFlight) {
  HttpServerOptions options = QuickOptions();
  options.limits.bytes_in_flight = 1000;
  HttpServer server(options, AnswerByRequest);
  TestHttpClient first(server.port()), second(server.port());
  first.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n");
  while (server.counts().bytes_in_flight < 900) std::this_thread::yield();
  const HttpAnswer refused = second.Post("/", std::string(200, 'x'));
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.head.find("Retry-After: 1"), std::string::npos);
  first.Send(std::string(900, 'y'));
  EXPECT_EQ(first.Receive().status, 200);
  while (server.counts().bytes_in_flight > 0) std::this_thread::yield();
  // What a packed body holds counts, too.
  TestHttpClient packed(server.port());
  EXPECT_EQ(packed.Post("/", Gzip(std::string(900, 'x')), "Content-Encoding: gzip\r\n").status,
            200);
  EXPECT_EQ(packed.Post("/", Gzip(std::string(1001, 'x')), "Content-Encoding: gzip\r\n").status,
            503);
}

TEST(HttpServer, MoreConnectionsThanAllowedWait) {
  HttpServerOptions options = QuickOptions();
  options.threads = 1;
  options.limits.connections = 1;
  HttpServer server(options, AnswerByRequest);
  auto first = std::make_unique<TestHttpClient>(server.port());
  EXPECT_EQ(first->Get("/").status, 200);
  TestHttpClient second(server.port());
  second.Send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(server.counts().connections, 1);
  first.reset();
  EXPECT_EQ(second.Receive().body, "GET /second ");
}

TEST(HttpServer, DrainsWhatWasSent) {
  std::mutex mutex;
  std::condition_variable wake;
  bool asked = false;
  std::vector<HttpResponder> waiting;
  HttpServer server(QuickOptions(), [&](HttpRequest&, HttpResponder responder) {
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(responder));
    asked = true;
    wake.notify_all();
  });
  TestHttpClient busy(server.port()), idle(server.port());
  busy.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  {
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return asked; });
  }
  const int port = server.port();
  std::thread drain([&] { server.Drain(std::chrono::seconds(10)); });
  EXPECT_TRUE(idle.Closed());
  waiting[0].Send(HttpReply{.body = "done"});
  const HttpAnswer answer = busy.Receive();
  EXPECT_EQ(answer.body, "done");
  EXPECT_NE(answer.head.find("Connection: close"), std::string::npos);
  drain.join();
  waiting.clear();
  EXPECT_THROW(TestHttpClient{port}, Error);
}

TEST(HttpServer, SeesClientsLeave) {
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<HttpResponder> waiting;
  HttpServer server(QuickOptions(), [&](HttpRequest&, HttpResponder responder) {
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(responder));
    wake.notify_all();
  });
  const auto asked = [&](size_t count) {
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return waiting.size() == count; });
  };
  auto leaving = std::make_unique<TestHttpClient>(server.port());
  TestHttpClient staying(server.port());
  leaving->Send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  asked(1);
  staying.Send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  asked(2);
  leaving.reset();
  while (!waiting[0].ClientLeft()) std::this_thread::yield();
  EXPECT_FALSE(waiting[1].ClientLeft());
  waiting[0].Send(HttpReply{.body = "for nobody"});
  waiting[1].Send(HttpReply{.body = "first"});
  EXPECT_EQ(staying.Receive().body, "first");
  // The connection goes on, also with what was sent before the answer.
  staying.Send("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n");
  asked(3);
  staying.Send("GET /4 HTTP/1.1\r\nHost: a\r\n\r\n");
  waiting[2].Send(HttpReply{.body = "second"});
  EXPECT_EQ(staying.Receive().body, "second");
  asked(4);
  EXPECT_FALSE(waiting[3].ClientLeft());
  waiting[3].Send(HttpReply{.body = "third"});
  EXPECT_EQ(staying.Receive().body, "third");
  waiting.clear();
}

TEST(HttpServer, AUsedPortIsAnError) {
  HttpServer server(QuickOptions(), AnswerByRequest);
  HttpServerOptions same = QuickOptions();
  same.port = server.port();
  EXPECT_EQ(StatusOf([&] { HttpServer second(same, AnswerByRequest); }).code(), Code::kUnavailable);
}

TEST(HttpServer, ServesUnixSockets) {
  const TemporaryDirectory directory;
  HttpServerOptions options = QuickOptions();
  options.unix_path = JoinPath(directory.path(), "socket");
  {
    HttpServer server(options, AnswerByRequest);
    EXPECT_EQ(TestHttpClient(options.unix_path).Get("/u").body, "GET /u ");
    EXPECT_EQ(StatusOf([&] { HttpServer second(options, AnswerByRequest); }).code(),
              Code::kUnavailable);
  }
  EXPECT_FALSE(FileSystem::ForPath(options.unix_path).Exists(options.unix_path));
}

TEST(HttpServer, ExceptionsAreAnswered) {
  HttpServer server(QuickOptions(),
                    [](HttpRequest&, const HttpResponder&) { throw std::runtime_error("oops"); });
  EXPECT_EQ(TestHttpClient(server.port()).Get("/").status, 500);
}

}  // namespace
}  // namespace sextant::net
