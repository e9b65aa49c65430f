"""What results look like in a notebook: HTML tables, of which every text is escaped."""

from collections.abc import Sequence
from html import escape

from fairpool.errors import printable


def as_html(text: str) -> str:
    """A text as HTML that shows it, whatever is in it.

    >>> as_html("<b>north & co</b>")
    '&lt;b&gt;north &amp; co&lt;/b&gt;'
    """
    return escape(printable(text))


def paragraph(text: str) -> str:
    """A text as a paragraph."""
    return f"<p>{as_html(text)}</p>"


def html_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str | None = None
) -> str:
    """A table of texts: the first of each row names it, and the others are to its right."""
    lines = ["<table>"]
    if caption is not None:
        lines.append(f"<caption>{as_html(caption)}</caption>")
    heads = "".join(f'<th scope="col">{as_html(column)}</th>' for column in columns)
    lines += [f"<thead><tr>{heads}</tr></thead>", "<tbody>"]
    for name, *cells in rows:
        data = "".join(f"<td>{as_html(cell)}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{as_html(name)}</th>{data}</tr>')
    lines += ["</tbody>", "</table>"]
    return "\n".join(lines)
