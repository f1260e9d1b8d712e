#include "lab/svg.h"

namespace holdfast::lab {

namespace {

// Written out for each class rather than with variables, which viewers other than browsers ignore.
constexpr std::string_view kStyle = R"(
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
  font-size: 11.5px; fill: #1b2130; }
.page { fill: #f4f5f8; }
.card { fill: #ffffff; stroke: #dfe2ea; }
.h1 { font-size: 27px; font-weight: 700; }
.h2 { font-size: 18px; font-weight: 650; }
.h3 { font-size: 14.5px; font-weight: 600; }
.huge { font-size: 40px; font-weight: 750; }
.lead { font-size: 15px; fill: #566074; }
.soft { fill: #6b7488; }
.tiny { font-size: 10.5px; }
.label { font-size: 10px; }
.bold { font-weight: 700; }
.value { font-size: 15px; font-weight: 700; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.on { fill: #ffffff; font-weight: 600; }
.lane { stroke: #d3d7e2; stroke-width: 1; }
.axis { stroke: #b9bfce; stroke-width: 1; }
.resource { fill: #eceff5; }
.cell { fill: #ffffff; stroke: #c4cad8; }
.fence { fill: #fbe9c3; stroke: #ffffff; }
.fence-text { fill: #7a5200; }
.a { fill: #6d4fd8; }
.b { fill: #0b8494; }
.a-text { fill: #5a3cc4; font-weight: 700; }
.b-text { fill: #08707e; font-weight: 700; }
.waiting { stroke: #0b8494; stroke-width: 2; stroke-dasharray: 2 5; stroke-linecap: round; }
.paused { fill: url(#stripes); }
.stripe { fill: #ffffff; fill-opacity: 0.42; }
.label-box { fill: #ffffff; }
.both { fill: #e5484d; fill-opacity: 0.1; }
.edge { stroke: #e5484d; stroke-width: 1; stroke-dasharray: 3 3; stroke-opacity: 0.7; }
.shaft { stroke-width: 1.6; }
.read.shaft { stroke: #8089a0; }
.read.head { fill: #8089a0; }
.open.shaft { stroke: #b97f0a; }
.open.head { fill: #b97f0a; }
.accepted.shaft { stroke: #16924f; stroke-width: 3; }
.accepted.head { fill: #16924f; }
.refused.shaft { stroke: #d6293e; stroke-width: 3; }
.refused.head { fill: #d6293e; }
.message.shaft { stroke: #8089a0; stroke-width: 1; stroke-opacity: 0.6; }
.message.head { fill: #8089a0; fill-opacity: 0.8; }
.dot { fill: #6b7488; }
.cross { stroke: #d6293e; stroke-width: 1.6; }
.broken { stroke: #d6293e; stroke-width: 2; }
.down { fill: #f6c9cd; }
.good { fill: #16924f; }
.bad { fill: #d6293e; }
.kept { fill: #16924f; }
.lost { fill: #d6293e; }
.good-chip { fill: #d9f2e3; }
.bad-chip { fill: #fbdcdf; }
.good-text { fill: #0d6e39; font-weight: 700; }
.bad-text { fill: #b3172c; font-weight: 700; }
.mark { stroke: #ffffff; stroke-width: 2; stroke-linecap: round; fill: none; }
.guide { stroke: #8089a0; stroke-width: 1; stroke-dasharray: 3 4; }
.curve { stroke-width: 2.2; }
.series-0 { fill: #6d4fd8; stroke: #6d4fd8; }
.series-1 { fill: #0b8494; stroke: #0b8494; }
.series-2 { fill: #c2570c; stroke: #c2570c; }
.series-3 { fill: #16924f; stroke: #16924f; }
.series-4 { fill: #b83280; stroke: #b83280; }
.series-5 { fill: #7d6a12; stroke: #7d6a12; }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf3; }
.page { fill: #12151d; }
.card { fill: #1b1f2a; stroke: #2d3342; }
.lead { fill: #a3abbd; }
.soft { fill: #98a1b5; }
.on { fill: #ffffff; }
.lane { stroke: #343b4c; }
.axis { stroke: #4a5266; }
.resource { fill: #252b39; }
.cell { fill: #1b1f2a; stroke: #48516a; }
.fence { fill: #4a3a12; stroke: #1b1f2a; }
.fence-text { fill: #f3cd7a; }
.a { fill: #7b61e6; }
.b { fill: #0f8f9f; }
.a-text { fill: #b3a1ff; }
.b-text { fill: #5fd3e0; }
.waiting { stroke: #36b3c2; }
.stripe { fill: #12151d; fill-opacity: 0.45; }
.label-box { fill: #1b1f2a; }
.both { fill: #ff6369; fill-opacity: 0.14; }
.read.shaft { stroke: #8d97ae; }
.read.head { fill: #8d97ae; }
.open.shaft { stroke: #e0a93a; }
.open.head { fill: #e0a93a; }
.accepted.shaft { stroke: #3dcb82; }
.accepted.head, .good { fill: #3dcb82; }
.refused.shaft { stroke: #ff6b78; }
.refused.head, .bad { fill: #ff6b78; }
.dot { fill: #98a1b5; }
.cross, .broken { stroke: #ff6b78; }
.down { fill: #4c1a21; }
.kept { fill: #1b8450; }
.lost { fill: #c42b40; }
.good-chip { fill: #143d28; }
.bad-chip { fill: #4c1a21; }
.good-text { fill: #79e3ab; }
.bad-text { fill: #ff9aa4; }
.mark { stroke: #12151d; }
.series-0 { fill: #a08bff; stroke: #a08bff; }
.series-1 { fill: #36b3c2; stroke: #36b3c2; }
.series-2 { fill: #f0883e; stroke: #f0883e; }
.series-3 { fill: #3dcb82; stroke: #3dcb82; }
.series-4 { fill: #ee7ab8; stroke: #ee7ab8; }
.series-5 { fill: #d2bd55; stroke: #d2bd55; }
}
)";

}  // namespace

std::string_view svg_style() { return kStyle; }

}  // namespace holdfast::lab
