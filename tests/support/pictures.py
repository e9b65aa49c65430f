"""Pages without pictures, where these are not the point: drawing takes seconds, threads and much
memory.
"""

import vl_convert


def without_pictures():
    """From now on, in this process, pages are as ever but for their charts."""
    vl_convert.vegalite_to_svg = lambda specification: "<svg></svg>"
    vl_convert.javascript_bundle = lambda snippet: "vega"
