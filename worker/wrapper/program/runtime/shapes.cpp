// ---- The shapes that the program has code for.

struct Shape {
  std::vector<std::string> sizes;  // "keys=64"
  void (*run)();

  std::string Text() const {
    std::string text;
    for (const std::string& size : sizes) text += (text.empty() ? "" : ", ") + size;
    return text;
  }
  bool Has(const std::string& size) const { return std::find(sizes.begin(), sizes.end(), size) != sizes.end(); }
};
