"""Storage: the lake of Parquet tables, the store of source files, the DuckDB views; all on one local file system."""
