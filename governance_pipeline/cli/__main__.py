"""`python -m governance_pipeline.cli` is `govern`."""

from governance_pipeline.cli.main import main

if __name__ == "__main__":
    main()
