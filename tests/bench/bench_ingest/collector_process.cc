#include "tests/bench/bench_ingest/collector_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace telemetry::bench {
namespace {

constexpr char kReady[] = "listening on ";

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs between fork and exec, and therefore calls only functions that are async-signal-safe.
[[noreturn]] void RunCollector(char* const* arguments, char* const* environment, const char* log, int out,
                               rlim_t max_files) {
  const int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  dup2(out, STDOUT_FILENO);
  dup2(log_fd, STDERR_FILENO);
  const rlimit limit = {.rlim_cur = max_files, .rlim_max = max_files};
  if (max_files > 0 && setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(126);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

int ParsePort(const std::string& address) { return std::atoi(address.substr(address.rfind(':') + 1).c_str()); }

std::string ReadLine(int fd) {
  std::string line;
  char c = 0;
  while (read(fd, &c, 1) == 1 && c != '\n') line.push_back(c);
  return line;
}

}  // namespace

CollectorProcess CollectorProcess::Start(const std::string& db, const CollectorOptions& options) {
  const std::string program = ProgramPath("telemetry-collector");
  const std::string log = options.log.empty() ? db + ".log" : options.log;
  std::vector<std::string> arguments = {program, "serve",    "--db",
                                        db,      "--listen", options.host + ":" + std::to_string(options.port)};
  if (options.metrics) arguments.insert(arguments.end(), {"--metrics-listen", "127.0.0.1:0"});
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  std::vector<std::string> environment = options.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) Fail("pipe");
  const pid_t pid = fork();
  if (pid < 0) Fail("fork");
  if (pid == 0) RunCollector(argv.data(), envp.data(), log.c_str(), pipe_fds[1], options.max_files);
  close(pipe_fds[1]);
  std::string line = ReadLine(pipe_fds[0]);
  while (!line.empty() && line.rfind(kReady, 0) != 0) line = ReadLine(pipe_fds[0]);
  const int metrics_port = options.metrics ? ParsePort(ReadLine(pipe_fds[0])) : 0;
  close(pipe_fds[0]);
  if (line.empty()) Fail(program + " did not start; see " + log);
  return CollectorProcess(pid, line.substr(sizeof(kReady) - 1), metrics_port);
}

CollectorProcess::CollectorProcess(CollectorProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), address_(std::move(other.address_)), metrics_port_(other.metrics_port_) {}

CollectorProcess& CollectorProcess::operator=(CollectorProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(address_, other.address_);
  std::swap(metrics_port_, other.metrics_port_);
  return *this;
}

CollectorProcess::~CollectorProcess() { Kill(); }

int CollectorProcess::port() const { return ParsePort(address_); }

void CollectorProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

int CollectorProcess::Stop() {
  if (pid_ < 0) return -1;
  kill(pid_, SIGTERM);
  return Wait();
}

int CollectorProcess::Wait() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string ProgramPath(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(name).string();
}

double CpuSeconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The program's name may contain spaces, so the fields are counted from its closing parenthesis. utime and stime are
  // the 12th and 13th field after it.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double ResidentMib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  double total_pages = 0;
  double resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double PeakMib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  double kib = 0;
  while (file >> word && word != "VmHWM:") {
  }
  file >> kib;
  return kib / 1024;
}

}  // namespace telemetry::bench
