// The lock is the kernel's (flock) on a file of the directory that says in JSON who holds it. The
// kernel releases it when its process ends, however it ends, so a kill -9 leaves nothing to clean
// up, and the number of a process that is reused means nothing.
//
// Where a network file system passes locks on to its server, this holds between machines too. Two
// cases are left, for which the holder touches the file every beat:
// - locks are not passed on (NFS mounted with nolock): each machine's kernel grants one. Who gets
//   it then finds the JSON of another host, and refuses while that host's beat is fresh.
// - the machine of the holder died and the server still keeps its lock: who is refused by the
//   kernel finds the JSON of another host without a beat for kDead, and puts a new file in place.
// Neither holds where the JSON names this running kernel and the same mounted file system, as after
// a container that gets another host name: then the kernel's answer is believed at once.
// Ages are differences between times that the file server gave, so clocks need not agree. Where the
// server's clock was set back, a beat may lie in the future: then one is waited for.
//
// A child that a training forks shares its lock, and keeps it when the training is killed.
//
// A process that unlocks deletes the file before; so one that has locked a file looks whether it is
// still the one of that name.
#include "sextant/estimator/model_dir_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_file.h"

namespace sextant {
namespace {

using Json = nlohmann::json;
constexpr std::chrono::seconds kDead(120);

// Model_dirs that this process trains in, also on file systems without locks.
struct LockedHere {
  std::mutex mutex;
  std::set<std::string> model_dirs;
};
LockedHere& TheLockedHere() {
  static LockedHere& locked = *new LockedHere;
  return locked;
}

std::string HostOfThis() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  return name;
}

struct Holder {
  std::string host;
  int64_t process = 0;
  std::string since;
  std::string id;  // of one lock
  std::string training = {};
  std::string kernel = {};  // which kernel keeps the lock, and of which file system
};

// Of the open file: the kernel since it was booted, and the file system as it is mounted. Empty
// where that is not known. Host names say less: containers of one machine have their own.
std::string KernelOf(int descriptor) {
  struct stat file;
  std::string boot(36, '\0');
  const int id = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (id < 0) return "";
  const bool known = read(id, boot.data(), boot.size()) == static_cast<ssize_t>(boot.size()) &&
                     fstat(descriptor, &file) == 0;
  close(id);
  return known ? fmt::format("{} {}", boot, file.st_dev) : "";
}

Holder ThisProcess() {
  Holder holder{.host = HostOfThis(), .process = getpid()};
  holder.since = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  holder.id = std::string(BaseName(TemporaryName("lock")));  // differs between machines too
  return holder;
}

std::optional<Holder> ParseHolder(const std::string& text) try {
  const Json json = Json::parse(text);
  return Holder{json.at("host"), json.at("process"),         json.at("since"),
                json.at("id"),   json.value("training", ""), json.value("kernel", "")};
} catch (const Json::exception&) {
  return std::nullopt;  // empty: nobody has it, or is writing it just now
}

std::string HolderText(const Holder& holder) {
  return Json{{"host", holder.host}, {"process", holder.process},   {"since", holder.since},
              {"id", holder.id},     {"training", holder.training}, {"kernel", holder.kernel}}
             .dump() +
         "\n";
}

[[noreturn]] void Refuse(const std::string& model_dir, const Holder& holder,
                         const std::string& what_to_do) {
  throw FailedPrecondition("{} is being trained by process {} on {} since {}; {}", model_dir,
                           holder.process, holder.host, holder.since, what_to_do);
}

// Touches the file from time to time.
class Beat {
 public:
  explicit Beat(int descriptor)
      : thread_([this, descriptor] {
          std::unique_lock lock(mutex_);
          while (!end_.wait_for(lock, ModelDirLock::beat, [&] { return ended_; }))
            futimens(descriptor, nullptr);
        }) {}
  ~Beat() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    end_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};

std::string LocalPath(const std::string& path) {
  constexpr std::string_view kFileScheme = "file://";
  return path.starts_with(kFileScheme) ? path.substr(kFileScheme.size()) : path;
}

}  // namespace

std::chrono::milliseconds ModelDirLock::beat = std::chrono::seconds(20);

class ModelDirLock::File {
 public:
  // Null where there are no locks.
  static std::unique_ptr<File> Lock(const std::string& model_dir, const std::string& training,
                                    bool take_over) {
    const std::string scheme(PathScheme(model_dir));
    if (!scheme.empty() && scheme != "file") return nullptr;
    auto file = std::unique_ptr<File>(new File(model_dir, training));
    while (!file->TryLock(take_over)) {
    }
    file->Hold();
    return file;
  }
  ~File() {
    if (owner_ != getpid()) {              // a forked child: the lock is its parent's
      static_cast<void>(beat_.release());  // its thread is not here to be joined
      close(descriptor_);
      return;
    }
    beat_.reset();
    if (held_ && IsInPlace()) unlink(path_.c_str());
    if (descriptor_ >= 0) close(descriptor_);
  }

 private:
  File(const std::string& model_dir, const std::string& training)
      : model_dir_(model_dir),
        path_(LocalPath(JoinPath(model_dir, kFilename))),
        training_(training) {}

  [[noreturn]] void Fail(const char* action) const {
    throw FailedPrecondition("{}: cannot {}: {}; is model_dir writable?", path_, action,
                             std::generic_category().message(errno));
  }

  // Whether the lock is ours, and no other machine's either. False: look again.
  bool TryLock(bool take_over) {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) Fail("open");
    const bool granted = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    const bool refused = !granted && errno == EWOULDBLOCK;  // else there are no locks here
    if (!granted && errno == EINTR) return false;
    if (!IsInPlace()) return false;
    const std::optional<Holder> holder = Read();
    const bool same_kernel =
        holder && !holder->kernel.empty() && holder->kernel == KernelOf(descriptor_);
    if (take_over && holder && !training_.empty() && holder->training == training_) {
      if (!refused && holder->host == HostOfThis()) return true;
      LogWarning("{}: process {} on {} was the chief before; its lock is taken over", path_,
                 holder->process, holder->host);
      unlink(path_.c_str());
      return false;
    }
    if (refused) {
      if (!holder || holder->host == HostOfThis() || same_kernel || GivesSigns()) RefuseFor(holder);
      LogWarning("{}: process {} on {} gives no signs any more; its lock is taken over", path_,
                 holder->process, holder->host);
      unlink(path_.c_str());
      return false;
    }
    const bool elsewhere = holder && holder->host != HostOfThis() && !(granted && same_kernel);
    const bool may_live = elsewhere || (holder && !granted && IsAlive(*holder));
    if (may_live && GivesSigns()) {
      Refuse(model_dir_, *holder,
             fmt::format("wait for it, or, if it is no more, {} seconds", kDead.count()));
    }
    return true;
  }

  [[noreturn]] void RefuseFor(const std::optional<Holder>& holder) const {
    if (holder && holder->host == HostOfThis() && !IsAlive(*holder)) {
      throw FailedPrecondition(
          "{} is locked by a child of process {}, which has ended; end the child too (`fuser {}` "
          "names it)",
          model_dir_, holder->process, path_);
    }
    if (!holder) {
      throw FailedPrecondition("{} is being taken by another training; train in another model_dir",
                               model_dir_);
    }
    Refuse(model_dir_, *holder, "wait for it, stop it, or train in another model_dir");
  }

  static bool IsAlive(const Holder& holder) {
    return kill(static_cast<pid_t>(holder.process), 0) == 0 || errno != ESRCH;
  }

  // Whether the open file is the one of the name.
  bool IsInPlace() const {
    struct stat open, named;
    return fstat(descriptor_, &open) == 0 && stat(path_.c_str(), &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
  }

  std::optional<Holder> Read() const {
    std::string text(4096, '\0');
    const ssize_t size = pread(descriptor_, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return ParseHolder(text);
  }

  // Whether the holder has touched the file lately, or does so now: a time in the future, from when
  // the server's clock was wrong, says nothing.
  bool GivesSigns() const {
    const std::chrono::seconds age = Age();
    if (age >= std::chrono::seconds(0)) return age < kDead;
    LogWarning("{} was touched in the future; waiting {} seconds for a sign of its holder", path_,
               std::chrono::ceil<std::chrono::seconds>(beat).count());
    const auto touched = Touched();
    const auto end = std::chrono::steady_clock::now() + beat + beat / 4;
    while (Touched() == touched) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= end) return false;
      SleepUntil(std::min(end, now + std::min(beat / 20, std::chrono::milliseconds(200))),
                 CancellationScope::Current());
    }
    return true;
  }

  std::pair<time_t, long> Touched() const {
    struct stat locked;
    if (fstat(descriptor_, &locked) != 0) Fail("read");
    return {locked.st_mtim.tv_sec, locked.st_mtim.tv_nsec};
  }

  // Since the last beat, by the clock of who keeps the files.
  std::chrono::seconds Age() const {
    struct stat locked, probe;
    const std::string path = TemporaryName(path_);
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) Fail("write beside it");
    const bool known = write(file, "x", 1) == 1 && fsync(file) == 0 && fstat(file, &probe) == 0 &&
                       fstat(descriptor_, &locked) == 0;
    close(file);
    unlink(path.c_str());
    return std::chrono::seconds(known ? probe.st_mtim.tv_sec - locked.st_mtim.tv_sec : 0);
  }

  // Says who holds it, and that it still does from time to time.
  void Hold() {
    Holder holder = ThisProcess();
    holder.training = training_;
    holder.kernel = KernelOf(descriptor_);
    const std::string text = HolderText(holder);
    if (ftruncate(descriptor_, 0) < 0 ||
        pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      Fail("write");
    }
    held_ = true;
    beat_ = std::make_unique<Beat>(descriptor_);
  }

  const std::string model_dir_, path_, training_;
  const pid_t owner_ = getpid();
  int descriptor_ = -1;
  bool held_ = false;
  std::unique_ptr<Beat> beat_;
};

ModelDirLock::ModelDirLock(const std::string& model_dir, const std::string& training,
                           bool take_over, CancellationToken* cancellation)
    : model_dir_(model_dir) {
  FileSystem::ForPath(model_dir_).CreateDirectories(model_dir_);
  LockedHere& here = TheLockedHere();
  {
    const std::lock_guard lock(here.mutex);
    if (!here.model_dirs.insert(model_dir_).second) {
      throw FailedPrecondition(
          "{} is being trained by this process already; wait for that training, or train in "
          "another model_dir",
          model_dir_);
    }
  }
  const CancellationScope waits(cancellation ? cancellation : CancellationScope::Current());
  try {
    file_ = File::Lock(model_dir_, training, take_over);
  } catch (...) {
    const std::lock_guard lock(here.mutex);
    here.model_dirs.erase(model_dir_);
    throw;
  }
}

TrainingWatch::TrainingWatch(std::string model_dir) : model_dir_(std::move(model_dir)) {}

bool TrainingWatch::InTraining() try {
  const std::string path = JoinPath(model_dir_, ModelDirLock::kFilename);
  const int64_t touched = FileSystem::ForPath(path).Stat(path).mtime_ns;
  const auto now = std::chrono::steady_clock::now();
  if (std::exchange(touched_, touched) != touched) seen_ = now;
  const auto age =
      std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(touched);
  if (age >= std::chrono::seconds(0)) return age < kDead;
  return now - seen_ < ModelDirLock::beat + ModelDirLock::beat / 4;
} catch (const Error&) {
  return false;
}

ModelDirLock::~ModelDirLock() {
  file_.reset();
  const std::lock_guard lock(TheLockedHere().mutex);
  TheLockedHere().model_dirs.erase(model_dir_);
}

}  // namespace sextant
