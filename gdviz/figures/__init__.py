"""Pictures: data to plain columns and rectangles, then to Bokeh models. No widget, no reading of files."""
