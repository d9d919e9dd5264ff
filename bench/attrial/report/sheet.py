"""A fragment as a page of its own, which says how its letters are written."""

from attrial.report.template import render


def sheet(title: str, fragment: str) -> str:
    """A self-contained HTML page.

    Args:
        title: Of the window; it is escaped.
        fragment: HTML, in which whatever came from users is escaped already.
    """
    return render("sheet.html.jinja", title=title, body=fragment)
