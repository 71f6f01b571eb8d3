"""Reports: terminal page, JSON document and HTML file, from tables and documents only."""
