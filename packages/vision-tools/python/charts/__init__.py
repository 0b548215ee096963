"""Reads the table behind a bar, line, area, pie or scatter chart out of its pixels, without a network of
its own: straight rules give the plot, numbers on the axes give the scales, colors give the series."""
