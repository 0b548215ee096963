"""Reads the table behind a bar, line, area, pie or scatter chart out of its pixels.

Straight rules give the plot, numbers on the axes the scales, colors the series. Only the OCR is a
network.
"""
