// Charts as SVG in the page. Colours are the page's (page.css), so they follow its dark form.

#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace kiln {
namespace {

std::string at(double place) { return withDigits(place, 1); }

/// A plane with logarithmic axes, in tens.
class LogPlane {
public:
  static constexpr double width = 560, height = 330, left = 54, right = 22, top = 16, bottom = 44;

  LogPlane(double lowX, double highX, double lowY, double highY)
      : lowX(std::floor(std::log10(lowX))), highX(std::ceil(std::log10(highX))),
        lowY(std::floor(std::log10(lowY))), highY(std::ceil(std::log10(highY))) {}

  double x(double value) const {
    return left + (std::log10(value) - lowX) / (highX - lowX) * (width - left - right);
  }
  double y(double value) const {
    return height - bottom - (std::log10(value) - lowY) / (highY - lowY) * (height - top - bottom);
  }
  double leastX() const { return std::pow(10, lowX); }
  double leastY() const { return std::pow(10, lowY); }
  double mostX() const { return std::pow(10, highX); }

  void draw(llvm::raw_ostream &os) const {
    for (double ten = lowX; ten <= highX; ++ten) {
      std::string place = at(x(std::pow(10, ten)));
      os << "<line class=\"grid\" x1=\"" << place << "\" x2=\"" << place << "\" y1=\"" << at(top)
         << "\" y2=\"" << at(height - bottom) << "\"/><text x=\"" << place << "\" y=\""
         << at(height - bottom + 16) << "\" text-anchor=\"middle\">" << tick(ten) << "</text>";
    }
    for (double ten = lowY; ten <= highY; ++ten) {
      std::string place = at(y(std::pow(10, ten)));
      os << "<line class=\"grid\" x1=\"" << at(left) << "\" x2=\"" << at(width - right)
         << "\" y1=\"" << place << "\" y2=\"" << place << "\"/><text x=\"" << at(left - 6)
         << "\" y=\"" << place << "\" dy=\"4\" text-anchor=\"end\">" << tick(ten) << "</text>";
    }
    os << "<text x=\"" << at((left + width - right) / 2) << "\" y=\"" << at(height - 8)
       << "\" text-anchor=\"middle\">FLOPs per byte of memory</text>\n";
  }

private:
  static std::string tick(double ten) {
    if (ten < 3)
      return withDigits(std::pow(10, ten), unsigned(std::max(-ten, 0.0)));
    double thousands = std::floor(ten / 3);
    std::string text = withDigits(std::pow(10, ten - 3 * thousands), 0) + " ";
    return text + llvm::StringRef("kMGTPE")[std::min<size_t>(size_t(thousands) - 1, 5)];
  }

  double lowX, highX, lowY, highY;
};

struct Point {
  size_t launch;
  double intensity, speed;
};

/// Launches that compute with floating-point numbers and access memory.
std::vector<Point> pointsOf(const GpuModel &gpu, const ReportPage &page,
                            llvm::ArrayRef<PageBound> bounds) {
  std::vector<Point> points;
  for (const PageBound &one : bounds) {
    const CountReport &counts = page.counts[one.count];
    if (one.bound.gpu == &gpu && counts.total.flops && leastBytes(counts))
      points.push_back({one.count, double(counts.total.flops) / double(leastBytes(counts)),
                        double(counts.total.flops) / one.bound.seconds()});
  }
  return points;
}

/// The rates that some launch of the page asks for, and that of float32.
std::vector<std::pair<std::string, double>> roofsOf(const GpuModel &gpu, const ReportPage &page) {
  std::set<std::string> kinds = {"float32"};
  for (const CountReport &counts : page.counts)
    if (counts.hardwareTarget() == gpu.target)
      for (const auto &[kind, operations] : counts.operations)
        kinds.insert(kind);
  std::vector<std::pair<std::string, double>> roofs;
  for (const std::string &kind : kinds)
    if (double rate = gpu.rateOf(kind))
      roofs.emplace_back(kind, rate);
  return roofs;
}

} // namespace

void drawShares(std::vector<ChartShare> shares, llvm::raw_ostream &os) {
  constexpr size_t mostColours = 10;
  llvm::sort(shares, [](const ChartShare &a, const ChartShare &b) {
    return std::tie(b.amount, a.name) < std::tie(a.amount, b.name);
  });
  double all = 0, before = 0;
  for (const ChartShare &share : shares)
    all += share.amount;
  if (all == 0)
    return;
  if (shares.size() > mostColours) {
    ChartShare rest = {"all others", 0};
    for (; shares.size() >= mostColours; shares.pop_back())
      rest.amount += shares.back().amount;
    shares.push_back(rest);
  }
  os << "<figure class=\"shares\"><svg viewBox=\"0 0 1000 28\" preserveAspectRatio=\"none\" "
        "role=\"img\" aria-label=\"shares of instructions\">";
  auto text = [&](const ChartShare &share) {
    return escaped(share.name) + " " + withDigits(100 * share.amount / all, 1) + "%";
  };
  for (auto [number, share] : llvm::enumerate(shares)) {
    os << "<rect class=\"s" << number << "\" x=\"" << at(1000 * before / all)
       << "\" y=\"0\" height=\"28\" width=\"" << at(1000 * share.amount / all) << "\"><title>"
       << text(share) << "</title></rect>";
    before += share.amount;
  }
  os << "</svg><figcaption>";
  for (auto [number, share] : llvm::enumerate(shares))
    os << "<span><i class=\"s" << number << "\"></i>" << text(share) << "</span> ";
  os << "</figcaption></figure>\n";
}

void drawRoofline(const GpuModel &gpu, const ReportPage &page, llvm::ArrayRef<PageBound> bounds,
                  llvm::raw_ostream &os) {
  std::vector<Point> points = pointsOf(gpu, page, bounds);
  std::vector<std::pair<std::string, double>> roofs = roofsOf(gpu, page);
  if (points.empty() || roofs.empty())
    return;
  double highest = 0, lowest = 1e300, lowX = 0.1, highX = 1000;
  for (const auto &[kind, rate] : roofs)
    highest = std::max(highest, rate);
  for (const Point &point : points) {
    lowest = std::min({lowest, point.speed, gpu.bandwidth * point.intensity});
    lowX = std::min(lowX, point.intensity);
    highX = std::max(highX, point.intensity);
  }
  highX = std::max(highX, 2 * highest / gpu.bandwidth);
  LogPlane plane(lowX, highX, std::min(lowest, highest / 1000), highest * 1.01);
  os << "<figure class=\"roofline\"><figcaption>" << escaped(gpu.title)
     << "</figcaption><svg viewBox=\"0 0 560 330\" role=\"img\" aria-label=\"least times of the "
        "launches and what the GPU could reach\">\n";
  plane.draw(os);
  auto roof = [&](double x1, double y1, double x2, double y2) {
    os << "<line class=\"roof\" x1=\"" << at(plane.x(x1)) << "\" y1=\"" << at(plane.y(y1))
       << "\" x2=\"" << at(plane.x(x2)) << "\" y2=\"" << at(plane.y(y2)) << "\"/>";
  };
  double start = std::max(plane.leastX(), plane.leastY() / gpu.bandwidth);
  roof(start, gpu.bandwidth * start, highest / gpu.bandwidth, highest);
  for (const auto &[kind, rate] : roofs)
    roof(std::max(plane.leastX(), rate / gpu.bandwidth), rate, plane.mostX(), rate);
  for (const auto &[kind, rate] : roofs)
    os << "<text class=\"roof-name\" x=\"" << at(plane.width - plane.right - 2) << "\" y=\""
       << at(plane.y(rate) - 4) << "\" text-anchor=\"end\">" << escaped(kind) << " "
       << withPrefix(rate) << "FLOP/s</text>";
  for (const Point &point : points) {
    std::string title = launchTitle(page, point.launch);
    double x = plane.x(point.intensity), y = plane.y(point.speed);
    bool isRight = x > plane.width * 0.6;
    os << "<a href=\"#launch-" << point.launch << "\"><circle class=\"point\" cx=\"" << at(x)
       << "\" cy=\"" << at(y) << "\" r=\"5\"><title>" << escaped(title) << ": "
       << withPrefix(point.speed)
       << "FLOP/s at most</title></circle><text class=\"point-name\" x=\""
       << at(isRight ? x - 9 : x + 9) << "\" y=\"" << at(y + 14) << "\" text-anchor=\""
       << (isRight ? "end" : "start") << "\">" << escaped(page.counts[point.launch].entry)
       << "</text></a>";
  }
  os << "</svg></figure>\n";
}

} // namespace kiln
