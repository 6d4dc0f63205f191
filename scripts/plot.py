#!/usr/bin/env python3
"""Draws the latency and the bus bandwidth of a rows.csv against the message size.

One picture per measure for each set of conditions in the file (GPU, backend, launch, transport,
dtype, placement), with a panel for each rank count and mode, as PNG and as SVG; the paths go to stdout.
Bands are 95 % confidence intervals of the median. Exit code 2 and one line on stderr when the file
cannot be drawn.
"""
import argparse
import os
import sys
from typing import Callable, NamedTuple

from rows import Point, Unusable, contender, points, read_rows, select

# Colours that stay apart on white. Markers tell where two come close, and go round faster, so that
# no two algorithms have both in common.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b3294", "#8c510a",
           "#66a61e", "#e7298a", "#01665e", "#b2182b", "#2c3e9e", "#b8860b", "#9e7bd8", "#40c4b0",
           "#f4776e", "#5d6d1e")
MARKERS = "osD^vP<X>p*hd"
NCCL_COLOURS = ("#000000", "#5f5f5f", "#999999", "#3b3b6d", "#7a6a5a")
NCCL_MARKERS = "x+1|2_3"


class Measure(NamedTuple):
    name: str
    axis: str
    value: Callable[[Point], float]
    band: Callable[[Point], tuple]


MEASURES = (
    Measure("latency", "latency, \N{MICRO SIGN}s per op", lambda p: p.median,
            lambda p: (p.low, p.high)),
    Measure("busbw", "bus bandwidth, GB/s", lambda p: p.busbw,
            lambda p: (p.busbw * p.median / p.high, p.busbw * p.median / p.low)),
)


def styles(rows):
    """How each contender is drawn, in all pictures alike: {name: keyword arguments of plot()}."""
    found, counts = {}, {True: 0, False: 0}
    for row in rows:
        name = contender(row)
        if name in found:
            continue
        nccl = row["impl"] == "nccl"
        colours, markers = (NCCL_COLOURS, NCCL_MARKERS) if nccl else (COLOURS, MARKERS)
        found[name] = {"color": colours[counts[nccl] % len(colours)],
                       "marker": markers[counts[nccl] % len(markers)],
                       "linestyle": "--" if nccl else "-", "zorder": 3 if nccl else 2}
        counts[nccl] += 1
    return found


def title(conditions):
    machine = "host backend" if conditions.backend == "host" else conditions.gpu or "unknown GPU"
    return (f"{conditions.dtype}, {conditions.placement.replace('_', ' ')}, "
            f"launch {conditions.launch}"
            f"{', through host memory' * (conditions.transport == 'host')} \N{EN DASH} {machine}")


def warning(conditions):
    if conditions.backend == "host":
        return "host backend: not a GPU result"
    return "virtual ranks share a GPU: not a multi-GPU result" if conditions.virtual else ""


def file_names(found):
    """One for each of the conditions, numbered where only the GPU differs."""
    names = []
    for c in found:
        name = "_".join([c.dtype, c.launch, *["host_transport"] * (c.transport == "host"), c.backend,
                         *["virtual"] * c.virtual, c.placement])
        names.append(name)
    return [f"{name}_{names[:i].count(name) + 1}" if names.count(name) > 1 else name
            for i, name in enumerate(names)]


def size_text(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


def x_ticks(sizes):
    """The sizes themselves if they are few, else some seven powers of two."""
    if len(set(sizes)) <= 4:
        return sorted(set(sizes))
    low, high = min(sizes).bit_length() - 1, (max(sizes) - 1).bit_length()
    return [2**power for power in range(low, high + 1, max(1, -(-(high - low) // 6)))]


def set_axes(axes, sizes):
    from matplotlib import ticker
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(min(sizes) / 1.25, max(sizes) * 1.25)
    axes.set_xticks(x_ticks(sizes))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda size, _: size_text(size)))
    bottom, top = axes.get_ylim()
    decades = ticker.LogLocator(subs=(1, 2, 5) if top < 2000 * bottom else (1,))
    axes.yaxis.set_major_locator(decades if top > 10 * bottom else ticker.MaxNLocator(6))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(ticker.NullLocator())
    axes.tick_params(length=3)
    for label in axes.get_xticklabels():
        label.set(rotation=30, ha="right", rotation_mode="anchor")
    axes.grid(True, color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def draw_panel(axes, panel, measure, style):
    for name, line in panel.items():
        sizes = [point.size for point in line]
        axes.plot(sizes, [measure.value(point) for point in line], label=name, linewidth=1.3,
                  markersize=4.5, **style[name])
        low, high = zip(*(measure.band(point) for point in line))
        axes.fill_between(sizes, low, high, color=style[name]["color"], alpha=0.18, linewidth=0)
        if len(line) == 1:  # a band has no width there
            axes.vlines(sizes, low, high, color=style[name]["color"], alpha=0.5)


def label_figure(figure, conditions, measure, style):
    """Legend to the right of the panels, title and warning above them."""
    width, height = figure.get_size_inches()
    left, right = (figure.axes[i].get_position() for i in (0, -1))
    drawn = {}
    for axes in figure.axes:
        drawn |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels())}
    names = [name for name in style if name in drawn]
    figure.legend([drawn[name] for name in names], names, loc="upper left", borderaxespad=0,
                  bbox_to_anchor=(right.x1 + 0.1 / width, left.y1), frameon=False, handlelength=3.2)
    above = left.y1 + 0.4 / height
    if warning(conditions):
        figure.text(left.x0, above, warning(conditions), color="#b00020")
        above += 0.25 / height
    what = "allreduce " + measure.axis.split(",")[0]
    figure.text(left.x0, above, f"{what}: {title(conditions)}", fontsize=13)


def draw(conditions, panels, measure, style):
    """A figure: columns are rank counts, rows are modes, all panels on the same axes."""
    from matplotlib import pyplot
    ranks, modes = (sorted(set(values)) for values in zip(*panels))
    figure, grid = pyplot.subplots(len(modes), len(ranks), sharex=True, sharey=True, squeeze=False,
                                   figsize=(5 * len(ranks), 4 * len(modes)),
                                   gridspec_kw={"wspace": 0.06, "hspace": 0.16})
    sizes = [p.size for panel in panels.values() for line in panel.values() for p in line]
    noun = "ranks" if warning(conditions) else "GPUs"
    for i, mode in enumerate(modes):
        for j, n in enumerate(ranks):
            draw_panel(grid[i][j], panels.get((n, mode), {}), measure, style)
            set_axes(grid[i][j], sizes)
            grid[i][j].set_title(f"{n} {noun}, {mode}", fontsize=11)
        grid[i][0].set_ylabel(measure.axis)
    for axes in grid[-1]:
        axes.set_xlabel("message per rank")
    label_figure(figure, conditions, measure, style)
    return figure


def save(figure, out, name):
    from matplotlib import pyplot
    paths = [os.path.join(out, name + ending) for ending in (".png", ".svg")]
    try:
        os.makedirs(out, exist_ok=True)
        figure.savefig(paths[0], dpi=150, bbox_inches="tight")
        # Without the date the same rows make the same file.
        figure.savefig(paths[1], bbox_inches="tight", metadata={"Date": None})
    except OSError as error:
        raise Unusable(f"the pictures cannot be written to {out} ({error.strerror})") from error
    finally:
        pyplot.close(figure)
    return paths


def plot(path, out, dtype):
    rows = read_rows(path)
    style = styles(rows)  # of all rows, so that --dtype does not change a colour
    found = points(select(rows, dtype))
    for (conditions, panels), name in zip(found.items(), file_names(found)):
        for measure in MEASURES:
            figure = draw(conditions, panels, measure, style)
            for written in save(figure, out, f"{measure.name}_{name}"):
                print(written)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", help="rows.csv of a run")
    parser.add_argument("--out", help="folder for the pictures; default: that of the rows")
    parser.add_argument("--dtype", help="draw only this element type, e.g. bf16")
    arguments = parser.parse_args()
    try:
        import matplotlib
    except ImportError:
        print("plot.py: needs matplotlib: apt-get install python3-matplotlib", file=sys.stderr)
        return 2
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "arbench", "font.size": 10})
    try:
        out = arguments.out or os.path.dirname(arguments.rows) or "."
        plot(arguments.rows, out, arguments.dtype)
    except Unusable as error:
        print(f"plot.py: {arguments.rows}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
