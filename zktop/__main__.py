"""Entry point of `python -m zktop`."""

from zktop.cli.main import main

if __name__ == "__main__":
    main()
