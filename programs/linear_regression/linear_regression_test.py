"""linear_regression: the law of its costs for any seed, its summary, its graph and its figures."""
import xml.etree.ElementTree as xml

from program_testing import Programs, check, events, fields, near

programs = Programs()
RATIO = (1 - 0.2 * 0.34) ** 2  # mean x² is 0.34, so the distance from the floor shrinks by 0.868624

for seed in (1, 5, 77, 2026):
    out = programs.run("linear_regression", "--seed", seed, "--logdir", "run%d" % seed)
    costs = [float(line) for line in out.split()]
    check(len(costs) == 30, "30 costs are printed")
    floor = (costs[1] - RATIO * costs[0]) / (1 - RATIO)
    check(0.04 < floor < 0.15, "the floor is near 0.09, not %g" % floor)
    for a, b in zip(costs, costs[1:]):
        near(b - floor, RATIO * (a - floor), 2e-5, "each step shrinks the cost by %g" % RATIO)
    check(programs.run("linear_regression", "--seed", seed, "--logdir", "again") == out, "the same seed gives the same numbers")

steps, graph = {}, None
for step, values, event_graph in events(programs.path("run5")):
    steps.update({step: values["cost"]} if "cost" in values else {})
    graph = graph or event_graph
check(sorted(steps) == list(range(30)), "a summary of each step")
costs = [float(line) for line in programs.run("linear_regression", "--seed", 5, "--logdir", "run5").split()]
near(steps[7], costs[7], 1e-5, "the summary is the cost")
nodes = [dict(fields(node)) for number, node in fields(graph) if number == 1]
names = [node[1].decode() for node in nodes]
check({"x", "y", "W", "cost/ScalarSummary"} <= set(names), "the graph is in the events")
shaped = [dict(fields(node))[1].decode() for number, node in fields(graph) if number == 1 and b"_output_shapes" in node]
check({"x", "y", "W", "Mul", "cost/ScalarSummary"} <= set(shaped), "nodes have their shapes: %r" % shaped)

for name, lines in (("data", 0), ("first_line", 1), ("fitted_line", 1)):
    figure = xml.parse(programs.path("run5", name + ".svg")).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    check(len(figure.findall(svg + "circle")) == 101, name + ".svg has 101 points")
    found = figure.findall(svg + "polyline")
    check(len(found) == lines and all(len(line.get("points").split()) == 101 for line in found), name + ".svg has its line")


def slope(points):
    """That of the line through points with the least squares, in the drawing's units; y goes down."""
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points))
    return -sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def drawn(name):
    """The slopes of the points and of the line of a figure."""
    figure = xml.parse(programs.path("run5", name + ".svg")).getroot()
    line = figure.find(svg + "polyline").get("points").split()
    return (slope([(float(c.get("cx")), float(c.get("cy"))) for c in figure.findall(svg + "circle")]),
            slope([tuple(map(float, point.split(","))) for point in line]))


data, fitted = drawn("fitted_line")
near(fitted, data, 0.2 * data, "the fitted line has the slope of the data")
check(abs(fitted - data) < abs(drawn("first_line")[1] - data), "the first line is farther from it")
page = programs.path("run5", "graph.html").read_text()
check('"n": "cost/ScalarSummary"' in page and '"n": "GradientDescent/update/W/ResourceApplyGradientDescent"' in page, "the page draws the graph")

check(programs.refusal("linear_regression", "--stepz=3", code=2) == "there is no flag --stepz; did you mean --steps?",
      "an unknown flag is refused")
check(programs.refusal("linear_regression", "--logdir=") == "--logdir must name a folder, not ''" and not list(programs.path().glob("*.svg")),
      "no logdir: nothing is written")
programs.path("file").write_text("")
check("file" in programs.refusal("linear_regression", "--logdir=file"), "a logdir that is a file is refused")
